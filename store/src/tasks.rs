//! Tasks: what workers do. The row is the truth; a message in the queue only rings for it.
//!
//! ```text
//! queued ──claim──> running ──complete──> succeeded
//!   ^  │              │ └──failed max_failures times──> failed
//!   │  └──cancel──> cancelled <──study cancelled or failed
//!   └──failed, lease expired, handed back (attempt + 1)──┘
//! ```
//! Each change of hands raises `attempt`. A worker writes with the attempt it claimed; after a takeover its writes touch no row:
//! it is *fenced*.

mod claim;
mod complete;
mod give_back;
mod sweep;

use diesel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::connection::{Conn, Store, first, load};
use crate::error::StoreError;
use crate::ids::{StudyId, TaskId, TenantId};
use crate::schema::tasks;
use crate::state::{TaskKind, TaskState};
use crate::time::UnixMillis;

pub use claim::{Claimed, Renewal};
pub use complete::{Completion, NewReplication};
pub use give_back::{Failure, GiveBack};

/// The scenario number of a summarize task, which belongs to none.
pub const NO_SCENARIO: i64 = -1;

/// A task that has lost so many workers fails, and its study with it: it may be what ends them (a machine that runs out of memory).
/// Far more than failures: most workers are lost to something else.
pub const MAX_LOSSES: i64 = 20;

/// A task's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = tasks)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The study it belongs to.
    pub study: StudyId,
    /// What it does.
    pub kind: TaskKind,
    /// Which scenario: 0 is the baseline, 1 the document's first; [`NO_SCENARIO`] for a summary.
    pub scenario: i64,
    /// First replication, from 0.
    pub replication_from: i64,
    /// One past the last replication.
    pub replication_to: i64,
    /// Where it stands.
    pub state: TaskState,
    /// The number of the attempt that may write, from 1.
    pub attempt: i64,
    /// Attempts that failed; a hand-back is none, a lost worker neither.
    pub failures: i64,
    /// At so many failures the task and its study fail.
    pub max_failures: i64,
    /// Who runs it.
    pub worker: Option<String>,
    /// When its worker counts as dead unless it renews.
    pub lease_until: Option<UnixMillis>,
    /// The last failure's reason.
    pub error: Option<String>,
    /// Since when it waits (or waited).
    pub queued_at: UnixMillis,
    /// When the current attempt started.
    pub started_at: Option<UnixMillis>,
    /// When it entered its final state.
    pub finished_at: Option<UnixMillis>,
    /// Attempts whose worker was lost: its lease expired.
    pub losses: i64,
}

/// What a new replicate task covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// Which scenario: 0 is the baseline.
    pub scenario: i64,
    /// First replication, from 0.
    pub replication_from: i64,
    /// One past the last replication.
    pub replication_to: i64,
    /// At so many failures the task and its study fail.
    pub max_failures: i64,
}

/// A task at a certain attempt: what a message says, and what a worker writes with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskRef {
    /// Which task.
    pub task: TaskId,
    /// Which attempt.
    pub attempt: i64,
}

impl Task {
    /// A task nobody has tried.
    pub(crate) fn queued(
        tenant: &TenantId,
        study: &StudyId,
        id: TaskId,
        kind: TaskKind,
        new: NewTask,
        now: UnixMillis,
    ) -> Self {
        Self {
            id,
            tenant: tenant.clone(),
            study: study.clone(),
            kind,
            scenario: new.scenario,
            replication_from: new.replication_from,
            replication_to: new.replication_to,
            state: TaskState::Queued,
            attempt: 1,
            failures: 0,
            max_failures: new.max_failures.max(1),
            worker: None,
            lease_until: None,
            error: None,
            queued_at: now,
            started_at: None,
            finished_at: None,
            losses: 0,
        }
    }

    /// The task at its present attempt.
    pub fn to_ref(&self) -> TaskRef {
        TaskRef { task: self.id.clone(), attempt: self.attempt }
    }
}

impl Store {
    /// A task.
    pub async fn task(&self, id: &TaskId) -> Result<Option<Task>, StoreError> {
        let mut conn = self.read().await?;
        Ok(first!(&mut conn, tasks::table.filter(tasks::id.eq(id)).select(Task::as_select()))?)
    }

    /// A study's tasks, oldest first.
    pub async fn study_tasks(&self, study: &StudyId) -> Result<Vec<Task>, StoreError> {
        let mut conn = self.read().await?;
        let query = tasks::table.filter(tasks::study.eq(study)).order(tasks::id.asc());
        Ok(load!(&mut conn, query.select(Task::as_select()))?)
    }
}

/// The study a task belongs to; it never changes.
async fn study_of(conn: &mut Conn, task: &TaskId) -> Result<Option<StudyId>, StoreError> {
    Ok(first!(conn, tasks::table.filter(tasks::id.eq(task)).select(tasks::study))?)
}
