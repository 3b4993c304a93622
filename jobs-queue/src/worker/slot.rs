//! One slot of a worker: one task at a time.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foresite_store::StoreError;
use foresite_store::studies::EngineMatch;
use foresite_store::tasks::{Claimed, Completion, Failure, GiveBack, TaskRef};
use foresite_store::time::millis;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::attempt::{AttemptError, Produced};
use super::lease::Stop;
use super::{Worker, attempt, lease};
use crate::metrics::TaskOutcome;
use crate::queue::Delivery;

/// How long a slot waits for a message before it looks whether to shut down.
const WAIT: Duration = Duration::from_secs(1);
/// How long a slot rests when a server is away.
const REST: Duration = Duration::from_secs(1);
/// After a task that was left for a newer worker.
const LEFT: Duration = Duration::from_millis(20);
/// How often the end of a task is written again while the database is away; after that its lease ends it.
const TRIES: u32 = 5;

pub(super) async fn run(worker: Arc<Worker>, shutdown: CancellationToken) {
    while !shutdown.is_cancelled() {
        match worker.queue.next(&worker.settings.name, WAIT).await {
            Ok(None) => {}
            Ok(Some(delivery)) => serve(&worker, &delivery, &shutdown).await,
            Err(error) => {
                tracing::warn!(error = %error, "no message, will ask again");
                rest(REST, &shutdown).await;
            }
        }
    }
}

async fn rest(pause: Duration, shutdown: &CancellationToken) {
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = tokio::time::sleep(pause) => {}
    }
}

/// From a message to its end.
async fn serve(worker: &Worker, delivery: &Delivery, shutdown: &CancellationToken) {
    if shutdown.is_cancelled() {
        return told(worker.queue.release(delivery).await);
    }
    let task = &delivery.task;
    match claim(worker, task).await {
        Ok(Turn::Work(claimed)) => {
            let (study, kind) = (&claimed.study.id, claimed.task.kind);
            let span = tracing::info_span!("task", study.id = %study, task.id = %claimed.task.id, kind = %kind);
            let next = work(worker, &claimed, delivery, shutdown).instrument(span).await;
            told(worker.queue.ack(delivery).await);
            if let Some(next) = next {
                told(worker.queue.push(&[next]).await);
            }
        }
        Ok(Turn::BegunAnew(tasks)) => {
            tracing::warn!(task.id = %task.task, engine = worker.settings.engine_version, "its study was of an older engine and begins anew");
            told(worker.queue.push(&tasks).await);
            told(worker.queue.ack(delivery).await);
        }
        Ok(Turn::Newer(engine)) => {
            tracing::info!(task.id = %task.task, engine, "its study is of a newer engine: left for a newer worker");
            told(worker.queue.release(delivery).await);
            // Others come first, and thousands of its tasks may stand before them.
            rest(LEFT, shutdown).await;
        }
        Ok(Turn::Stale) => {
            // Stale, or its worker is dead and the sweeper has not come by yet.
            if let Ok(GiveBack::Requeued(next)) = take_back(worker, task).await {
                told(worker.queue.push(&[next]).await);
            }
            told(worker.queue.ack(delivery).await);
        }
        Err(error) => {
            tracing::warn!(task.id = %task.task, error = %error, "task not claimed, will be given out again");
            rest(REST, shutdown).await;
            told(worker.queue.release(delivery).await);
        }
    }
}

/// What is to be done with a message.
enum Turn {
    /// The task is this worker's.
    Work(Box<Claimed>),
    /// The task has a later attempt, or an end.
    Stale,
    /// Its study begins anew, with these.
    BegunAnew(Vec<TaskRef>),
    /// It needs this engine.
    Newer(String),
}

async fn claim(worker: &Worker, task: &TaskRef) -> Result<Turn, StoreError> {
    let (store, settings, now) = (&worker.store, &worker.settings, worker.store.now().await?);
    Ok(match store.match_engine(task, &settings.engine_version, now).await? {
        EngineMatch::BegunAnew(tasks) => Turn::BegunAnew(tasks),
        EngineMatch::Newer(engine) => Turn::Newer(engine),
        // Should the study begin anew meanwhile, the claim comes too late.
        EngineMatch::Same => match store.claim_task(task, &settings.name, now + millis(settings.lease), now).await? {
            Some(claimed) => Turn::Work(Box::new(claimed)),
            None => Turn::Stale,
        },
    })
}

async fn take_back(worker: &Worker, task: &TaskRef) -> Result<GiveBack, StoreError> {
    worker.store.take_back(task, worker.store.now().await?).await
}

/// The sweeper repairs what could not be told to the queue.
fn told(result: Result<(), crate::queue::QueueError>) {
    if let Err(error) = result {
        tracing::debug!(error = %error, "queue not told");
    }
}

