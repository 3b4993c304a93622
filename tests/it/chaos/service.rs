//! The service dies around a submission, is asked the same a hundred times, cancels, and is replaced under load.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use foresite_tests::servers::{Proxy, free_port, wait_until};
use reqwest::blocking::Client;
use serde_json::json;

use super::Row;
use super::pool::{Dice, Pool, Verdict};
use crate::foresite::{Service, example, expect};

/// `kill -9` of the service at a random moment after a study was sent; the client then sends it again, with the same key.
pub(crate) fn killed_around_submit(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let mut service = pool.place.serve();
    let document = pool.document(&service);
    let _worker = pool.work();
    let mut dice = Dice::new();
    let mut studies = Vec::new();
    let rounds = 3 * scale;
    for number in 0..rounds {
        let key = format!("key-{number}");
        let (url, operator) = (service.url.clone(), pool.operator.clone());
        let (sent, body) = (key.clone(), document.to_string());
        let sender = std::thread::spawn(move || {
            let request = Client::new().post(format!("{url}/v1/studies")).bearer_auth(operator);
            let _answer =
                request.header("idempotency-key", sent).header("content-type", "application/json").body(body).send();
        });
        dice.sleep(1, 400);
        service.process.kill();
        sender.join().unwrap();
        service = pool.place.serve();
        studies.push(pool.submit(&service.http, &service.url, &document, &key));
    }
    let mut verdict = pool.judge(&service, &studies);
    let known: usize = pool.postgres.psql(pool.name(), "SELECT count(*) FROM studies").parse().unwrap();
    let distinct: BTreeSet<&String> = studies.iter().collect();
    verdict.doubled += known - distinct.len();
    verdict.lost += rounds - distinct.len();
    Row::new("API killed around submit", rounds, &verdict, begin)
}

/// `kill -9` of the service when the study is stored and no worker has been told: its Redis takes what it is told and passes nothing
/// on. Only the sweeper can find these studies.
pub(crate) fn killed_before_it_rings(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let proxy = Proxy::to(pool.redis.port());
    let serve = || {
        let mut command = pool.place.command(&["serve"]);
        command.env("FORESITE_REDIS_URL", format!("redis://127.0.0.1:{}/", proxy.port()));
        Service::of(command)
    };
    let mut service = serve();
    let document = pool.document(&service);
    let mut studies = Vec::new();
    for number in 0..scale {
        let key = format!("key-{number}");
        proxy.swallow();
        let request = service.post(&pool.operator, "/v1/studies").header("idempotency-key", &key).json(&document);
        let sender = std::thread::spawn(move || request.send().is_ok());
        let stored = format!("SELECT count(*) FROM idempotency_keys WHERE key = '{key}'");
        wait_until("the study is stored", Duration::from_secs(120), || pool.postgres.psql(pool.name(), &stored) == "1");
        service.process.kill();
        assert!(!sender.join().unwrap(), "the client was answered before the service died");
        proxy.open();
        assert_eq!(pool.redis.command("XLEN {foresite}:tasks").trim(), ":0", "somebody has rung");
        service = serve();
        // A repetition finds the study, and rings for nobody.
        studies.push(pool.submit(&service.http, &service.url, &document, &key));
        assert_eq!(pool.redis.command("XLEN {foresite}:tasks").trim(), ":0", "somebody has rung");
    }
    let _worker = pool.work();
    let mut verdict = pool.judge(&service, &studies);
    let known: usize = pool.postgres.psql(pool.name(), "SELECT count(*) FROM studies").parse().unwrap();
    verdict.doubled += known - studies.iter().collect::<BTreeSet<_>>().len();
    Row::new("API killed between commit and enqueue", scale, &verdict, begin)
}

