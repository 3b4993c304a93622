//! Time against jobs, nodes and queue length, one at a time, with the exponent.
//!
//! The queue is about as long as is asked for throughout: a job comes when as many have started as make room for it. When that is,
//! simulations tell that were made before: of EASY, then of the algorithm itself.

use std::sync::Arc;

use foresite_engine::observer::Unobserved;
use foresite_engine::outcome::Outcome;
use foresite_engine::policy::Scheduler;
use foresite_engine::scenario::Scenario;
use foresite_engine::{Draws, simulate};

use crate::machines::{Growth, growth};
use crate::measure::Congestion;
use crate::process::Stopwatch;
use crate::{Options, direct};

/// What everything else stays at while one thing grows.
const MIDDLE: Growth = Growth { jobs: 100_000, nodes: 1000, queue: 1000 };

/// Simulations after which the pace is kept by EASY, and by the algorithm itself: with fewer jobs in the queue less is backfilled.
const EASY_ROUNDS: usize = 12;
const ROUNDS: usize = 2;

/// Prints the table; `variants` choose among `fcfs`, `easy`, `slurm`, and `jobs`, `nodes`, `queue`; all where none is named.
/// No run of more than `--jobs` jobs is made (default a million).
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let most = options.jobs.unwrap_or(1_000_000);
    let chosen = |names: [&str; 3], name: &str| {
        !options.variants.iter().any(|it| names.contains(&it.as_str())) || options.variants.iter().any(|it| it == name)
    };
    let algorithms = [("fcfs", Scheduler::Fcfs), ("easy", Scheduler::Easy), ("slurm", Scheduler::SlurmBackfill)];
    println!(
        "| algorithm | grows | value | jobs | mean queue | peak queue | CPU s | jobs/s | bytes a job | exponent |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, scheduler) in algorithms {
        if !chosen(["fcfs", "easy", "slurm"], name) {
            continue;
        }
        for (what, from, to) in [("jobs", 10_000, most), ("nodes", 100, 10_000), ("queue", 100, 100_000)] {
            if chosen(["jobs", "nodes", "queue"], what) {
                rows(name, scheduler, (what, from, to), options.seed)?;
            }
        }
    }
    Ok(())
}

fn rows(name: &str, scheduler: Scheduler, (what, from, to): (&str, u64, u64), seed: u64) -> anyhow::Result<()> {
    let mut before: Option<(f64, f64)> = None;
    let mut value = from;
    while value <= to {
        let size = match what {
            "jobs" => Growth { jobs: value, ..MIDDLE },
            "nodes" => Growth { nodes: value, ..MIDDLE },
            _ => Growth { queue: value, jobs: MIDDLE.jobs.max(value * 3), ..MIDDLE },
        };
        let (mut scenario, _) = direct::scenario(&growth(size), seed)?;
        pace(&mut scenario, None, 0);
        for teacher in [[Scheduler::Easy; EASY_ROUNDS].as_slice(), &[scheduler; ROUNDS]].concat() {
            scenario.policy.scheduler = teacher;
            let outcome = simulate(&scenario, Draws { seed, boot_offset: None }, &mut Unobserved)?;
            pace(&mut scenario, Some(&outcome), size.queue as usize);
        }
        scenario.policy.scheduler = scheduler;
        let jobs = scenario.workload.jobs.len();
        let watch = Stopwatch::start();
        let outcome = simulate(&scenario, Draws { seed, boot_offset: None }, &mut Unobserved)?;
        let cpu = watch.read().cpu.max(1e-3);
        let peak = crate::process::now();
        let it = Congestion::of(&scenario, &outcome);
        // Queue length costs per job: more jobs are simulated where it is long.
        let (x, y) = if what == "queue" { (it.mean_queue.max(1.0), cpu / jobs as f64) } else { (value as f64, cpu) };
        let exponent = before.map(|(x0, y0)| (y / y0).ln() / (x / x0).ln());
        println!(
            "| {name} | {what} | {value} | {jobs} | {:.0} | {} | {cpu:.3} | {:.0} | {:.0} | {} |",
            it.mean_queue,
            it.peak_queue,
            jobs as f64 / cpu,
            peak as f64 / jobs as f64,
            exponent.map_or(String::new(), |exponent| format!("{exponent:.2}"))
        );
        before = Some((x, y));
        value *= 10;
    }
    Ok(())
}

/// Lets every job come when all but `queue` of those before it have started in `outcome`; at once where there is none.
/// O(jobs log jobs).
fn pace(scenario: &mut Scenario, outcome: Option<&Outcome>, queue: usize) {
    let mut starts: Vec<i64> = outcome.iter().flat_map(|it| it.records.iter().filter_map(|job| job.start)).collect();
    starts.sort_unstable();
    let begin = scenario.workload.jobs.first().map_or(0, |job| job.submit);
    for (index, job) in Arc::make_mut(&mut scenario.workload).jobs.iter_mut().enumerate() {
        let room = index.checked_sub(queue).and_then(|before| starts.get(before));
        job.submit = room.map_or(begin, |&at| at.max(begin));
        job.release = job.submit;
    }
}
