//! Spans to a collector, under the request's trace id.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::foresite::{Place, expect, token};

#[test]
fn a_collector_gets_the_spans_of_a_request_under_its_trace_id() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", collector.local_addr().unwrap());
    let (sender, bodies) = channel();
    std::thread::spawn(move || {
        for stream in collector.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut line, mut length, mut first) = (String::new(), 0, String::new());
            while stream.read_line(&mut line).unwrap_or(0) > 2 {
                if first.is_empty() {
                    first.clone_from(&line);
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.get_mut().write_all(answer).unwrap();
            if sender.send((first, body)).is_err() {
                return;
            }
        }
    });
    let place = Place::embedded().with("FORESITE_OTLP_ENDPOINT", &endpoint);
    let service = place.serve();
    let id = "0af7651916cd43dd8448eb211c80319c";
    let request = service.get(&token("t", "viewer"), "/v1/sites/nothing");
    let request = request.header("traceparent", format!("00-{id}-b7ad6b7169203331-01"));
    assert_eq!(expect(request.send().unwrap(), 404)["trace_id"], id);
    assert!(service.process.terminate().success());
    let bytes: Vec<u8> = (0..16).map(|byte| u8::from_str_radix(&id[2 * byte..2 * byte + 2], 16).unwrap()).collect();
    let mut found = false;
    while let Ok((head, body)) = bodies.recv_timeout(Duration::from_secs(1)) {
        assert!(head.starts_with("POST /v1/traces "), "{head}");
        found |= body.windows(16).any(|window| window == bytes);
    }
    assert!(found, "no span of the request's trace");
}
