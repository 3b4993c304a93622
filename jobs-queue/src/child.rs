//! The child's side: `foresite task`. Reads one order from standard input, carries it out, ends.
//!
//! Exit codes: 0 done, 2 the input is wrong (faults on standard error), 3 there is no room for the results, 1 anything else. The child ends when its standard input
//! does, so none outlives its worker.

use std::io::{BufRead, Read};
use std::process::ExitCode;

use foresite_store::error::disk_is_full;

use crate::task::{TaskError, TaskSpec};
use crate::tasks::run_task_in;

/// Exit code of a task whose input is wrong.
pub const EXIT_INPUT: u8 = 2;

/// Exit code of a task whose folder is on a full disk.
pub const EXIT_DISK_FULL: u8 = 3;

/// An order is a study document and some names; larger is wrong.
const ORDER_BYTES_MAX: u64 = 64 << 20;

/// The whole life of a child process; call it from `main` for the worker's `arguments` (by default `task`).
pub fn child_main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(ChildError::Task(TaskError::Input(faults))) => {
            eprintln!("{faults}");
            ExitCode::from(EXIT_INPUT)
        }
        Err(ChildError::Task(TaskError::File { path, source })) if disk_is_full(&source) => {
            eprintln!("{}: {source}", path.display());
            ExitCode::from(EXIT_DISK_FULL)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum ChildError {
    #[error("no order on standard input: {0}")]
    Order(String),
    #[error("the memory limit could not be set: {0}")]
    Limit(std::io::Error),
    #[error(transparent)]
    Task(#[from] TaskError),
}

fn run() -> Result<(), ChildError> {
    let spec = read_order()?;
    if let Some(limit) = spec.memory_limit_bytes {
        rlimit::setrlimit(rlimit::Resource::AS, limit, limit).map_err(ChildError::Limit)?;
    }
    go_first();
    end_with_the_worker();
    Ok(run_task_in(&spec)?)
}

fn read_order() -> Result<TaskSpec, ChildError> {
    let mut line = String::new();
    let mut input = std::io::stdin().lock().take(ORDER_BYTES_MAX);
    input.read_line(&mut line).map_err(|error| ChildError::Order(error.to_string()))?;
    serde_json::from_str(&line).map_err(|error| ChildError::Order(error.to_string()))
}

/// Where the machine's memory runs out in spite of the limit, this process is ended and not the one that waits for it. Source:
/// proc(5), oom_score_adj; anybody may raise their own.
fn go_first() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// The worker holds the other end of standard input open for as long as it wants the result.
fn end_with_the_worker() {
    std::thread::spawn(|| {
        let mut rest = [0_u8; 64];
        while matches!(std::io::stdin().lock().read(&mut rest), Ok(1..)) {}
        std::process::exit(1);
    });
}
