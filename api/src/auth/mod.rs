//! Who asks, and what they may do. Both doors ask [`Authenticator::authenticate`]; nothing else decides.

pub mod jwks;
pub mod jwt;
pub mod permission;
pub mod token;

use foresite_store::Store;
use foresite_store::ids::{TenantId, TokenId};
use foresite_store::state::{Role, Scope};

use crate::config::AuthConfig;
use crate::error::{ApiError, ApiResult, Code};
use jwt::JwtVerifier;

/// Who the command line is, next to the database.
pub const COMMAND_LINE: &str = "cli";

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Whose things it sees.
    pub tenant: TenantId,
    /// Who it is, for the audit log: `token:NAME` or the JWT's subject, which never begins so.
    pub actor: String,
    /// What it may do.
    pub role: Role,
    /// What its token is narrowed to; `None` for everything its role may.
    pub scopes: Option<Vec<Scope>>,
    /// What it showed.
    pub credential: Credential,
}

/// What a caller showed, as far as it can lose its force while an answer is still being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// An API token.
    Token(TokenId),
    /// A JSON web token that ends then [Unix seconds].
    Jwt(u64),
    /// A link to a figure.
    Link,
}

impl Principal {
    /// Whether its token's scopes leave room for this.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.iter().any(|own| own.includes(scope)))
    }
}

/// Checks tokens.
pub struct Authenticator {
    store: Store,
    jwt: JwtVerifier,
}

impl Authenticator {
    /// An authenticator for the given settings.
    ///
    /// # Errors
    /// Only if the HTTP client for the JWKS URL cannot be made.
    pub fn new(store: Store, config: &AuthConfig) -> ApiResult<Self> {
        Ok(Self { store, jwt: JwtVerifier::new(config)? })
    }

    /// Checks an `Authorization` header's value.
    ///
    /// # Errors
    /// 401 for anything but a valid bearer token; 503 when the database is away.
    pub async fn authenticate_header(&self, header: Option<&str>) -> ApiResult<Principal> {
        let header =
            header.ok_or_else(|| ApiError::new(Code::Unauthenticated, "send `Authorization: Bearer TOKEN`"))?;
        let token = match header.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
            _ => return Err(ApiError::new(Code::Unauthenticated, "only `Authorization: Bearer TOKEN` is understood")),
        };
        self.authenticate(token).await
    }

    /// Looks again at a caller who was let in a while ago.
    ///
    /// # Errors
    /// 401 once its token has expired or was revoked; 503 when the database is away.
    pub async fn recheck(&self, principal: &Principal) -> ApiResult<()> {
        match &principal.credential {
            Credential::Token(id) => token::recheck(&self.store, &principal.tenant, id).await,
            Credential::Jwt(end) => jwt::recheck(*end),
            Credential::Link => Ok(()),
        }
    }

    /// Checks a token: an API token if it looks like one, a JWT otherwise.
    ///
    /// # Errors
    /// 401 for anything but a valid token; 503 when the database is away.
    pub async fn authenticate(&self, secret: &str) -> ApiResult<Principal> {
        if secret.starts_with(token::PREFIX) {
            token::authenticate(&self.store, secret).await
        } else {
            self.jwt.verify(secret).await
        }
    }
}
