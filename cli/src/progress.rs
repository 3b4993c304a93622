//! Progress on standard error, only where it is a terminal.

use std::io::IsTerminal;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over so many replications of so many jobs.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Jobs finished, by task (scenario and replication).
    finished: Mutex<Vec<usize>>,
}

impl Progress {
    /// A bar over `tasks` replications of `jobs` jobs each; drawn only on a terminal.
    pub(crate) fn new(tasks: usize, jobs: usize) -> Self {
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some((tasks * jobs.max(1)) as u64), target);
        let style =
            ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {human_pos} of {human_len} jobs, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, finished: Mutex::new(vec![0; tasks]) }
    }

    /// What is being done.
    pub(crate) fn say(&self, message: impl Into<String>) {
        self.bar.set_message(message.into());
    }

    /// `finished` jobs of a task have left the system.
    pub(crate) fn advance(&self, task: usize, finished: usize) {
        let Ok(mut all) = self.finished.lock() else { return };
        if let Some(slot) = all.get_mut(task).filter(|slot| **slot < finished) {
            self.bar.inc((finished - *slot) as u64);
            *slot = finished;
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
