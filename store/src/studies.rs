//! Studies: the unit users ask for.
//!
//! ```text
//! queued ──claim──> running ──last summary──> succeeded
//!   │                 │ └──a task failed for the last time──> failed
//!   └──cancel──> cancelled <──tasks stopped── cancelling <──cancel── running
//! ```

mod cancel;
mod create;
mod engine;
mod locked;

use diesel::prelude::*;

use crate::connection::{Store, execute, first, load};
use crate::error::StoreError;
use crate::files::{StoredCompact, StoredFile, files_from_json};
use crate::ids::{StudyId, TenantId};
use crate::objects::ObjectHash;
use crate::page::{Page, clamp};
use crate::schema::studies;
use crate::state::StudyState;
use crate::time::UnixMillis;

pub use cancel::CancelOutcome;
pub use create::{CreateOutcome, Idempotency, NewStudy};
pub use engine::EngineMatch;
pub(crate) use locked::LockedStudy;

/// A study's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = studies)]
pub struct Study {
    /// Its id.
    pub id: StudyId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Its name from the document.
    pub name: String,
    /// The study document as JSON, normalised: it names files of `inputs`, never ids.
    pub document: String,
    /// The files it reads, as [`crate::files_to_json`] writes them; read them with [`Study::input_files`].
    pub inputs: String,
    /// SHA-256 over document, inputs and engine version: equal hashes have equal comparisons.
    pub input_hash: String,
    /// Version of the engine that all of it is run with; see [`EngineMatch`].
    pub engine_version: String,
    /// Where it stands.
    pub state: StudyState,
    /// Replications whose results are stored.
    pub replications_done: i64,
    /// Replications of all scenarios, baseline included.
    pub replications_total: i64,
    /// Number of its last event.
    pub last_event: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// The comparison document (JSON), once it succeeded.
    pub comparison_object: Option<ObjectHash>,
    /// Who asked for it.
    pub created_by: String,
    /// When.
    pub created_at: UnixMillis,
    /// When its first task started.
    pub started_at: Option<UnixMillis>,
    /// When it entered its final state.
    pub finished_at: Option<UnixMillis>,
    /// Its trace in compact form until it ends, as [`StoredCompact::to_json`] writes it; read it with [`Study::compact_trace`].
    pub compact_trace: Option<String>,
}

/// What a study's row says of where it stands: all but the document and its files, which may be large.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = studies)]
pub struct StudyHead {
    /// Its id.
    pub id: StudyId,
    /// Its name from the document.
    pub name: String,
    /// Version of the engine that all of it is run with; see [`EngineMatch`].
    pub engine_version: String,
    /// Where it stands.
    pub state: StudyState,
    /// Replications whose results are stored.
    pub replications_done: i64,
    /// Replications of all scenarios, baseline included.
    pub replications_total: i64,
    /// Number of its last event.
    pub last_event: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// The comparison document (JSON), once it succeeded.
    pub comparison_object: Option<ObjectHash>,
    /// Who asked for it.
    pub created_by: String,
    /// When.
    pub created_at: UnixMillis,
    /// When its first task started.
    pub started_at: Option<UnixMillis>,
    /// When it entered its final state.
    pub finished_at: Option<UnixMillis>,
}

impl From<Study> for StudyHead {
    fn from(study: Study) -> Self {
        Self {
            id: study.id,
            name: study.name,
            engine_version: study.engine_version,
            state: study.state,
            replications_done: study.replications_done,
            replications_total: study.replications_total,
            last_event: study.last_event,
            error: study.error,
            comparison_object: study.comparison_object,
            created_by: study.created_by,
            created_at: study.created_at,
            started_at: study.started_at,
            finished_at: study.finished_at,
        }
    }
}

impl Study {
    /// The files it reads.
    pub fn input_files(&self) -> Result<Vec<StoredFile>, StoreError> {
        files_from_json("studies.inputs", &self.inputs)
    }

    /// Its trace in compact form, if there is one.
    pub fn compact_trace(&self) -> Result<Option<StoredCompact>, StoreError> {
        let text = self.compact_trace.as_deref();
        text.map(|text| StoredCompact::from_json("studies.compact_trace", text)).transpose()
    }
}

impl Store {
    /// A tenant's study.
    pub async fn study(&self, tenant: &TenantId, id: &StudyId) -> Result<Option<Study>, StoreError> {
        let mut conn = self.read().await?;
        let query = studies::table.filter(studies::tenant.eq(tenant)).filter(studies::id.eq(id));
        Ok(first!(&mut conn, query.select(Study::as_select()))?)
    }

    /// Where a tenant's study stands.
    pub async fn study_head(&self, tenant: &TenantId, id: &StudyId) -> Result<Option<StudyHead>, StoreError> {
        let mut conn = self.read().await?;
        let query = studies::table.filter(studies::tenant.eq(tenant)).filter(studies::id.eq(id));
        Ok(first!(&mut conn, query.select(StudyHead::as_select()))?)
    }

    /// A tenant's studies, newest first, older than `before`; only those in `state` if one is named.
    pub async fn list_studies(
        &self,
        tenant: &TenantId,
        state: Option<StudyState>,
        before: Option<&StudyId>,
        limit: i64,
    ) -> Result<Page<StudyHead, StudyId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let mut query = studies::table.filter(studies::tenant.eq(tenant)).into_boxed();
            if let Some(state) = state {
                query = query.filter(studies::state.eq(state));
            }
            if let Some(before) = before {
                query = query.filter(studies::id.lt(before));
            }
            query.order(studies::id.desc()).limit(clamp(limit) + 1).select(StudyHead::as_select())
        })?;
        Ok(Page::new(rows, limit, |study: &StudyHead| study.id.clone()))
    }

    /// The state of a study, for the worker that runs one of its tasks.
    pub async fn study_state(&self, id: &StudyId) -> Result<Option<StudyState>, StoreError> {
        let mut conn = self.read().await?;
        Ok(first!(&mut conn, studies::table.filter(studies::id.eq(id)).select(studies::state))?)
    }

    /// Removes a study in a final state with everything that belongs to it (objects stay until nothing points to them);
    /// `false` if there is none, or if it is not final: cancel it first.
    pub async fn delete_study(&self, tenant: &TenantId, id: &StudyId) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let ended: Vec<_> = StudyState::ALL.iter().copied().filter(|state| state.is_final()).collect();
        let row = studies::table.filter(studies::tenant.eq(tenant)).filter(studies::id.eq(id));
        let deleted = execute!(&mut conn, diesel::delete(row.filter(studies::state.eq_any(ended))));
        conn.finish_if_changed(deleted.map(|rows| rows > 0).map_err(StoreError::from)).await
    }
}
