//! Webhooks: signed, retried, visible, and never into private networks.

use std::time::Duration;

use foresite_tests::servers::{RedisServer, wait_until};
use serde_json::{Value, json};

use crate::foresite::{Place, Service, expect, text_of, token};
use crate::receiver::receiver;

fn make(service: &Service, admin: &str, url: &str, events: Value) -> (String, String) {
    let wish = json!({"url": url, "events": events});
    let made = expect(service.post(admin, "/v1/webhooks").json(&wish).send().unwrap(), 201);
    (text_of(&made["webhook"], "id"), text_of(&made, "secret"))
}

fn deliveries(service: &Service, admin: &str, webhook: &str) -> Vec<Value> {
    let page = expect(service.get(admin, &format!("/v1/webhooks/{webhook}/deliveries")).send().unwrap(), 200);
    page["items"].as_array().unwrap().clone()
}

fn place() -> Place {
    Place::embedded().with("FORESITE_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8")
}

#[test]
fn a_finished_study_and_its_breached_gate_are_told_signed_and_once() {
    let place = place();
    let service = place.serve();
    let admin = token("t", "admin");
    let (url, messages) = receiver(&["200 OK"]);
    let (webhook, secret) = make(&service, &admin, &url, json!(["study.succeeded", "study.gate_breached"]));
    let (other_url, others) = receiver(&["200 OK"]);
    make(&service, &token("other", "admin"), &other_url, json!(["study.succeeded"]));
    let mut document = service.example_study(&admin);
    document["gates"] = json!([{"metric": "wait_seconds.mean", "by": "overall", "max_increase": "0%", "min_jobs": 1}]);
    let study = service.submit(&admin, &document);
    service.await_success(&admin, &study);

    let mut kinds = Vec::new();
    for _ in 0..2 {
        let message = messages.recv_timeout(Duration::from_secs(20)).unwrap();
        let signed = foresite_api::webhooks::sign(&secret, &message.id, message.timestamp, &message.body);
        assert_eq!(signed, Some(message.signature));
        let body: Value = serde_json::from_str(&message.body).unwrap();
        assert_eq!((&body["data"]["study"], &body["data"]["state"]), (&json!(study), &json!("succeeded")), "{body}");
        kinds.push(text_of(&body, "type"));
    }
    kinds.sort();
    assert_eq!(kinds, ["study.gate_breached", "study.succeeded"]);
    assert!(messages.recv_timeout(Duration::from_secs(2)).is_err(), "told twice");
    assert!(others.try_recv().is_err(), "another tenant was told");
    wait_until("delivered", Duration::from_secs(10), || {
        deliveries(&service, &admin, &webhook).iter().all(|delivery| delivery["state"] == "delivered")
    });
    let shown = expect(service.get(&admin, "/v1/webhooks").send().unwrap(), 200);
    assert!(!shown.to_string().contains(&secret), "{shown}");
}

#[test]
fn a_receiver_that_fails_is_told_again_and_one_that_is_gone_is_not() {
    let place = place();
    let service = place.serve();
    let admin = token("t", "admin");
    let (url, messages) = receiver(&["500 Oops", "302 Found", "204 No Content"]);
    let (webhook, _) = make(&service, &admin, &url, json!(["study.failed"]));
    let delivery = expect(service.post(&admin, &format!("/v1/webhooks/{webhook}/test")).send().unwrap(), 202);
    let first = messages.recv_timeout(Duration::from_secs(10)).unwrap();
    wait_until("the failure is seen", Duration::from_secs(5), || {
        let shown = &deliveries(&service, &admin, &webhook)[0];
        shown["state"] == "queued" && shown["last_status"] == 500 && shown["next_attempt_at"].is_string()
    });
    // A service that dies meanwhile forgets nothing.
    drop(service);
    let service = place.serve();
    let second = messages.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!((&first.id, &first.body), (&second.id, &second.body));
    assert_eq!(text_of(&delivery, "id"), first.id);
    wait_until("a redirect is a failure", Duration::from_secs(5), || {
        deliveries(&service, &admin, &webhook)[0]["last_status"] == 302
    });

    let (url, messages) = receiver(&["410 Gone"]);
    let (gone, _) = make(&service, &admin, &url, json!(["study.failed"]));
    expect(service.post(&admin, &format!("/v1/webhooks/{gone}/test")).send().unwrap(), 202);
    messages.recv_timeout(Duration::from_secs(10)).unwrap();
    wait_until("it is disabled", Duration::from_secs(5), || {
        let shown = expect(service.get(&admin, &format!("/v1/webhooks/{gone}")).send().unwrap(), 200);
        shown["disabled_at"].is_string()
    });
    // Its end, not the first of several tries.
    let metrics = service.http.get(&service.metrics).send().unwrap().text().unwrap();
    let failed = metrics.lines().find(|line| line.contains("webhook") && line.contains("outcome=\"failed\""));
    assert!(failed.is_some_and(|line| line.ends_with(" 1")), "{failed:?}");
    let again = service.post(&admin, &format!("/v1/webhooks/{gone}/test")).send().unwrap();
    assert_eq!(expect(again, 409)["code"], "webhook_disabled");
}

#[test]
fn what_is_stored_and_cannot_be_read_is_said_to_be() {
    let database = crate::fixtures::postgres().create_database();
    let redis = RedisServer::start();
    let place = Place::shared(&database, &redis.url());
    place.must(&["migrate", "up"]);
    let service = place.serve();
    let admin = token("t", "admin");
    let (webhook, _) = make(&service, &admin, "https://localhost/", json!(["study.failed"]));
    expect(service.post(&admin, &format!("/v1/webhooks/{webhook}/test")).send().unwrap(), 202);
    let name = database.rsplit('/').next().unwrap();
    crate::fixtures::postgres().psql(name, "UPDATE webhook_deliveries SET data = '{'");
    let path = format!("/v1/webhooks/{webhook}/deliveries");
    assert_eq!(expect(service.get(&admin, &path).send().unwrap(), 500)["code"], "internal");
}

#[test]
fn webhooks_into_private_networks_are_refused_when_made_and_when_sent() {
    let place = Place::embedded();
    let service = place.serve();
    let admin = token("t", "admin");
    for url in
        ["http://example.org/", "https://169.254.169.254/", "https://[::1]/", "https://10.0.0.1/", "https://0x7f.1/"]
    {
        let wish = json!({"url": url, "events": ["study.failed"]});
        let problem = expect(service.post(&admin, "/v1/webhooks").json(&wish).send().unwrap(), 422);
        assert_eq!(problem["errors"][0]["pointer"], "/url", "{problem}");
    }
    // A name is judged when it is resolved.
    let (webhook, _) = make(&service, &admin, "https://localhost/", json!(["study.failed"]));
    expect(service.post(&admin, &format!("/v1/webhooks/{webhook}/test")).send().unwrap(), 202);
    wait_until("refused", Duration::from_secs(10), || {
        let shown = &deliveries(&service, &admin, &webhook)[0];
        shown["last_error"].as_str().is_some_and(|error| error.contains("not a public address"))
    });
}
