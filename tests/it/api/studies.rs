//! The life of a study over HTTP.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use crate::foresite::{Place, example, expect, offline_comparison, text_of, token};

#[test]
fn a_study_is_accepted_once_watched_read_in_every_form_and_deleted() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let document = service.example_study(&operator);
    let send = |key: &str, document: &serde_json::Value| {
        service.post(&operator, "/v1/studies").header("idempotency-key", key).json(document).send().unwrap()
    };
    let accepted = send("one", &document);
    let location = accepted.headers()["location"].to_str().unwrap().to_owned();
    let study = text_of(&expect(accepted, 202), "id");
    assert_eq!(location, format!("/v1/studies/{study}"));
    assert_eq!(text_of(&expect(send("one", &document), 202), "id"), study);
    let mut other = document.clone();
    other["seed"] = serde_json::json!(2);
    assert_eq!(expect(send("one", &other), 422)["code"], "idempotency_key_reused");

    let events = service.get(&operator, &format!("{location}/events")).send().unwrap().text().unwrap();
    assert!(events.contains("event: state\ndata: {\"state\":\"queued\"}"), "{events}");
    assert!(events.contains("{\"state\":\"succeeded\"}"), "{events}");
    let last = events.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_owned();
    let rest = service.get(&operator, &format!("{location}/events")).header("last-event-id", &last);
    assert!(!rest.send().unwrap().text().unwrap().contains("id: "), "events after the last one");

    let comparison = format!("{location}/comparison");
    assert_eq!(service.comparison(&operator, &study), offline_comparison());
    let csv = service.get(&operator, &comparison).header("accept", "text/csv").send().unwrap();
    assert!(csv.headers()["content-type"].to_str().unwrap().starts_with("text/csv"));
    let tag = service.get(&operator, &comparison).send().unwrap().headers()["etag"].clone();
    let same = service.get(&operator, &comparison).header("if-none-match", tag).send().unwrap();
    assert_eq!(same.status(), 304);
    for path in [
        "",
        "/report",
        "/figures/wait-by-user-1.svg",
        "/scenarios/baseline/replications/0/schedule",
        "/comparison?format=csv",
    ] {
        let path = format!("{location}{path}");
        let first = service.get(&operator, &path).send().unwrap();
        let tag = first.headers()["etag"].to_str().unwrap().to_owned();
        assert_eq!(first.status(), 200, "{path}");
        for (known, status) in
            [(format!("\"other\", W/{tag}"), 304), ("*".to_owned(), 304), ("\"other\"".to_owned(), 200)]
        {
            let again = service.get(&operator, &path).header("if-none-match", &known).send().unwrap();
            assert_eq!(
                (again.status().as_u16(), &again.headers()["etag"]),
                (status, &tag.parse().unwrap()),
                "{path} {known}"
            );
            assert_eq!(again.bytes().unwrap().is_empty(), status == 304, "{path} {known}");
        }
    }
    let image = service.get(&operator, &comparison).header("accept", "image/png").send().unwrap();
    assert_eq!(expect(image, 406)["code"], "not_acceptable");
    for (path, kind) in [("report", "text/html"), ("figures/wait-by-user-1.svg", "image/svg+xml")] {
        let answer = service.get(&operator, &format!("{location}/{path}")).send().unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert!(answer.headers()["content-type"].to_str().unwrap().starts_with(kind), "{path}");
    }
    let path = format!("{location}/scenarios/two%20controllers/replications/9/schedule");
    let schedule = service.get(&operator, &path).send().unwrap().text().unwrap();
    assert!(schedule.starts_with("job_id,user,account,partition,qos,submit,"), "{schedule}");

    assert_eq!(
        expect(service.post(&operator, &format!("{location}/cancel")).send().unwrap(), 409)["code"],
        "study_ended"
    );
    let delete = || service.http.delete(format!("{}{location}", service.url)).bearer_auth(&operator).send().unwrap();
    assert_eq!(delete().status(), 204);
    assert_eq!(expect(delete(), 404)["code"], "not_found");
}

