//! Numbers for metrics and for people who wait.

use diesel::dsl::{count_star, min};
use diesel::prelude::*;

use crate::connection::{Store, first, load};
use crate::error::StoreError;
use crate::ids::StudyId;
use crate::schema::{studies, tasks};
use crate::state::{StudyState, TaskState};
use crate::time::UnixMillis;

/// What waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    /// Tasks that wait.
    pub queued: i64,
    /// Tasks that run.
    pub running: i64,
    /// Since when the longest-waiting task waits.
    pub oldest_queued_at: Option<UnixMillis>,
}

impl Store {
    /// How much waits and runs, over all tenants.
    pub async fn queue_depth(&self) -> Result<QueueDepth, StoreError> {
        let mut conn = self.read().await?;
        let in_state = |state: TaskState| tasks::table.filter(tasks::state.eq(state));
        let queued: Option<i64> = first!(&mut conn, in_state(TaskState::Queued).count())?;
        let running: Option<i64> = first!(&mut conn, in_state(TaskState::Running).count())?;
        let oldest: Option<Option<UnixMillis>> =
            first!(&mut conn, in_state(TaskState::Queued).select(min(tasks::queued_at)))?;
        Ok(QueueDepth {
            queued: queued.unwrap_or_default(),
            running: running.unwrap_or_default(),
            oldest_queued_at: oldest.flatten(),
        })
    }

    /// How many studies are in each state, over all tenants; states without studies are left out.
    pub async fn count_studies(&self) -> Result<Vec<(StudyState, i64)>, StoreError> {
        let mut conn = self.read().await?;
        let query = studies::table.group_by(studies::state).select((studies::state, count_star()));
        Ok(load!(&mut conn, query)?)
    }

    /// How many waiting tasks of other studies stand before the first waiting task of this one; `None` if it has none waiting.
    pub async fn queue_position(&self, study: &StudyId) -> Result<Option<i64>, StoreError> {
        let mut conn = self.read().await?;
        let waiting = || tasks::table.filter(tasks::state.eq(TaskState::Queued));
        let first: Option<Option<UnixMillis>> =
            first!(&mut conn, waiting().filter(tasks::study.eq(study)).select(min(tasks::queued_at)))?;
        let Some(first) = first.flatten() else { return Ok(None) };
        Ok(first!(&mut conn, waiting().filter(tasks::study.ne(study)).filter(tasks::queued_at.lt(first)).count())?)
    }
}
