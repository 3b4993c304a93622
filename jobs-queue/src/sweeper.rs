//! Rings again for tasks that may have been forgotten. Idempotent, so any number of sweepers may run.
//!
//! A task is forgotten when its message was lost (Redis lost its memory; the process died between commit and push) or its worker
//! died. The first kind is pushed again: the queue keeps a message once per task and attempt, so this does no harm. The second
//! kind is taken back, which raises its attempt, and pushed.

use std::sync::Arc;
use std::time::Duration;

use foresite_store::Store;
use foresite_store::StoreError;
use foresite_store::tasks::GiveBack;
use foresite_store::time::millis;
use tokio_util::sync::CancellationToken;

use crate::queue::{Queue, QueueError};

const PAGE: i64 = 500;

/// The sweeper and how often it looks.
#[derive(Clone, Debug)]
pub struct Sweeper {
    /// The database.
    pub store: Store,
    /// The queue.
    pub queue: Arc<dyn Queue>,
    /// How often to look; also how long a task may be queued before its message is doubted.
    pub interval: Duration,
}

/// What one sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Tasks taken from dead workers and queued again.
    pub taken_back: u64,
    /// Tasks of dead workers that had failed too often.
    pub dead: u64,
    /// Tasks whose message was pushed again, needed or not.
    pub pushed: u64,
}

/// A sweep stopped midway; the next one goes on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The queue.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

impl Sweeper {
    /// Sweeps at once and then every `interval` until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        loop {
            match self.sweep().await {
                Ok(report) if report.taken_back + report.dead > 0 => {
                    tracing::warn!(taken_back = report.taken_back, dead = report.dead, "took tasks from dead workers");
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(error = %error, "sweep failed, will try again"),
            }
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(self.interval) => {}
            }
        }
    }

    /// One sweep.
    pub async fn sweep(&self) -> Result<SweepReport, SweepError> {
        let mut report = SweepReport::default();
        self.take_back_expired(&mut report).await?;
        self.push_queued(&mut report).await?;
        Ok(report)
    }

    async fn take_back_expired(&self, report: &mut SweepReport) -> Result<(), SweepError> {
        for task in self.store.expired_tasks(self.store.now().await?, PAGE).await? {
            match self.store.take_back(&task, self.store.now().await?).await? {
                GiveBack::Requeued(next) => {
                    report.taken_back += 1;
                    self.queue.push(&[next]).await?;
                }
                GiveBack::Dead => report.dead += 1,
                GiveBack::Cancelled | GiveBack::Fenced => {}
            }
        }
        Ok(())
    }

    async fn push_queued(&self, report: &mut SweepReport) -> Result<(), SweepError> {
        let before = self.store.now().await? - millis(self.interval);
        let mut after = None;
        loop {
            let page = self.store.queued_tasks(before, after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.task.clone());
            self.queue.push(&page).await?;
            report.pushed += page.len() as u64;
        }
    }
}
