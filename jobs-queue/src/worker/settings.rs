//! How a worker runs tasks.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use foresite_formats::summary_file::foresite_engine_version;

/// Settings of a worker process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Its name: unlike any other's, also unlike its own before a restart.
    pub name: String,
    /// The version of the engine that `program` has: a study is done by one.
    pub engine_version: String,
    /// Tasks at once.
    pub slots: usize,
    /// How long the pool waits for a silent worker before its task goes to another.
    pub lease: Duration,
    /// An attempt that takes longer is ended, and counts as failed.
    pub time_limit: Duration,
    /// Address space of a child process in bytes; `None` for no limit.
    pub memory_limit_bytes: Option<u64>,
    /// The program to start for a task.
    pub program: PathBuf,
    /// Its arguments; it must then call [`crate::child::child_main`].
    pub arguments: Vec<OsString>,
    /// Where tasks' folders are made; the system's folder for temporary files by default. Give it a [`crate::Scratch`].
    pub scratch: PathBuf,
}

impl WorkerSettings {
    /// The defaults: this very program with the argument `task`, one slot, a lease of 30 s, at most a day per attempt.
    ///
    /// # Errors
    /// If the system cannot tell where this program's file is.
    pub fn new(name: impl Into<String>) -> std::io::Result<Self> {
        Ok(Self {
            name: name.into(),
            engine_version: foresite_engine_version().to_owned(),
            slots: 1,
            lease: Duration::from_secs(30),
            time_limit: Duration::from_secs(24 * 3600),
            memory_limit_bytes: None,
            program: std::env::current_exe()?,
            arguments: vec!["task".into()],
            scratch: std::env::temp_dir(),
        })
    }
}
