//! What a tenant may use, and what it is told when that is used up.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::foresite::{Place, Service, example, expect, text_of, token};

fn set(service: &Service, bearer: &str, limits: Value) -> reqwest::blocking::Response {
    service.http.put(format!("{}/v1/quotas", service.url)).bearer_auth(bearer).json(&limits).send().unwrap()
}

fn wait_of(answer: &reqwest::blocking::Response) -> u64 {
    answer.headers()["retry-after"].to_str().unwrap().parse().unwrap()
}

#[test]
fn a_tenant_that_asks_too_fast_waits_and_others_do_not() {
    let place = Place::embedded();
    let service = place.serve();
    let admin = token("fast", "admin");
    expect(set(&service, &admin, json!({"requests_per_minute": 5})), 200);
    let answers: Vec<_> = (0..20).map(|_| service.get(&admin, "/v1/sites").send().unwrap()).collect();
    let refused: Vec<_> = answers.into_iter().filter(|answer| answer.status() == 429).collect();
    assert!(refused.len() >= 13, "{} refused", refused.len());
    assert!((1..=60).contains(&wait_of(&refused[0])));
    let problem = expect(refused.into_iter().next().unwrap(), 429);
    assert_eq!(problem["code"], "rate_limited");
    assert!(text_of(&problem, "detail").contains("5 requests a minute"), "{problem}");
    expect(service.get(&token("calm", "viewer"), "/v1/sites").send().unwrap(), 200);
    let text = service.http.get(&service.metrics).send().unwrap().text().unwrap();
    assert!(text.contains("foresite_refusals_total{code=\"rate_limited\"}"), "{text}");
}

#[test]
fn uploads_and_stored_bytes_are_limited() {
    let place = Place::embedded();
    let service = place.serve();
    let admin = token("t", "admin");
    let site = service.site(&admin);
    let trace = std::fs::read(example("sacct.txt")).unwrap();
    let room = trace.len() as i64 + 10;
    expect(set(&service, &admin, json!({"stored_bytes": room})), 200);
    let first = expect(service.trace(&admin, &site, trace.clone()), 201);
    let problem = expect(service.trace(&admin, &site, trace.clone()), 413);
    assert_eq!(problem["code"], "storage_full", "{problem}");
    assert!(text_of(&problem, "detail").contains("delete traces"), "{problem}");
    assert_eq!(expect(service.config(&admin, &site), 413)["code"], "storage_full");
    let used = expect(service.get(&admin, "/v1/quotas").send().unwrap(), 200);
    assert_eq!(used["used"]["stored_bytes"], json!(trace.len()), "{used}");
    let path = format!("{}/v1/sites/{site}/traces/{}", service.url, text_of(&first, "id"));
    assert_eq!(service.http.delete(path).bearer_auth(&admin).send().unwrap().status(), 204);
    expect(service.trace(&admin, &site, trace.clone()), 201);

    // What is announced is taken already, and free again when it is given up.
    expect(set(&service, &admin, json!({"stored_bytes": room + 1000})), 200);
    let begin = |length: &str| {
        let path = format!("/v1/sites/{site}/uploads?name=more.txt");
        service.post(&admin, &path).header("upload-length", length).send().unwrap()
    };
    let begun = begin("900");
    let location = format!("{}{}", service.url, begun.headers()["location"].to_str().unwrap());
    expect(begun, 201);
    assert_eq!(expect(begin("900"), 413)["code"], "storage_full");
    assert_eq!(expect(service.config(&admin, &site), 413)["code"], "storage_full");
    assert_eq!(service.http.delete(location).bearer_auth(&admin).send().unwrap().status(), 204);
    expect(begin("900"), 201);
    expect(set(&service, &admin, json!({})), 200);

    expect(set(&service, &admin, json!({"uploads_per_hour": 1})), 200);
    expect(service.config(&admin, &site), 201);
    let refused = service.config(&admin, &site);
    assert!(wait_of(&refused) > 3000);
    assert_eq!(expect(refused, 429)["code"], "rate_limited");
    // Setting limits gives nothing back of what was used.
    expect(set(&service, &admin, json!({"uploads_per_hour": 1})), 200);
    expect(service.config(&admin, &site), 429);
}

