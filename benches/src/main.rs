//! Foresite's benchmarks: one process each, so that memory is that of one.
//!
//! Reading order: [`draw`], [`population`], [`site`] and [`machines`] make inputs; [`input`] reads them as users' files are read, [`direct`]
//! goes past that for those too large to be text; [`run`] simulates; [`measure`] and [`report`] tell. [`against`] compares.

mod against;
mod direct;
mod draw;
mod growth;
mod input;
mod machines;
mod measure;
mod plain;
mod population;
mod process;
mod reading;
mod report;
mod run;
mod site;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Simulate a published machine's workload and say how long it took.
#[derive(Debug, Parser)]
#[command(name = "foresite-bench")]
pub(crate) struct Options {
    /// Which benchmark.
    #[arg(value_enum)]
    benchmark: Benchmark,
    /// plain: a log's name and fcfs, sjf, easy or conservative. rush: exclusive, user10. stampede2: sockets, cores, separate.
    /// growth: fcfs, easy, slurm, jobs, nodes, queue.
    variants: Vec<String>,
    /// Jobs and days are multiplied by this; budgets are judged at 1 only.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// huge: so many jobs. growth: at most so many. random: so many scenarios.
    #[arg(long)]
    jobs: Option<u64>,
    /// Seed of the input and of the replication.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// study: so many threads; one per core if not given.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// plain: processors, where the log's header is not to be believed.
    #[arg(long)]
    processors: Option<u32>,
    /// A controller whose cycles take no time, instead of the default cost model.
    #[arg(long)]
    ideal: bool,
    /// Where recorded logs are.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Simulate twice, the second time without skipping any cycle, and compare.
    #[arg(long)]
    against: bool,
    /// Write the input's files to this folder, and simulate nothing.
    #[arg(long, value_name = "DIR")]
    emit: Option<PathBuf>,
    /// Write the schedule file.
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,
}

/// A benchmark of issue 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Benchmark {
    /// A log on one counter of processors.
    Plain,
    /// 732 nodes of eight kinds, 65,000 small jobs, nodes shared by cores.
    Rush,
    /// 4,200 + 1,736 nodes, twelve weeks.
    Stampede2,
    /// 5,576 nodes, a week at job pressure 1.0.
    Edison,
    /// 5,040 nodes, a quarter of a million jobs in eight months.
    Curie,
    /// 10,000 nodes, ten million jobs.
    Huge,
    /// Ten paired replications of two scenarios of rush, on all cores.
    Study,
    /// Time against jobs, nodes and queue length.
    Growth,
    /// sacct rows and SWF into memory.
    Reading,
    /// All recorded cases, with and without skipping cycles.
    Recorded,
    /// Small machines of many seeds, with and without skipping cycles.
    Random,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    match options.benchmark {
        Benchmark::Growth => growth::run(&options),
        Benchmark::Reading => reading::run(&options),
        Benchmark::Recorded => against::recorded(&options),
        Benchmark::Random => against::random(&options),
        Benchmark::Huge => run::huge(&options),
        Benchmark::Study => run::study(&options),
        _ => run::run(&options),
    }
}
