//! One engine for all of a study: results of two versions are never compared with each other.
//!
//! During an upgrade old and new workers take tasks side by side. A study of an older engine begins anew when a newer worker comes to
//! one of its tasks; a study of a newer engine is left for a newer worker. So a study's version only rises.

use diesel::prelude::*;
use semver::Version;

use crate::connection::{Conn, Store, execute, first, load};
use crate::error::StoreError;
use crate::ids::{StudyId, TaskId};
use crate::objects::ObjectHash;
use crate::schema::{replications, studies, tasks};
use crate::state::{StudyState, TaskKind, TaskState};
use crate::studies::LockedStudy;
use crate::tasks::TaskRef;
use crate::time::UnixMillis;

/// How the engine of a task's study stands to a worker's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineMatch {
    /// The same, or the task does not wait at this attempt: the worker may claim it, and will see.
    Same,
    /// The study was of an older engine, and has begun anew with this one: its tasks wait at these attempts, push them.
    BegunAnew(Vec<TaskRef>),
    /// The study is of this newer engine: the task is left for a worker that has it.
    Newer(String),
}

impl Store {
    /// Compares the engine of a task's study with a worker's, before the worker claims the task. A study of an older one begins anew:
    /// its results go, and every task waits at a new attempt, so that whoever holds one is fenced.
    pub async fn match_engine(
        &self,
        task: &TaskRef,
        version: &str,
        now: UnixMillis,
    ) -> Result<EngineMatch, StoreError> {
        let waits = tasks::table
            .filter(tasks::id.eq(&task.task))
            .filter(tasks::attempt.eq(task.attempt))
            .filter(tasks::state.eq(TaskState::Queued))
            .select(tasks::study);
        let open = studies::state.eq_any([StudyState::Queued, StudyState::Running]);
        let found: Option<(StudyId, String)> = first!(
            &mut self.read().await?,
            studies::table
                .filter(studies::id.eq_any(waits))
                .filter(open)
                .select((studies::id, studies::engine_version))
        )?;
        match found {
            Some((_, known)) if is_newer(&known, version) => Ok(EngineMatch::Newer(known)),
            Some((study, known)) if known != version => {
                let mut conn = self.begin().await?;
                let result = begin_anew(&mut conn, &study, version, now).await;
                conn.finish(result).await
            }
            _ => Ok(EngineMatch::Same),
        }
    }
}

/// What is no version is older than any.
fn is_newer(one: &str, other: &str) -> bool {
    Version::parse(one).ok() > Version::parse(other).ok()
}

async fn begin_anew(
    conn: &mut Conn,
    study: &StudyId,
    version: &str,
    now: UnixMillis,
) -> Result<EngineMatch, StoreError> {
    let Some(mut study) = LockedStudy::lock(conn, study).await? else { return Ok(EngineMatch::Same) };
    // Another worker may have been here first.
    let is_open = matches!(study.row.state, StudyState::Queued | StudyState::Running);
    if !is_open || study.row.engine_version == version {
        return Ok(EngineMatch::Same);
    }
    if is_newer(&study.row.engine_version, version) {
        return Ok(EngineMatch::Newer(study.row.engine_version));
    }
    let id = study.row.id.clone();
    execute!(conn, diesel::delete(replications::table.filter(replications::study.eq(&id))))?;
    // It is made again with the last result.
    let summarize = tasks::table.filter(tasks::study.eq(&id)).filter(tasks::kind.eq(TaskKind::Summarize));
    execute!(conn, diesel::delete(summarize))?;
    let mut refs: Vec<(TaskId, i64)> = load!(
        conn,
        diesel::update(tasks::table.filter(tasks::study.eq(&id)))
            .set((
                tasks::attempt.eq(tasks::attempt + 1),
                tasks::state.eq(TaskState::Queued),
                tasks::failures.eq(0),
                tasks::losses.eq(0),
                tasks::worker.eq(None::<String>),
                tasks::lease_until.eq(None::<UnixMillis>),
                tasks::error.eq(None::<String>),
                tasks::queued_at.eq(now),
                tasks::finished_at.eq(None::<UnixMillis>),
            ))
            .returning((tasks::id, tasks::attempt))
    )?;
    refs.sort_unstable();
    // Still equal for equal studies only.
    let hashed = format!("{} {version}", study.row.input_hash);
    study.row.input_hash = ObjectHash::of(hashed.as_bytes()).to_string();
    version.clone_into(&mut study.row.engine_version);
    // Its expected end is reckoned from here on.
    study.row.started_at = study.row.started_at.map(|_| now);
    study.progress(-study.row.replications_done, now);
    study.save(conn).await?;
    Ok(EngineMatch::BegunAnew(refs.into_iter().map(|(task, attempt)| TaskRef { task, attempt }).collect()))
}
