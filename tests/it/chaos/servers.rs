//! Redis and PostgreSQL go, come back, and forget.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use foresite_tests::servers::{Proxy, wait_until};

use super::Row;
use super::pool::{Dice, LEASE, Pool};
use crate::foresite::{Process, Service};

/// Redis is killed and restarted without its memory, and emptied, while studies are at work.
pub(crate) fn redis_restarts_and_forgets(scale: usize) -> Row {
    let (begin, mut pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let _workers = [pool.work_is_up(), pool.work_is_up()];
    let studies: Vec<String> = (0..2 * scale).map(|_| service.submit(&pool.operator, &document)).collect();
    let mut dice = Dice::new();
    for _ in 0..2 * scale {
        dice.sleep(200, 2000);
        pool.redis.flush_all();
        dice.sleep(200, 2000);
        pool.redis.kill();
        dice.sleep(100, 1000);
        pool.redis.restart();
    }
    Row::new("Redis killed and emptied", 4 * scale, &pool.judge(&service, &studies), begin)
}

/// Studies are accepted without Redis, and run when it is back.
pub(crate) fn redis_down_at_submit(scale: usize) -> Row {
    let (begin, mut pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let _worker = pool.work_is_up();
    let mut studies = Vec::new();
    for _ in 0..scale {
        pool.redis.kill();
        studies.push(service.submit(&pool.operator, &document));
        pool.redis.restart();
    }
    Row::new("Redis down at submit", scale, &pool.judge(&service, &studies), begin)
}

/// PostgreSQL crashes and recovers during submissions, claims and results.
pub(crate) fn postgres_restarts(scale: usize) -> Row {
    let (begin, mut pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let _workers = [pool.work_is_up(), pool.work_is_up()];
    let mut dice = Dice::new();
    let mut studies = Vec::new();
    for number in 0..2 * scale {
        pool.postgres.kill();
        pool.postgres.restart();
        studies.push(pool.submit(&service.http, &service.url, &document, &format!("key-{number}")));
        dice.sleep(300, 2500);
        // In the middle of whatever they do now.
        pool.postgres.kill();
        pool.postgres.restart();
    }
    Row::new("PostgreSQL killed", 4 * scale, &pool.judge(&service, &studies), begin)
}

/// PostgreSQL answers nobody for longer than the lease, and then goes on with whatever it was asked.
pub(crate) fn postgres_stands_still(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let proxy = Proxy::to(pool.postgres.port());
    let through = |role: &str| {
        let mut command = pool.place.command(&[role]);
        command.env("FORESITE_DATABASE_URL", format!("postgres://postgres@127.0.0.1:{}/{}", proxy.port(), pool.name()));
        command.env("FORESITE_SHUTDOWN_SECONDS", "1");
        command
    };
    let work = || Process { child: through("work").stdout(Stdio::piped()).spawn().unwrap() };
    let service = Service::of(through("serve"));
    let document = pool.document(&service);
    let (mut worker, mut other) = (work(), work());
    let mut studies = Vec::new();
    for _ in 0..scale {
        studies.push(service.submit(&pool.operator, &document));
        let running = || pool.postgres.psql(pool.name(), "SELECT count(*) FROM tasks WHERE state = 'running'") != "0";
        wait_until("a task is running", Duration::from_secs(120), running);
        proxy.hold();
        std::thread::sleep(2 * LEASE);
        let probe = service.http.get(format!("{}/readyz", service.url)).send().unwrap();
        assert_eq!(probe.status(), 503);
        // Whoever is to stop now does not wait for an answer.
        Command::new("kill").args(["-TERM", &other.child.id().to_string()]).status().unwrap();
        wait_until("the worker has stopped", Duration::from_secs(60), || other.child.try_wait().unwrap().is_some());
        proxy.open();
        // A task gives up after three lost leases: this study ends before the next outage.
        pool.judge(&service, &studies[studies.len() - 1..]);
        other = std::mem::replace(&mut worker, work());
    }
    Row::new("PostgreSQL stands still past the lease", scale, &pool.judge(&service, &studies), begin)
}

/// Dump, drop, restore: every row and every result is there, and what was not finished is finished afterwards.
pub(crate) fn backup_and_restore(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let worker = pool.work();
    let mut studies: Vec<String> = (0..scale).map(|_| service.submit(&pool.operator, &document)).collect();
    let before = pool.judge(&service, &studies);
    assert_eq!((before.lost, before.differing), (0, 0));
    // One that only waits.
    drop(worker);
    studies.push(service.submit(&pool.operator, &document));
    drop(service);

    let dump = pool.place.folder().join("foresite.sql");
    let tool = |name: &str| format!("{}/{name}", programs());
    let file = std::fs::File::create(&dump).unwrap();
    let dumped =
        Command::new(tool("pg_dump")).args(["--clean", "--if-exists", "-d", &pool.database]).stdout(file).status();
    assert!(dumped.unwrap().success());
    let counts =
        "SELECT (SELECT count(*) FROM studies), (SELECT count(*) FROM replications), (SELECT count(*) FROM audit)";
    let counted = pool.postgres.psql(pool.name(), counts);
    pool.postgres.psql("postgres", &format!("DROP DATABASE {} WITH (FORCE)", pool.name()));
    pool.postgres.psql("postgres", &format!("CREATE DATABASE {}", pool.name()));
    let mut restore = Command::new(tool("psql"));
    restore.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &pool.database]).arg("-f").arg(&dump);
    let restored = restore.stdout(Stdio::null()).status();
    assert!(restored.unwrap().success());
    assert_eq!(pool.postgres.psql(pool.name(), counts), counted);
    pool.redis.flush_all();

    let service = pool.place.serve();
    let _worker = pool.work();
    Row::new("backup, drop, restore", 1, &pool.judge(&service, &studies), begin)
}

/// Where PostgreSQL's client programs are.
fn programs() -> String {
    let asked = Command::new("pg_config").arg("--bindir").output().ok().filter(|output| output.status.success());
    let asked = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let has_both =
        |folder: &String| ["pg_dump", "psql"].iter().all(|name| std::path::Path::new(folder).join(name).is_file());
    let mut known: Vec<String> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin").display().to_string()).collect())
        .unwrap_or_default();
    known.sort();
    known.reverse();
    known.extend(["/usr/local/bin".to_owned(), "/usr/bin".to_owned()]);
    asked.into_iter().chain(known).find(has_both).expect("pg_dump beside psql")
}
