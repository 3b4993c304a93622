//! `foresite`: the one binary. One enum, one match; each command is a file in `commands`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[macro_use]
mod out;

mod client;
mod commands;
mod diagnostics;
mod exit;
mod files;
mod kind;
mod memory;
mod patience;
mod progress;
mod remote_study;
mod service;
mod understood;
mod written;

use exit::Exit;

/// What would our waits and our utilisation be, if …?
///
/// Foresite simulates Slurm over a site's own history: a baseline as it is, and scenarios with changes, each in several paired
/// replications. Every difference comes with a 95 % interval and a word: better, worse, no detectable change, not enough data.
#[derive(Debug, Parser)]
#[command(
    name = "foresite",
    version,
    after_help = "First steps:\n  \
        foresite check slurm.conf sacctmgr.cfg sacct.txt      what is understood, assumed, not modelled, wrong\n  \
        foresite simulate --slurm-conf slurm.conf --accounts sacctmgr.cfg --trace sacct.txt --schedule out.csv\n  \
        foresite run study.yaml --out results                 baseline and what-ifs, compared\n\n\
        Exit codes: 0 done, 99 a gate was breached, 2 the input is wrong (all faults listed), 1 anything else."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(commands::run::Run),
    Simulate(Box<commands::simulate::Simulate>),
    Check(commands::check::Check),
    Pseudonymize(commands::pseudonymize::Pseudonymize),
    Demo(commands::demo::Demo),
    Serve(commands::serve::Serve),
    Work(commands::work::Work),
    Migrate(commands::migrate::Migrate),
    Token(commands::token::Token),
    Quota(commands::quota::Quota),
    Submit(commands::submit::Submit),
    Openapi(commands::openapi::Openapi),
    #[command(hide = true)]
    Task(commands::task::Task),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(run) => run.execute(),
        Command::Simulate(simulate) => simulate.execute(),
        Command::Check(check) => check.execute(),
        Command::Pseudonymize(pseudonymize) => pseudonymize.execute(),
        Command::Demo(demo) => demo.execute(),
        Command::Serve(serve) => serve.execute(),
        Command::Work(work) => work.execute(),
        Command::Migrate(migrate) => migrate.execute(),
        Command::Token(token) => token.execute(),
        Command::Quota(quota) => quota.execute(),
        Command::Submit(submit) => submit.execute(),
        Command::Openapi(openapi) => openapi.execute(),
        Command::Task(task) => return task.execute(),
    };
    result
        .unwrap_or_else(|error| {
            eprintln!("foresite: {error:#}");
            Exit::Failed
        })
        .into()
}
