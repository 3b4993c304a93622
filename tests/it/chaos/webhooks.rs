//! Whoever is to be told is away, and comes back.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use foresite_tests::servers::{free_port, wait_until};
use serde_json::{Value, json};

use super::Row;
use super::pool::{Pool, Verdict};
use crate::foresite::{Service, expect, text_of, token};
use crate::receiver::receive_at;

/// Studies end while nobody listens at the webhook's address; the service is killed; then the receiver comes back.
pub(crate) fn receiver_away(scale: usize) -> Row {
    let (begin, pool) = (Instant::now(), Pool::new());
    let serve = || {
        let mut command = pool.place.command(&["serve"]);
        command.env("FORESITE_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8");
        Service::of(command)
    };
    let mut service = serve();
    let port = free_port();
    let wish = json!({"url": format!("http://127.0.0.1:{port}/hook"), "events": ["study.succeeded"]});
    let made = service.post(&token("t", "admin"), "/v1/webhooks").json(&wish).send().unwrap();
    let secret = text_of(&expect(made, 201), "secret");
    let document = pool.document(&service);
    let _workers = [pool.work(), pool.work()];
    let studies: Vec<String> = (0..2 * scale).map(|_| service.submit(&pool.operator, &document)).collect();
    let mut verdict = pool.judge(&service, &studies);
    let count = |what: &str| -> usize {
        let asked = format!("SELECT count(*) FROM webhook_deliveries WHERE {what}");
        pool.postgres.psql(pool.name(), &asked).parse().unwrap()
    };
    wait_until("every message was sent in vain", Duration::from_secs(120), || {
        count("state = 'queued' AND last_error IS NOT NULL") == studies.len()
    });
    let in_vain: usize =
        pool.postgres.psql(pool.name(), "SELECT sum(attempts) FROM webhook_deliveries").parse().unwrap();
    service.process.kill();
    let messages = receive_at(TcpListener::bind(("127.0.0.1", port)).unwrap(), &["200 OK"]);
    service = serve();
    wait_until("every message was taken", Duration::from_secs(300), || count("state = 'delivered'") == studies.len());
    let (mut ids, mut told) = (BTreeSet::new(), BTreeSet::new());
    for message in messages.try_iter() {
        let signed = foresite_api::webhooks::sign(&secret, &message.id, message.timestamp, &message.body);
        let body: Value = serde_json::from_str(&message.body).unwrap();
        verdict.differing +=
            usize::from(signed.as_ref() != Some(&message.signature) || body["type"] != "study.succeeded");
        verdict.doubled += usize::from(!ids.insert(message.id));
        told.insert(text_of(&body["data"], "study"));
    }
    let untold = studies.iter().filter(|study| !told.contains(*study)).count();
    let verdict = Verdict { lost: verdict.lost + untold, ..verdict };
    drop(service);
    Row::new("webhook receiver away, API killed meanwhile", in_vain, &verdict, begin)
}
