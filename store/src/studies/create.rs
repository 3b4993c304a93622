//! Creating a study with its tasks: all or nothing, and once per idempotency key.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, first};
use crate::error::StoreError;
use crate::files::{StoredCompact, StoredFile, files_to_json};
use crate::ids::{StudyId, TaskId, TenantId};
use crate::quotas::active_studies;
use crate::schema::{idempotency_keys, studies, tasks};
use crate::state::{StudyState, TaskKind};
use crate::studies::{LockedStudy, Study};
use crate::tasks::{NewTask, Task, TaskRef};
use crate::tenants::one_at_a_time;
use crate::time::UnixMillis;

/// What a caller knows of a new study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewStudy {
    /// Its id.
    pub id: StudyId,
    /// Whose it is; the tenant must exist.
    pub tenant: TenantId,
    /// Its name from the document.
    pub name: String,
    /// The normalised document as JSON.
    pub document: String,
    /// The files it reads.
    pub inputs: Vec<StoredFile>,
    /// The trace among them in its compact form.
    pub compact_trace: Option<StoredCompact>,
    /// SHA-256 over document, inputs and engine version.
    pub input_hash: String,
    /// Version of the engine.
    pub engine_version: String,
    /// Who asks for it.
    pub created_by: String,
    /// How many studies of the tenant may be at work, this one included; `None` for any number.
    pub max_active: Option<i64>,
}

/// A client's key for "this request, however often I send it".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency<'a> {
    /// The client's key.
    pub key: &'a str,
    /// SHA-256 of the request, so that the same key for another request is noticed.
    pub request_hash: &'a str,
}

/// What [`Store::create_study`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreateOutcome {
    /// The study exists now; push its tasks (the sweeper does if this process dies first).
    Created {
        /// The new study.
        study: Study,
        /// Its tasks, in order.
        tasks: Vec<TaskRef>,
    },
    /// The key was used for the same request: this is its study.
    Replayed(Study),
    /// The key was used for another request: nothing was done.
    Mismatch,
    /// So many studies of the tenant are at work that there is no room for another: nothing was done.
    TooManyActive(i64),
}

impl Store {
    /// Creates a study in state `queued` with its replicate tasks, in one transaction. Of any number of calls with the same
    /// key, at any time and in parallel, one creates.
    pub async fn create_study(
        &self,
        new: &NewStudy,
        tasks: &[NewTask],
        idempotency: Option<Idempotency<'_>>,
        now: UnixMillis,
    ) -> Result<CreateOutcome, StoreError> {
        let mut conn = self.begin().await?;
        let result = create(&mut conn, new, tasks, idempotency, now).await;
        if !matches!(result, Ok(CreateOutcome::Created { .. })) {
            conn.unaudited();
        }
        match result {
            // The key was taken in this transaction: a refused study leaves none.
            Ok(CreateOutcome::TooManyActive(active)) => {
                conn.undo().await.map(|()| CreateOutcome::TooManyActive(active))
            }
            result => conn.finish(result).await,
        }
    }
}

impl Store {
    /// What [`Store::create_study`] would say to a key that was used before; `None` for one that was not.
    pub async fn replayed_study(
        &self,
        tenant: &TenantId,
        idempotency: Idempotency<'_>,
    ) -> Result<Option<CreateOutcome>, StoreError> {
        let mut conn = self.read().await?;
        replay(&mut conn, tenant, idempotency).await
    }
}

async fn create(
    conn: &mut Conn,
    new: &NewStudy,
    new_tasks: &[NewTask],
    idempotency: Option<Idempotency<'_>>,
    now: UnixMillis,
) -> Result<CreateOutcome, StoreError> {
    if let Some(idempotency) = idempotency
        && !take_key(conn, new, idempotency, now).await?
    {
        // The key's row refers to the study's, so it exists unless both were deleted this very moment.
        let known = replay(conn, &new.tenant, idempotency).await?;
        return known.ok_or_else(|| diesel::result::Error::NotFound.into());
    }
    if let Some(most) = new.max_active {
        one_at_a_time(conn, &new.tenant).await?;
        let active = active_studies(conn, &new.tenant).await?;
        if active >= most {
            return Ok(CreateOutcome::TooManyActive(active));
        }
    }
    let row = row_of(new, new_tasks, now);
    execute!(conn, diesel::insert_into(studies::table).values(&row))?;
    let mut refs = Vec::with_capacity(new_tasks.len());
    for new_task in new_tasks {
        let task = Task::queued(&new.tenant, &new.id, TaskId::new(), TaskKind::Replicate, *new_task, now);
        execute!(conn, diesel::insert_into(tasks::table).values(&task))?;
        refs.push(task.to_ref());
    }
    let mut locked = LockedStudy::of(row);
    locked.enter(StudyState::Queued, now);
    let study = locked.save(conn).await?;
    Ok(CreateOutcome::Created { study, tasks: refs })
}

/// Whether this call is the first with its key. A parallel call with the same key waits here for the other's end.
async fn take_key(
    conn: &mut Conn,
    new: &NewStudy,
    idempotency: Idempotency<'_>,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let row = (
        idempotency_keys::tenant.eq(&new.tenant),
        idempotency_keys::key.eq(idempotency.key),
        idempotency_keys::request_hash.eq(idempotency.request_hash),
        idempotency_keys::study.eq(&new.id),
        idempotency_keys::created_at.eq(now),
    );
    let inserted = execute!(
        conn,
        diesel::insert_into(idempotency_keys::table)
            .values(row)
            .on_conflict((idempotency_keys::tenant, idempotency_keys::key))
            .do_nothing()
    )?;
    Ok(inserted == 1)
}

async fn replay(
    conn: &mut Conn,
    tenant: &TenantId,
    idempotency: Idempotency<'_>,
) -> Result<Option<CreateOutcome>, StoreError> {
    let mine = idempotency_keys::table
        .filter(idempotency_keys::tenant.eq(tenant))
        .filter(idempotency_keys::key.eq(idempotency.key));
    let found: Option<(String, StudyId)> =
        first!(conn, mine.select((idempotency_keys::request_hash, idempotency_keys::study)))?;
    match found {
        Some((hash, study)) if hash == idempotency.request_hash => {
            let query = studies::table.filter(studies::id.eq(&study));
            Ok(first!(conn, query.select(Study::as_select()))?.map(CreateOutcome::Replayed))
        }
        Some(_) => Ok(Some(CreateOutcome::Mismatch)),
        None => Ok(None),
    }
}

fn row_of(new: &NewStudy, new_tasks: &[NewTask], now: UnixMillis) -> Study {
    Study {
        id: new.id.clone(),
        tenant: new.tenant.clone(),
        name: new.name.clone(),
        document: new.document.clone(),
        inputs: files_to_json(&new.inputs),
        input_hash: new.input_hash.clone(),
        engine_version: new.engine_version.clone(),
        state: StudyState::Queued,
        replications_done: 0,
        replications_total: new_tasks.iter().map(|task| task.replication_to - task.replication_from).sum(),
        last_event: 0,
        error: None,
        comparison_object: None,
        created_by: new.created_by.clone(),
        created_at: now,
        started_at: None,
        finished_at: None,
        compact_trace: new.compact_trace.as_ref().map(StoredCompact::to_json),
    }
}