#[test]
fn a_repetition_is_answered_as_the_first_time_whatever_has_changed_since() {
    let place = Place::embedded().with("FORESITE_QUOTA_STUDIES_ACTIVE", "1");
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = serde_json::json!(500);
    let send = |body: String| {
        let request = service.post(&operator, "/v1/studies").header("idempotency-key", "one");
        request.header("content-type", "application/json").body(body).send().unwrap()
    };
    let study = text_of(&expect(send(document.to_string()), 202), "id");
    // Its files are gone, and the tenant may have no second study.
    let site = document["site"]["site"].as_str().unwrap();
    for path in [
        format!("/v1/sites/{site}/configs/{}", document["site"]["config"].as_str().unwrap()),
        format!("/v1/sites/{site}/traces/{}", document["trace"]["trace"].as_str().unwrap()),
    ] {
        let deleted = service.http.delete(format!("{}{path}", service.url)).bearer_auth(&operator).send().unwrap();
        assert_eq!(deleted.status(), 204);
    }
    assert_eq!(text_of(&expect(send(document.to_string()), 202), "id"), study);
    for other in ["{}", "not a study at all"] {
        assert_eq!(expect(send(other.to_owned()), 422)["code"], "idempotency_key_reused", "{other}");
    }
    expect(service.post(&operator, &format!("/v1/studies/{study}/cancel")).send().unwrap(), 200);
    assert_eq!(text_of(&expect(send(document.to_string()), 202), "id"), study);
}

#[test]
fn a_cancelled_study_stays_cancelled_and_has_no_comparison() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = serde_json::json!(500);
    let study = service.submit(&operator, &document);
    let path = format!("/v1/studies/{study}");
    let busy = service.get(&operator, &format!("{path}/comparison")).send().unwrap();
    assert_eq!(expect(busy, 409)["code"], "study_not_succeeded");
    let active = service.http.delete(format!("{}{path}", service.url)).bearer_auth(&operator).send().unwrap();
    assert_eq!(expect(active, 409)["code"], "study_active");
    for _ in 0..2 {
        let now = expect(service.post(&operator, &format!("{path}/cancel")).send().unwrap(), 200);
        assert!(["cancelling", "cancelled"].contains(&now["state"].as_str().unwrap()), "{now}");
    }
    foresite_tests::servers::wait_until("cancelled", Duration::from_secs(30), || {
        expect(service.get(&operator, &path).send().unwrap(), 200)["state"] == "cancelled"
    });
}

#[test]
fn a_watcher_who_claims_to_know_the_future_keeps_nothing_from_the_others() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = serde_json::json!(500);
    let study = service.submit(&operator, &document);
    let events = format!("/v1/studies/{study}/events");
    // The first to watch, so that the service reads events for this one.
    let ahead = service.get(&operator, &events).header("last-event-id", i64::MAX.to_string()).send().unwrap();
    let told = service.get(&operator, &events).timeout(Duration::from_secs(60)).send().unwrap();
    let mut lines = BufReader::new(told).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("\"running\"")), "told of the start before the end");
    expect(service.post(&operator, &format!("/v1/studies/{study}/cancel")).send().unwrap(), 200);
    assert!(lines.any(|line| line.contains("\"cancelled\"")), "told of the end");
    assert!(!ahead.text().unwrap().contains("id: "), "nothing is after the last of all numbers");
}

#[test]
fn a_trace_is_read_in_the_time_zone_told_at_its_upload_unless_the_document_names_another() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    let site = text_of(&document["site"], "site");
    let bytes = std::fs::read(example("sacct.txt")).unwrap();
    let path = format!("/v1/sites/{site}/traces?name=sacct.txt&timezone=Europe/Berlin");
    let trace = text_of(&expect(service.post(&operator, &path).body(bytes).send().unwrap(), 201), "id");
    let mut first_submit = |source: serde_json::Value| -> i64 {
        document["trace"] = source;
        let study = service.submit(&operator, &document);
        service.await_success(&operator, &study);
        let path = format!("/v1/studies/{study}/scenarios/baseline/replications/0/schedule");
        let schedule = service.get(&operator, &path).send().unwrap().text().unwrap();
        schedule.lines().nth(1).unwrap().split(',').nth(5).unwrap().parse().unwrap()
    };
    let in_utc = first_submit(serde_json::json!({"trace": trace, "timezone": "UTC"}));
    let in_berlin = first_submit(serde_json::json!({"trace": trace}));
    assert!([3_600, 7_200].contains(&(in_utc - in_berlin)), "{in_utc} {in_berlin}");
}
