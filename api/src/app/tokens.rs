//! API tokens: made and revoked by administrators, shown once.

use foresite_store::Store;
use foresite_store::ids::{TenantId, TokenId};
use foresite_store::state::Role;
use foresite_store::tokens::ApiToken;
use secrecy::SecretString;

use super::audit;
use super::sites::checked_name;
use crate::auth::permission::{Admin, Authorised};
use crate::auth::token;
use crate::clock::now_ms;
use crate::context::Context;
use crate::error::{ApiError, ApiResult};

/// What a new token shall be.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// When it ends [Unix milliseconds]; `None` for never.
    pub expires_at: Option<i64>,
}

/// Makes a token of a tenant; the secret is returned here and nowhere else. Also used next to the database, to bootstrap.
///
/// # Errors
/// 422 for a bad name or an expiry in the past.
pub async fn issue(store: &Store, tenant: &TenantId, new: NewToken) -> ApiResult<(ApiToken, SecretString)> {
    let name = checked_name(&new.name)?;
    let now = now_ms();
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
        scopes: String::new(),
        created_at: now,
        expires_at: new.expires_at,
        last_used_at: None,
        revoked_at: None,
    };
    store.ensure_tenant(tenant, now).await?;
    store.create_token(&row).await?;
    Ok((row, secret))
}

/// Makes a token of the caller's tenant.
///
/// # Errors
/// 422 for a bad name or an expiry in the past.
pub async fn create(
    context: &Context,
    caller: &Authorised<Admin>,
    new: NewToken,
) -> ApiResult<(ApiToken, SecretString)> {
    let (row, secret) = issue(&context.store, &caller.principal().tenant, new).await?;
    audit::note(context, caller.principal(), "token.create", row.id.as_str()).await?;
    Ok((row, secret))
}

/// The tokens of the caller's tenant, oldest first; never their secrets.
///
/// # Errors
/// 503 when the database is away.
pub async fn list(context: &Context, caller: &Authorised<Admin>) -> ApiResult<Vec<ApiToken>> {
    Ok(context.store.list_tokens(&caller.principal().tenant).await?)
}

/// Ends a token at once.
///
/// # Errors
/// 404 if there is none.
pub async fn revoke(context: &Context, caller: &Authorised<Admin>, id: &str) -> ApiResult<()> {
    let missing = || ApiError::not_found("token", id);
    let token = TokenId::parse(id).ok_or_else(missing)?;
    if !context.store.revoke_token(&caller.principal().tenant, &token, now_ms()).await? {
        return Err(missing());
    }
    audit::note(context, caller.principal(), "token.revoke", id).await
}
