//! A way to a server that can be blocked.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

const OPEN: u8 = 0;
const HELD: u8 = 1;
const SWALLOWING: u8 = 2;

/// Passes on what is sent to a server of 127.0.0.1 and what it answers, unless told otherwise. Ends with the test process.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    way: Arc<AtomicU8>,
}

impl Proxy {
    /// A way to the server on this port.
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound port").port();
        let way = Arc::new(AtomicU8::new(OPEN));
        let proxy = Self { port, way: Arc::clone(&way) };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let way = Arc::clone(&way);
                std::thread::spawn(move || {
                    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else { return };
                    let pair = (client.try_clone(), server.try_clone());
                    let (Ok(client_too), Ok(server_too)) = pair else { return };
                    let back = Arc::clone(&way);
                    std::thread::spawn(move || carry(server_too, client_too, &back));
                    carry(client, server, &way);
                });
            }
        });
        proxy
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Keeps back whatever is sent, in both directions, until [`Proxy::open`]: a server that stands still.
    pub fn hold(&self) {
        self.way.store(HELD, Ordering::SeqCst);
    }

    /// Takes whatever is sent and passes on nothing of it, ever: a server that never answers.
    pub fn swallow(&self) {
        self.way.store(SWALLOWING, Ordering::SeqCst);
    }

    /// Passes everything on again. Connections of which something was swallowed stay silent.
    pub fn open(&self) {
        self.way.store(OPEN, Ordering::SeqCst);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, way: &AtomicU8) {
    let mut bytes = vec![0; 64 << 10];
    let mut is_silent = false;
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while way.load(Ordering::SeqCst) == HELD {
            std::thread::sleep(Duration::from_millis(10));
        }
        is_silent |= way.load(Ordering::SeqCst) == SWALLOWING;
        if !is_silent && to.write_all(bytes.get(..count).unwrap_or_default()).is_err() {
            break;
        }
    }
    // Who has gone away is gone for the other side, too.
    let _closed = to.shutdown(Shutdown::Both);
}
