//! Traces: recorded history of a site. Never changed, only added.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, first, load};
use crate::error::StoreError;
use crate::files::StoredCompact;
use crate::ids::{SiteId, TenantId, TraceId, UploadId};
use crate::objects::ObjectHash;
use crate::page::{Page, clamp};
use crate::quotas::{Full, admit_bytes};
use crate::schema::traces;
use crate::time::UnixMillis;

/// A trace's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = traces)]
pub struct Trace {
    /// Its id.
    pub id: TraceId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The site it was recorded at.
    pub site: SiteId,
    /// What people call it: mostly the file's name.
    pub name: String,
    /// Its bytes as they were uploaded (compressed or not).
    pub object: ObjectHash,
    /// Size of the object in bytes.
    pub bytes: i64,
    /// What is in it: a JSON object.
    pub summary: String,
    /// What the reader said about it: a JSON array of diagnostics.
    pub diagnostics: String,
    /// Who uploaded it.
    pub created_by: String,
    /// When.
    pub created_at: UnixMillis,
    /// IANA zone of its local times, where the uploader named one.
    pub timezone: Option<String>,
    /// Its compact form, as [`StoredCompact::to_json`] writes it; read it with [`Trace::compact_trace`].
    pub compact_trace: Option<String>,
}

impl Trace {
    /// Its compact form, if there is one.
    pub fn compact_trace(&self) -> Result<Option<StoredCompact>, StoreError> {
        let text = self.compact_trace.as_deref();
        text.map(|text| StoredCompact::from_json("traces.compact_trace", text)).transpose()
    }
}

/// What [`Store::create_trace`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceOutcome {
    /// The trace exists now.
    Created,
    /// The site has these bytes already, under the same name and time zone: nothing was done.
    Same(Box<Trace>),
    /// The tenant has no room for it: nothing was done.
    Full(Full),
}

async fn same_trace(
    conn: &mut Conn,
    site: &SiteId,
    object: &ObjectHash,
    name: &str,
    timezone: Option<&str>,
) -> Result<Option<Trace>, StoreError> {
    let query = traces::table.filter(traces::site.eq(site)).filter(traces::object.eq(object));
    let query = query.filter(traces::name.eq(name)).order(traces::id.desc());
    let found: Vec<Trace> = load!(conn, query.select(Trace::as_select()))?;
    Ok(found.into_iter().find(|trace| trace.timezone.as_deref() == timezone))
}

impl Store {
    /// Stores a trace if its site has none like it and the tenant has room for it under `limit` bytes; the site must exist and the
    /// bytes be an object already. The room that `upload` was promised is the trace's.
    pub async fn create_trace(
        &self,
        trace: &Trace,
        upload: Option<&UploadId>,
        limit: Option<i64>,
    ) -> Result<TraceOutcome, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let full = admit_bytes(&mut conn, &trace.tenant, trace.bytes, upload, limit).await?;
            // Two may have read the same bytes side by side.
            let same =
                same_trace(&mut conn, &trace.site, &trace.object, &trace.name, trace.timezone.as_deref()).await?;
            match (same, full) {
                (Some(same), _) => return Ok(TraceOutcome::Same(Box::new(same))),
                (None, Some(full)) => return Ok(TraceOutcome::Full(full)),
                (None, None) => {}
            }
            execute!(&mut conn, diesel::insert_into(traces::table).values(trace))?;
            Ok(TraceOutcome::Created)
        }
        .await;
        if !matches!(result, Ok(TraceOutcome::Created)) {
            conn.unaudited();
        }
        conn.finish(result).await
    }

    /// A tenant's trace of a site.
    pub async fn trace(&self, tenant: &TenantId, site: &SiteId, id: &TraceId) -> Result<Option<Trace>, StoreError> {
        let mut conn = self.read().await?;
        let query = traces::table.filter(traces::tenant.eq(tenant)).filter(traces::site.eq(site));
        Ok(first!(&mut conn, query.filter(traces::id.eq(id)).select(Trace::as_select()))?)
    }

    /// A site's trace of these very bytes, of the same name and time zone.
    pub async fn same_trace(
        &self,
        site: &SiteId,
        object: &ObjectHash,
        name: &str,
        timezone: Option<&str>,
    ) -> Result<Option<Trace>, StoreError> {
        same_trace(&mut self.read().await?, site, object, name, timezone).await
    }

    /// A site's traces, newest first, older than `before`.
    pub async fn list_traces(
        &self,
        tenant: &TenantId,
        site: &SiteId,
        before: Option<&TraceId>,
        limit: i64,
    ) -> Result<Page<Trace, TraceId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let query = traces::table.filter(traces::tenant.eq(tenant)).filter(traces::site.eq(site));
            let mut query = query.into_boxed();
            if let Some(before) = before {
                query = query.filter(traces::id.lt(before));
            }
            query.order(traces::id.desc()).limit(clamp(limit) + 1).select(Trace::as_select())
        })?;
        Ok(Page::new(rows, limit, |trace: &Trace| trace.id.clone()))
    }

    /// Remembers the compact form of a trace that had none of this reader's; nothing happens if the trace is gone.
    pub async fn keep_compact_trace(&self, id: &TraceId, compact: &StoredCompact) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let row = diesel::update(traces::table.filter(traces::id.eq(id)));
        let kept = execute!(&mut conn, row.set(traces::compact_trace.eq(compact.to_json())));
        conn.finish(kept.map(drop).map_err(StoreError::from)).await
    }

    /// Forgets a trace (its object stays until nothing points to it); `false` if there is none.
    /// Studies keep their own list of files and are not touched.
    pub async fn delete_trace(&self, tenant: &TenantId, site: &SiteId, id: &TraceId) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let row = traces::table.filter(traces::tenant.eq(tenant)).filter(traces::site.eq(site));
        let deleted = execute!(&mut conn, diesel::delete(row.filter(traces::id.eq(id))));
        conn.finish_if_changed(deleted.map(|rows| rows > 0).map_err(StoreError::from)).await
    }
}
