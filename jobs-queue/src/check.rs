//! Judging what comes from outside before it is accepted: studies, configurations, traces. A child process with the limits of a task
//! reads them, so that a file made to eat memory or time takes nothing of the service with it.

use std::path::Path;

use foresite_formats::diagnostic::Diagnostic;
use serde::de::DeserializeOwned;

use crate::task::{Task, TaskFolder, TaskSpec};
use crate::understand::TraceSummary;
use crate::worker::{AttemptError, WorkerSettings, process};

/// Why there is no judgement.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It took longer than it may.
    #[error("reading it took longer than {0} s")]
    TimeLimit(u64),
    /// The child ended without a word: out of memory, most of the time.
    #[error("{0}")]
    Ended(String),
    /// There is no room for it now.
    #[error("{0}")]
    Away(String),
    /// Its files could not be written or read.
    #[error("a local file failed: {0}")]
    File(#[from] std::io::Error),
}

/// What one child may use, and where its files are: input number N lies at [`TaskFolder::input`]`(N)`.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    /// How the child is run.
    pub settings: &'a WorkerSettings,
    /// The folder.
    pub folder: &'a Path,
}

impl Judge<'_> {
    /// Prepares a study; gives every diagnostic, in the reader's order. Input number `compact` is the trace in its compact form;
    /// where none is, it is left at [`TaskFolder::compact_trace`].
    ///
    /// # Errors
    /// When there is no judgement.
    pub async fn study(
        self,
        document: String,
        inputs: Vec<String>,
        compact: Option<usize>,
    ) -> Result<Vec<Diagnostic>, CheckError> {
        self.run(Task::Check, document, inputs, compact).await?;
        self.answer(TaskFolder(self.folder).diagnostics()).await
    }

    /// Reads a configuration's files.
    ///
    /// # Errors
    /// When there is no judgement.
    pub async fn config(self, inputs: Vec<String>) -> Result<Vec<Diagnostic>, CheckError> {
        self.run(Task::ReadConfig, String::new(), inputs, None).await?;
        self.answer(TaskFolder(self.folder).diagnostics()).await
    }

    /// Reads a trace of at most `max_bytes` after unpacking, whose bytes have this SHA-256; `name` is what diagnostics call it. Its
    /// compact form is left at [`TaskFolder::compact_trace`].
    ///
    /// # Errors
    /// When there is no judgement.
    pub async fn trace(
        self,
        (name, sha256): (String, String),
        timezone: Option<String>,
        max_bytes: u64,
    ) -> Result<(TraceSummary, Vec<Diagnostic>), CheckError> {
        self.run(Task::ReadTrace { timezone, max_bytes, sha256 }, String::new(), vec![name], None).await?;
        let folder = TaskFolder(self.folder);
        Ok((self.answer(folder.trace_summary()).await?, self.answer(folder.diagnostics()).await?))
    }

    async fn run(
        self,
        task: Task,
        document: String,
        inputs: Vec<String>,
        compact: Option<usize>,
    ) -> Result<(), CheckError> {
        let Self { settings, folder } = self;
        let memory_limit_bytes = settings.memory_limit_bytes;
        let spec = TaskSpec { task, document, inputs, compact, folder: folder.to_owned(), memory_limit_bytes };
        match tokio::time::timeout(settings.time_limit, process::run(settings, &spec)).await {
            Err(_) => Err(CheckError::TimeLimit(settings.time_limit.as_secs())),
            Ok(Err(AttemptError::Retry(words) | AttemptError::Fatal(words))) => Err(CheckError::Ended(words)),
            Ok(Err(AttemptError::Away(words))) => Err(CheckError::Away(words)),
            Ok(Ok(())) => Ok(()),
        }
    }

    async fn answer<T: DeserializeOwned>(self, path: std::path::PathBuf) -> Result<T, CheckError> {
        let bytes = tokio::fs::read(path).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| CheckError::Ended(format!("the child's words cannot be read: {error}")))
    }
}
