//! API tokens: made and revoked by administrators, shown once.

use foresite_store::Store;
use foresite_store::ids::{TenantId, TokenId};
use foresite_store::state::{Role, Scope};
use foresite_store::tokens::ApiToken;
use secrecy::SecretString;
use serde_json::json;

use super::audit;
use super::sites::checked_name;
use crate::auth::permission::{Authorised, ManageTokens};
use crate::auth::token;
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// What a new token shall be.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What it is narrowed to; empty for everything its role may.
    pub scopes: Vec<Scope>,
    /// When it ends [Unix milliseconds]; `None` for never.
    pub expires_at: Option<i64>,
}

/// Makes a token of a tenant for `actor`; the secret is returned here and nowhere else. Also used next to the database, to
/// bootstrap.
///
/// # Errors
/// 422 for a bad name or an expiry in the past.
pub async fn issue(
    store: &Store,
    tenant: &TenantId,
    actor: &str,
    new: NewToken,
) -> ApiResult<(ApiToken, SecretString)> {
    let name = checked_name(&new.name)?;
    let now = store.now().await?;
    if new.expires_at.is_some_and(|expires| expires <= now) {
        return Err(ApiError::field("/expires_at", "the expiry lies in the past", "choose a later time, or none"));
    }
    let secret = token::generate()?;
    let row = ApiToken {
        id: TokenId::new(),
        tenant: tenant.clone(),
        name,
        hash: token::hash_secret(&secret),
        role: new.role,
        scopes: words(&new.scopes),
        created_at: now,
        expires_at: new.expires_at,
        last_used_at: None,
        revoked_at: None,
    };
    store.ensure_tenant(tenant, now).await?;
    let detail = json!({ "role": row.role, "scopes": row.scopes });
    store
        .audited(audit::entry(store, tenant, actor, "token.create", row.id.as_str(), &detail).await?)
        .create_token(&row)
        .await?;
    Ok((row, secret))
}

/// Each scope once, in the table's order.
fn words(scopes: &[Scope]) -> String {
    let named = Scope::ALL.iter().filter(|scope| scopes.contains(scope));
    named.map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
}

/// Ends a token of a tenant; `false` if there is none. Also used next to the database.
///
/// # Errors
/// 503 when the database is away.
pub async fn withdraw(store: &Store, tenant: &TenantId, actor: &str, id: &TokenId) -> ApiResult<bool> {
    let line = audit::entry(store, tenant, actor, "token.revoke", id.as_str(), &json!({})).await?;
    Ok(store.audited(line).revoke_token(tenant, id, store.now().await?).await?)
}

/// Makes a token of the caller's tenant.
///
/// # Errors
/// 403 for more scopes than the caller's own; 422 for a bad name or an expiry in the past.
pub async fn create(
    context: &Context,
    caller: &Authorised<ManageTokens>,
    new: NewToken,
) -> ApiResult<(ApiToken, SecretString)> {
    let caller = caller.principal();
    // Nobody hands out more than they have.
    let is_wider = new.scopes.is_empty() || new.scopes.iter().any(|scope| !caller.may(*scope));
    if caller.scopes.is_some() && is_wider {
        return Err(ApiError::new(Code::Forbidden, "a token with scopes makes only tokens with some of the same"));
    }
    issue(&context.store, &caller.tenant, &caller.actor, new).await
}

/// The tokens of the caller's tenant, oldest first; never their secrets.
///
/// # Errors
/// 503 when the database is away.
pub async fn list(context: &Context, caller: &Authorised<ManageTokens>) -> ApiResult<Vec<ApiToken>> {
    Ok(context.store.list_tokens(&caller.principal().tenant).await?)
}

/// A token of the caller's tenant; never its secret.
///
/// # Errors
/// 404 if there is none.
pub async fn get(context: &Context, caller: &Authorised<ManageTokens>, id: &str) -> ApiResult<ApiToken> {
    let missing = || ApiError::not_found("token", id);
    let token = TokenId::parse(id).ok_or_else(missing)?;
    context.store.token(&caller.principal().tenant, &token).await?.ok_or_else(missing)
}

/// Ends a token at once.
///
/// # Errors
/// 404 if there is none.
pub async fn revoke(context: &Context, caller: &Authorised<ManageTokens>, id: &str) -> ApiResult<()> {
    let missing = || ApiError::not_found("token", id);
    let token = TokenId::parse(id).ok_or_else(missing)?;
    let caller = caller.principal();
    if withdraw(&context.store, &caller.tenant, &caller.actor, &token).await? { Ok(()) } else { Err(missing()) }
}