#[test]
fn studies_at_work_and_their_size_are_limited() {
    let place = Place::embedded().with("FORESITE_QUOTA_JOBS_PER_STUDY", "1000000000");
    let service = place.serve();
    let admin = token("t", "admin");
    let mut document = service.example_study(&admin);
    document["replications"] = json!(500);
    expect(set(&service, &admin, json!({"studies_active": 1})), 200);
    let study = service.submit(&admin, &document);
    let send =
        |key: &str| service.post(&admin, "/v1/studies").header("idempotency-key", key).json(&document).send().unwrap();
    let refused = send("again");
    assert_eq!(wait_of(&refused), 60);
    assert_eq!(expect(refused, 429)["code"], "too_many_studies");
    expect(service.post(&admin, &format!("/v1/studies/{study}/cancel")).send().unwrap(), 200);
    foresite_tests::servers::wait_until("cancelled", Duration::from_secs(30), || {
        expect(service.get(&admin, &format!("/v1/studies/{study}")).send().unwrap(), 200)["state"] == "cancelled"
    });
    // The refused key is not used up.
    expect(send("again"), 202);

    expect(set(&service, &admin, json!({"jobs_per_study": 100})), 200);
    let problem = expect(service.post(&admin, "/v1/studies").json(&document).send().unwrap(), 413);
    assert_eq!(problem["code"], "study_too_large");
    // The same few replications, of which one scenario has a hundred times the jobs.
    document["replications"] = json!(1);
    document["scenarios"] = json!([{"name": "rush", "changes": [{"workload": {"scale_arrivals": 100}}]}]);
    let trace = std::fs::read_to_string(example("sacct.txt")).unwrap();
    expect(set(&service, &admin, json!({"jobs_per_study": trace.lines().count() * 3})), 200);
    let problem = expect(service.post(&admin, "/v1/studies").json(&document).send().unwrap(), 413);
    assert_eq!(problem["code"], "study_too_large");
    assert!(text_of(&problem, "detail").contains("fewer replications"), "{problem}");
}

#[test]
fn an_administrator_lowers_limits_and_the_command_line_grants_them() {
    let place = Place::embedded();
    place.must(&["quota", "set", "--tenant", "t", "--studies-active", "3"]);
    let service = place.serve();
    let admin = token("t", "admin");
    let problem = expect(set(&service, &admin, json!({"studies_active": 4})), 422);
    assert_eq!(problem["errors"][0]["pointer"], "/studies_active", "{problem}");
    assert_eq!(expect(set(&service, &admin, json!({"stored_bytes": -1})), 422)["code"], "invalid_field");
    // Nobody could ever set it back.
    let problem = expect(set(&service, &admin, json!({"requests_per_minute": 0})), 422);
    assert_eq!(problem["errors"][0]["pointer"], "/requests_per_minute", "{problem}");
    expect(set(&service, &admin, json!({"studies_active": 2})), 200);
    let found = expect(service.get(&token("t", "viewer"), "/v1/quotas").send().unwrap(), 200);
    let shown = (&found["limits"]["studies_active"], &found["granted"]["studies_active"]);
    assert_eq!(shown, (&json!(2), &json!(3)), "{found}");
    let other = expect(service.get(&token("u", "viewer"), "/v1/quotas").send().unwrap(), 200);
    assert_eq!(other["granted"]["studies_active"], Value::Null);
}

/// Reads what the service says before it closes the connection.
fn last_words(mut socket: &TcpStream, limit: Duration) -> String {
    socket.set_read_timeout(Some(limit)).unwrap();
    let mut words = Vec::new();
    let _ = socket.read_to_end(&mut words);
    String::from_utf8_lossy(&words).into_owned()
}

#[test]
fn slow_and_silent_clients_are_sent_away_while_others_are_served() {
    let place =
        Place::embedded().with("FORESITE_BODY_TIMEOUT_SECONDS", "1").with("FORESITE_REQUEST_TIMEOUT_SECONDS", "2");
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    let address = service.url.trim_start_matches("http://").to_owned();
    let grpc = service.grpc.trim_start_matches("http://").to_owned();
    let begin = Instant::now();
    let silent: Vec<_> = (0..200).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let silent_grpc = TcpStream::connect(&grpc).unwrap();
    let slow: Vec<_> = ["/v1/studies".to_owned(), "/v1/sites".to_owned(), format!("/v1/sites/{site}/traces?name=x")]
        .into_iter()
        .map(|path| {
            let mut socket = TcpStream::connect(&address).unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {operator}\r\n\
                 content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{"
            );
            socket.write_all(head.as_bytes()).unwrap();
            (path, socket)
        })
        .collect();
    expect(service.get(&operator, "/v1/sites").send().unwrap(), 200);
    for (path, socket) in &slow {
        let words = last_words(socket, Duration::from_secs(20));
        assert!(words.starts_with("HTTP/1.1 408") && words.contains("request_timeout"), "{path}: {words}");
    }
    for socket in &silent {
        last_words(socket, Duration::from_secs(20));
    }
    last_words(&silent_grpc, Duration::from_secs(20));
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
}
