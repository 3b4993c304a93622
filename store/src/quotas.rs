//! What tenants may use, and what they use.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::connection::{Conn, Store, execute, first};
use crate::error::StoreError;
use crate::ids::{TenantId, UploadId};
use crate::schema::{configs, quotas, studies, traces, uploads};
use crate::state::StudyState;
use crate::tenants::one_at_a_time;
use crate::text_enum::text_enum;
use crate::time::UnixMillis;

text_enum! {
    /// Who set a limit.
    QuotaSource {
        /// Whoever runs the service: what is granted.
        Service = "service",
        /// The tenant's administrator: never more than what is granted.
        Tenant = "tenant",
    }
}

/// Limits; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = quotas, treat_none_as_null = true)]
pub struct Limits {
    /// Requests per minute, with as many at once.
    pub requests_per_minute: Option<i64>,
    /// Uploads of configurations and traces per hour, with as many at once.
    pub uploads_per_hour: Option<i64>,
    /// Bytes of configurations and traces, as sent, and of uploads that have begun, as announced.
    pub stored_bytes: Option<i64>,
    /// Studies that have not ended.
    pub studies_active: Option<i64>,
    /// Jobs of the trace times scenarios (baseline included) times replications; where a scenario scales arrivals, as many more.
    pub jobs_per_study: Option<i64>,
}

/// What is used now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of configurations and traces, and those announced of uploads that have begun.
    pub stored_bytes: i64,
    /// Studies that have not ended.
    pub studies_active: i64,
}

impl Store {
    /// The limits of one source; all `None` if it set none.
    pub async fn limits(&self, tenant: &TenantId, source: QuotaSource) -> Result<Limits, StoreError> {
        let mut conn = self.read().await?;
        let query = quotas::table.filter(quotas::tenant.eq(tenant)).filter(quotas::source.eq(source));
        Ok(first!(&mut conn, query.select(Limits::as_select()))?.unwrap_or_default())
    }

    /// Sets all limits of one source; the tenant must exist.
    pub async fn set_limits(
        &self,
        tenant: &TenantId,
        source: QuotaSource,
        limits: &Limits,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let row = (quotas::tenant.eq(tenant), quotas::source.eq(source), quotas::updated_at.eq(now), *limits);
        let written = execute!(
            &mut conn,
            diesel::insert_into(quotas::table)
                .values(row)
                .on_conflict((quotas::tenant, quotas::source))
                .do_update()
                .set((*limits, quotas::updated_at.eq(now)))
        );
        conn.finish(written.map(|_| ()).map_err(StoreError::from)).await
    }

    /// What a tenant uses now.
    pub async fn usage(&self, tenant: &TenantId) -> Result<Usage, StoreError> {
        let mut conn = self.read().await?;
        Ok(Usage {
            stored_bytes: stored_bytes(&mut conn, tenant, None).await?,
            studies_active: active_studies(&mut conn, tenant).await?,
        })
    }
}

/// What a tenant may store, and what of it is used: there is no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// Bytes stored now.
    pub used: i64,
    /// Bytes that may be.
    pub limit: i64,
}

/// Whether `more` bytes fit under a limit. Until the transaction ends, nothing else of the tenant is stored.
pub(crate) async fn admit_bytes(
    conn: &mut Conn,
    tenant: &TenantId,
    more: i64,
    upload: Option<&UploadId>,
    limit: Option<i64>,
) -> Result<Option<Full>, StoreError> {
    one_at_a_time(conn, tenant).await?;
    let Some(limit) = limit else { return Ok(None) };
    let used = stored_bytes(conn, tenant, upload).await?;
    Ok((used.saturating_add(more) > limit).then_some(Full { used, limit }))
}

/// Bytes of configurations, traces and uploads that have begun, but for one.
async fn stored_bytes(conn: &mut Conn, tenant: &TenantId, but: Option<&UploadId>) -> Result<i64, StoreError> {
    let sum = |column: &str| sql::<BigInt>(&format!("CAST(COALESCE(SUM({column}), 0) AS BIGINT)"));
    let of_traces: Option<i64> = first!(conn, traces::table.filter(traces::tenant.eq(tenant)).select(sum("bytes")))?;
    let of_configs: Option<i64> = first!(conn, configs::table.filter(configs::tenant.eq(tenant)).select(sum("bytes")))?;
    let begun = uploads::table.filter(uploads::tenant.eq(tenant)).filter(uploads::trace.is_null());
    let of_uploads: Option<i64> = match but {
        Some(id) => first!(conn, begun.filter(uploads::id.ne(id)).select(sum("length")))?,
        None => first!(conn, begun.select(sum("length")))?,
    };
    Ok([of_traces, of_configs, of_uploads].into_iter().flatten().fold(0, i64::saturating_add))
}

/// Studies of a tenant that have not ended.
pub(crate) async fn active_studies(conn: &mut Conn, tenant: &TenantId) -> Result<i64, StoreError> {
    let active: Vec<_> = StudyState::ALL.iter().copied().filter(|state| !state.is_final()).collect();
    let mine = studies::table.filter(studies::tenant.eq(tenant)).filter(studies::state.eq_any(active));
    Ok(first!(conn, mine.count())?.unwrap_or_default())
}
