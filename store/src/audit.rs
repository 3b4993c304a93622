//! The audit log: who did what. Rows are only ever added; triggers in the database refuse anything else, but for retention below
//! a horizon that only rises.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, load};
use crate::error::StoreError;
use crate::ids::{AuditId, TenantId};
use crate::page::{Page, clamp};
use crate::schema::{audit, audit_horizon};
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
    /// To what: its id.
    pub resource: String,
    /// More about it: a JSON object.
    pub detail: String,
    /// When.
    pub at: UnixMillis,
    /// The request it was done by; `None` for what was done next to the database.
    pub trace_id: Option<String>,
}

/// Which lines to list; `None` is no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only by this actor.
    pub actor: Option<String>,
    /// Only this action.
    pub action: Option<String>,
    /// Only to this resource.
    pub resource: Option<String>,
    /// Only from this time on.
    pub since: Option<UnixMillis>,
    /// Only before this time.
    pub until: Option<UnixMillis>,
}

impl Store {
    /// This store, whose next write also adds a line to the log: both or neither. A write that finds nothing to change adds none.
    pub fn audited(&self, entry: AuditEntry) -> Self {
        self.with_entry(entry)
    }

    /// Adds a line.
    pub async fn append_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let inserted = append(&mut conn, entry).await;
        conn.finish(inserted).await
    }

    /// A tenant's log, newest first, older than `before`.
    pub async fn list_audit(
        &self,
        tenant: &TenantId,
        filter: &AuditFilter,
        before: Option<&AuditId>,
        limit: i64,
    ) -> Result<Page<AuditEntry, AuditId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let mut query = audit::table.filter(audit::tenant.eq(tenant)).into_boxed();
            if let Some(actor) = &filter.actor {
                query = query.filter(audit::actor.eq(actor));
            }
            if let Some(action) = &filter.action {
                query = query.filter(audit::action.eq(action));
            }
            if let Some(resource) = &filter.resource {
                query = query.filter(audit::resource.eq(resource));
            }
            if let Some(since) = filter.since {
                query = query.filter(audit::at.ge(since));
            }
            if let Some(until) = filter.until {
                query = query.filter(audit::at.lt(until));
            }
            if let Some(before) = before {
                query = query.filter(audit::id.lt(before));
            }
            query.order(audit::id.desc()).limit(clamp(limit) + 1).select(AuditEntry::as_select())
        })?;
        Ok(Page::new(rows, limit, |entry: &AuditEntry| entry.id.clone()))
    }

    /// Removes lines older than `horizon`, over all tenants; gives how many.
    pub async fn prune_audit(&self, horizon: UnixMillis) -> Result<usize, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let lower = audit_horizon::table.filter(audit_horizon::at.lt(horizon));
            execute!(&mut conn, diesel::update(lower).set(audit_horizon::at.eq(horizon)))?;
            Ok(execute!(&mut conn, diesel::delete(audit::table.filter(audit::at.lt(horizon))))?)
        }
        .await;
        conn.finish(result).await
    }
}

pub(crate) async fn append(conn: &mut Conn, entry: &AuditEntry) -> Result<(), StoreError> {
    execute!(conn, diesel::insert_into(audit::table).values(entry))?;
    Ok(())
}
