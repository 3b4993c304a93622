//! Workers die, stand still, and meet simulations that do not end.

use std::process::Command;
use std::time::{Duration, Instant};

use super::Row;
use super::pool::{Dice, LEASE, Pool};
use crate::foresite::expect;

/// `kill -9` of one of two workers, at random points, again and again while studies are at work.
pub(crate) fn killed(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let studies: Vec<String> = (0..2 * scale).map(|_| service.submit(&pool.operator, &document)).collect();
    let mut dice = Dice::new();
    let mut workers = [pool.work(), pool.work()];
    let mut kills = 0;
    while kills < 4 * scale {
        dice.sleep(100, 2500);
        let victim = &mut workers[dice.below(2) as usize];
        victim.kill();
        *victim = pool.work();
        kills += 1;
        // A task gives up after three dead workers: enough of them must get through.
        if kills % 2 == 0 {
            std::thread::sleep(2 * LEASE);
        }
    }
    Row::new("`kill -9` of a worker", kills, &pool.judge(&service, &studies), begin)
}

/// SIGSTOP for longer than the lease, then SIGCONT: the late writer finds itself fenced.
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
    foresite_tests::servers::wait_until("a task is running", Duration::from_secs(120), running);
    let mut stops = 0;
    let _other = pool.work();
    for _ in 0..scale {
        signal("-STOP");
        std::thread::sleep(2 * LEASE + Duration::from_secs(1));
        signal("-CONT");
        std::thread::sleep(Duration::from_millis(500));
        stops += 1;
    }
    Row::new("SIGSTOP past the lease, SIGCONT", stops, &pool.judge(&service, &studies), begin)
}

/// Simulations that need more memory than they may have; a healthy study after them is not touched.
pub(crate) fn poison(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let poisoned: Vec<String> = (0..scale).map(|_| service.submit(&pool.operator, &document)).collect();
    // No memory for anything: each attempt's child ends, the worker does not.
    let strict = pool.place.command(&["work"]).env("FORESITE_TASK_MEMORY_BYTES", "1000000").spawn().unwrap();
    let mut strict = crate::foresite::Process { child: strict };
    for study in &poisoned {
        foresite_tests::servers::wait_until("the poison study has failed", Duration::from_secs(240), || {
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
