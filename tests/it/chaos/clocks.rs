//! Clocks of different machines that differ by hours, and jump: every process of ours is told another time by libfaketime. The
//! servers keep the real one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::Row;
use super::pool::{Dice, Pool};
use crate::foresite::{Process, Service};

/// What a process may believe.
const SHIFTS: [&str; 8] = ["-30h", "-5h", "-47m", "-3", "+0", "+8m", "+4h", "+30h"];
/// Clocks: the service's and two workers'.
const PROCESSES: usize = 3;

/// Studies come and go while clocks jump and workers die; retention is at work, which removes what it takes for a day old.
pub(crate) fn apart(scale: usize) -> Row {
    let (begin, mut pool) = (Instant::now(), Pool::new());
    // A JSON web token goes by the clock of the machine that checks it, an API token by the database's.
    // Made where it was the day before yesterday, it is good until tomorrow all the same.
    let past = pool.place.folder().join("clock-past");
    set(&past, "-48h");
    let create = ["token", "create", "--role", "operator", "--tenant", "t", "--days", "1"];
    let made = under(pool.place.command(&create), &past).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    pool.operator = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let clocks: Vec<PathBuf> =
        (0..PROCESSES).map(|number| pool.place.folder().join(format!("clock-{number}"))).collect();
    clocks.iter().zip(["+30h", "-5h", "+4h"]).for_each(|(clock, shift)| set(clock, shift));
    let mut service = pool.place.command(&["serve"]);
    for setting in
        ["FORESITE_RETAIN_STUDIES_DAYS", "FORESITE_RETAIN_TRACES_DAYS", "FORESITE_RETENTION_INTERVAL_SECONDS"]
    {
        service.env(setting, "1");
    }
    let service = Service::of(under(service, &clocks[0]));
    let document = pool.document(&service);
    let work = |number: usize| {
        let mut command = under(pool.place.command(&["work"]), &clocks[number]);
        Process { child: command.stdout(std::process::Stdio::piped()).spawn().unwrap() }
    };
    let mut workers = [work(1), work(2)];
    let mut dice = Dice::new();
    let mut studies = Vec::new();
    let rounds = 2 * scale;
    for number in 0..rounds {
        studies.push(pool.submit(&service.http, &service.url, &document, &format!("key-{number}")));
        for clock in &clocks {
            dice.sleep(200, 800);
            set(clock, SHIFTS[dice.below(SHIFTS.len() as u64) as usize]);
        }
        // A worker that has really died is still noticed.
        let victim = number % 2;
        workers[victim].kill();
        workers[victim] = work(victim + 1);
    }
    Row::new("clocks hours apart, that jump", rounds * PROCESSES, &pool.judge(&service, &studies), begin)
}

/// Written whole or not at all: it is read all the time.
fn set(clock: &Path, shift: &str) {
    let fresh = clock.with_extension("fresh");
    std::fs::write(&fresh, shift).unwrap();
    std::fs::rename(fresh, clock).unwrap();
}

/// The same command with a clock of its own. Files keep their times, and what measures durations goes on.
fn under(mut command: Command, clock: &Path) -> Command {
    command
        .env("LD_PRELOAD", library())
        .env("FAKETIME_TIMESTAMP_FILE", clock)
        .env("FAKETIME_CACHE_DURATION", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("NO_FAKE_STAT", "1");
    command
}

fn library() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").unwrap().flatten().map(|entry| entry.path());
    let places = folders.chain([PathBuf::from("/usr/lib"), PathBuf::from("/usr/local/lib")]);
    let mut found = places.map(|folder| folder.join("faketime/libfaketimeMT.so.1")).filter(|file| file.is_file());
    found.next().expect("libfaketime (tests/install-servers.sh installs it)")
}
