//! Foresite's benchmarks: one process each, so that memory is that of one.
//!
//! Reading order: [`draw`], [`population`], [`site`] and [`machines`] make inputs; [`input`] reads them as users' files are read;
//! [`run`] simulates; [`measure`] and [`report`] tell.

mod draw;
mod input;
mod machines;
mod measure;
mod memory;
mod population;
mod report;
mod run;
mod site;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Simulate a published machine's workload and say how long it took.
#[derive(Debug, Parser)]
#[command(name = "foresite-bench")]
pub(crate) struct Options {
    /// Which benchmark.
    #[arg(value_enum)]
    benchmark: Benchmark,
    /// rush: exclusive, user10. stampede2: sockets, cores, separate. None is the reference.
    variants: Vec<String>,
    /// Jobs and days are multiplied by this; budgets are judged at 1 only.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Seed of the input and of the replication.
    #[arg(long, default_value_t = 1)]
    seed: u64,
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
    /// 732 nodes of eight kinds, 65,000 small jobs, nodes shared by cores.
    Rush,
    /// 4,200 + 1,736 nodes, twelve weeks.
    Stampede2,
    /// 5,576 nodes, a week at job pressure 1.0.
    Edison,
    /// 5,040 nodes, a quarter of a million jobs in eight months.
    Curie,
}

fn main() -> anyhow::Result<()> {
    run::run(&Options::parse())
}
