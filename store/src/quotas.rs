//! What tenants may use, and what they use.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::connection::{Conn, Store, execute, first};
use crate::error::StoreError;
use crate::ids::TenantId;
use crate::schema::{configs, quotas, studies, traces};
use crate::state::StudyState;
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
    /// Bytes of configurations and traces, as sent.
    pub stored_bytes: Option<i64>,
    /// Studies that have not ended.
    pub studies_active: Option<i64>,
    /// Jobs of the trace times scenarios (baseline included) times replications.
    pub jobs_per_study: Option<i64>,
}

/// What is used now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of configurations and traces.
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
        let of_traces: Option<i64> = first!(
            &mut conn,
            traces::table
                .filter(traces::tenant.eq(tenant))
                .select(sql::<BigInt>("CAST(COALESCE(SUM(bytes), 0) AS BIGINT)"))
        )?;
        let of_configs: Option<i64> = first!(
            &mut conn,
            configs::table
                .filter(configs::tenant.eq(tenant))
                .select(sql::<BigInt>("CAST(COALESCE(SUM(bytes), 0) AS BIGINT)"))
        )?;
        Ok(Usage {
            stored_bytes: of_traces.unwrap_or_default().saturating_add(of_configs.unwrap_or_default()),
            studies_active: active_studies(&mut conn, tenant).await?,
        })
    }
}

/// Studies of a tenant that have not ended.
pub(crate) async fn active_studies(conn: &mut Conn, tenant: &TenantId) -> Result<i64, StoreError> {
    let active: Vec<_> = StudyState::ALL.iter().copied().filter(|state| !state.is_final()).collect();
    let mine = studies::table.filter(studies::tenant.eq(tenant)).filter(studies::state.eq_any(active));
    Ok(first!(conn, mine.count())?.unwrap_or_default())
}
