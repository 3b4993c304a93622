//! Simulating some replications of one scenario, one after the other.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use foresite_engine::observer::Unobserved;
use foresite_formats::study::Study;

use crate::task::{TaskError, TaskFolder};

/// Schedules are text with much repetition: level 3 is fast and makes them several times smaller.
const ZSTD_LEVEL: i32 = 3;

/// Writes a schedule and a summary per replication of scenario `scenario`, which `study` has as number `number`.
pub(super) fn replicate(
    study: &Study,
    (scenario, number): (usize, usize),
    replications: Range<u32>,
    folder: TaskFolder<'_>,
) -> Result<(), TaskError> {
    for replication in replications {
        let started = Instant::now();
        // Nothing is observed: the worker ends the process when the task is to stop.
        let replicated = study
            .replicate(number, replication, &mut Unobserved)
            .map_err(|_| TaskError::Input(format!("the study has no scenario number {scenario}")))?;
        let wall_seconds = started.elapsed().as_secs_f64();
        let schedule = folder.schedule(scenario, replication);
        let csv = replicated.schedule_csv();
        let compressed = zstd::bulk::compress(&csv, ZSTD_LEVEL).map_err(TaskError::file(&schedule))?;
        write(&schedule, &compressed)?;
        let summary = replicated.summary.timed(wall_seconds, study.n_jobs(), peak_rss_bytes());
        write(&folder.summary(scenario, replication), summary.to_json().as_bytes())?;
    }
    Ok(())
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), TaskError> {
    std::fs::write(path, bytes).map_err(TaskError::file(path))
}

/// The largest memory this process had at once, in bytes; 0 where the system does not say.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    kib.map_or(0, |kib: u64| kib * 1024)
}
