//! The counted part of a trace, and the simulated one.

use foresite_engine::ids::JobId;
use foresite_engine::job::{Job, Workload};
use jiff::tz::TimeZone;

use crate::study_document::TraceSource;

/// The counted window [Unix s, half open] and how long before it jobs are simulated [s].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) counted: Option<(i64, i64)>,
    pub(super) warmup: i64,
}

impl Window {
    /// The window of a document; its local times are in the trace's zone (checked when the document was read).
    pub(super) fn of(source: &TraceSource) -> Self {
        let zone = source.timezone.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
        Self {
            counted: source.window.map(|(from, to)| (from.unix_seconds(&zone), to.unix_seconds(&zone))),
            warmup: source.warmup.map_or(0, |span| i64::try_from(span.0).unwrap_or(i64::MAX)),
        }
    }

    /// When the simulated part begins [Unix s].
    pub(super) fn opens(self) -> Option<i64> {
        self.counted.map(|(from, _)| from.saturating_sub(self.warmup))
    }

    /// Whether a job is simulated: submitted in [from − warm-up, to), or running or waiting when that begins.
    pub(super) fn keeps(self, job: &Job) -> bool {
        self.counted.is_none_or(|(from, to)| {
            (from.saturating_sub(self.warmup)..to).contains(&job.submit) || job.before().is_some()
        })
    }

    /// Cuts a workload to the jobs that are simulated. O(jobs).
    pub(super) fn cut(self, workload: Workload) -> Workload {
        if self.counted.is_none() {
            return workload;
        }
        let mut places: Vec<Option<JobId>> = Vec::with_capacity(workload.jobs.len());
        let mut jobs = Vec::new();
        for job in workload.jobs {
            let kept = self.keeps(&job);
            places.push(kept.then(|| JobId::new(jobs.len())));
            if kept {
                jobs.push(job);
            }
        }
        let trace_order =
            workload.trace_order.iter().filter_map(|job| places.get(job.index()).copied().flatten()).collect();
        Workload { jobs, trace_order, ..workload }
    }
}
