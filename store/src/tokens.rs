//! API tokens. Only the SHA-256 of a secret is stored.

use diesel::prelude::*;

use crate::connection::{Store, execute, first, load};
use crate::error::StoreError;
use crate::ids::{TenantId, TokenId};
use crate::schema::api_tokens;
use crate::state::Role;
use crate::time::UnixMillis;

/// A token's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = api_tokens)]
pub struct ApiToken {
    /// Its id; not secret.
    pub id: TokenId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What a person calls it.
    pub name: String,
    /// SHA-256 of the secret, lower-case hex.
    pub hash: String,
    /// What it may do.
    pub role: Role,
    /// What it is narrowed to: words with one blank between; empty means everything its role may.
    pub scopes: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When it ends; `None` for never.
    pub expires_at: Option<UnixMillis>,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<UnixMillis>,
    /// When it was revoked.
    pub revoked_at: Option<UnixMillis>,
}

impl ApiToken {
    /// The scopes as words; a word that this version does not know narrows all the same.
    pub fn scope_words(&self) -> impl Iterator<Item = &str> {
        self.scopes.split(' ').filter(|word| !word.is_empty())
    }

    /// Whether it opens doors at `now`.
    pub fn is_valid(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

impl Store {
    /// Stores a token; its tenant must exist ([`Store::ensure_tenant`]).
    pub async fn create_token(&self, token: &ApiToken) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let inserted = execute!(&mut conn, diesel::insert_into(api_tokens::table).values(token));
        conn.finish(inserted.map(|_| ()).map_err(StoreError::from)).await
    }

    /// The token of a secret's hash, valid or not: ask [`ApiToken::is_valid`].
    pub async fn token_by_hash(&self, hash: &str) -> Result<Option<ApiToken>, StoreError> {
        let mut conn = self.read().await?;
        let query = api_tokens::table.filter(api_tokens::hash.eq(hash));
        Ok(first!(&mut conn, query.select(ApiToken::as_select()))?)
    }

    /// All tokens of a tenant, oldest first.
    pub async fn list_tokens(&self, tenant: &TenantId) -> Result<Vec<ApiToken>, StoreError> {
        let mut conn = self.read().await?;
        let query = api_tokens::table.filter(api_tokens::tenant.eq(tenant)).order(api_tokens::id.asc());
        Ok(load!(&mut conn, query.select(ApiToken::as_select()))?)
    }

    /// A tenant's token.
    pub async fn token(&self, tenant: &TenantId, id: &TokenId) -> Result<Option<ApiToken>, StoreError> {
        let mut conn = self.read().await?;
        let query = api_tokens::table.filter(api_tokens::tenant.eq(tenant)).filter(api_tokens::id.eq(id));
        Ok(first!(&mut conn, query.select(ApiToken::as_select()))?)
    }

    /// Revokes a token; `false` if the tenant has no such token. Revoking twice keeps the first time.
    pub async fn revoke_token(&self, tenant: &TenantId, id: &TokenId, now: UnixMillis) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let mine = api_tokens::table.filter(api_tokens::tenant.eq(tenant)).filter(api_tokens::id.eq(id));
            let found: Option<TokenId> = first!(&mut conn, mine.select(api_tokens::id))?;
            let live = mine.filter(api_tokens::revoked_at.is_null());
            execute!(&mut conn, diesel::update(live).set(api_tokens::revoked_at.eq(now)))?;
            Ok(found.is_some())
        }
        .await;
        conn.finish_if_changed(result).await
    }

    /// Notes that a token was used; writes at most once a minute per token.
    pub async fn touch_token(&self, token: &ApiToken, now: UnixMillis) -> Result<(), StoreError> {
        const GRAIN_MS: i64 = 60_000;
        if token.last_used_at.is_some_and(|last| now - last < GRAIN_MS) {
            return Ok(());
        }
        let mut conn = self.begin().await?;
        let row = api_tokens::table.filter(api_tokens::id.eq(&token.id));
        let updated = execute!(&mut conn, diesel::update(row).set(api_tokens::last_used_at.eq(now)));
        conn.finish(updated.map(|_| ()).map_err(StoreError::from)).await
    }
}
