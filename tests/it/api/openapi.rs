//! The committed contract is the served one.

use std::path::Path;

use crate::foresite::Place;

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
