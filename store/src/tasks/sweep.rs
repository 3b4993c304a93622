//! What the sweeper asks for: tasks that may have been forgotten.

use diesel::prelude::*;

use crate::connection::{Store, load};
use crate::error::StoreError;
use crate::ids::TaskId;
use crate::schema::tasks;
use crate::state::TaskState;
use crate::tasks::TaskRef;
use crate::time::UnixMillis;

impl Store {
    /// Running tasks whose lease ended before `now`, at most `limit`, longest dead first.
    pub async fn expired_tasks(&self, now: UnixMillis, limit: i64) -> Result<Vec<TaskRef>, StoreError> {
        let mut conn = self.read().await?;
        let query = tasks::table.filter(tasks::state.eq(TaskState::Running)).filter(tasks::lease_until.lt(now));
        let query = query.order(tasks::lease_until.asc()).limit(limit);
        Ok(refs(load!(&mut conn, query.select((tasks::id, tasks::attempt)))?))
    }

    /// Tasks that have been queued since before `queued_before`, in order of id after `after`, at most `limit`. Each should have
    /// a message in the queue; pushing it again does no harm, since a message is kept once per task and attempt.
    pub async fn queued_tasks(
        &self,
        queued_before: UnixMillis,
        after: Option<&TaskId>,
        limit: i64,
    ) -> Result<Vec<TaskRef>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let mut query = tasks::table.into_boxed();
            query = query.filter(tasks::state.eq(TaskState::Queued)).filter(tasks::queued_at.lt(queued_before));
            if let Some(after) = after {
                query = query.filter(tasks::id.gt(after));
            }
            query.order(tasks::id.asc()).limit(limit).select((tasks::id, tasks::attempt))
        })?;
        Ok(refs(rows))
    }
}

fn refs(rows: Vec<(TaskId, i64)>) -> Vec<TaskRef> {
    rows.into_iter().map(|(task, attempt)| TaskRef { task, attempt }).collect()
}
