//! Storing results: fenced, exactly once, together with what follows from them.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, first};
use crate::error::StoreError;
use crate::ids::TaskId;
use crate::objects::ObjectHash;
use crate::replications::Replication;
use crate::schema::{replications, tasks};
use crate::state::{StudyState, TaskKind, TaskState};
use crate::studies::LockedStudy;
use crate::tasks::give_back::end_if_cancelling;
use crate::tasks::{NO_SCENARIO, NewTask, Task, TaskRef, study_of};
use crate::time::UnixMillis;

/// The result of one replication, its schedule already an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReplication {
    /// Which replication, from 0.
    pub replication: i64,
    /// The schedule file.
    pub schedule_object: ObjectHash,
    /// The summary file: JSON.
    pub summary: String,
}

/// What became of a completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The results are stored. If they were the study's last, this is its summarize task: push it.
    Stored {
        /// The task that follows.
        next: Option<TaskRef>,
    },
    /// The study was cancelled meanwhile: nothing is stored, the task is over.
    Cancelled,
    /// The task is no longer the caller's: nothing is stored.
    Fenced,
}

impl Store {
    /// Stores the results of a replicate task and ends it; `results` must be exactly its replications. The call that ends the
    /// study's last replicate task also makes its summarize task.
    pub async fn complete_replications(
        &self,
        task: &TaskRef,
        worker: &str,
        results: &[NewReplication],
        now: UnixMillis,
    ) -> Result<Completion, StoreError> {
        let mut conn = self.begin().await?;
        let result = complete(&mut conn, task, worker, results, now).await;
        conn.finish(result).await
    }

    /// Ends a summarize task and its study, whose comparison is an object already; `gate_breached` if a gate in it does not hold.
    pub async fn complete_summary(
        &self,
        task: &TaskRef,
        worker: &str,
        comparison: &ObjectHash,
        gate_breached: bool,
        now: UnixMillis,
    ) -> Result<Completion, StoreError> {
        let mut conn = self.begin().await?;
        let result = summarize(&mut conn, task, worker, (comparison, gate_breached), now).await;
        conn.finish(result).await
    }
}

async fn complete(
    conn: &mut Conn,
    task: &TaskRef,
    worker: &str,
    results: &[NewReplication],
    now: UnixMillis,
) -> Result<Completion, StoreError> {
    let Some((mut study, ended)) = end(conn, task, worker, TaskKind::Replicate, now).await? else {
        return Ok(Completion::Fenced);
    };
    if end_if_cancelling(conn, &mut study, &ended, now).await? {
        study.save(conn).await?;
        return Ok(Completion::Cancelled);
    }
    let mut found: Vec<i64> = results.iter().map(|result| result.replication).collect();
    found.sort_unstable();
    if !found.iter().copied().eq(ended.replication_from..ended.replication_to) {
        return Err(StoreError::WrongResults { task: ended.id });
    }
    for result in results {
        let row = Replication {
            tenant: ended.tenant.clone(),
            study: ended.study.clone(),
            scenario: ended.scenario,
            replication: result.replication,
            schedule_object: result.schedule_object.clone(),
            summary: result.summary.clone(),
            created_at: now,
        };
        execute!(conn, diesel::insert_into(replications::table).values(&row))?;
    }
    study.progress(ended.replication_to - ended.replication_from, now);
    let unfinished: Option<i64> = first!(
        conn,
        tasks::table.filter(tasks::study.eq(&ended.study)).filter(tasks::state.ne(TaskState::Succeeded)).count()
    )?;
    let next = if unfinished == Some(0) { Some(add_summarize(conn, &ended, now).await?) } else { None };
    study.save(conn).await?;
    Ok(Completion::Stored { next })
}

async fn summarize(
    conn: &mut Conn,
    task: &TaskRef,
    worker: &str,
    (comparison, gate_breached): (&ObjectHash, bool),
    now: UnixMillis,
) -> Result<Completion, StoreError> {
    let Some((mut study, ended)) = end(conn, task, worker, TaskKind::Summarize, now).await? else {
        return Ok(Completion::Fenced);
    };
    if end_if_cancelling(conn, &mut study, &ended, now).await? {
        study.save(conn).await?;
        return Ok(Completion::Cancelled);
    }
    study.row.comparison_object = Some(comparison.clone());
    study.enter(StudyState::Succeeded, now);
    if gate_breached {
        study.gate_breached(now);
    }
    study.save(conn).await?;
    Ok(Completion::Stored { next: None })
}

/// Locks the study and marks the caller's task as succeeded; `None` if it is not the caller's.
async fn end(
    conn: &mut Conn,
    task: &TaskRef,
    worker: &str,
    kind: TaskKind,
    now: UnixMillis,
) -> Result<Option<(LockedStudy, Task)>, StoreError> {
    let Some(study_id) = study_of(conn, &task.task).await? else { return Ok(None) };
    let Some(study) = LockedStudy::lock(conn, &study_id).await? else { return Ok(None) };
    let mine = tasks::table
        .filter(tasks::id.eq(&task.task))
        .filter(tasks::attempt.eq(task.attempt))
        .filter(tasks::kind.eq(kind))
        .filter(tasks::state.eq(TaskState::Running))
        .filter(tasks::worker.eq(worker));
    let ended: Option<Task> = first!(
        conn,
        diesel::update(mine)
            .set((
                tasks::state.eq(TaskState::Succeeded),
                tasks::lease_until.eq(None::<UnixMillis>),
                tasks::finished_at.eq(now),
            ))
            .returning(Task::as_returning())
    )?;
    Ok(ended.map(|ended| (study, ended)))
}

/// The unique key (study, kind, scenario, replication_from) refuses a second one.
async fn add_summarize(conn: &mut Conn, last: &Task, now: UnixMillis) -> Result<TaskRef, StoreError> {
    let new =
        NewTask { scenario: NO_SCENARIO, replication_from: 0, replication_to: 0, max_failures: last.max_failures };
    let task = Task::queued(&last.tenant, &last.study, TaskId::new(), TaskKind::Summarize, new, now);
    execute!(conn, diesel::insert_into(tasks::table).values(&task))?;
    Ok(task.to_ref())
}
