//! Judging a study before it is accepted, as a task would prepare it: in a child process with the limits of a task, so that a file
//! made to eat memory or time takes nothing of the service with it.

use foresite_formats::diagnostic::Diagnostic;

use crate::task::{Task, TaskFolder, TaskSpec};
use crate::worker::{AttemptError, WorkerSettings, process};

/// Why there is no judgement.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It took longer than it may.
    #[error("preparing the study took longer than {0} s")]
    TimeLimit(u64),
    /// The child ended without a word: out of memory, most of the time.
    #[error("{0}")]
    Ended(String),
    /// Its files could not be written or read.
    #[error("a local file failed: {0}")]
    File(#[from] std::io::Error),
}

/// Prepares a study; input number N lies at [`TaskFolder::input`]`(N)` in `folder`. Gives every diagnostic, in the reader's order.
pub async fn check(
    settings: &WorkerSettings,
    document: String,
    inputs: Vec<String>,
    folder: &std::path::Path,
) -> Result<Vec<Diagnostic>, CheckError> {
    let spec = TaskSpec {
        task: Task::Check,
        document,
        inputs,
        folder: folder.to_owned(),
        memory_limit_bytes: settings.memory_limit_bytes,
    };
    match tokio::time::timeout(settings.time_limit, process::run(settings, &spec)).await {
        Err(_) => return Err(CheckError::TimeLimit(settings.time_limit.as_secs())),
        Ok(Err(AttemptError::Retry(words) | AttemptError::Fatal(words))) => return Err(CheckError::Ended(words)),
        Ok(Ok(())) => {}
    }
    let bytes = tokio::fs::read(TaskFolder(folder).diagnostics()).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| CheckError::Ended(format!("the child's words cannot be read: {error}")))
}
