//! JSON web tokens. The algorithm is decided by our settings and our keys, never by the token: HS256 only with a configured
//! secret, RS256, ES256 and EdDSA only with a key of that very kind from the JWKS. `none` and every other algorithm are refused.

use std::collections::BTreeMap;

use foresite_store::ids::TenantId;
use foresite_store::state::Role;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::jwks::Jwks;
use super::{COMMAND_LINE, Credential, Principal, token};
use crate::config::AuthConfig;
use crate::error::{ApiError, ApiResult, Code};

/// Seconds by which clocks may differ.
const LEEWAY_SECONDS: u64 = 30;

/// Verifies JSON web tokens.
pub struct JwtVerifier {
    issuer: String,
    audience: String,
    tenant_claim: String,
    role_claim: String,
    hs256: Option<DecodingKey>,
    jwks: Option<Jwks>,
}

impl JwtVerifier {
    /// A verifier; without secret and JWKS URL it refuses everything.
    pub(super) fn new(config: &AuthConfig) -> ApiResult<Self> {
        let jwks = match &config.jwks_url {
            Some(url) => Some(Jwks::new(url.clone(), config.jwks_refresh)?),
            None => None,
        };
        Ok(Self {
            issuer: config.issuer.clone().unwrap_or_default(),
            audience: config.audience.clone().unwrap_or_default(),
            tenant_claim: config.tenant_claim.clone(),
            role_claim: config.role_claim.clone(),
            hs256: config.hs256_secret.as_ref().map(|s| DecodingKey::from_secret(s.expose_secret().as_bytes())),
            jwks,
        })
    }

    /// The caller a token stands for.
    pub(super) async fn verify(&self, token: &str) -> ApiResult<Principal> {
        let header = decode_header(token).map_err(|_| refuse("this is neither an API token nor a JSON web token"))?;
        let key = self.key(header.alg, header.kid.as_deref()).await?;
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let claims = decode::<BTreeMap<String, Value>>(token, &key, &validation).map_err(|error| reason(&error))?;
        self.principal(&claims.claims)
    }

    async fn key(&self, algorithm: Algorithm, kid: Option<&str>) -> ApiResult<DecodingKey> {
        let key = match (algorithm, &self.hs256, &self.jwks) {
            (Algorithm::HS256, Some(key), _) => Some(key.clone()),
            (Algorithm::RS256 | Algorithm::ES256 | Algorithm::EdDSA, _, Some(jwks)) => jwks.key(algorithm, kid).await?,
            _ => return Err(refuse("tokens of this algorithm are not accepted here")),
        };
        key.ok_or_else(|| refuse("the token is signed by a key we don't know"))
    }

    fn principal(&self, claims: &BTreeMap<String, Value>) -> ApiResult<Principal> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let tenant = text(&self.tenant_claim)
            .and_then(TenantId::parse)
            .ok_or_else(|| refuse(&format!("the token's claim '{}' names no tenant", self.tenant_claim)))?;
        let role = claims
            .get(&self.role_claim)
            .and_then(role)
            .ok_or_else(|| refuse(&format!("the token's claim '{}' names no role of ours", self.role_claim)))?;
        let actor = text("sub").unwrap_or("unnamed");
        if actor.chars().any(char::is_control) {
            return Err(refuse("the token's claim 'sub' has control characters"));
        }
        if actor.starts_with(token::ACTOR) || actor == COMMAND_LINE {
            return Err(refuse("the token's claim 'sub' reads as if another kind of caller had come"));
        }
        // Not whole seconds in some issuers' tokens (RFC 7519, NumericDate).
        let end = claims.get("exp").and_then(Value::as_f64).map(|end| end as u64).unwrap_or_default();
        Ok(Principal { tenant, actor: actor.to_owned(), role, scopes: None, credential: Credential::Jwt(end) })
    }
}

/// Whether a token that was good, and ends then [Unix seconds], is so still.
pub(super) fn recheck(end: u64) -> ApiResult<()> {
    match end.saturating_add(LEEWAY_SECONDS) > jsonwebtoken::get_current_timestamp() {
        true => Ok(()),
        false => Err(reason(&ErrorKind::ExpiredSignature.into())),
    }
}

/// The role in a claim: a word, or the greatest of a list of words (other words in the list belong to others).
fn role(claim: &Value) -> Option<Role> {
    match claim {
        Value::String(word) => Role::parse(word),
        Value::Array(words) => words.iter().filter_map(Value::as_str).filter_map(Role::parse).max(),
        _ => None,
    }
}

fn refuse(detail: &str) -> ApiError {
    ApiError::new(Code::Unauthenticated, detail)
}

fn reason(error: &jsonwebtoken::errors::Error) -> ApiError {
    match error.kind() {
        ErrorKind::ExpiredSignature => ApiError::new(Code::TokenExpired, "the token's exp has passed; get a new one"),
        ErrorKind::ImmatureSignature => refuse("the token's nbf lies in the future"),
        ErrorKind::InvalidIssuer => refuse("the token's iss is not the issuer trusted here"),
        ErrorKind::InvalidAudience => refuse("the token's aud does not name this service"),
        ErrorKind::MissingRequiredClaim(claim) => refuse(&format!("the token has no claim '{claim}'")),
        _ => refuse("the token's signature is wrong"),
    }
}

#[cfg(test)]
mod tests;
