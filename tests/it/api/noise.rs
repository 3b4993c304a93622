//! What clients do is no error of ours: nobody is woken for a connection that broke or a token that is wrong.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use foresite_tests::servers::wait_until;
use serde_json::json;

use crate::foresite::{Place, Service, expect, jwt, token};

/// Sends bytes and hangs up, at once or when the first bytes of an answer have come.
fn hang_up(address: &str, bytes: &[u8], waits: bool) {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let _gone = socket.write_all(bytes);
    if waits {
        let _nothing = socket.read(&mut [0; 16]);
    }
    drop(socket);
}

fn request(line: &str, bearer: &str, rest: &str) -> Vec<u8> {
    format!("{line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bearer}\r\n{rest}").into_bytes()
}

#[test]
fn nothing_that_clients_do_is_logged_as_an_error() {
    let place = Place::embedded();
    let log = place.folder().join("log");
    let mut command = place.command(&["serve"]);
    command
        .env("FORESITE_LOG", "info")
        .env("FORESITE_SHUTDOWN_SECONDS", "2")
        .stderr(std::fs::File::create(&log).unwrap());
    let service = Service::of(command);
    let operator = token("t", "operator");
    let document = service.example_study(&operator);
    let study = service.submit(&operator, &document);
    service.await_success(&operator, &study);
    let site = document["site"]["site"].as_str().unwrap();

    let (http, grpc) = (service.url.trim_start_matches("http://"), service.grpc.trim_start_matches("http://"));
    let json = "content-type: application/json\r\ncontent-length: 100\r\n\r\n{\"name\"";
    let form = "content-type: multipart/form-data; boundary=x\r\ncontent-length: 100\r\n\r\n--x\r\n";
    let raw: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"GET".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        vec![0; 1000],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /\x00\xff HTTP/1.1\r\n\r\n".to_vec(),
        [b"GET / HTTP/1.1\r\nx: ".to_vec(), vec![b'a'; 200_000], b"\r\n\r\n".to_vec()].concat(),
        b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".to_vec(),
        request("POST /v1/sites", &operator, json),
        request("POST /v1/studies", &operator, json),
        request(&format!("POST /v1/sites/{site}/traces?name=a"), &operator, json),
        request(&format!("POST /v1/sites/{site}/traces?name=a"), &operator, "transfer-encoding: chunked\r\n\r\nzz\r\n"),
        request(&format!("POST /v1/sites/{site}/configs"), &operator, form),
        request(&format!("POST /v1/sites/{site}/configs"), &operator, "content-type: application/gzip\r\n\r\n"),
        request(
            "POST /sign-in",
            "",
            "content-type: application/x-www-form-urlencoded\r\ncontent-length: 9\r\n\r\ntoken",
        ),
        request("POST /sign-in", "", "content-type: text/plain\r\ncontent-length: 5\r\n\r\ntoken"),
        request(&format!("GET /v1/studies/{study}/events"), &operator, "\r\n"),
        request(&format!("GET /v1/studies/{study}/comparison"), &operator, "\r\n"),
        request(&format!("GET /v1/studies/{study}/scenarios/baseline/replications/0/schedule"), &operator, "\r\n"),
    ];
    for bytes in &raw {
        for waits in [false, true] {
            hang_up(http, bytes, waits);
            hang_up(grpc, bytes, waits);
        }
    }
    for bearer in ["", "x", "a.b.c", "fs_0", &jwt("t", "admin", 3600), &jwt("", "admin", -60), &jwt("t", "king", -60)] {
        service.get(bearer, "/v1/studies").send().unwrap();
    }
    for (path, body) in [("/v1/sites", json!([])), ("/v1/studies", json!("x")), ("/v1/nothing", json!({}))] {
        service.post(&operator, path).json(&body).send().unwrap();
    }
    // A client that gives up while its study is being judged.
    let hasty = reqwest::blocking::Client::builder().timeout(Duration::from_millis(20)).build().unwrap();
    for _ in 0..3 {
        let _gone = hasty.post(format!("{}/v1/studies", service.url)).bearer_auth(&operator).json(&document).send();
    }
    expect(service.get(&operator, "/v1/studies").send().unwrap(), 200);
    // Connections that are cut off when the service ends.
    let _open = TcpStream::connect(http).unwrap();
    let _open_too = TcpStream::connect(grpc).unwrap();
    assert!(service.process.terminate().success());
    let said = std::fs::read_to_string(&log).unwrap();
    wait_until("the log is written", Duration::from_secs(5), || said.contains("INFO"));
    let errors: Vec<&str> = said.lines().filter(|line| line.contains("ERROR") || line.contains("panicked")).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
