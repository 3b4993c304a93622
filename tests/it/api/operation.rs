//! Probes, metrics, problem documents of what is no route, draining.

use std::time::{Duration, Instant};

use foresite_tests::servers::{Proxy, RedisServer};
use serde_json::json;

use crate::foresite::{Place, expect, token};

#[test]
fn probes_documentation_and_metrics_answer_without_a_token() {
    let place = Place::embedded();
    let service = place.serve();
    for path in ["/healthz", "/readyz", "/docs", "/openapi.json", "/sign-in", "/assets/foresite.css"] {
        assert_eq!(service.http.get(format!("{}{path}", service.url)).send().unwrap().status(), 200, "{path}");
    }
    let text = service.http.get(&service.metrics).send().unwrap().text().unwrap();
    for name in
        ["foresite_http_request_seconds", "foresite_queue_depth", "foresite_studies", "process_resident_memory_bytes"]
    {
        assert!(text.contains(name), "{name} is not in\n{text}");
    }
    assert!(text.contains("route=\"/healthz\""), "{text}");
}

#[test]
fn metrics_are_told_while_the_database_stands_still() {
    let database = crate::fixtures::postgres().create_database();
    let proxy = Proxy::to(crate::fixtures::postgres().port());
    let (server, way) = (format!(":{}/", crate::fixtures::postgres().port()), format!(":{}/", proxy.port()));
    let redis = RedisServer::start();
    let place = Place::shared(&database.replace(&server, &way), &redis.url());
    let place = place.with("FORESITE_SHUTDOWN_SECONDS", "1");
    place.must(&["migrate", "up"]);
    let service = place.serve();
    proxy.hold();
    let begin = Instant::now();
    let text = service.http.get(&service.metrics).send().unwrap().text().unwrap();
    // Prometheus gives up after 10 s.
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
    assert!(text.contains("process_resident_memory_bytes"), "{text}");
    proxy.open();
}

#[test]
fn probes_are_answered_while_tables_are_made_of_large_comparisons() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = json!(1);
    let study = service.submit(&operator, &document);
    service.await_success(&operator, &study);
    let path = format!("/v1/studies/{study}/comparison");
    let answer = service.get(&operator, &path).send().unwrap();
    let object = answer.headers()["etag"].to_str().unwrap().trim_matches('"').to_owned();
    let mut comparison = expect(answer, 200);
    // As if the site had very many users: 20 MB.
    let times = 20_000_000 / comparison.to_string().len();
    for scenario in comparison["scenarios"].as_array_mut().unwrap() {
        let groups = scenario["groups"].as_array().unwrap();
        scenario["groups"] = groups.iter().cycle().take(groups.len() * times).cloned().collect();
    }
    let file = place.folder().join("data/objects/sha256").join(&object[..2]).join(&object);
    std::fs::write(file, comparison.to_string()).unwrap();

    let begin = Instant::now();
    let ask = |_| {
        let request = service.get(&operator, &format!("{path}?format=csv"));
        std::thread::spawn(move || request.send().unwrap().status())
    };
    let tables: Vec<_> = (0..4).map(ask).collect();
    let mut slowest = Duration::ZERO;
    while !tables.iter().all(std::thread::JoinHandle::is_finished) {
        let asked = Instant::now();
        assert_eq!(service.http.get(format!("{}/healthz", service.url)).send().unwrap().status(), 200);
        slowest = slowest.max(asked.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
    let whole = begin.elapsed();
    assert!(tables.into_iter().all(|table| table.join().unwrap() == 200));
    assert!(slowest < whole / 3, "a probe took {slowest:?} of {whole:?}");
}

#[test]
fn what_is_no_route_is_a_problem_document_too() {
    let place = Place::embedded();
    let service = place.serve();
    let answer = service.get(&token("t", "viewer"), "/v1/nothing").send().unwrap();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    assert_eq!(expect(answer, 404)["code"], "not_found");
    let answer = service.post(&token("t", "operator"), "/v1/sites").json(&json!({"nome": "x"})).send();
    let problem = expect(answer.unwrap(), 422);
    assert_eq!(problem["code"], "invalid_field");
    assert!(problem["detail"].as_str().unwrap().contains("nome"), "{problem}");
    let huge = service.post(&token("t", "operator"), "/v1/studies").body(vec![b' '; 2 << 20]).send().unwrap();
    assert_eq!(expect(huge, 413)["code"], "payload_too_large");
}

#[test]
fn sigterm_ends_the_service_in_order() {
    let place = Place::embedded();
    let service = place.serve();
    assert!(service.process.terminate().success());
}

#[test]
fn wrong_settings_are_listed_all_at_once() {
    let place = Place::embedded().with("FORESITE_HTTP_LISTEN", "nowhere").with("FORESITE_REDIS_URL", "http://x");
    let output = place.run(&["serve"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("FORESITE_HTTP_LISTEN") && said.contains("FORESITE_REDIS_URL"), "{said}");
}

#[test]
fn an_open_event_stream_does_not_keep_a_stopping_service() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = json!(500);
    let study = service.submit(&operator, &document);
    let events = service.get(&operator, &format!("/v1/studies/{study}/events")).send().unwrap();
    let begin = Instant::now();
    assert!(service.process.terminate().success());
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert!(events.text().unwrap().contains("queued"));
}
