//! The summary file: one replication in figures, as JSON.

use std::collections::BTreeMap;

use foresite_engine::outcome::{PendingReason, SchedulerCounters};
use foresite_engine::policy::{CostModel, Policy};
use serde::{Deserialize, Serialize};

use crate::comparison::statistics::{mean, percentile, rounded, sorted};
use crate::schedule_file::Schedule;

#[cfg(test)]
mod tests;

/// One replication in figures. Durations in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Jobs counted: those submitted within the window.
    pub jobs: u64,
    /// Those of them that started.
    pub jobs_started: u64,
    /// Those of them that are left PENDING at the end, or were refused, by reason (squeue(1)'s words).
    #[serde(default)]
    pub jobs_pending: BTreeMap<String, u64>,
    /// Start less eligible time, of the jobs that started.
    pub wait_seconds: WaitFigures,
    /// Response time over run time, bounded at 10 s.
    pub bounded_slowdown: MeanFigure,
    /// End less eligible time.
    pub response_seconds: MeanFigure,
    /// Allocated over available core-seconds, over the window, or from first submit to last end.
    pub utilization: f64,
    /// From first submit to last end.
    pub makespan_seconds: i64,
    /// How fast the engine was.
    pub engine: EngineFigures,
    /// What the schedulers did, in the shape of sdiag.
    pub scheduler: SchedulerFigures,
    /// What to bear in mind.
    #[serde(default)]
    pub caveats: Vec<String>,
}

/// Of a controller that Slurm's schedulers cost no time.
const IDEAL: &str =
    "the controller is ideal: its cycles take no time (CostModel=default, or an sdiag, gives them theirs)";

/// Figures of the waits [s].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitFigures {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile (nearest rank).
    pub p95: f64,
    /// Longest.
    pub max: f64,
}

/// A figure of which only the mean is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanFigure {
    /// Arithmetic mean.
    pub mean: f64,
}

/// How fast the engine was; measured by the caller, for the engine knows no clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineFigures {
    /// Elapsed time of the simulation [s].
    pub wall_seconds: f64,
    /// Simulated time [s].
    pub simulated_seconds: i64,
    /// Jobs over elapsed time.
    pub jobs_per_second: f64,
    /// Simulated over elapsed time.
    pub speedup: f64,
    /// The process's largest resident memory [bytes]; 0 where unknown.
    pub peak_rss_bytes: u64,
    /// The engine's version.
    pub version: String,
}

/// Counters in the shape of sdiag, summed over controllers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchedulerFigures {
    /// The main scheduler.
    pub main: MainFigures,
    /// The backfill scheduler.
    pub backfill: BackfillFigures,
    /// Longest queue a cycle saw.
    pub queue_length_max: u64,
    /// Priority recalculations.
    pub priority_steps: u64,
    /// Jobs preempted, each as often as it was.
    #[serde(default)]
    pub preempted_jobs: u64,
    /// Jobs that went back to the queue, each as often as it did.
    #[serde(default)]
    pub requeued_jobs: u64,
}

/// "Main schedule statistics".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MainFigures {
    /// Cycles.
    pub cycles: u64,
    /// Records tested, all cycles together.
    pub depth: u64,
    /// Records tested in a cycle, on average.
    pub depth_mean: f64,
    /// Jobs started.
    pub started_jobs: u64,
}

/// "Backfilling stats".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackfillFigures {
    /// Cycles.
    pub cycles: u64,
    /// Records seen, all cycles together.
    pub depth: u64,
    /// Records seen in a cycle, on average.
    pub depth_mean: f64,
    /// Selection tests ("try sched"), all cycles together.
    pub tests: u64,
    /// Selection tests in a cycle, on average.
    pub tests_mean: f64,
    /// "Total backfilled jobs".
    pub backfilled_jobs: u64,
    /// "Backfill exit": why cycles ended.
    pub exits: ExitFigures,
    /// At a controller log's moments: cycles that came in time though the simulation knows of no change since the last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unexplained: u64,
    /// At a controller log's moments: cycles that came late though the simulation knows of a change since the last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foregone: u64,
}

