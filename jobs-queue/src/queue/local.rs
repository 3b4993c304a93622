//! The queue within one process, for embedded workers. What it holds dies with the process; the sweeper of the next one
//! fills it again from the database.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use foresite_store::tasks::TaskRef;
use tokio::sync::Notify;

use crate::queue::{Delivery, Queue, QueueError};

/// A first-in, first-out queue in memory.
#[derive(Debug, Default)]
pub struct LocalQueue {
    state: Mutex<State>,
    pushed: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<TaskRef>,
    /// Waiting or in a worker's hands.
    known: BTreeSet<TaskRef>,
    dead: u64,
}

impl LocalQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// No code panics while holding the lock, so a poisoned one is as good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Delivery> {
        let task = self.state().waiting.pop_front()?;
        let receipt = format!("{}:{}", task.task, task.attempt);
        Some(Delivery { task, deliveries: 1, receipt })
    }
}

#[async_trait]
impl Queue for LocalQueue {
    async fn enter(&self) -> Result<(), QueueError> {
        Ok(())
    }

    async fn push(&self, tasks: &[TaskRef]) -> Result<(), QueueError> {
        for task in tasks {
            let mut state = self.state();
            if state.known.insert(task.clone()) {
                state.waiting.push_back(task.clone());
                drop(state);
                self.pushed.notify_one();
            }
        }
        Ok(())
    }

    async fn next(&self, _worker: &str, wait: Duration) -> Result<Option<Delivery>, QueueError> {
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            if let Some(delivery) = self.take() {
                return Ok(Some(delivery));
            }
            if tokio::time::timeout_at(deadline, self.pushed.notified()).await.is_err() {
                return Ok(self.take());
            }
        }
    }

    async fn extend(&self, _worker: &str, _delivery: &Delivery) -> Result<(), QueueError> {
        Ok(())
    }

    async fn ack(&self, delivery: &Delivery) -> Result<(), QueueError> {
        self.state().known.remove(&delivery.task);
        Ok(())
    }

    async fn release(&self, delivery: &Delivery) -> Result<(), QueueError> {
        let mut state = self.state();
        if state.known.contains(&delivery.task) && !state.waiting.contains(&delivery.task) {
            state.waiting.push_back(delivery.task.clone());
            drop(state);
            self.pushed.notify_one();
        }
        Ok(())
    }

    async fn dead_letter(&self, delivery: &Delivery, reason: &str) -> Result<(), QueueError> {
        tracing::warn!(task.id = %delivery.task.task, reason, "message set aside");
        self.state().dead += 1;
        self.ack(delivery).await
    }

    async fn depth(&self) -> Result<u64, QueueError> {
        Ok(self.state().known.len() as u64)
    }

    async fn dead_letters(&self) -> Result<u64, QueueError> {
        Ok(self.state().dead)
    }

    async fn leave(&self, _worker: &str) -> Result<(), QueueError> {
        Ok(())
    }
}
