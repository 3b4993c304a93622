//! API tokens.

use foresite_store::state::{Role, Scope};
use foresite_store::tokens::ApiToken;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::tokens::NewToken;
use crate::clock::rfc3339;
use crate::error::{ApiError, ApiResult};

/// A token to be made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTokenView {
    /// What people call it.
    #[schema(example = "ci", min_length = 1, max_length = 200)]
    pub name: String,
    /// `viewer`, `operator` or `admin`.
    #[schema(value_type = String, example = "operator")]
    pub role: Role,
    /// What it is narrowed to; everything its role may where not given. `…:write` and `…:manage` include `…:read`.
    #[serde(default)]
    #[schema(value_type = Vec<String>, example = json!(["sites:write", "studies:write"]))]
    pub scopes: Vec<Scope>,
    /// When it ends, RFC 3339; never where not given.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

impl NewTokenView {
    /// The wish, checked.
    pub(crate) fn checked(self) -> ApiResult<NewToken> {
        let expires_at = match &self.expires_at {
            None => None,
            Some(text) => {
                Some(text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond).map_err(|error| {
                    ApiError::field("/expires_at", error.to_string(), "write for example 2027-01-31T00:00:00Z")
                })?)
            }
        };
        Ok(NewToken { name: self.name, role: self.role, scopes: self.scopes, expires_at })
    }
}

/// A token, without its secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// Its id; not secret.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// `viewer`, `operator` or `admin`.
    pub role: String,
    /// What it is narrowed to; empty for everything its role may.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// When it was made, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it ends, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// When it was last used, to the minute, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
    /// When it was revoked, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

impl From<ApiToken> for TokenView {
    fn from(token: ApiToken) -> Self {
        Self {
            scopes: token.scope_words().map(str::to_owned).collect(),
            id: token.id.into(),
            name: token.name,
            role: token.role.as_str().to_owned(),
            created_at: rfc3339(token.created_at),
            expires_at: token.expires_at.map(rfc3339),
            last_used_at: token.last_used_at.map(rfc3339),
            revoked_at: token.revoked_at.map(rfc3339),
        }
    }
}

/// A token just made: the only answer that holds a secret.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct IssuedToken {
    /// The token.
    pub token: TokenView,
    /// Send it as `Authorization: Bearer …`. It is not shown again.
    #[schema(example = "fs_…")]
    pub secret: String,
}

impl IssuedToken {
    /// The answer to its maker.
    pub fn new(token: ApiToken, secret: &SecretString) -> Self {
        Self { token: token.into(), secret: secret.expose_secret().to_owned() }
    }
}
