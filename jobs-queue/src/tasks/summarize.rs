//! Comparing all schedules of a study.

use foresite_formats::schedule_file::{self, Schedule};
use foresite_formats::study::{self, Study};

use super::replicate::write;
use super::wrong;
use crate::task::{TaskError, TaskFolder};

/// Writes the comparison document. Schedules are read one at a time.
pub(super) fn summarize(study: &Study, folder: TaskFolder<'_>) -> Result<(), TaskError> {
    let comparison = study::compare(study, |scenario, replication| load(folder, scenario, replication))?;
    if comparison.is_breached() {
        write(&folder.gate_breached(), b"")?;
    }
    write(&folder.comparison(), comparison.to_json().as_bytes())
}

fn load(folder: TaskFolder<'_>, scenario: usize, replication: u32) -> Result<Schedule, TaskError> {
    let path = folder.schedule(scenario, replication);
    let file = std::fs::File::open(&path).map_err(TaskError::file(&path))?;
    // Our own blobs, checked by hash: no bomb to guard against.
    let csv = zstd::stream::decode_all(file).map_err(TaskError::file(&path))?;
    let (schedule, diagnostics) = schedule_file::read(&path.to_string_lossy(), &csv);
    schedule.ok_or_else(|| wrong(&diagnostics))
}
