//! How fast traces are read, and what they take in memory.

use anyhow::{Context, bail};
use foresite_formats::trace::compact::{self, Origin};
use foresite_formats::trace::{Trace, TraceOptions};

use crate::input::{Input, faults};
use crate::process::Stopwatch;
use crate::{Options, machines, plain, process};

/// Reads the rush trace as sacct rows, and a log in the Standard Workload Format where there is one; the best of five each.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let generated = Input::generate(&machines::rush().scaled(options.scale), options.seed)?;
    read("sacct", generated)?;
    match plain::input(&options.data, "RICC-2010-2", options.processors.or(Some(8192)))? {
        Some(log) => read("swf", log),
        None => {
            println!("{} holds no log RICC-2010-2: SWF was not measured", options.data.display());
            Ok(())
        }
    }
}

fn read(name: &str, input: Input) -> anyhow::Result<()> {
    let (file, bytes) = input.files.last().context("there is no trace")?;
    let options = TraceOptions::default();
    let (mut best, mut jobs, mut resident) = (f64::INFINITY, 0, 0);
    let mut last = None;
    for _ in 0..5 {
        let before = process::now();
        let watch = Stopwatch::start();
        let (trace, found) = Trace::read(file, bytes.as_slice(), &options);
        best = best.min(watch.read().cpu);
        let Some(trace) = trace else { bail!("the trace is faulty:\n{}", faults(&found)) };
        (jobs, resident) = (trace.jobs.len(), process::now().saturating_sub(before).max(resident));
        last = Some((trace, found));
    }
    println!(
        "{name:<8} {:.1} MB, {jobs} jobs: {best:.3} s CPU, {:.0} MB/s, {:.1} million jobs/s; {:.0} bytes a job in memory",
        bytes.len() as f64 / 1e6,
        bytes.len() as f64 / 1e6 / best,
        jobs as f64 / 1e6 / best,
        resident as f64 / jobs.max(1) as f64
    );
    let (trace, found) = last.context("nothing was read")?;
    read_compact(name, &compact::write(&Origin::new(file, String::new(), &options), &trace, &found)?, best)
}

/// The same trace from its compact form; `text` is the CPU time that its text took [s].
fn read_compact(name: &str, bytes: &[u8], text: f64) -> anyhow::Result<()> {
    let (mut best, mut jobs) = (f64::INFINITY, 0);
    for _ in 0..5 {
        let watch = Stopwatch::start();
        jobs = compact::read(bytes)?.trace.jobs.len();
        best = best.min(watch.read().cpu);
    }
    println!(
        "{name:<8} compact {:.1} MB: {best:.3} s CPU, {:.1} million jobs/s, {:.1} times as fast as the text",
        bytes.len() as f64 / 1e6,
        jobs as f64 / 1e6 / best,
        text / best
    );
    Ok(())
}
