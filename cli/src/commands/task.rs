//! `foresite task`: one task of a worker, in a process of its own. Started by workers, not by people.

use std::process::ExitCode;

use clap::Args;

/// Carry out one order from standard input; workers start this.
#[derive(Debug, Args)]
pub(crate) struct Task {}

impl Task {
    /// Carries it out. The exit codes are the worker's contract, see `foresite_jobs_queue::child`.
    pub(crate) fn execute(self) -> ExitCode {
        foresite_jobs_queue::child::child_main()
    }
}
