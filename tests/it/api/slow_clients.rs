//! Clients that send too slowly, or take nothing of what they asked for.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use foresite_tests::servers::wait_until;

use crate::foresite::{Place, Service, token};

fn place() -> Place {
    Place::embedded().with("FORESITE_BODY_TIMEOUT_SECONDS", "1").with("FORESITE_REQUEST_TIMEOUT_SECONDS", "1")
}

fn connect(service: &Service) -> TcpStream {
    let socket = TcpStream::connect(service.url.trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket
}

/// The status of a request that ends in the middle of its body.
fn half(service: &Service, operator: &str, line: &str, headers: &str) -> String {
    let mut socket = connect(service);
    let head = format!("{line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {operator}\r\n{headers}\r\n");
    socket.write_all(head.as_bytes()).unwrap();
    let begun: &[u8] = if headers.contains("chunked") { b"1\r\n{\r\n" } else { b"{" };
    socket.write_all(begun).unwrap();
    let mut answer = [0; 16];
    let read = socket.read_exact(&mut answer);
    assert!(read.is_ok(), "{line} ({headers:?}): {read:?}");
    String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn bodies_that_stall_are_given_up_on_every_route_that_reads_one() {
    let place = place();
    let service = place.serve();
    let operator = token("t", "admin");
    let site = service.site(&operator);
    let upload = service.post(&operator, &format!("/v1/sites/{site}/uploads?name=sacct.txt"));
    let upload = upload.header("upload-length", "1000").send().unwrap();
    let upload = upload.headers()["location"].to_str().unwrap().to_owned();
    let json = "content-type: application/json\r\ncontent-length: 1000\r\n";
    let chunks = "content-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n";
    let form = "content-type: multipart/form-data; boundary=x\r\ncontent-length: 1000\r\n";
    let piece = "content-type: application/offset+octet-stream\r\nupload-offset: 0\r\ncontent-length: 1000\r\n";
    for (line, headers) in [
        ("POST /v1/studies", json),
        ("POST /v1/sites", json),
        ("POST /v1/tokens", json),
        ("PUT /v1/quotas", json),
        ("POST /v1/webhooks", json),
        (&format!("POST /v1/sites/{site}/traces?name=sacct.txt"), json),
        (&format!("POST /v1/sites/{site}/traces?name=sacct.txt"), chunks),
        (&format!("POST /v1/sites/{site}/configs"), form),
        (&format!("POST /v1/sites/{site}/configs"), "content-type: application/x-tar\r\ncontent-length: 1000\r\n"),
        (&format!("PATCH {upload}"), piece),
        ("POST /sign-in", "content-type: application/x-www-form-urlencoded\r\ncontent-length: 1000\r\n"),
    ] {
        assert_eq!(half(&service, &operator, line, headers), "408", "{line} ({headers:?})");
    }
    // What came of a piece is kept.
    let now = service.get(&operator, &upload).send().unwrap().json::<serde_json::Value>().unwrap();
    assert_eq!(now["offset"], 1, "{now}");
}

#[test]
fn who_takes_nothing_of_the_answers_is_disconnected() {
    let place = place();
    let service = place.serve();
    // No token is needed for this one, and it is long.
    // Open connections of the listener, from the system's own table: local address, remote address, state 01.
    let port: u16 = service.url.rsplit(':').next().unwrap().parse().unwrap();
    let open = || {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let is_open = |words: &Vec<String>| words[1].ends_with(&format!(":{port:04X}")) && words[3] == "01";
        table.lines().skip(1).map(words).filter(is_open).count()
    };
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(400);
    let greedy: Vec<TcpStream> = (0..5)
        .map(|_| {
            let mut socket = connect(&service);
            socket.write_all(&request).unwrap();
            socket
        })
        .collect();
    wait_until("they are connected", Duration::from_secs(60), || open() == greedy.len());
    wait_until("the service has given up", Duration::from_secs(120), || open() == 0);
}

#[test]
fn what_is_held_in_memory_at_once_is_bounded() {
    const MEGABYTE: usize = 1 << 20;
    let place = Place::embedded().with("FORESITE_MAX_CONFIG_BYTES", "1000000");
    let service = place.serve();
    // Each sends a study but for its last byte.
    let send = |operator: &str| {
        let mut socket = connect(&service);
        let head = format!(
            "POST /v1/studies HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {operator}\r\ncontent-length: {MEGABYTE}\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).unwrap();
        socket.write_all(&vec![b' '; MEGABYTE - 1]).unwrap();
        socket
    };
    let greedy = token("greedy", "operator");
    let mut holding: Vec<TcpStream> = (0..32).map(|_| send(&greedy)).collect();
    let mut answer = String::new();
    wait_until("there is no room", Duration::from_secs(60), || {
        let mut next = send(&greedy);
        next.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut words = [0; 1024];
        match next.read(&mut words) {
            Ok(count) => answer = String::from_utf8_lossy(&words[..count]).to_ascii_lowercase(),
            Err(_) => holding.push(next),
        }
        !answer.is_empty()
    });
    assert!(answer.starts_with("http/1.1 429") && answer.contains("retry-after: 5"), "{answer}");
    assert!(holding.len() <= 34, "{} requests hold a megabyte each", holding.len());
    // Who holds much keeps no other tenant out.
    let calm = token("calm", "operator");
    let other = service.post(&calm, "/v1/studies").body(vec![b' '; MEGABYTE]).send().unwrap();
    assert_eq!(other.status(), 422);
    drop(holding);
    wait_until("there is room again", Duration::from_secs(60), || {
        service.post(&greedy, "/v1/studies").body(vec![b' '; MEGABYTE]).send().unwrap().status() == 422
    });
}
