//! Keeping a task while it runs, and noticing when it should stop.

use std::time::Duration;

use foresite_store::state::StudyState;
use foresite_store::tasks::{Claimed, Renewal, TaskRef};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::Worker;
use crate::clock;
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

/// When the lease of a task claimed or renewed now ends.
pub(super) fn lease_until(worker: &Worker) -> i64 {
    clock::now() + clock::millis(worker.settings.lease)
}

/// Renews until there is a reason to stop.
pub(super) async fn keep(
    worker: &Worker,
    claimed: &Claimed,
    delivery: &Delivery,
    shutdown: &CancellationToken,
) -> Stop {
    let task = claimed.task.to_ref();
    let lease = worker.settings.lease;
    let ends = Instant::now() + worker.settings.time_limit;
    let mut held_until = Instant::now() + lease;
    let mut renew = tokio::time::interval_at(Instant::now() + lease / 3, lease / 3);
    renew.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut poll = tokio::time::interval(STATE_POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return Stop::Shutdown,
            () = tokio::time::sleep_until(ends) => return Stop::TimeLimit,
            _ = renew.tick() => {
                if let Some(stop) = renew_once(worker, &task, delivery, &mut held_until).await {
                    return stop;
                }
            }
            _ = poll.tick() => {
                // A database that is away is the renewal's business.
                if let Ok(state) = worker.store.study_state(&claimed.study.id).await
                    && state != Some(StudyState::Running)
                {
                    return Stop::Cancelled;
                }
            }
        }
    }
}

async fn renew_once(worker: &Worker, task: &TaskRef, delivery: &Delivery, held_until: &mut Instant) -> Option<Stop> {
    let asked = Instant::now();
    match worker.store.renew_lease(task, &worker.settings.name, lease_until(worker)).await {
        Ok(Renewal::Held) => *held_until = asked + worker.settings.lease,
        Ok(Renewal::Stop) => return Some(Stop::Cancelled),
        Ok(Renewal::Lost) => return Some(Stop::Lost),
        Err(error) => {
            tracing::warn!(task.id = %task.task, error = %error, "lease not renewed");
            if Instant::now() >= *held_until {
                return Some(Stop::Lost);
            }
        }
    }
    if let Err(error) = worker.queue.extend(&worker.settings.name, delivery).await {
        // The message may go to another worker, whose claim will fail: the database knows better.
        tracing::debug!(task.id = %task.task, error = %error, "message not extended");
    }
    None
}
