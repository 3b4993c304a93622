//! The audit log: who did what. Rows are only ever added; triggers in the database refuse anything else.

use diesel::prelude::*;

use crate::connection::{Store, execute, load};
use crate::error::StoreError;
use crate::ids::{AuditId, TenantId};
use crate::page::{Page, clamp};
use crate::schema::audit;
use crate::time::UnixMillis;

/// A line of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = audit)]
pub struct AuditEntry {
    /// Its id; in order of time.
    pub id: AuditId,
    /// In which tenant.
    pub tenant: TenantId,
    /// Who: a token's or a claim's subject.
    pub actor: String,
    /// What was done: `study.create`, `token.revoke`.
    pub action: String,
    /// To what: kind and id.
    pub resource: String,
    /// More about it: a JSON object.
    pub detail: String,
    /// When.
    pub at: UnixMillis,
}

impl Store {
    /// Adds a line.
    pub async fn append_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let inserted = execute!(&mut conn, diesel::insert_into(audit::table).values(entry));
        conn.finish(inserted.map(|_| ()).map_err(StoreError::from)).await
    }

    /// A tenant's log, newest first, older than `before`.
    pub async fn list_audit(
        &self,
        tenant: &TenantId,
        before: Option<&AuditId>,
        limit: i64,
    ) -> Result<Page<AuditEntry, AuditId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let mut query = audit::table.filter(audit::tenant.eq(tenant)).into_boxed();
            if let Some(before) = before {
                query = query.filter(audit::id.lt(before));
            }
            query.order(audit::id.desc()).limit(clamp(limit) + 1).select(AuditEntry::as_select())
        })?;
        Ok(Page::new(rows, limit, |entry: &AuditEntry| entry.id.clone()))
    }
}
