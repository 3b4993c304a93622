//! Links that open one figure to whoever has them, until they expire: HMAC-SHA256 over path, tenant and expiry.

use foresite_store::ids::TenantId;
use foresite_store::state::{Role, Scope};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;

use crate::auth::{Credential, Principal};
use crate::error::{ApiError, ApiResult, Code};

/// The signing key.
pub struct Links(Hmac<Sha256>);

/// What a link has behind its `?`.
#[derive(Clone, Debug, Deserialize)]
pub struct LinkQuery {
    /// Whose figure.
    pub tenant: String,
    /// When it ends [Unix seconds].
    pub expires: i64,
    /// Hexadecimal.
    pub signature: String,
}

impl Links {
    /// Links signed with this key.
    ///
    /// # Errors
    /// Never: HMAC takes keys of any length.
    pub fn new(key: &str) -> ApiResult<Self> {
        Hmac::new_from_slice(key.as_bytes()).map(Self).map_err(|error| ApiError::internal(error.to_string()))
    }

    /// A path with the query that opens it.
    pub fn sign(&self, path: &str, tenant: &TenantId, expires: i64) -> String {
        let signature = hex::encode(self.mac(path, tenant.as_str(), expires).finalize().into_bytes());
        // A tenant's name needs no escapes.
        format!("{path}?tenant={tenant}&expires={expires}&signature={signature}")
    }

    /// Who a link's bearer is: somebody who may read this very path.
    ///
    /// # Errors
    /// 401 for a link that is not ours, or that has expired.
    pub fn open(&self, path: &str, query: &LinkQuery, now: i64) -> ApiResult<Principal> {
        let wrong = || ApiError::new(Code::Unauthenticated, "the link is not one of ours");
        let signature = hex::decode(&query.signature).map_err(|_| wrong())?;
        // Compares in constant time.
        self.mac(path, &query.tenant, query.expires).verify_slice(&signature).map_err(|_| wrong())?;
        if query.expires <= now {
            return Err(ApiError::new(Code::TokenExpired, "the link has expired; ask for a new one"));
        }
        let tenant = TenantId::parse(&query.tenant).ok_or_else(wrong)?;
        let scopes = Some(vec![Scope::StudiesRead]);
        Ok(Principal { tenant, actor: "link".to_owned(), role: Role::Viewer, scopes, credential: Credential::Link })
    }

    fn mac(&self, path: &str, tenant: &str, expires: i64) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(format!("GET\n{path}\n{tenant}\n{expires}").as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_link_opens_its_own_path_until_it_expires() {
        let links = Links::new("key").unwrap();
        let signed = links.sign("/a/b.svg", &TenantId::default(), 100);
        let signature = signed.rsplit_once('=').unwrap().1.to_owned();
        let query = LinkQuery { tenant: "default".to_owned(), expires: 100, signature };
        assert_eq!(links.open("/a/b.svg", &query, 99).unwrap().role, Role::Viewer);
        assert_eq!(links.open("/a/b.svg", &query, 100).unwrap_err().code(), Code::TokenExpired);
        for wrong in [
            LinkQuery { tenant: "other".to_owned(), ..query.clone() },
            LinkQuery { expires: 101, ..query.clone() },
            LinkQuery { signature: "00".repeat(32), ..query.clone() },
            LinkQuery { signature: "é".to_owned(), ..query.clone() },
        ] {
            assert_eq!(links.open("/a/b.svg", &wrong, 1).unwrap_err().code(), Code::Unauthenticated);
        }
        assert!(links.open("/a/c.svg", &query, 1).is_err());
        assert!(Links::new("other").unwrap().open("/a/b.svg", &query, 1).is_err());
    }
}