/// Why backfill cycles ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExitFigures {
    /// End of the queue.
    pub end_of_queue: u64,
    /// `bf_max_job_test`.
    pub bf_max_job_test: u64,
    /// `bf_max_job_start`.
    pub bf_max_job_start: u64,
    /// `bf_node_space_size`.
    pub bf_node_space_size: u64,
    /// `bf_max_time`.
    pub bf_max_time: u64,
    /// The state changed while locks were yielded.
    pub state_changed: u64,
}

/// What a summary measures over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// The counted window [Unix s, half open]; `None`: all jobs, from first submit to last end.
    pub window: Option<(i64, i64)>,
    /// Schedulable logical CPUs of the scenario.
    pub cpus: u64,
}

impl Horizon {
    /// Whether a job submitted then is counted.
    pub fn counts(&self, submit: i64) -> bool {
        self.window.is_none_or(|(from, to)| (from..to).contains(&submit))
    }

    /// Allocated over available CPU-seconds; `None` where nothing is available. O(rows).
    pub fn utilization(&self, schedule: &Schedule) -> Option<f64> {
        let (from, to) = self.window.or_else(|| self.first_and_last(schedule))?;
        self.utilization_in(schedule, from, to)
    }

    fn utilization_in(&self, schedule: &Schedule, from: i64, to: i64) -> Option<f64> {
        let used: u128 = schedule.rows.iter().map(|row| row.cpu_seconds(from, to)).sum();
        let available = (to - from).max(0) as u128 * u128::from(self.cpus);
        (available > 0).then(|| used as f64 / available as f64)
    }

    /// Seconds from the first submit to the last end of the counted jobs. O(rows).
    pub fn makespan(&self, schedule: &Schedule) -> Option<i64> {
        self.first_and_last(schedule).map(|(first, last)| last - first)
    }

    fn first_and_last(&self, schedule: &Schedule) -> Option<(i64, i64)> {
        let (mut first, mut last) = (None, None);
        for row in schedule.rows.iter().filter(|row| self.counts(row.submit)) {
            first = Some(first.map_or(row.submit, |first: i64| first.min(row.submit)));
            last = last.max(row.start.and(row.end));
        }
        first.zip(last)
    }
}

impl Summary {
    /// Summarises a schedule; the engine's speed is filled in by [`Self::timed`]. O(rows × log rows).
    pub fn of(schedule: &Schedule, horizon: Horizon, counters: &SchedulerCounters, simulated_seconds: i64) -> Self {
        let (mut jobs, mut jobs_started) = (0, 0);
        let (mut waits, mut slowdowns, mut responses) = (Vec::new(), Vec::new(), Vec::new());
        for row in schedule.rows.iter().filter(|row| horizon.counts(row.submit)) {
            jobs += 1;
            jobs_started += u64::from(row.start.is_some());
            waits.extend(row.wait().map(|wait| wait as f64));
            slowdowns.extend(row.bounded_slowdown());
            responses.extend(row.response().map(|time| time as f64));
        }
        let waits = sorted(waits);
        let first_and_last = horizon.first_and_last(schedule);
        let period = horizon.window.or(first_and_last);
        let utilization = period.and_then(|(from, to)| horizon.utilization_in(schedule, from, to));
        Self {
            jobs,
            jobs_started,
            jobs_pending: BTreeMap::new(),
            wait_seconds: WaitFigures {
                mean: rounded(mean(&waits).unwrap_or_default(), 3),
                median: rounded(percentile(&waits, 50).unwrap_or_default(), 3),
                p95: rounded(percentile(&waits, 95).unwrap_or_default(), 3),
                max: waits.last().copied().unwrap_or_default(),
            },
            bounded_slowdown: MeanFigure { mean: rounded(mean(&slowdowns).unwrap_or_default(), 6) },
            response_seconds: MeanFigure { mean: rounded(mean(&responses).unwrap_or_default(), 3) },
            utilization: rounded(utilization.unwrap_or_default(), 6),
            makespan_seconds: first_and_last.map_or(0, |(first, last)| last - first),
            engine: EngineFigures {
                simulated_seconds,
                version: foresite_engine_version().to_owned(),
                ..EngineFigures::default()
            },
            scheduler: SchedulerFigures::of(counters),
            caveats: Vec::new(),
        }
    }

