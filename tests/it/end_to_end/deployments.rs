//! Settings of two deployments mixed up: whoever starts says so, and takes nothing.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use foresite_tests::servers::{PostgresServer, RedisServer, wait_until};

use crate::foresite::{Place, Process, token};

/// What a process says that refuses to start.
fn refusal(place: &Place, role: &str) -> String {
    let mut command = place.command(&[role]);
    let mut process = Process { child: command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap() };
    wait_until("it refuses to start", Duration::from_secs(60), || process.child.try_wait().unwrap().is_some());
    assert_eq!(process.child.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    process.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

#[test]
fn a_worker_with_another_database_leaves_the_queue_alone() {
    let (postgres, redis) = (PostgresServer::start(), RedisServer::start());
    let place = Place::shared(&postgres.create_database(), &redis.url());
    place.must(&["migrate", "up"]);
    let service = place.serve();
    let operator = token("t", "operator");
    let study = service.submit(&operator, &service.example_study(&operator));
    let depth = redis.command("XLEN {foresite}:tasks");
    assert_ne!(depth.trim(), ":0");

    let other = Place::shared(&postgres.create_database(), &redis.url());
    other.must(&["migrate", "up"]);
    for role in ["work", "serve"] {
        let said = refusal(&other, role);
        assert!(said.contains("the queue belongs to deployment"), "{said}");
    }
    assert_eq!(redis.command("XLEN {foresite}:tasks"), depth);
    let _worker = place.start(&["work"]);
    service.await_success(&operator, &study);
}

#[test]
fn objects_of_another_database_are_left_alone() {
    let place = Place::embedded();
    assert!(place.serve().process.terminate().success());
    // Its own again.
    assert!(place.serve().process.terminate().success());
    let objects = format!("file://{}", place.folder().join("data/objects").display());
    let other = Place::embedded().with("FORESITE_OBJECTS_URL", &objects);
    let said = refusal(&other, "serve");
    assert!(said.contains("the objects belong to deployment") && said.contains("remove deployment there"), "{said}");
}
