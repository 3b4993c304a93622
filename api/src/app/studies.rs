//! Studies: accepted, listed, watched, cancelled, deleted.

use foresite_formats::diagnostic::{Diagnostic, any_error};
use foresite_store::events::StudyEvent;
use foresite_store::ids::{StudyId, TenantId};
use foresite_store::page::Page;
use foresite_store::state::StudyState;
use foresite_store::studies::{CancelOutcome, CreateOutcome, Idempotency, NewStudy, Study, StudyHead};
use sha2::{Digest, Sha256};

use super::quotas::STUDY_WAIT;
use super::{audit, sites, study_inputs};
use crate::auth::permission::{Authorised, ReadStudies, WriteStudies};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// The longest Idempotency-Key [bytes].
const KEY_MAX: usize = 255;
/// Events read from the database at once.
pub(super) const EVENTS_AT_ONCE: usize = 100;

/// A study and where it stands in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyStatus {
    /// Its row.
    pub study: StudyHead,
    /// Waiting tasks of other studies before its first one; `None` if it waits for nothing.
    pub queue_position: Option<i64>,
    /// When it will probably have ended; `None` until a first replication is done.
    pub expected_end_at: Option<i64>,
}

/// Accepts a study document (YAML or JSON): checks everything, stores study and tasks at once, then rings for workers.
///
/// # Errors
/// 422 with every fault of document, configuration and trace; 422 for a key that belongs to another document.
pub async fn create(
    context: &Context,
    caller: &Authorised<WriteStudies>,
    document: &[u8],
    idempotency_key: Option<&str>,
) -> ApiResult<StudyStatus> {
    let caller = caller.principal();
    let key = idempotency_key.filter(|key| !key.is_empty());
    if key.is_some_and(|key| key.len() > KEY_MAX || key.chars().any(char::is_control)) {
        let detail =
            format!("the Idempotency-Key has more than {KEY_MAX} bytes, or control characters; a UUID will do");
        return Err(ApiError::new(Code::InvalidRequest, detail));
    }
    let request_hash = hex::encode(Sha256::digest(document));
    let idempotency = key.map(|key| Idempotency { key, request_hash: &request_hash });
    // Before anything is judged: the answer to a repetition is the first answer, whatever has become of the study's files since.
    if let Some(idempotency) = idempotency
        && let Some(known) = context.store.replayed_study(&caller.tenant, idempotency).await?
    {
        return answer(context, known).await;
    }
    let checked = study_inputs::check(context, &caller.tenant, document).await?;
    let new = NewStudy {
        id: StudyId::new(),
        tenant: caller.tenant.clone(),
        name: checked.name,
        document: checked.document,
        inputs: checked.inputs,
        compact_trace: checked.compact_trace,
        input_hash: checked.input_hash,
        engine_version: checked.engine_version,
        created_by: caller.actor.clone(),
        max_active: context.quotas.in_force(&caller.tenant).await.studies_active,
    };
    let store = audit::noting(context, caller, "study.create", new.id.as_str()).await?;
    answer(context, store.create_study(&new, &checked.tasks, idempotency, context.store.now().await?).await?).await
}

async fn answer(context: &Context, outcome: CreateOutcome) -> ApiResult<StudyStatus> {
    match outcome {
        CreateOutcome::Created { study, tasks } => {
            context.ring(&tasks).await;
            status(context, study.into()).await
        }
        CreateOutcome::Replayed(study) => status(context, study.into()).await,
        CreateOutcome::Mismatch => {
            Err(ApiError::new(Code::IdempotencyKeyReused, "send another key for another document"))
        }
        CreateOutcome::TooManyActive(active) => {
            let detail = format!(
                "{active} studies of the tenant have not ended, which is the most; wait for one, or cancel one"
            );
            Err(ApiError::later(Code::TooManyStudies, detail, STUDY_WAIT))
        }
    }
}

/// The studies of the caller's tenant, newest first; only those in `state` if one is named. Their places in the queue are not told.
///
/// # Errors
/// 400 for a cursor or a state that is none of ours.
pub async fn list(
    context: &Context,
    caller: &Authorised<ReadStudies>,
    state: Option<&str>,
    before: Option<&str>,
    limit: i64,
) -> ApiResult<Page<StudyStatus, StudyId>> {
    let before = sites::cursor(before, StudyId::parse)?;
    let state = state.map(|word| StudyState::parse(word).ok_or_else(|| unknown_state(word))).transpose()?;
    let found = context.store.list_studies(&caller.principal().tenant, state, before.as_ref(), limit).await?;
    let now = context.store.now().await?;
    let unplaced = |study| StudyStatus { expected_end_at: expected_end(&study, now), queue_position: None, study };
    Ok(Page { items: found.items.into_iter().map(unplaced).collect(), next: found.next })
}

