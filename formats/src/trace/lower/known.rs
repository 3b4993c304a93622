//! Which of the jobs that dependencies name are in the trace.

use foresite_engine::job::{Dependency, DependencyKind, JobPart};

use crate::trace::maps::Set;
use crate::trace::model::Trace;

/// Ids that dependencies name and the trace holds, with the task where one task of an array is meant alone.
#[derive(Debug, Default)]
pub(super) struct Known(Set<(u64, Option<u32>)>);

impl Known {
    /// O(jobs); memory for what dependencies name.
    pub(super) fn of(trace: &Trace) -> Self {
        let extras = trace.jobs.iter().filter_map(|job| job.extra.as_ref());
        let named = extras.filter_map(|extra| extra.dependencies.as_ref()).flat_map(|dependencies| &dependencies.on);
        let named: Set<(u64, Option<u32>)> = named.map(|on| (on.id, on.task)).collect();
        if named.is_empty() {
            return Self::default();
        }
        let jobs = trace.jobs.iter().flat_map(|job| {
            let task = match job.name.part {
                JobPart::Task(task) => Some((job.name.id, Some(task))),
                JobPart::Whole | JobPart::Component(_) => None,
            };
            [Some((job.name.id, None)), task]
        });
        Self(jobs.flatten().filter(|job| named.contains(job)).collect())
    }

    /// Whether the trace holds what a dependency names. O(1).
    pub(super) fn has(&self, on: &Dependency) -> bool {
        on.kind == DependencyKind::Singleton || self.0.contains(&(on.id, on.task))
    }
}
