//! A production-like installation that can be disturbed: PostgreSQL, Redis, services and workers in processes of their own.

use std::io::{BufRead, BufReader};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use foresite_tests::servers::{PostgresServer, RedisServer};
use reqwest::blocking::Client;
use serde_json::{Value, json};

use crate::foresite::{Place, Process, Service, example, text_of, token};

/// Replications of each scenario; the example has a baseline and four scenarios.
pub(crate) const REPLICATIONS: u32 = 2;
const ROWS_PER_STUDY: usize = REPLICATIONS as usize * 5;
/// A task for each of the five, and the success.
const ENDS_PER_STUDY: usize = 6;
pub(crate) const LEASE: Duration = Duration::from_secs(2);
/// A machine that runs other tests as well is slow.
const PATIENCE: Duration = Duration::from_secs(900);

/// How studies came through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) studies: usize,
    /// Without their comparison in time, or with replications missing.
    pub(crate) lost: usize,
    /// With a result that was counted, told or written more than once (see [`Stored`]), or a study too many.
    pub(crate) doubled: usize,
    /// With a comparison that an undisturbed run does not have.
    pub(crate) differing: usize,
}

pub(crate) struct Pool {
    pub(crate) postgres: PostgresServer,
    pub(crate) redis: RedisServer,
    pub(crate) place: Place,
    pub(crate) database: String,
    pub(crate) operator: String,
}

impl Pool {
    /// Servers, migrated; nothing of ours runs yet.
    pub(crate) fn new() -> Self {
        let (postgres, redis) = (PostgresServer::start(), RedisServer::start());
        let database = postgres.create_database();
        let lease = LEASE.as_secs().to_string();
        let place = Place::shared(&database, &redis.url())
            .with("FORESITE_LEASE_SECONDS", &lease)
            .with("FORESITE_WORKER_TASKS", "1")
            .with("FORESITE_LOG", "error");
        place.must(&["migrate", "up"]);
        Self { postgres, redis, place, database, operator: token("t", "operator") }
    }

    /// The database's name.
    pub(crate) fn name(&self) -> &str {
        self.database.rsplit('/').next().unwrap()
    }

    /// A worker that may still be starting.
    pub(crate) fn work(&self) -> Process {
        self.place.start(&["work"])
    }

    /// A worker that is up. One that finds no database when it starts ends, for its supervisor to start it again: here is none.
    pub(crate) fn work_is_up(&self) -> Process {
        let mut worker = self.work();
        let mut line = String::new();
        // Borrowed, so that the pipe stays open.
        BufReader::new(worker.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("working on"), "the worker ended before it was up: {line}");
        worker
    }

    /// The example's document with its files uploaded, small.
    pub(crate) fn document(&self, service: &Service) -> Value {
        let mut document = service.example_study(&self.operator);
        document["replications"] = json!(REPLICATIONS);
        document
    }

    /// Waits for the studies' ends and judges them.
    pub(crate) fn judge(&self, service: &Service, studies: &[String]) -> Verdict {
        let mut verdict = judge_each(service, &self.operator, studies, |study| {
            let ask = |what: &str| self.count(&what.replace("$1", &format!("'{study}'")));
            Stored {
                replications: ask("SELECT count(*) FROM replications WHERE study = $1"),
                counted: ask("SELECT replications_done FROM studies WHERE id = $1"),
                ends: ask(
                    "SELECT count(*) FROM study_events WHERE study = $1 AND (kind = 'progress' OR data LIKE '%succeeded%')",
                ),
            }
        });
        // A late writer that nothing fenced comes up against the primary key.
        verdict.doubled += self.postgres.log().matches("replications_pkey").count();
        verdict
    }

    /// A number that the database is asked for.
    pub(crate) fn count(&self, statement: &str) -> usize {
        self.postgres.psql(self.name(), statement).parse().unwrap()
    }

