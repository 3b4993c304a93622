//! What the readers say about uploads, before anything is stored. Called in a child process ([`crate::check`]).

use std::fs::File;
use std::path::Path;

use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;
use foresite_formats::sacctmgr::Sacctmgr;
use foresite_formats::slurm_conf::SlurmConf;
use foresite_formats::trace::compact::{self, Origin};
use foresite_formats::trace::{Trace, TraceOptions};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::task::TaskError;

/// Where slurm.conf is looked for.
pub const SLURM_CONF: &str = "slurm.conf";
/// `sacctmgr dump`.
pub const ACCOUNTS: &str = "sacctmgr.cfg";
/// `scontrol show reservation -o`.
pub const RESERVATIONS: &str = "reservations.txt";
/// `sshare -alP`.
pub const USAGE: &str = "usage.txt";
/// `sacctmgr show event -P`.
pub const EVENTS: &str = "events.txt";
/// `sdiag`.
pub const SDIAG: &str = "sdiag.txt";

/// What is in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// Jobs, array tasks and components.
    pub jobs: u64,
    /// First submission, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_submit: Option<i64>,
    /// Last submission, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_submit: Option<i64>,
}

/// The name of the only file called `base`, in whatever folder.
pub fn only_file<'a>(names: impl Iterator<Item = &'a str>, base: &str) -> Option<&'a str> {
    let mut found = names.filter(|name| name.rsplit('/').next() == Some(base));
    found.next().filter(|_| found.next().is_none())
}

/// Reads slurm.conf, its neighbours and the accounts among a configuration's files.
pub fn config(files: &FileSet) -> Vec<Diagnostic> {
    let Some(slurm_conf) = only_file(files.names(), SLURM_CONF) else {
        let fault = Diagnostic::error(SLURM_CONF, "the configuration has no slurm.conf, or several");
        return vec![fault.cure("send one slurm.conf with its Include files, gres.conf and topology.conf beside it")];
    };
    let (conf, mut diagnostics) = SlurmConf::read(files, slurm_conf);
    let mut accounts = None;
    if let Some(name) = only_file(files.names(), ACCOUNTS)
        && let Some(bytes) = files.get(name)
    {
        let (read, found) = Sacctmgr::read(name, bytes);
        diagnostics.extend(found);
        accounts = Some(read);
    }
    let (_, found) = conf.lower(accounts.as_ref());
    diagnostics.extend(found);
    diagnostics
}

/// What a reader made of a trace.
#[derive(Clone, Debug, Default)]
pub struct UnderstoodTrace {
    /// What is in it.
    pub summary: TraceSummary,
    /// What the reader remarked.
    pub diagnostics: Vec<Diagnostic>,
    /// Its compact form, if nothing is wrong with it.
    pub compact: Option<Vec<u8>>,
}

/// Reads a trace as a stream of at most `max_bytes` after unpacking; `name` is what diagnostics call it.
///
/// # Errors
/// For an unknown time zone, and when the file cannot be opened.
pub fn trace(
    path: &Path,
    (name, sha256): (&str, &str),
    timezone: Option<&str>,
    max_bytes: u64,
) -> Result<UnderstoodTrace, TaskError> {
    let file = File::open(path).map_err(TaskError::file(path))?;
    let unknown = |error: jiff::Error| TaskError::Input(error.to_string());
    let time_zone = timezone.map(TimeZone::get).transpose().map_err(unknown)?;
    let options = TraceOptions { time_zone, max_bytes: Some(max_bytes), opens: None };
    let (trace, diagnostics) = Trace::read(name, file, &options);
    let submits = || trace.iter().flat_map(|trace| &trace.jobs).map(|job| job.submit);
    let summary =
        TraceSummary { jobs: submits().count() as u64, first_submit: submits().min(), last_submit: submits().max() };
    let origin = Origin::new(name, sha256.to_owned(), &options);
    let kept = trace.as_ref().filter(|_| !sha256.is_empty());
    let compact = kept.and_then(|trace| compact::write(&origin, trace, &diagnostics).ok());
    Ok(UnderstoodTrace { summary, diagnostics, compact })
}
