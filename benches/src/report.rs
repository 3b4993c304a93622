//! What a benchmark prints.

use std::fmt;

use crate::measure::Congestion;
use crate::process::Took;

/// What a figure must be, and what it is meant to become [s].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Issue 4's "must" [s].
    pub(crate) must: f64,
    /// Issue 4's "aim" [s].
    pub(crate) aim: f64,
    /// What is judged.
    pub(crate) of: Judged,
}

/// Which time a budget is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// Reading and simulating, CPU time.
    Whole,
    /// A simulated day.
    Day,
    /// Simulating on several threads, on the clock.
    Clock,
}

/// A run's figures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Benchmark and variants.
    pub(crate) name: String,
    /// What the input's bytes hash to.
    pub(crate) hash: String,
    /// Jobs simulated.
    pub(crate) jobs: usize,
    /// Size of the trace [bytes].
    pub(crate) trace_bytes: usize,
    /// Seconds spent on making the input.
    pub(crate) made_in: f64,
    /// From the files' bytes to a scenario.
    pub(crate) read: Took,
    /// The simulation alone.
    pub(crate) engine: Took,
    /// How congested it was, where that was measured.
    pub(crate) congestion: Option<Congestion>,
    /// Resident before the engine began [bytes].
    pub(crate) resident: u64,
    /// Largest resident memory [bytes].
    pub(crate) peak: u64,
    /// The budget, if the benchmark ran at the size it is meant for.
    pub(crate) budget: Option<Budget>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        writeln!(f, "benchmark          {}", self.name)?;
        let speed = self.trace_bytes as f64 / 1e6 / self.read.cpu.max(1e-9);
        writeln!(
            f,
            "input              {}, {} jobs, {:.1} MB; made in {:.2} s, read in {:.2} s ({speed:.0} MB/s)",
            self.hash,
            self.jobs,
            self.trace_bytes as f64 / 1e6,
            self.made_in,
            self.read.cpu
        )?;
        let mut day = None;
        if let Some(it) = &self.congestion {
            let per = |tests: u64, cycles: u64| tests as f64 / cycles.max(1) as f64;
            writeln!(f, "load               offered {:.3}, allocated {:.3}", it.offered_load, it.allocated_load)?;
            writeln!(
                f,
                "queue              mean {:.0}, peak {}; mean wait {:.0} s ({:.2} h); {} started",
                it.mean_queue,
                it.peak_queue,
                it.mean_wait,
                it.mean_wait / 3600.0,
                it.started
            )?;
            let counters = &it.counters;
            writeln!(
                f,
                "passes             backfill {} of {:.1} tests, main {} of {:.1}",
                counters.backfill_cycles,
                per(counters.backfill_tests, counters.backfill_cycles),
                counters.main_cycles,
                per(counters.main_depth, counters.main_cycles)
            )?;
            let days = it.simulated as f64 / 86_400.0;
            writeln!(
                f,
                "simulated          {days:.1} days ({:.1} with submissions), {:.0} times real time",
                it.submit_span as f64 / 86_400.0,
                it.simulated as f64 / self.engine.cpu
            )?;
            day = Some(self.engine.cpu / days.max(1e-9));
        }
        write!(
            f,
            "engine             {:.3} s CPU ({:.3} s on the clock), {:.0} jobs/s",
            self.engine.cpu,
            self.engine.wall,
            self.jobs as f64 / self.engine.cpu
        )?;
        if let Some(day) = day {
            write!(f, ", {day:.4} s a simulated day")?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "memory             peak {:.0} MiB, {:.0} bytes a job; {:.0} MiB before the engine",
            mib(self.peak),
            self.peak as f64 / self.jobs.max(1) as f64,
            mib(self.resident)
        )?;
        match self.budget {
            None => write!(f, "budget             not judged at this size"),
            Some(budget) => {
                let (spent, what) = match budget.of {
                    Judged::Whole => (self.read.cpu + self.engine.cpu, "reading and simulating"),
                    Judged::Clock => (self.engine.wall, "on the clock"),
                    Judged::Day => (day.unwrap_or(f64::INFINITY), "a simulated day"),
                };
                let met = |bound: f64| if spent <= bound { "met" } else { "MISSED" };
                write!(
                    f,
                    "budget             {what} {spent:.3} s: must {} s {}, aim {} s {}",
                    budget.must,
                    met(budget.must),
                    budget.aim,
                    met(budget.aim)
                )
            }
        }
    }
}
