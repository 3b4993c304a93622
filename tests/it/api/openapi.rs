//! The committed contract is the served one.

use std::path::Path;

use reqwest::Method;
use serde_json::Value;

use crate::foresite::{Place, expect, token};

#[test]
fn the_committed_document_is_what_the_routes_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi/foresite.json");
    let served = foresite_api::openapi::json();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, served).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == served, "openapi/foresite.json is old; run `foresite openapi > openapi/foresite.json`");
}

#[test]
fn the_service_and_the_command_line_show_the_same_document() {
    let place = Place::embedded();
    let service = place.serve();
    let over_http = service.http.get(format!("{}/openapi.json", service.url)).send().unwrap().text().unwrap();
    assert_eq!(over_http, place.must(&["openapi"]));
    assert!(over_http.contains("\"openapi\": \"3.1"));
}

/// serde would take an array for a struct, field by field in order.
#[test]
fn no_json_body_may_be_an_array() {
    let place = Place::embedded();
    let service = place.serve();
    let admin = token("t", "admin");
    let document: Value = serde_json::from_str(foresite_api::openapi::json()).unwrap();
    let mut n_bodies = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["requestBody"]["content"]["application/json"].is_null() {
                continue;
            }
            n_bodies += 1;
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            for length in 0..8 {
                let url = format!("{}{path}", service.url);
                let request = service.http.request(method.clone(), url).bearer_auth(&admin);
                let problem = expect(request.json(&vec![Value::Null; length]).send().unwrap(), 422);
                assert!(!problem["errors"].as_array().unwrap().is_empty(), "{path}: {problem}");
            }
        }
    }
    assert!(n_bodies >= 6, "{n_bodies} bodies");
}
