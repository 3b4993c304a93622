//! What a worker tells its child process, and where both find files.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    /// Simulate replications `from..to` of a scenario (0 is the baseline).
    Replicate {
        /// Which scenario.
        scenario: usize,
        /// First replication.
        from: u32,
        /// One past the last.
        to: u32,
    },
    /// Compare all schedules.
    Summarize,
    /// Prepare the study and say what is wrong with it. No worker gets this, nor the next two.
    Check,
    /// Read a configuration's files and say what is wrong with them. No document is needed, here and in the next one.
    ReadConfig,
    /// Read a trace, the only input; say what is in it and what is wrong with it.
    ReadTrace {
        /// IANA zone of its local times.
        timezone: Option<String>,
        /// It may unpack to so many bytes.
        max_bytes: u64,
        /// SHA-256 of its bytes, hexadecimal; no compact form is made without.
        #[serde(default)]
        sha256: String,
    },
}

/// A whole order: one line of JSON on the child's standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// What to do.
    pub task: Task,
    /// The normalised study document, JSON.
    pub document: String,
    /// Names of the files it may read; file number N lies at [`TaskFolder::input`]`(N)`.
    pub inputs: Vec<String>,
    /// Which of them is the trace in its compact form ([`foresite_formats::trace::compact`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<usize>,
    /// The folder all files lie in.
    pub folder: PathBuf,
    /// Address space the child may have, in bytes.
    pub memory_limit_bytes: Option<u64>,
}

/// Where files lie in a task's folder. Names come from numbers alone, so that no name of a user's file can lead elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct TaskFolder<'a>(pub &'a Path);

impl TaskFolder<'_> {
    /// An input file.
    pub fn input(self, number: usize) -> PathBuf {
        self.0.join(format!("input-{number}"))
    }

    /// A replication's schedule file, compressed with zstd.
    pub fn schedule(self, scenario: usize, replication: u32) -> PathBuf {
        self.0.join(format!("schedule-{scenario}-{replication}.csv.zst"))
    }

    /// A replication's summary file.
    pub fn summary(self, scenario: usize, replication: u32) -> PathBuf {
        self.0.join(format!("summary-{scenario}-{replication}.json"))
    }

    /// The comparison document.
    pub fn comparison(self) -> PathBuf {
        self.0.join("comparison.json")
    }

    /// What [`Task::Check`] and the readers have to say: a JSON array of diagnostics.
    pub fn diagnostics(self) -> PathBuf {
        self.0.join("diagnostics.json")
    }

    /// The trace in its compact form, as [`Task::Check`] or [`Task::ReadTrace`] read its text; there if nothing was wrong with it.
    pub fn compact_trace(self) -> PathBuf {
        self.0.join("compact-trace")
    }

    /// What [`Task::ReadTrace`] found.
    pub fn trace_summary(self) -> PathBuf {
        self.0.join("trace-summary.json")
    }

    /// There if a gate of the comparison does not hold, so that the worker need not read the comparison.
    pub fn gate_breached(self) -> PathBuf {
        self.0.join("gate-breached")
    }
}

/// Why a task gave no result.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The input is wrong; another attempt would find the same. One line per fault.
    #[error("{0}")]
    Input(String),
    /// Files could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

impl TaskError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