fn unknown_state(word: &str) -> ApiError {
    let known: Vec<&str> = StudyState::ALL.iter().map(|state| state.as_str()).collect();
    ApiError::new(Code::InvalidRequest, format!("there is no state '{word}'; there are {}", known.join(", ")))
}

/// A study of the caller's tenant.
///
/// # Errors
/// 404 if there is none, or if it is another tenant's.
pub async fn get(context: &Context, caller: &Authorised<ReadStudies>, id: &str) -> ApiResult<StudyStatus> {
    let study = find(context, &caller.principal().tenant, id).await?;
    status(context, study).await
}

/// Asks a study to stop; running simulations end soon after. Doing it twice is as good as once.
///
/// # Errors
/// 404 if there is none; 409 if it has already succeeded or failed.
pub async fn cancel(context: &Context, caller: &Authorised<WriteStudies>, id: &str) -> ApiResult<StudyStatus> {
    let caller = caller.principal();
    let missing = || ApiError::not_found("study", id);
    let parsed = StudyId::parse(id).ok_or_else(missing)?;
    let store = audit::noting(context, caller, "study.cancel", parsed.as_str()).await?;
    let study = match store.cancel_study(&caller.tenant, &parsed, context.store.now().await?).await? {
        CancelOutcome::NotFound => return Err(missing()),
        CancelOutcome::Cancelled(study) => study,
        CancelOutcome::AlreadyFinal(study) if study.state == StudyState::Cancelled => study,
        CancelOutcome::AlreadyFinal(study) => {
            return Err(ApiError::new(Code::StudyEnded, format!("the study has {} already", study.state)));
        }
    };
    status(context, study.into()).await
}

/// Removes a study that has ended, with its results.
///
/// # Errors
/// 404 if there is none; 409 while it is at work.
pub async fn delete(context: &Context, caller: &Authorised<WriteStudies>, id: &str) -> ApiResult<()> {
    let caller = caller.principal();
    let study = find(context, &caller.tenant, id).await?;
    let store = audit::noting(context, caller, "study.delete", study.id.as_str()).await?;
    if !store.delete_study(&caller.tenant, &study.id).await? {
        let detail = format!("the study is {}; cancel it first", study.state);
        return Err(ApiError::new(Code::StudyActive, detail));
    }
    Ok(())
}

/// A study's events after number `after`, oldest first, and whether more may come.
///
/// # Errors
/// 404 if there is no such study.
pub async fn events(
    context: &Context,
    caller: &Authorised<ReadStudies>,
    id: &str,
    after: i64,
) -> ApiResult<(Vec<StudyEvent>, bool)> {
    let tenant = &caller.principal().tenant;
    // The row first: whatever it counts as told is then found among the events.
    let study = find(context, tenant, id).await?;
    let events = context.store.study_events(tenant, &study.id, after, EVENTS_AT_ONCE as i64).await?;
    let told = events.last().map_or(after, |event| event.seq);
    Ok((events, !study.state.is_final() || told < study.last_event))
}

/// Where the study of a tenant stands; another tenant's does not exist.
pub(super) async fn find(context: &Context, tenant: &TenantId, id: &str) -> ApiResult<StudyHead> {
    let missing = || ApiError::not_found("study", id);
    let study = StudyId::parse(id).ok_or_else(missing)?;
    context.store.study_head(tenant, &study).await?.ok_or_else(missing)
}

/// The study of a tenant with its document.
pub(super) async fn find_whole(context: &Context, tenant: &TenantId, id: &str) -> ApiResult<Study> {
    let missing = || ApiError::not_found("study", id);
    let study = StudyId::parse(id).ok_or_else(missing)?;
    context.store.study(tenant, &study).await?.ok_or_else(missing)
}

async fn status(context: &Context, study: StudyHead) -> ApiResult<StudyStatus> {
    let queue_position = match study.state {
        StudyState::Queued => context.store.queue_position(&study.id).await?,
        _ => None,
    };
    let expected_end_at = expected_end(&study, context.store.now().await?);
    Ok(StudyStatus { study, queue_position, expected_end_at })
}

/// If the rest takes as long per replication as what is done.
fn expected_end(study: &StudyHead, now: i64) -> Option<i64> {
    let started = study.started_at?;
    let (done, total) = (study.replications_done, study.replications_total);
    if study.finished_at.is_some() || done <= 0 {
        return None;
    }
    let per_replication = now.checked_sub(started)?.checked_div(done)?;
    now.checked_add(per_replication.checked_mul((total - done).max(0))?)
}

/// Refuses a study if any diagnostic is an error.
pub(super) fn refuse_errors(diagnostics: Vec<Diagnostic>) -> ApiResult<()> {
    if any_error(&diagnostics) { Err(ApiError::refused(Code::InvalidStudy, diagnostics)) } else { Ok(()) }
}
