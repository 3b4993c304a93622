//! Traces in pieces, the same trace twice.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use foresite_tests::servers::wait_until;
use reqwest::blocking::Response;
use serde_json::Value;

use crate::foresite::{Place, Service, example, expect, text_of, token};

fn begin(service: &Service, operator: &str, site: &str, length: usize) -> Response {
    let path = format!("/v1/sites/{site}/uploads?name=sacct.txt&timezone=UTC");
    service.post(operator, &path).header("upload-length", length.to_string()).send().unwrap()
}

fn patch(service: &Service, operator: &str, location: &str, offset: usize, bytes: &[u8]) -> Response {
    let request = service.http.patch(format!("{}{location}", service.url)).bearer_auth(operator);
    let request = request.header("upload-offset", offset.to_string());
    request.header("content-type", "application/offset+octet-stream").body(bytes.to_vec()).send().unwrap()
}

fn offset(service: &Service, operator: &str, location: &str) -> usize {
    let answer = service.http.head(format!("{}{location}", service.url)).bearer_auth(operator).send().unwrap();
    assert_eq!((answer.status().as_u16(), &answer.headers()["tus-resumable"]), (200, &"1.0.0".parse().unwrap()));
    answer.headers()["upload-offset"].to_str().unwrap().parse().unwrap()
}

fn items(service: &Service, token: &str, path: &str) -> Vec<Value> {
    expect(service.get(token, path).send().unwrap(), 200)["items"].as_array().unwrap().clone()
}

#[test]
fn an_upload_goes_on_where_the_connection_broke() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    let trace = std::fs::read(example("sacct.txt")).unwrap();
    let begun = begin(&service, &operator, &site, trace.len());
    let location = begun.headers()["location"].to_str().unwrap().to_owned();
    expect(begun, 201);
    let third = trace.len() / 3;
    assert_eq!(patch(&service, &operator, &location, 0, &trace[..third]).status(), 204);
    assert_eq!(expect(patch(&service, &operator, &location, 0, &trace[..third]), 409)["code"], "upload_offset");
    let early = service.post(&operator, &format!("{location}/trace")).send().unwrap();
    assert_eq!(expect(early, 409)["code"], "upload_offset");

    // A connection that breaks in the middle of a piece: what came is kept, also over a restart of the service.
    let mut socket = TcpStream::connect(service.url.trim_start_matches("http://")).unwrap();
    let head = format!(
        "PATCH {location} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {operator}\r\nupload-offset: {third}\r\n\
         content-type: application/offset+octet-stream\r\ncontent-length: {}\r\n\r\n",
        trace.len() - third
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket.write_all(&trace[third..2 * third]).unwrap();
    drop(socket);
    wait_until("what came is kept", Duration::from_secs(10), || offset(&service, &operator, &location) == 2 * third);
    drop(service);
    let service = place.serve();
    let found = offset(&service, &operator, &location);
    assert_eq!(found, 2 * third);
    let too_much = [&trace[found..], b"x"].concat();
    assert_eq!(expect(patch(&service, &operator, &location, found, &too_much), 413)["code"], "payload_too_large");
    assert_eq!(patch(&service, &operator, &location, found, &trace[found..]).status(), 204);

    let finish = || service.post(&operator, &format!("{location}/trace")).send().unwrap();
    let made = expect(finish(), 201);
    assert_eq!(text_of(&expect(finish(), 200), "id"), text_of(&made, "id"));
    let whole = expect(service.trace(&operator, &site, trace.clone()), 200);
    assert_eq!(text_of(&whole, "id"), text_of(&made, "id"));
    assert_eq!(items(&service, &operator, &format!("/v1/sites/{site}/traces")).len(), 1);
}

#[test]
fn equal_bytes_are_one_trace_of_a_site() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let (site, other) = (service.site(&operator), service.site(&operator));
    let trace = std::fs::read(example("sacct.txt")).unwrap();
    let first = text_of(&expect(service.trace(&operator, &site, trace.clone()), 201), "id");
    assert_eq!(text_of(&expect(service.trace(&operator, &site, trace.clone()), 200), "id"), first);
    assert_ne!(text_of(&expect(service.trace(&operator, &other, trace.clone()), 201), "id"), first);
    // Another time zone is another reading of the same bytes.
    let path = format!("/v1/sites/{site}/traces?name=sacct.txt&timezone=Europe/Berlin");
    assert_ne!(text_of(&expect(service.post(&operator, &path).body(trace).send().unwrap(), 201), "id"), first);
}

#[test]
fn an_upload_is_bounded_and_can_be_given_up() {
    let place = Place::embedded().with("FORESITE_MAX_TRACE_BYTES", "1000");
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    assert_eq!(expect(begin(&service, &operator, &site, 1001), 413)["code"], "payload_too_large");
    let location = begin(&service, &operator, &site, 1000).headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(patch(&service, &operator, &location, 0, b"abc").status(), 204);
    let plain = service.http.patch(format!("{}{location}", service.url)).bearer_auth(&operator);
    let plain = plain.header("upload-offset", "3").header("content-type", "text/plain").body("d").send().unwrap();
    assert_eq!(expect(plain, 415)["code"], "unsupported_media_type");
    let delete = || service.http.delete(format!("{}{location}", service.url)).bearer_auth(&operator).send().unwrap();
    assert_eq!(delete().status(), 204);
    assert_eq!(expect(delete(), 404)["code"], "not_found");
}
