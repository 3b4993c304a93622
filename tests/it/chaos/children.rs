//! The processes that simulate die, or stand still, while their workers live.

use std::process::Command;
use std::time::{Duration, Instant};

use foresite_tests::servers::wait_until;

use super::Row;
use super::pool::Pool;
use crate::foresite::Process;

/// How long an attempt may take. More than a task needs on a busy machine: what takes longer three times has failed.
const TIME_LIMIT: &str = "20";

/// One simulation of each study is killed, and one stopped until its time is over.
pub(crate) fn killed_and_stopped(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let mut command = pool.place.command(&["work"]);
    command.env("FORESITE_TASK_TIMEOUT_SECONDS", TIME_LIMIT).env("FORESITE_WORKER_TASKS", "2");
    let worker = Process { child: command.spawn().unwrap() };
    let mut studies = Vec::new();
    let mut disturbances = 0;
    for _ in 0..scale {
        studies.push(service.submit(&pool.operator, &document));
        for signal in ["-KILL", "-STOP"] {
            let strike = || children(worker.child.id()).first().is_some_and(|child| send(signal, *child));
            wait_until("a simulation is struck", Duration::from_secs(120), strike);
            disturbances += 1;
        }
        // The next one is struck when this study is over: no task of it meets a third blow.
        pool.judge(&service, &studies[studies.len() - 1..]);
    }
    let verdict = pool.judge(&service, &studies);
    let retried = "SELECT count(*) FROM tasks WHERE failures > 0";
    let retried: usize = pool.postgres.psql(pool.name(), retried).parse().unwrap();
    assert!(retried > 0, "no simulation was struck in the middle");
    drop(worker);
    Row::new("simulation killed, or stopped until its time is over", disturbances, &verdict, begin)
}

/// Processes that this one has started and that run, newest first.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let mut found: Vec<u32> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .filter(|pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // After the name in brackets: state, parent.
            let mut words = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            let (state, of) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            ["R", "S", "D"].contains(&state) && of == parent.to_string()
        })
        .collect();
    found.sort_unstable();
    found.reverse();
    found
}

/// False if it was gone already.
fn send(signal: &str, pid: u32) -> bool {
    let said = Command::new("kill").args([signal, &pid.to_string()]).output();
    said.unwrap().status.success()
}
