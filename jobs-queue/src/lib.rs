//! The queue, the worker that serves it, and the tasks themselves.
//!
//! **The database is the truth, the queue a doorbell.** A message names a task and an attempt; whoever receives it must still
//! claim that attempt in the database. So a lost message loses no work (the [`sweeper`] rings again), and a message received
//! twice does no work twice. Each task runs in a child process ([`child`]), so that one that crashes, hangs or eats memory
//! takes nothing with it.
//!
//! Reading order: [`plan`] (a study to tasks), [`queue`], [`worker`], [`task`] and [`tasks`] (the child's side), [`sweeper`].

pub mod plan;

pub mod queue;

pub mod worker;

pub mod check;
pub mod child;
pub mod inputs;
pub mod task;
pub mod tasks;
pub mod understand;

pub mod scratch;
pub mod sweeper;

pub mod metrics;

pub use metrics::Metrics;
pub use plan::plan_tasks;
pub use queue::local::LocalQueue;
pub use queue::redis::RedisQueue;
pub use queue::{Delivery, Queue, QueueError};
pub use scratch::Scratch;
pub use sweeper::{SweepReport, Sweeper};
pub use worker::{Worker, WorkerSettings};
