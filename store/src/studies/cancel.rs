//! Cancelling a study.

use diesel::prelude::*;

use crate::connection::{Conn, Store, first};
use crate::error::StoreError;
use crate::ids::{StudyId, TenantId};
use crate::schema::studies;
use crate::state::StudyState;
use crate::studies::{LockedStudy, Study};
use crate::time::UnixMillis;

/// What [`Store::cancel_study`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The tenant has no such study.
    NotFound,
    /// It is cancelled, or `cancelling` until its running tasks are stopped; no result is stored from now on.
    Cancelled(Study),
    /// It was in a final state already, and stays so.
    AlreadyFinal(Study),
}

impl Store {
    /// Cancels a study. Doing it twice is as good as once.
    pub async fn cancel_study(
        &self,
        tenant: &TenantId,
        id: &StudyId,
        now: UnixMillis,
    ) -> Result<CancelOutcome, StoreError> {
        let mut conn = self.begin().await?;
        let result = cancel(&mut conn, tenant, id, now).await;
        if !matches!(result, Ok(CancelOutcome::Cancelled(_))) {
            conn.unaudited();
        }
        conn.finish(result).await
    }
}

async fn cancel(
    conn: &mut Conn,
    tenant: &TenantId,
    id: &StudyId,
    now: UnixMillis,
) -> Result<CancelOutcome, StoreError> {
    let mine = studies::table.filter(studies::tenant.eq(tenant)).filter(studies::id.eq(id));
    let found: Option<StudyId> = first!(conn, mine.select(studies::id))?;
    let Some(found) = found else { return Ok(CancelOutcome::NotFound) };
    let Some(mut study) = LockedStudy::lock(conn, &found).await? else { return Ok(CancelOutcome::NotFound) };
    if study.row.state.is_final() {
        return Ok(CancelOutcome::AlreadyFinal(study.row));
    }
    if study.row.state != StudyState::Cancelling {
        let running = study.cancel_queued_tasks(conn, now).await?;
        study.enter(if running == 0 { StudyState::Cancelled } else { StudyState::Cancelling }, now);
    }
    Ok(CancelOutcome::Cancelled(study.save(conn).await?))
}
