//! Results: one row per study, scenario and replication, written once.

use diesel::prelude::*;

use crate::connection::{Store, first, load};
use crate::error::StoreError;
use crate::ids::{StudyId, TenantId};
use crate::objects::ObjectHash;
use crate::schema::replications;
use crate::time::UnixMillis;

/// A replication's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = replications)]
pub struct Replication {
    /// Whose it is.
    pub tenant: TenantId,
    /// Of which study.
    pub study: StudyId,
    /// Of which scenario; 0 is the baseline.
    pub scenario: i64,
    /// Which replication, from 0.
    pub replication: i64,
    /// The schedule file (CSV, compressed with zstd).
    pub schedule_object: ObjectHash,
    /// The summary file: JSON.
    pub summary: String,
    /// When it was stored.
    pub created_at: UnixMillis,
}

impl Store {
    /// One replication of a tenant's study.
    pub async fn replication(
        &self,
        tenant: &TenantId,
        study: &StudyId,
        scenario: i64,
        replication: i64,
    ) -> Result<Option<Replication>, StoreError> {
        let mut conn = self.read().await?;
        let query = replications::table
            .filter(replications::tenant.eq(tenant))
            .filter(replications::study.eq(study))
            .filter(replications::scenario.eq(scenario))
            .filter(replications::replication.eq(replication));
        Ok(first!(&mut conn, query.select(Replication::as_select()))?)
    }

    /// All replications of a study, by scenario and replication.
    pub async fn study_replications(&self, study: &StudyId) -> Result<Vec<Replication>, StoreError> {
        let mut conn = self.read().await?;
        let query = replications::table
            .filter(replications::study.eq(study))
            .order((replications::scenario.asc(), replications::replication.asc()));
        Ok(load!(&mut conn, query.select(Replication::as_select()))?)
    }
}
