//! Tasks that end without a result: failed, handed back, taken from a dead worker, stopped.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, first};
use crate::error::StoreError;
use crate::schema::tasks;
use crate::state::{StudyState, TaskState};
use crate::studies::LockedStudy;
use crate::tasks::{MAX_LOSSES, Task, TaskRef, study_of};
use crate::time::UnixMillis;

/// Why a task gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Another attempt may do better (the child crashed, a server was away). Counts.
    Retry(String),
    /// No attempt can do better (the input is wrong). The study fails at once.
    Fatal(String),
    /// The worker shuts down. Does not count.
    HandBack,
    /// Its worker was lost. Counts apart, up to [`MAX_LOSSES`].
    Lost,
}

/// What became of a task given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GiveBack {
    /// It waits again, at a new attempt: push it.
    Requeued(TaskRef),
    /// It has failed for good, and its study with it.
    Dead,
    /// Its study was cancelled or failed meanwhile; the task is over.
    Cancelled,
    /// It was no longer the caller's; nothing changed.
    Fenced,
}

impl Store {
    /// Gives back a task the caller runs.
    pub async fn give_back(
        &self,
        task: &TaskRef,
        worker: &str,
        failure: &Failure,
        now: UnixMillis,
    ) -> Result<GiveBack, StoreError> {
        let mut conn = self.begin().await?;
        let result = give_back(&mut conn, task, Holder::Worker(worker), failure, now).await;
        conn.finish(result).await
    }

    /// Ends a task the caller runs and has stopped because of [`crate::tasks::Renewal::Stop`].
    pub async fn end_cancelled(&self, task: &TaskRef, worker: &str, now: UnixMillis) -> Result<GiveBack, StoreError> {
        self.give_back(task, worker, &Failure::HandBack, now).await
    }

    /// Takes a task from a worker whose lease has ended.
    /// `Fenced` if the worker renewed, ended or lost it meanwhile.
    pub async fn take_back(&self, task: &TaskRef, now: UnixMillis) -> Result<GiveBack, StoreError> {
        let mut conn = self.begin().await?;
        let result = give_back(&mut conn, task, Holder::Expired, &Failure::Lost, now).await;
        conn.finish(result).await
    }
}

/// Who must hold the task for it to be given back.
enum Holder<'a> {
    Worker(&'a str),
    Expired,
}

async fn give_back(
    conn: &mut Conn,
    task: &TaskRef,
    holder: Holder<'_>,
    failure: &Failure,
    now: UnixMillis,
) -> Result<GiveBack, StoreError> {
    let Some(study_id) = study_of(conn, &task.task).await? else { return Ok(GiveBack::Fenced) };
    let Some(mut study) = LockedStudy::lock(conn, &study_id).await? else { return Ok(GiveBack::Fenced) };
    let Some(released) = release(conn, task, holder, now).await? else { return Ok(GiveBack::Fenced) };
    if end_if_cancelling(conn, &mut study, &released, now).await? {
        study.save(conn).await?;
        return Ok(GiveBack::Cancelled);
    }
    let Task { mut failures, mut losses, .. } = released;
    let (dead, error) = match failure {
        Failure::Retry(error) => {
            failures += 1;
            (failures >= released.max_failures, Some(error.clone()))
        }
        Failure::Fatal(error) => {
            failures += 1;
            (true, Some(error.clone()))
        }
        Failure::HandBack => (false, released.error.clone()),
        Failure::Lost => {
            losses += 1;
            (losses >= MAX_LOSSES, Some(lost(losses)))
        }
    };
    let state = if dead { TaskState::Failed } else { TaskState::Queued };
    execute!(
        conn,
        diesel::update(tasks::table.filter(tasks::id.eq(&released.id))).set((
            tasks::state.eq(state),
            tasks::failures.eq(failures),
            tasks::losses.eq(losses),
            tasks::error.eq(&error),
            tasks::queued_at.eq(now),
            tasks::finished_at.eq(dead.then_some(now)),
        ))
    )?;
    if dead {
        study.row.error = error;
        study.cancel_queued_tasks(conn, now).await?;
        study.enter(StudyState::Failed, now);
        study.save(conn).await?;
        return Ok(GiveBack::Dead);
    }
    study.save(conn).await?;
    Ok(GiveBack::Requeued(TaskRef { task: released.id, attempt: released.attempt }))
}

fn lost(losses: i64) -> String {
    format!(
        "its worker was lost, {losses} times by now (killed, or cut off for longer than its lease); if the task is what ends its \
         workers, the machine's kernel log says so: lower FORESITE_TASK_MEMORY_BYTES or FORESITE_WORKER_TASKS"
    )
}

/// Takes the task out of its holder's hands and raises the attempt: from here on the old holder is fenced.
async fn release(
    conn: &mut Conn,
    task: &TaskRef,
    holder: Holder<'_>,
    now: UnixMillis,
) -> Result<Option<Task>, StoreError> {
    let released = first!(conn, {
        let held = diesel::update(tasks::table)
            .filter(tasks::id.eq(&task.task))
            .filter(tasks::attempt.eq(task.attempt))
            .filter(tasks::state.eq(TaskState::Running))
            .into_boxed();
        let held = match holder {
            Holder::Worker(worker) => held.filter(tasks::worker.eq(worker)),
            Holder::Expired => held.filter(tasks::lease_until.lt(now)),
        };
        held.set((
            tasks::attempt.eq(tasks::attempt + 1),
            tasks::state.eq(TaskState::Queued),
            tasks::worker.eq(None::<String>),
            tasks::lease_until.eq(None::<UnixMillis>),
        ))
        .returning(Task::as_returning())
    })?;
    Ok(released)
}

/// If the study is to do nothing more, ends the task as cancelled, and the study too if this was its last running task.
pub(super) async fn end_if_cancelling(
    conn: &mut Conn,
    study: &mut LockedStudy,
    task: &Task,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    if matches!(study.row.state, StudyState::Queued | StudyState::Running) {
        return Ok(false);
    }
    execute!(
        conn,
        diesel::update(tasks::table.filter(tasks::id.eq(&task.id)))
            .set((tasks::state.eq(TaskState::Cancelled), tasks::finished_at.eq(now)))
    )?;
    if study.row.state == StudyState::Cancelling && study.running_tasks(conn).await? == 0 {
        study.enter(StudyState::Cancelled, now);
    }
    Ok(true)
}
