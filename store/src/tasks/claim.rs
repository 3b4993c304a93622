//! Taking a task, and keeping it.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, first};
use crate::error::StoreError;
use crate::ids::StudyId;
use crate::schema::{studies, tasks};
use crate::state::{StudyState, TaskState};
use crate::studies::{LockedStudy, Study};
use crate::tasks::{Task, TaskRef, study_of};
use crate::time::UnixMillis;

/// A task that is the caller's until its lease ends, and the study it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The task, in state `running`.
    pub task: Task,
    /// Its study.
    pub study: Study,
}

/// The answer to a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The task is the caller's until the new time.
    Held,
    /// The task is the caller's, but its study is being cancelled or has failed: stop it and say so with
    /// [`Store::end_cancelled`].
    Stop,
    /// The task is no longer the caller's: stop it and write nothing.
    Lost,
}

impl Store {
    /// Takes a task that is queued at this very attempt; `None` if another worker was first, or it was cancelled, or the message
    /// is stale. `worker` names the caller; the task is its until `lease_until`.
    pub async fn claim_task(
        &self,
        task: &TaskRef,
        worker: &str,
        lease_until: UnixMillis,
        now: UnixMillis,
    ) -> Result<Option<Claimed>, StoreError> {
        let mut conn = self.begin().await?;
        let result = claim(&mut conn, task, worker, lease_until, now).await;
        conn.finish(result).await
    }

    /// Prolongs the caller's lease.
    pub async fn renew_lease(
        &self,
        task: &TaskRef,
        worker: &str,
        lease_until: UnixMillis,
    ) -> Result<Renewal, StoreError> {
        let mut conn = self.begin().await?;
        let result = renew(&mut conn, task, worker, lease_until).await;
        conn.finish(result).await
    }
}

async fn claim(
    conn: &mut Conn,
    task: &TaskRef,
    worker: &str,
    lease_until: UnixMillis,
    now: UnixMillis,
) -> Result<Option<Claimed>, StoreError> {
    let Some(study_id) = study_of(conn, &task.task).await? else { return Ok(None) };
    let Some(mut study) = LockedStudy::lock(conn, &study_id).await? else { return Ok(None) };
    if !matches!(study.row.state, StudyState::Queued | StudyState::Running) {
        return Ok(None);
    }
    let waiting = tasks::table
        .filter(tasks::id.eq(&task.task))
        .filter(tasks::attempt.eq(task.attempt))
        .filter(tasks::state.eq(TaskState::Queued));
    let claimed: Option<Task> = first!(
        conn,
        diesel::update(waiting)
            .set((
                tasks::state.eq(TaskState::Running),
                tasks::worker.eq(worker),
                tasks::lease_until.eq(lease_until),
                tasks::started_at.eq(now),
            ))
            .returning(Task::as_returning())
    )?;
    let Some(claimed) = claimed else { return Ok(None) };
    if study.row.state == StudyState::Queued {
        study.enter(StudyState::Running, now);
    }
    let study = study.save(conn).await?;
    Ok(Some(Claimed { task: claimed, study }))
}

async fn renew(conn: &mut Conn, task: &TaskRef, worker: &str, lease_until: UnixMillis) -> Result<Renewal, StoreError> {
    let mine = tasks::table
        .filter(tasks::id.eq(&task.task))
        .filter(tasks::attempt.eq(task.attempt))
        .filter(tasks::state.eq(TaskState::Running))
        .filter(tasks::worker.eq(worker));
    let renewed = execute!(conn, diesel::update(mine).set(tasks::lease_until.eq(lease_until)))?;
    let study: Option<StudyId> = if renewed == 1 { study_of(conn, &task.task).await? } else { None };
    let Some(study) = study else { return Ok(Renewal::Lost) };
    let state: Option<StudyState> = first!(conn, studies::table.filter(studies::id.eq(&study)).select(studies::state))?;
    Ok(if state == Some(StudyState::Running) { Renewal::Held } else { Renewal::Stop })
}
