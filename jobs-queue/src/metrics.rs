//! Figures for Prometheus: above all how fast the simulator is.

use foresite_formats::summary_file::Summary;
use foresite_store::state::TaskKind;
use prometheus::{Counter, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};

/// The worker's counters. Cheap to clone; clones count together.
#[derive(Clone, Debug)]
pub struct Metrics {
    simulated_seconds: Counter,
    wall_seconds: Counter,
    jobs: IntCounter,
    speedup: Histogram,
    jobs_per_second: Histogram,
    cycles: IntCounterVec,
    tasks: IntCounterVec,
    task_seconds: HistogramVec,
}

/// How a task ended, for `foresite_tasks_total{outcome}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// Its results are stored.
    Succeeded,
    /// This attempt failed; another follows.
    Retried,
    /// It failed for good.
    Failed,
    /// Its study was cancelled.
    Cancelled,
    /// Given back: the worker shut down, a server was away, or a disk full.
    HandedBack,
    /// Another worker has it.
    Fenced,
}

impl TaskOutcome {
    /// The label's value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Retried => "retried",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::HandedBack => "handed_back",
            Self::Fenced => "fenced",
        }
    }
}

impl Metrics {
    /// Registers the counters; fails if the registry has them already.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let decades = |from: i32, to: i32| -> Vec<f64> {
            (from..=to).flat_map(|power| [1.0, 3.0].map(|digit| digit * 10_f64.powi(power))).collect()
        };
        let histogram = |name: &str, help: &str, buckets| HistogramOpts::new(name, help).buckets(buckets);
        let metrics = Self {
            simulated_seconds: Counter::new("foresite_engine_simulated_seconds_total", "Simulated time [s]")?,
            wall_seconds: Counter::new("foresite_engine_wall_seconds_total", "Time spent simulating [s]")?,
            jobs: IntCounter::new("foresite_engine_jobs_total", "Simulated jobs")?,
            speedup: Histogram::with_opts(histogram(
                "foresite_engine_speedup",
                "Simulated over elapsed time, per replication",
                decades(1, 8),
            ))?,
            jobs_per_second: Histogram::with_opts(histogram(
                "foresite_engine_jobs_per_second",
                "Simulated jobs over elapsed time, per replication",
                decades(1, 7),
            ))?,
            cycles: IntCounterVec::new(
                Opts::new("foresite_engine_scheduling_cycles_total", "Simulated scheduling cycles"),
                &["cycle"],
            )?,
            tasks: IntCounterVec::new(
                Opts::new("foresite_tasks_total", "Attempts at tasks, by end"),
                &["kind", "outcome"],
            )?,
            task_seconds: HistogramVec::new(
                histogram("foresite_task_seconds", "Elapsed time of attempts at tasks [s]", decades(-2, 4)),
                &["kind"],
            )?,
        };
        let all: [Box<dyn prometheus::core::Collector>; 8] = [
            Box::new(metrics.simulated_seconds.clone()),
            Box::new(metrics.wall_seconds.clone()),
            Box::new(metrics.jobs.clone()),
            Box::new(metrics.speedup.clone()),
            Box::new(metrics.jobs_per_second.clone()),
            Box::new(metrics.cycles.clone()),
            Box::new(metrics.tasks.clone()),
            Box::new(metrics.task_seconds.clone()),
        ];
        for collector in all {
            registry.register(collector)?;
        }
        Ok(metrics)
    }

    /// Counts a replication.
    pub(crate) fn replicated(&self, summary: &Summary) {
        let engine = &summary.engine;
        self.simulated_seconds.inc_by(engine.simulated_seconds.max(0) as f64);
        self.wall_seconds.inc_by(engine.wall_seconds.max(0.0));
        self.jobs.inc_by((engine.jobs_per_second * engine.wall_seconds).round().max(0.0) as u64);
        self.speedup.observe(engine.speedup);
        self.jobs_per_second.observe(engine.jobs_per_second);
        self.cycles.with_label_values(&["main"]).inc_by(summary.scheduler.main.cycles);
        self.cycles.with_label_values(&["backfill"]).inc_by(summary.scheduler.backfill.cycles);
    }

    /// Counts an attempt at a task.
    pub(crate) fn attempted(&self, kind: TaskKind, outcome: TaskOutcome, seconds: f64) {
        self.tasks.with_label_values(&[kind.as_str(), outcome.as_str()]).inc();
        self.task_seconds.with_label_values(&[kind.as_str()]).observe(seconds);
    }
}
