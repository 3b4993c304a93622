//! Keeping a task while it runs, and noticing when it should stop.

use std::time::Duration;

use foresite_store::StoreError;
use foresite_store::ids::StudyId;
use foresite_store::state::StudyState;
use foresite_store::tasks::{Claimed, Renewal, TaskRef};
use foresite_store::time::millis;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::Worker;
use crate::queue::Delivery;

/// Why a running task must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its study was cancelled, or failed.
    Cancelled,
    /// Another worker has it, or may have it: the lease could not be renewed in time.
    Lost,
    /// It took longer than an attempt may.
    TimeLimit,
    /// The worker shuts down.
    Shutdown,
}

/// A cancelled study's tasks stop within this time, more or less.
const STATE_POLL: Duration = Duration::from_millis(500);

/// Keeps a task until there is a reason to stop. None of the reasons waits for another: neither a database nor a queue that hangs
/// keeps a worker from noticing that it shall stop, or that its lease has ended.
pub(super) async fn keep(
    worker: &Worker,
    claimed: &Claimed,
    delivery: &Delivery,
    shutdown: &CancellationToken,
) -> Stop {
    let task = claimed.task.to_ref();
    tokio::select! {
        () = shutdown.cancelled() => Stop::Shutdown,
        () = tokio::time::sleep(worker.settings.time_limit) => Stop::TimeLimit,
        stop = hold(worker, &task, delivery) => stop,
        () = cancelled(worker, &claimed.study.id) => Stop::Cancelled,
    }
}

/// Renews the lease every third of its length, until it is lost.
async fn hold(worker: &Worker, task: &TaskRef, delivery: &Delivery) -> Stop {
    let lease = worker.settings.lease;
    let mut held_until = Instant::now() + lease;
    let mut turn = tokio::time::interval_at(Instant::now() + lease / 3, lease / 3);
    turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turn.tick().await;
        let asked = Instant::now();
        match tokio::time::timeout_at(held_until, renew(worker, task)).await {
            Ok(Ok(Renewal::Held)) => held_until = asked + lease,
            Ok(Ok(Renewal::Stop)) => return Stop::Cancelled,
            Ok(Ok(Renewal::Lost)) | Err(_) => return Stop::Lost,
            Ok(Err(error)) => tracing::warn!(task.id = %task.task, error = %error, "lease not renewed"),
        }
        // The message may go to another worker, whose claim will fail: the database knows better.
        match tokio::time::timeout(lease / 3, worker.queue.extend(&worker.settings.name, delivery)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(task.id = %task.task, error = %error, "message not extended"),
            Err(_) => tracing::debug!(task.id = %task.task, "message not extended in time"),
        }
    }
}

/// Prolongs the lease from now on, which is when the database says it is.
async fn renew(worker: &Worker, task: &TaskRef) -> Result<Renewal, StoreError> {
    let until = worker.store.now().await? + millis(worker.settings.lease);
    worker.store.renew_lease(task, &worker.settings.name, until).await
}

/// Waits until a study is to do nothing more. A database that is away is the renewal's business.
async fn cancelled(worker: &Worker, study: &StudyId) {
    let mut turn = tokio::time::interval(STATE_POLL);
    turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turn.tick().await;
        if let Ok(state) = worker.store.study_state(study).await
            && state != Some(StudyState::Running)
        {
            return;
        }
    }
}
