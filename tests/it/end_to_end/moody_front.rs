//! `foresite submit` and a way to the service on which requests and answers get lost.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use crate::foresite::{Place, example, expect, offline_comparison, token};

/// What becomes of a request.
#[derive(Clone, Copy)]
enum Mood {
    Passes,
    /// It is not taken.
    Dropped,
    /// It is carried out, and nobody is told.
    AnswerLost,
    /// Somebody else answers it.
    Answered(&'static str),
}

const AWAY: Mood = Mood::Answered("503 Service Unavailable\r\nretry-after: 1");
const PROXYS: Mood = Mood::Answered("502 Bad Gateway");
const TOO_FAST: Mood = Mood::Answered("429 Too Many Requests\r\nretry-after: 1");

/// Of the requests, in order: the sites listed, one made, listed again; the configuration; the trace; the study; its state.
const MOODS: [Mood; 14] = [
    Mood::Dropped,
    Mood::Passes,
    Mood::AnswerLost,
    Mood::Passes,
    PROXYS,
    Mood::Passes,
    Mood::AnswerLost,
    TOO_FAST,
    Mood::Passes,
    Mood::AnswerLost,
    AWAY,
    Mood::Passes,
    PROXYS,
    Mood::Dropped,
];

/// A front of the service at this address (`http://…`); every connection carries one request.
fn front(service: &str) -> String {
    let service = service.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            let mood = MOODS.get(number).copied().unwrap_or(Mood::Passes);
            let service = service.clone();
            std::thread::spawn(move || serve(client, &service, mood));
        }
    });
    address
}

fn serve(mut client: TcpStream, service: &str, mood: Mood) {
    if let Mood::Dropped = mood {
        return;
    }
    let mut bytes = vec![0; 64 << 10];
    let read = client.read(&mut bytes).unwrap();
    if let Mood::Answered(status) = mood {
        client.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        while matches!(client.read(&mut bytes), Ok(1..)) {}
        write!(client, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        return;
    }
    // The head is short, and comes whole.
    let head = String::from_utf8_lossy(&bytes[..read]).find("\r\n\r\n").unwrap();
    let mut server = TcpStream::connect(service).unwrap();
    server.write_all(&bytes[..head]).unwrap();
    server.write_all(b"\r\nconnection: close").unwrap();
    server.write_all(&bytes[head..read]).unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).unwrap();
    if let Mood::Passes = mood {
        // Whoever asked may be gone.
        let _gone = client.write_all(&answer);
    }
    let _gone = client.shutdown(Shutdown::Both);
}

#[test]
fn submit_goes_on_while_the_service_is_away_and_doubles_nothing() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let study = example("study.yaml");
    let study = study.to_str().unwrap();
    let url = front(&service.url);
    let printed = place.must(&["submit", study, "--server", &url, "--token", &operator, "--wait", "--json"]);
    assert!(printed.as_bytes() == offline_comparison(), "the comparisons differ");
    let items = |path: &str| {
        let list = expect(service.get(&operator, path).send().unwrap(), 200);
        list["items"].as_array().unwrap().clone()
    };
    let sites = items("/v1/sites");
    let traces = items(&format!("/v1/sites/{}/traces", sites[0]["id"].as_str().unwrap()));
    assert_eq!((sites.len(), traces.len(), items("/v1/studies").len()), (1, 1, 1));
}

#[test]
fn submit_gives_up_when_patience_ends() {
    let place = Place::embedded();
    let study = example("study.yaml");
    let nobody = format!("http://127.0.0.1:{}", foresite_tests::servers::free_port());
    let began = std::time::Instant::now();
    let submit = ["submit", study.to_str().unwrap(), "--server", &nobody, "--token", "t", "--retry-for", "2"];
    let output = place.run(&submit);
    assert_eq!(output.status.code(), Some(1));
    assert!((1..20).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&format!("cannot reach {nobody}; trying again for up to 2 s")), "{said}");
}