/// Runs a claimed task and writes its end; gives the task to push next, if any.
async fn work(
    worker: &Worker,
    claimed: &Claimed,
    delivery: &Delivery,
    shutdown: &CancellationToken,
) -> Option<TaskRef> {
    let started = Instant::now();
    let kind = claimed.task.kind;
    tracing::info!(study.id = %claimed.study.id, task.id = %claimed.task.id, task.attempt = claimed.task.attempt, kind = %kind, "task started");
    let ended = tokio::select! {
        produced = attempt::make(worker, claimed) => Ok(produced),
        stop = lease::keep(worker, claimed, delivery, shutdown) => Err(stop),
    };
    let (outcome, next) = match ended {
        Ok(Ok(produced)) => complete(worker, claimed, produced).await,
        Ok(Err(AttemptError::Retry(error))) => give_back(worker, claimed, Failure::Retry(error)).await,
        Ok(Err(AttemptError::Fatal(error))) => give_back(worker, claimed, Failure::Fatal(error)).await,
        Ok(Err(AttemptError::Away(error))) => {
            tracing::warn!(study.id = %claimed.study.id, task.id = %claimed.task.id, error, "attempt put off");
            let given_back = give_back(worker, claimed, Failure::HandBack).await;
            // It is there for others; this slot does not try again at once.
            rest(REST, shutdown).await;
            given_back
        }
        Err(Stop::TimeLimit) => {
            let limit = worker.settings.time_limit.as_secs();
            give_back(worker, claimed, Failure::Retry(format!("it took longer than {limit} s"))).await
        }
        Err(Stop::Cancelled | Stop::Shutdown) => give_back(worker, claimed, Failure::HandBack).await,
        Err(Stop::Lost) => (TaskOutcome::Fenced, None),
    };
    let seconds = started.elapsed().as_secs_f64();
    worker.metrics.attempted(kind, outcome, seconds);
    tracing::info!(study.id = %claimed.study.id, task.id = %claimed.task.id, outcome = outcome.as_str(), elapsed_seconds = seconds, "task ended");
    next
}

async fn complete(worker: &Worker, claimed: &Claimed, produced: Produced) -> (TaskOutcome, Option<TaskRef>) {
    let task = claimed.task.to_ref();
    let name = &worker.settings.name;
    let completion = match produced {
        Produced::Replications(results) => {
            let (rows, summaries): (Vec<_>, Vec<_>) = results.into_iter().unzip();
            let (task, rows) = (&task, &rows);
            let write =
                || async move { worker.store.complete_replications(task, name, rows, worker.store.now().await?).await };
            let completion = insist(task, write).await;
            if matches!(completion, Some(Completion::Stored { .. })) {
                summaries.iter().for_each(|summary| worker.metrics.replicated(summary));
            }
            completion
        }
        Produced::Comparison { hash, gate_breached } => {
            let (task, hash) = (&task, &hash);
            let write = || async move {
                worker.store.complete_summary(task, name, hash, gate_breached, worker.store.now().await?).await
            };
            insist(task, write).await
        }
    };
    match completion {
        Some(Completion::Stored { next }) => (TaskOutcome::Succeeded, next),
        Some(Completion::Cancelled) => (TaskOutcome::Cancelled, None),
        Some(Completion::Fenced) | None => (TaskOutcome::Fenced, None),
    }
}

async fn give_back(worker: &Worker, claimed: &Claimed, failure: Failure) -> (TaskOutcome, Option<TaskRef>) {
    let task = claimed.task.to_ref();
    if let Failure::Retry(error) | Failure::Fatal(error) = &failure {
        tracing::warn!(study.id = %claimed.study.id, task.id = %task.task, task.attempt = task.attempt, error, "attempt failed");
    }
    let (task, why) = (&task, &failure);
    let write =
        || async move { worker.store.give_back(task, &worker.settings.name, why, worker.store.now().await?).await };
    match insist(task, write).await {
        Some(GiveBack::Requeued(next)) if failure == Failure::HandBack => (TaskOutcome::HandedBack, Some(next)),
        Some(GiveBack::Requeued(next)) => (TaskOutcome::Retried, Some(next)),
        Some(GiveBack::Dead) => (TaskOutcome::Failed, None),
        Some(GiveBack::Cancelled) => (TaskOutcome::Cancelled, None),
        Some(GiveBack::Fenced) | None => (TaskOutcome::Fenced, None),
    }
}

/// Writes the end of a task, again if the database is away for a moment. A write that went through although its answer was lost
/// finds itself fenced the second time, which is as good: the sweeper pushes whatever follows.
async fn insist<T, F>(task: &TaskRef, write: impl Fn() -> F) -> Option<T>
where
    F: Future<Output = Result<T, StoreError>>,
{
    for turn in 1..=TRIES {
        match write().await {
            Ok(value) => return Some(value),
            Err(error) => {
                tracing::warn!(task.id = %task.task, turn, error = %error, "end of task not written");
                if !error.is_temporary() {
                    return None;
                }
            }
        }
        tokio::time::sleep(REST).await;
    }
    None
}
