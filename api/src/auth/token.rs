//! API tokens: `fs_` and 64 hexadecimal digits (32 random bytes), of which only the SHA-256 is kept.

use foresite_store::Store;
use foresite_store::ids::{TenantId, TokenId};
use foresite_store::state::Scope;
use foresite_store::time::UnixMillis;
use foresite_store::tokens::ApiToken;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::{Credential, Principal};
use crate::error::{ApiError, ApiResult, Code};

/// What every API token begins with, so that secret scanners and people know one.
pub const PREFIX: &str = "fs_";

/// What goes before a token's name where the audit log says who did something.
pub(super) const ACTOR: &str = "token:";

/// A new secret. It has 256 random bits, so a plain hash keeps it safe at rest.
///
/// # Errors
/// When the operating system has no random numbers to give.
pub fn generate() -> ApiResult<SecretString> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(SecretString::from(format!("{PREFIX}{}", hex::encode(bytes))))
}

/// What is stored of a secret.
pub fn hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

/// [`hash`] of a wrapped secret.
pub fn hash_secret(secret: &SecretString) -> String {
    hash(secret.expose_secret())
}

/// Looks a token up by its hash; comparing hashes of random secrets leaks nothing by timing.
pub(super) async fn authenticate(store: &Store, secret: &str) -> ApiResult<Principal> {
    let now = store.now().await?;
    let row = store.token_by_hash(&hash(secret)).await?.ok_or_else(unknown)?;
    check(&row, now)?;
    if let Err(error) = store.touch_token(&row, now).await {
        // A database that can be read but not written still lets readers in.
        tracing::debug!(%error, "a token's last use was not noted");
    }
    let scopes = Some(row.scopes.as_str()).filter(|words| !words.is_empty());
    let scopes = scopes.map(|_| row.scope_words().filter_map(Scope::parse).collect());
    let credential = Credential::Token(row.id);
    Ok(Principal { actor: format!("{ACTOR}{}", row.name), role: row.role, scopes, tenant: row.tenant, credential })
}

/// Whether a token that was good is so still.
pub(super) async fn recheck(store: &Store, tenant: &TenantId, id: &TokenId) -> ApiResult<()> {
    let row = store.token(tenant, id).await?.ok_or_else(unknown)?;
    check(&row, store.now().await?)
}

fn check(row: &ApiToken, now: UnixMillis) -> ApiResult<()> {
    if row.revoked_at.is_some() {
        return Err(ApiError::new(Code::Unauthenticated, "the API token was revoked"));
    }
    if row.expires_at.is_some_and(|expires| expires <= now) {
        return Err(ApiError::new(Code::TokenExpired, "the API token has expired; ask an administrator for a new one"));
    }
    Ok(())
}

fn unknown() -> ApiError {
    ApiError::new(Code::Unauthenticated, "the API token is unknown")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn secrets_differ_and_are_kept_as_hashes_only() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one.expose_secret(), other.expose_secret());
        assert_eq!(one.expose_secret().len(), PREFIX.len() + 64);
        assert!(!hash_secret(&one).contains(&one.expose_secret()[PREFIX.len()..]));
    }
}
