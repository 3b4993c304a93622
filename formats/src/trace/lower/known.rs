//! Which of the jobs that dependencies name are in the trace.

use foresite_engine::job::{Dependencies, Dependency, DependencyKind, JobPart};

use crate::trace::maps::{Map, Set};
use crate::trace::model::{Trace, TraceJob};
use crate::trace::states::TraceState;

/// The jobs of a trace, as far as dependencies ask for them.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Ids that dependencies name and the trace holds, with the task where one task of an array is meant alone.
    named: Set<(u64, Option<u32>)>,
    /// The trace's first id.
    first: u64,
    /// When the first task became eligible of an array with `%N` that waits for jobs outside the trace, by its id and submit time [s].
    first_eligible: Map<(u64, i64), i64>,
}

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
        let first = trace.jobs.iter().map(|job| job.name.id).min().unwrap_or(0);
        let named = jobs.flatten().filter(|job| named.contains(job)).collect();
        let mut known = Self { named, first, first_eligible: Map::default() };
        for job in &trace.jobs {
            let Some(extra) = job.extra.as_ref().filter(|extra| extra.array_task_limit.is_some()) else { continue };
            if extra.dependencies.as_ref().is_some_and(|dependencies| !known.has_all(dependencies, job)) {
                let first = known.first_eligible.entry((job.name.id, job.submit)).or_insert(job.eligible);
                *first = job.eligible.min(*first);
            }
        }
        known
    }

    /// Whether the trace holds all that a job waits for. An id above its own was nobody's when it came, and such a dependency is lifted at
    /// once (job_scheduler.c of 22.05.8, `test_job_dependency`: "job is gone"; rec c1149): nothing is missing then.
    pub(super) fn has_all(&self, dependencies: &Dependencies, job: &TraceJob) -> bool {
        dependencies.on.iter().all(|on| self.has(on) || on.id > job.name.id)
    }

    /// When what a job waited for outside the trace let it go. Later tasks of an array with `%N` wait for it, too, which is simulated
    /// (rec c1082). O(1).
    pub(super) fn released(&self, job: &TraceJob) -> i64 {
        self.first_eligible.get(&(job.name.id, job.submit)).copied().unwrap_or(job.eligible)
    }

    /// Whether the trace holds what a dependency names. O(1).
    pub(super) fn has(&self, on: &Dependency) -> bool {
        on.kind == DependencyKind::Singleton || self.named.contains(&(on.id, on.task))
    }

    /// Whether a dependency names a job of the trace's time that never became eligible: sacct lists none of those
    /// (as_mysql_jobacct_process.c of 22.05.8: a time window selects by `time_eligible`). O(1).
    fn is_never(&self, on: &Dependency) -> bool {
        !self.has(on) && self.is_of_its_time(on)
    }

    /// Whether a job waited for such a one until it was cancelled. Who comes out of a dependency after its begin time is given that moment
    /// as Eligible (job_mgr.c, `job_independent`), so a begin time that stands there still, of a job that never started, tells that the
    /// dependency was not met.
    pub(super) fn never_met(&self, dependencies: &Dependencies, job: &TraceJob, begin: Option<i64>) -> bool {
        let never_started = job.cancelled_at.is_some() || job.state == TraceState::Pending;
        let is_never = |on: &Dependency| on.id < job.name.id && self.is_never(on);
        let on = &dependencies.on;
        let unmet = if dependencies.any { on.iter().all(is_never) } else { on.iter().any(is_never) };
        never_started && begin == Some(job.eligible) && unmet
    }

    /// What it waits for in the simulation: itself, in place of the jobs that the trace does not hold.
    pub(super) fn unmet(&self, dependencies: &Dependencies, job: &TraceJob) -> Dependencies {
        let in_trace = dependencies.on.iter().copied().filter(|on| self.has(on));
        let itself = Dependency { kind: DependencyKind::AfterAny, id: job.name.id, task: None };
        Dependencies { any: dependencies.any, on: in_trace.chain([itself]).collect() }
    }

    /// Whether a job of this id came after the trace's first.
    fn is_of_its_time(&self, on: &Dependency) -> bool {
        on.id > self.first
    }
}
