//! The worker: takes tasks, runs each in a child process, stores the results.
//!
//! Each slot loops: next message, claim in the database, run, store, acknowledge. While a task runs, its lease is renewed every
//! third of its length; if that fails for good, or the study is cancelled, or the worker shuts down, the child is killed.
//! On shutdown, tasks are given back and queued again, without counting as failures.

mod attempt;
mod lease;
pub(crate) mod process;
mod settings;
mod slot;

use std::sync::Arc;

use foresite_store::Store;
use foresite_store::objects::Objects;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::queue::Queue;

pub(crate) use attempt::AttemptError;
pub use settings::WorkerSettings;

/// A worker process's share of the pool.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The database.
    pub store: Store,
    /// Inputs and results.
    pub objects: Objects,
    /// The doorbell.
    pub queue: Arc<dyn Queue>,
    /// Where it counts.
    pub metrics: Metrics,
    /// How it runs tasks.
    pub settings: WorkerSettings,
}

impl Worker {
    /// Serves until `shutdown`, then returns once every task is given back.
    pub async fn run(self, shutdown: CancellationToken) {
        let worker = Arc::new(self);
        let mut slots = JoinSet::new();
        for _ in 0..worker.settings.slots.max(1) {
            slots.spawn(slot::run(Arc::clone(&worker), shutdown.clone()));
        }
        while let Some(ended) = slots.join_next().await {
            if let Err(error) = ended {
                tracing::error!(error = %error, "a worker slot ended abnormally; its task goes on elsewhere when its lease ends");
            }
        }
        if let Err(error) = worker.queue.leave(&worker.settings.name).await {
            tracing::debug!(error = %error, "could not leave the queue");
        }
    }
}
