//! Redis and PostgreSQL go, come back, and forget.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use foresite_tests::servers::{Proxy, RedisServer, wait_until};

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

/// Redis is full and refuses what is new; then it makes room by forgetting whatever key it likes, until it has forgotten the stream.
pub(crate) fn redis_evicts(scale: usize) -> Row {
    // What happens to keys happens before a command runs: the script sees it before any worker does.
    const FILL: &str = "EVAL \"local there = redis.call('EXISTS','{foresite}:tasks'); \
        redis.call('SET','junk'..ARGV[1],string.rep('x',100000)); return there\" 0";
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let _workers = [pool.work_is_up(), pool.work_is_up()];
    let mut studies = Vec::new();
    for _ in 0..scale {
        pool.redis.command("CONFIG SET maxmemory 1");
        studies.push(service.submit(&pool.operator, &document));
        assert!(pool.redis.command("SET a b").contains("OOM"), "there is room");
        std::thread::sleep(LEASE);
        pool.redis.command("CONFIG SET maxmemory-policy allkeys-random");
        pool.redis.command("CONFIG SET maxmemory 4mb");
        studies.push(service.submit(&pool.operator, &document));
        let mut number = 0;
        wait_until("the stream is forgotten", Duration::from_secs(120), || {
            number += 1;
            pool.redis.command(&format!("{FILL} {number}")).starts_with(":0")
        });
        pool.redis.command("CONFIG SET maxmemory 0");
        pool.redis.command("CONFIG SET maxmemory-policy noeviction");
    }
    Row::new("Redis full, then evicting keys", 2 * scale, &pool.judge(&service, &studies), begin)
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
        let state = pool.state(&service, &studies[studies.len() - 1]);
        assert_eq!(state.as_deref(), Some("queued"), "somebody knew of it without Redis");
        pool.redis.restart();
        // Back, it rings again: this Redis had no message yet.
        wait_until("the new Redis was told of it", Duration::from_secs(60), || has_held_messages(&pool.redis));
    }
    Row::new("Redis down at submit", scale, &pool.judge(&service, &studies), begin)
}

/// Whether any message has ever been in the stream of this Redis.
fn has_held_messages(redis: &RedisServer) -> bool {
    let said = redis.command("XINFO STREAM {foresite}:tasks");
    let last = said.split("last-generated-id\r\n").nth(1).and_then(|rest| rest.split("\r\n").nth(1));
    last.is_some_and(|id| id != "0-0")
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
