//! Signing in, and what a browser sees.

use std::process::Stdio;

use foresite_tests::servers::{PostgresServer, RedisServer};

use crate::foresite::{Place, Service, token};

#[test]
fn a_token_is_exchanged_for_a_cookie_that_only_reads() {
    let place = Place::embedded();
    let service = place.serve();
    let url = |path: &str| format!("{}{path}", service.url);
    let sent_away = service.http.get(url("/")).send().unwrap();
    assert_eq!((sent_away.status().as_u16(), &sent_away.headers()["location"]), (303, &"/sign-in".parse().unwrap()));

    let wrong = service.http.post(url("/sign-in")).form(&[("token", "nonsense")]).send().unwrap();
    assert_eq!(wrong.status(), 401);

    let admin = token("t", "admin");
    // Another site's form would sign people in as somebody else.
    let from = |origin: &str| {
        let request = service.http.post(url("/sign-in")).header("origin", origin);
        request.form(&[("token", &admin)]).send().unwrap()
    };
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        let refused = from(origin);
        assert_eq!((refused.status().as_u16(), refused.headers().get("set-cookie")), (403, None), "{origin}");
    }
    assert_eq!(from(&service.url).status(), 303);
    let signed_in = service.http.post(url("/sign-in")).form(&[("token", &admin)]).send().unwrap();
    assert_eq!(signed_in.status(), 303);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();

    let page = service.http.get(url("/")).header("cookie", pair).send().unwrap();
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-src 'self'"), "{policy}");
    assert!(page.text().unwrap().contains("Studies"));
    let change = service.http.post(url("/v1/sites")).header("cookie", pair).json(&serde_json::json!({"name": "x"}));
    assert_eq!(change.send().unwrap().status(), 401);
}

#[test]
fn a_page_that_fails_is_found_in_the_log_by_its_trace_id() {
    let (mut postgres, redis) = (PostgresServer::start(), RedisServer::start());
    let place = Place::shared(&postgres.create_database(), &redis.url()).with("FORESITE_LOG", "error");
    place.must(&["migrate", "up"]);
    let log = place.folder().join("log");
    let mut command = place.command(&["serve"]);
    command.stderr(Stdio::from(std::fs::File::create(&log).unwrap()));
    let service = Service::of(command);
    postgres.kill();
    let page = service
        .http
        .get(format!("{}/", service.url))
        .header("cookie", format!("foresite_session={}", token("t", "viewer")));
    let page = page.send().unwrap();
    assert_eq!(page.status(), 503);
    let trace_id = page.headers()["x-trace-id"].to_str().unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    let failed = said.lines().find(|line| line.contains("request failed")).unwrap_or_default();
    assert!(failed.contains(&format!("trace.id=\"{trace_id}\"")), "{trace_id}\n{said}");
}
