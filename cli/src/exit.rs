//! How a command ended, for the shell.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done: 0.
    Done,
    /// A gate was breached: 99.
    Breached,
    /// The input is wrong, and all faults were listed: 2.
    Wrong,
    /// Anything else: 1.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Breached => 99,
            Exit::Wrong => 2,
            Exit::Failed => 1,
        })
    }
}
