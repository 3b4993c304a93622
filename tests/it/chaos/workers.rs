//! Workers die, stand still, and meet simulations that do not end.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use foresite_tests::servers::{Proxy, wait_until};

use super::Row;
use super::children::children;
use super::pool::{Dice, LEASE, Pool};
use crate::foresite::{Process, expect};

/// `kill -9` of one of two workers, in the middle of a simulation and at a random moment, again and again.
pub(crate) fn killed(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let mut studies = Vec::new();
    let mut dice = Dice::new();
    let mut workers = [pool.work(), pool.work()];
    let mut kills = 0;
    for _ in 0..2 * scale {
        studies.push(service.submit(&pool.operator, &document));
        let at_work = |worker: &Process| !children(worker.child.id()).is_empty();
        wait_until("a worker simulates", Duration::from_secs(120), || workers.iter().any(at_work));
        let busy = workers.iter().position(at_work).unwrap_or_default();
        for victim in [busy, dice.below(2) as usize] {
            workers[victim].kill();
            workers[victim] = pool.work();
            kills += 1;
            dice.sleep(100, 2500);
        }
    }
    let verdict = pool.judge(&service, &studies);
    pool.assert_workers_lost();
    Row::new("`kill -9` of a worker", kills, &verdict, begin)
}

/// SIGSTOP for longer than the lease, then SIGCONT: another worker has its task, and it notices.
pub(crate) fn stopped_past_the_lease(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let studies: Vec<String> = (0..scale).map(|_| service.submit(&pool.operator, &document)).collect();
    let sleeper = pool.work();
    let signal = |name: &str| {
        let pid = sleeper.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    };
    let running = || pool.postgres.psql(pool.name(), "SELECT count(*) FROM tasks WHERE state = 'running'") != "0";
    wait_until("a task is running", Duration::from_secs(120), running);
    let mut stops = 0;
    let _other = pool.work();
    for _ in 0..scale {
        signal("-STOP");
        std::thread::sleep(2 * LEASE + Duration::from_secs(1));
        signal("-CONT");
        std::thread::sleep(Duration::from_millis(500));
        stops += 1;
    }
    let verdict = pool.judge(&service, &studies);
    pool.assert_workers_lost();
    Row::new("SIGSTOP past the lease, SIGCONT", stops, &verdict, begin)
}

/// A worker's way to the database is blocked for longer than its lease when it has results to write. Another one does the task
/// meanwhile; what arrives late is fenced.
pub(crate) fn late_results(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let proxy = Proxy::to(pool.postgres.port());
    let mut command = pool.place.command(&["work"]);
    command.env("FORESITE_DATABASE_URL", format!("postgres://postgres@127.0.0.1:{}/{}", proxy.port(), pool.name()));
    let mut slow = Process { child: command.stdout(Stdio::piped()).spawn().unwrap() };
    let mut line = String::new();
    BufReader::new(slow.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let metrics = line.split_whitespace().last().unwrap().to_owned();
    // Attempts of this worker's that ended, so or any way.
    let ended = |outcome: &str| -> usize {
        let text = service.http.get(&metrics).send().unwrap().text().unwrap();
        let counted = text.lines().filter(|line| line.starts_with("foresite_tasks_total") && line.contains(outcome));
        counted.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum()
    };
    let mut studies = Vec::new();
    for _ in 0..scale {
        studies.push(service.submit(&pool.operator, &document));
        let tasks = |what: &str| pool.count(&format!("SELECT count(*) FROM tasks WHERE {what}"));
        let (lost, running) = (tasks("losses > 0"), || tasks("state = 'running'") > 0);
        wait_until("a task is running", Duration::from_secs(120), running);
        // Its simulation ends long before its lease does.
        proxy.hold();
        let before = ended("");
        let other = pool.work();
        let taken_over = || tasks("losses > 0 AND state IN ('running', 'succeeded')") > lost;
        wait_until("another worker has the task", Duration::from_secs(120), taken_over);
        proxy.open();
        wait_until("the results come late", Duration::from_secs(60), || ended("") > before);
        pool.judge(&service, &studies[studies.len() - 1..]);
        drop(other);
    }
    let verdict = pool.judge(&service, &studies);
    Row::new("results written after the lease", ended("fenced"), &verdict, begin)
}

/// Simulations that need more memory than they may have; a healthy study after them is not touched.
pub(crate) fn poison(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let poisoned: Vec<String> = (0..scale).map(|_| service.submit(&pool.operator, &document)).collect();
    // No memory for anything: each attempt's child ends, the worker does not.
    let strict = pool.place.command(&["work"]).env("FORESITE_TASK_MEMORY_BYTES", "1000000").spawn().unwrap();
    let mut strict = Process { child: strict };
    for study in &poisoned {
        wait_until("the poison study has failed", Duration::from_secs(240), || {
            pool.state(&service, study).as_deref() == Some("failed")
        });
        let said = expect(service.get(&pool.operator, &format!("/v1/studies/{study}")).send().unwrap(), 200);
        assert!(said["error"].is_string(), "{said}");
    }
    assert!(strict.child.try_wait().unwrap().is_none(), "the worker died of it");
    strict.kill();
    let studies: Vec<String> = (0..scale).map(|_| service.submit(&pool.operator, &document)).collect();
    let _worker = pool.work();
    Row::new("poison task (out of memory)", poisoned.len(), &pool.judge(&service, &studies), begin)
}
