//! What a watcher of a run sees, and how it stops it.

use std::ops::ControlFlow;

/// Watches a replication. Called every few thousand events, so it may cost a little.
pub trait Observer {
    /// `finished` of `total` jobs have left the system. `Break` ends the run with [`Interrupted`].
    fn progress(&mut self, finished: usize, total: usize) -> ControlFlow<()>;
}

/// Watches nothing and never stops a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&mut self, _finished: usize, _total: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(usize, usize) -> ControlFlow<()>> Observer for F {
    fn progress(&mut self, finished: usize, total: usize) -> ControlFlow<()> {
        self(finished, total)
    }
}

/// The observer asked the run to stop; nothing was produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the simulation was interrupted")]
pub struct Interrupted;