/// A hundred parallel requests with one Idempotency-Key, and one with another body.
pub(crate) fn one_key_in_parallel(scale: usize) -> Row {
    const PARALLEL: usize = 100;
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let _worker = pool.work();
    let mut studies = Vec::new();
    for number in 0..scale {
        let key = format!("key-{number}");
        let found: BTreeSet<String> = std::thread::scope(|scope| {
            let send = || pool.submit(&service.http, &service.url, &document, &key);
            let threads: Vec<_> = (0..PARALLEL).map(|_| scope.spawn(send)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(found.len(), 1, "one key, several studies");
        studies.extend(found);
        let mut other = document.clone();
        other["seed"] = json!(number + 2);
        let refused = service.post(&pool.operator, "/v1/studies").header("idempotency-key", &key).json(&other).send();
        assert_eq!(expect(refused.unwrap(), 422)["code"], "idempotency_key_reused");
    }
    let mut verdict = pool.judge(&service, &studies);
    let known: usize = pool.postgres.psql(pool.name(), "SELECT count(*) FROM studies").parse().unwrap();
    verdict.doubled += known - studies.len();
    Row::new("one Idempotency-Key 100 times at once", PARALLEL * scale, &verdict, begin)
}

/// Within this time a cancelled study has stopped.
const PROMPT: Duration = Duration::from_secs(2);

/// Every other study is cancelled, at a random moment of its life.
pub(crate) fn cancelled_at_random_points(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let service = pool.place.serve();
    let document = pool.document(&service);
    let _workers = [pool.work(), pool.work()];
    // Too long to be done before it is cancelled, however fast the program is.
    let mut long = document.clone();
    long["replications"] = json!(500);
    let mut dice = Dice::new();
    let (mut kept, mut cancelled, mut verdict) = (Vec::new(), 0, Verdict::default());
    let mut slowest = Duration::ZERO;
    for number in 0..2 * scale {
        kept.push(service.submit(&pool.operator, &document));
        let victim = service.submit(&pool.operator, &long);
        // The first one at once, while it is queued.
        if number > 0 {
            dice.sleep(1, 4000);
        }
        let path = format!("/v1/studies/{victim}");
        let asked = Instant::now();
        let answer = service.post(&pool.operator, &format!("{path}/cancel")).send().unwrap();
        assert_eq!(answer.status(), 200);
        cancelled += 1;
        wait_until("it is cancelled", PROMPT, || pool.state(&service, &victim).as_deref() == Some("cancelled"));
        slowest = slowest.max(asked.elapsed());
        let result = service.get(&pool.operator, &format!("{path}/comparison")).send().unwrap();
        verdict.doubled += usize::from(result.status() != 409);
    }
    println!("cancel: the slowest took {} ms", slowest.as_millis());
    let judged = pool.judge(&service, &kept);
    let verdict = Verdict { doubled: judged.doubled + verdict.doubled, ..judged };
    Row::new("cancel at random points", cancelled, &verdict, begin)
}

/// A site's pipeline: a study that takes longer than a restart, waited for at one of the services.
fn gate(pool: &Pool, url: &str) -> std::process::Child {
    for name in ["slurm.conf", "gres.conf", "sacctmgr.cfg", "sacct.txt"] {
        std::fs::copy(example(name), pool.place.folder().join(name)).unwrap();
    }
    let text = std::fs::read_to_string(example("study.yaml")).unwrap();
    let text = text.replace("replications: 10", "replications: 40");
    std::fs::write(pool.place.folder().join("study.yaml"), text).unwrap();
    let mut submit = pool.place.command(&["submit", "study.yaml", "--server", url, "--gate", "--json"]);
    submit.env("FORESITE_TOKEN", &pool.operator).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Two services and two workers are replaced one after the other while clients ask and submit.
pub(crate) fn rolling_restart(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let ports = [free_port(), free_port()];
    let serve = |port: u16| {
        let address = format!("127.0.0.1:{port}");
        let mut command = pool.place.command(&["serve"]);
        command.env("FORESITE_HTTP_LISTEN", address).env("FORESITE_SHUTDOWN_SECONDS", "5");
        Service::of(command)
    };
    let mut services = [serve(ports[0]), serve(ports[1])];
    let mut workers = [Some(pool.work()), Some(pool.work())];
    let document = pool.document(&services[0]);
    let gate = gate(&pool, &services[0].url);
    let (stop, asked, failed) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let studies = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let client = Client::builder().timeout(Duration::from_secs(60)).build().unwrap();
                    while !stop.load(Ordering::Relaxed) {
                        let answer = ports.iter().find_map(|port| {
                            let url = format!("http://127.0.0.1:{port}/v1/studies");
                            // A proxy would go to the other one as well when the first takes no connection.
                            client.get(url).bearer_auth(&pool.operator).send().ok()
                        });
                        asked.fetch_add(1, Ordering::Relaxed);
                        let is_good = answer.is_some_and(|answer| answer.status() == 200 || answer.status() == 503);
                        failed.fetch_add(usize::from(!is_good), Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(20));
                    }
                })
            })
            .collect();
        let mut studies = Vec::new();
        for number in 0..2 * scale {
            let turn = number % 2;
            let other = format!("http://127.0.0.1:{}", ports[1 - turn]);
            studies.push(pool.submit(&services[turn].http, &other, &document, &format!("key-{number}")));
            // SIGTERM: requests under way are answered, running simulations handed back.
            let fresh = |place: &mut Service| {
                let old = std::mem::replace(&mut place.process, pool.place.start(&["openapi"]));
                assert!(old.terminate().success(), "the service did not end in order");
            };
            fresh(&mut services[turn]);
            services[turn] = serve(ports[turn]);
            if let Some(worker) = workers[turn].take() {
                assert!(worker.terminate().success(), "the worker did not end in order");
            }
            workers[turn] = Some(pool.work());
        }
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().for_each(|client| client.join().unwrap());
        studies
    });
    let verdict = pool.judge(&services[0], &studies);
    let (asked, failed) = (asked.into_inner(), failed.into_inner());
    let gate = gate.wait_with_output().unwrap();
    assert!(gate.status.success(), "the gate: {}", String::from_utf8_lossy(&gate.stderr));
    println!("rolling restart: {asked} requests, {failed} failed");
    assert!(asked > 0 && failed == 0, "{failed} of {asked} requests failed");
    Row::new("rolling restart of all under load", 4 * scale, &verdict, begin)
}
