//! The doorbell: which task may be claimed next.

pub mod local;
pub mod redis;

use std::time::Duration;

use async_trait::async_trait;
use foresite_store::tasks::TaskRef;

/// A message in a worker's hands. It is given again to another worker unless it is acknowledged or extended in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The task to claim, at this attempt.
    pub task: TaskRef,
    /// How often the message was given out, this time included.
    pub deliveries: u64,
    /// The queue's own name for the message.
    pub receipt: String,
}

/// The queue cannot be used now; nothing is lost, since the database knows all tasks.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The URL is no Redis URL.
    #[error("the queue's URL is not understood: {0}")]
    Url(String),
    /// The queue is another deployment's.
    #[error(
        "the queue belongs to deployment {owner}, this database to {deployment}: FORESITE_DATABASE_URL or FORESITE_REDIS_URL is another's; \
         each deployment needs a Redis, or a number of a database in it, of its own. If this one takes the place of the other for \
         good, empty it"
    )]
    Foreign {
        /// Whose it is.
        owner: String,
        /// Who asks.
        deployment: String,
    },
    /// Redis is away or refuses.
    #[error("the queue cannot be reached: {0}")]
    Unreachable(String),
}

/// The seam between the embedded and the shared queue. All functions may be called from many workers at once.
#[async_trait]
pub trait Queue: Send + Sync + std::fmt::Debug {
    /// Makes sure that the queue is this deployment's, which it becomes if it is nobody's.
    async fn enter(&self) -> Result<(), QueueError>;

    /// Adds a message for each task that has none yet at this attempt; pushing twice is as good as once.
    async fn push(&self, tasks: &[TaskRef]) -> Result<(), QueueError>;

    /// The next message for `worker`; `None` if none came within `wait`. Do not drop the future midway: the message it was
    /// about to give would rest until its lease ends.
    async fn next(&self, worker: &str, wait: Duration) -> Result<Option<Delivery>, QueueError>;

    /// Says that the worker still works on a message.
    async fn extend(&self, worker: &str, delivery: &Delivery) -> Result<(), QueueError>;

    /// Removes a message: its work is done, or was not to be done.
    async fn ack(&self, delivery: &Delivery) -> Result<(), QueueError>;

    /// Puts a message back for any worker: nothing was done.
    async fn release(&self, delivery: &Delivery) -> Result<(), QueueError>;

    /// Removes a message and keeps it, with the reason, for people to look at.
    async fn dead_letter(&self, delivery: &Delivery, reason: &str) -> Result<(), QueueError>;

    /// Messages waiting or in workers' hands.
    async fn depth(&self) -> Result<u64, QueueError>;

    /// Messages set aside by [`Queue::dead_letter`].
    async fn dead_letters(&self) -> Result<u64, QueueError>;

    /// Forgets a worker that holds nothing and will ask for nothing more.
    async fn leave(&self, worker: &str) -> Result<(), QueueError>;
}