    /// Notes what the policy leaves out of the figures.
    #[must_use]
    pub fn under(mut self, policy: &Policy) -> Self {
        if !policy.scheduler.is_plain() && policy.cost == CostModel::default() {
            self.caveats.push(IDEAL.to_owned());
        }
        self
    }

    /// Counts why jobs are left PENDING, and says so.
    #[must_use]
    pub fn pending_for(mut self, reasons: impl Iterator<Item = PendingReason>) -> Self {
        let mut counts: BTreeMap<PendingReason, u64> = BTreeMap::new();
        reasons.for_each(|reason| *counts.entry(reason).or_default() += 1);
        for (reason, count) in counts {
            let (word, meaning) = reason.words();
            let jobs = if count == 1 { "job" } else { "jobs" };
            self.caveats.push(format!("{count} {jobs} left PENDING, {word}: {meaning}"));
            self.jobs_pending.insert(word.to_owned(), count);
        }
        self
    }

    /// Fills in the engine's speed over `jobs` simulated jobs.
    #[must_use]
    pub fn timed(mut self, wall_seconds: f64, jobs: usize, peak_rss_bytes: u64) -> Self {
        let wall = wall_seconds.max(1e-9);
        self.engine.wall_seconds = rounded(wall_seconds, 6);
        self.engine.jobs_per_second = rounded(jobs as f64 / wall, 1);
        self.engine.speedup = rounded(self.engine.simulated_seconds as f64 / wall, 1);
        self.engine.peak_rss_bytes = peak_rss_bytes;
        self
    }

    /// The summary as indented JSON with a final line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map(|text| text + "\n").unwrap_or_default()
    }
}

/// The engine's version: the workspace has one.
pub const fn foresite_engine_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn is_zero(figure: &u64) -> bool {
    *figure == 0
}

impl SchedulerFigures {
    fn of(counters: &SchedulerCounters) -> Self {
        let per = |total: u64, cycles: u64| if cycles == 0 { 0.0 } else { rounded(total as f64 / cycles as f64, 3) };
        Self {
            main: MainFigures {
                cycles: counters.main_cycles,
                depth: counters.main_depth,
                depth_mean: per(counters.main_depth, counters.main_cycles),
                started_jobs: counters.main_started,
            },
            backfill: BackfillFigures {
                cycles: counters.backfill_cycles,
                depth: counters.backfill_depth,
                depth_mean: per(counters.backfill_depth, counters.backfill_cycles),
                tests: counters.backfill_tests,
                tests_mean: per(counters.backfill_tests, counters.backfill_cycles),
                backfilled_jobs: counters.backfill_started,
                exits: ExitFigures {
                    end_of_queue: counters.backfill_exit_end,
                    bf_max_job_test: counters.backfill_exit_max_test,
                    bf_max_job_start: counters.backfill_exit_max_start,
                    bf_node_space_size: counters.backfill_exit_table_size,
                    bf_max_time: counters.backfill_exit_max_time,
                    state_changed: counters.backfill_exit_state_changed,
                },
                unexplained: counters.backfill_unexplained,
                foregone: counters.backfill_foregone,
            },
            queue_length_max: counters.queue_length_max,
            priority_steps: counters.priority_steps,
            preempted_jobs: counters.preempted,
            requeued_jobs: counters.requeued,
        }
    }
}