    /// Disturbances of workers must have met tasks.
    pub(crate) fn assert_workers_lost(&self) {
        assert!(self.count("SELECT count(*) FROM tasks WHERE losses > 0") > 0, "no task has lost its worker");
    }

    /// Where a study stands, if that can be told now.
    pub(crate) fn state(&self, service: &Service, study: &str) -> Option<String> {
        state(service, &self.operator, study)
    }

    /// Sends a study until somebody says that it is accepted; only refusals that ask for patience are put up with.
    pub(crate) fn submit(&self, client: &Client, url: &str, document: &Value, key: &str) -> String {
        let begin = Instant::now();
        loop {
            let request = client.post(format!("{url}/v1/studies")).bearer_auth(&self.operator);
            match request.header("idempotency-key", key).json(document).send() {
                Ok(answer) if answer.status() == 202 => return text_of(&answer.json().unwrap(), "id"),
                Ok(answer) if answer.status() != 503 => panic!("{}: {}", answer.status(), answer.text().unwrap()),
                Ok(_) | Err(_) => {}
            }
            assert!(begin.elapsed() < PATIENCE, "not accepted");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Where a study stands, if that can be told now.
pub(crate) fn state(service: &Service, operator: &str, study: &str) -> Option<String> {
    let answer = service.get(operator, &format!("/v1/studies/{study}")).send().ok()?;
    let found: Value = answer.json().ok()?;
    found["state"].as_str().map(str::to_owned)
}

/// What the database holds of a study. The key of replications keeps a second row of the same out; what was done twice shows in what
/// goes with each end of a task.
pub(crate) struct Stored {
    /// Rows of results.
    pub(crate) replications: usize,
    /// Replications that were counted as done.
    pub(crate) counted: usize,
    /// Events of replicate tasks that ended, and of the study's success.
    pub(crate) ends: usize,
}

/// Waits for the studies' ends and judges them by what is stored of each.
pub(crate) fn judge_each(
    service: &Service,
    operator: &str,
    studies: &[String],
    stored: impl Fn(&str) -> Stored,
) -> Verdict {
    let mut verdict = Verdict { studies: studies.len(), ..Verdict::default() };
    let begin = Instant::now();
    for study in studies {
        let end = loop {
            let now = state(service, operator, study);
            let is_over = now.as_deref().is_some_and(|now| ["succeeded", "failed", "cancelled"].contains(&now));
            if is_over || begin.elapsed() > PATIENCE {
                break now.unwrap_or_default();
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        if end != "succeeded" {
            eprintln!("study {study} is {end:?}");
            verdict.lost += 1;
        } else if service.comparison(operator, study) != undisturbed() {
            verdict.differing += 1;
        }
        let Stored { replications, counted, ends } = stored(study);
        verdict.doubled += counted.saturating_sub(ROWS_PER_STUDY) + ends.saturating_sub(ENDS_PER_STUDY);
        verdict.lost += usize::from(end == "succeeded" && replications != ROWS_PER_STUDY);
    }
    verdict
}

/// The comparison of the same study in one process that nobody disturbs.
pub(crate) fn undisturbed() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let place = Place::embedded();
        for name in ["slurm.conf", "gres.conf", "sacctmgr.cfg", "sacct.txt"] {
            std::fs::copy(example(name), place.folder().join(name)).unwrap();
        }
        let text = std::fs::read_to_string(example("study.yaml")).unwrap();
        let text = text.replace("replications: 10", &format!("replications: {REPLICATIONS}"));
        std::fs::write(place.folder().join("study.yaml"), text).unwrap();
        place.must(&["run", "study.yaml", "--json"]).into_bytes()
    })
}

/// Random numbers that are the same in every run: what differs is what the machine makes of them.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// Sleeps between `from` and `to` milliseconds.
    pub(crate) fn sleep(&mut self, from: u64, to: u64) {
        std::thread::sleep(Duration::from_millis(from + self.below(to - from)));
    }
}
