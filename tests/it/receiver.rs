//! Somebody who is told things by webhook.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

/// A message as a receiver sees it.
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) timestamp: i64,
    pub(crate) signature: String,
    pub(crate) body: String,
}

/// Answers every request with the next of these statuses (then with the last), and hands the messages on; gives its address.
pub(crate) fn receiver(statuses: &'static [&'static str]) -> (String, Receiver<Message>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    (url, receive_at(listener, statuses))
}

/// [`receiver`] at an address of the caller's.
pub(crate) fn receive_at(listener: TcpListener, statuses: &'static [&'static str]) -> Receiver<Message> {
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut line, mut length) = (String::new(), 0);
            let mut message =
                Message { id: String::new(), timestamp: 0, signature: String::new(), body: String::new() };
            while stream.read_line(&mut line).unwrap_or(0) > 2 {
                let (name, value) = line.trim_end().split_once(": ").unwrap_or_default();
                match name.to_ascii_lowercase().as_str() {
                    "content-length" => length = value.parse().unwrap(),
                    "webhook-id" => message.id = value.to_owned(),
                    "webhook-timestamp" => message.timestamp = value.parse().unwrap(),
                    "webhook-signature" => message.signature = value.to_owned(),
                    _ => {}
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            message.body = String::from_utf8(body).unwrap();
            let status = statuses.get(number).or(statuses.last()).unwrap();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    messages
}
