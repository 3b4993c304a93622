//! Comparing all schedules of a study.

use foresite_formats::schedule_file;
use foresite_formats::study::{self, Replicated, Study};
use foresite_formats::summary_file::Summary;

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

fn load(folder: TaskFolder<'_>, scenario: usize, replication: u32) -> Result<Replicated, TaskError> {
    let path = folder.schedule(scenario, replication);
    let file = std::fs::File::open(&path).map_err(TaskError::file(&path))?;
    // Our own blobs, checked by hash: no bomb to guard against.
    let csv = zstd::stream::decode_all(file).map_err(TaskError::file(&path))?;
    let (schedule, diagnostics) = schedule_file::read(&path.to_string_lossy(), &csv);
    let schedule = schedule.ok_or_else(|| wrong(&diagnostics))?;
    let path = folder.summary(scenario, replication);
    let text = std::fs::read_to_string(&path).map_err(TaskError::file(&path))?;
    // Its own program wrote it; an older one's tells no reasons.
    let summary: Summary = serde_json::from_str(&text).unwrap_or_default();
    Ok(Replicated { schedule, summary })
}
