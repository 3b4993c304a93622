//! Servers the tests start and stop.

mod guarded;
mod postgres;
mod proxy;
mod redis;
mod s3;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

pub use postgres::PostgresServer;
pub use proxy::Proxy;
pub use redis::RedisServer;
pub use s3::S3Server;

/// A port of 127.0.0.1 that nobody listens on.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("a bound port").port()
}

/// Waits up to `limit` until `ready`; panics with `what` otherwise.
pub fn wait_until(what: &str, limit: Duration, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether something accepts connections there.
fn accepts(port: u16) -> bool {
    TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), Duration::from_millis(200)).is_ok()
}

/// The first of these programs that exists: by full path, or by name along PATH.
fn find_program(names: &[String]) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}
