//! A Redis server.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use super::guarded::Guarded;
use super::{accepts, find_program, free_port, wait_until};

const PATIENCE: Duration = Duration::from_secs(20);

/// A Redis server without persistence: a restart loses everything, as a badly configured one would.
#[derive(Debug)]
pub struct RedisServer {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    process: Option<Guarded>,
}

impl RedisServer {
    /// Starts one.
    pub fn start() -> Self {
        let program = find_program(&["redis-server".to_owned(), "valkey-server".to_owned()])
            .expect("redis-server (tests/install-servers.sh installs it)");
        let folder = tempfile::Builder::new().prefix("foresite-redis-").tempdir().expect("a folder").keep();
        let mut server = Self { program, folder, port: free_port(), process: None };
        server.restart();
        server
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it in an orderly manner.
    pub fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.end();
        }
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.crash();
        }
    }

    /// Starts it again, on the same port, empty.
    pub fn restart(&mut self) {
        self.stop();
        let port = self.port.to_string();
        let arguments =
            ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no"];
        let mut command = vec![self.program.as_os_str()];
        command.extend(arguments.iter().map(|argument| std::ffi::OsStr::new(*argument)));
        command.extend([std::ffi::OsStr::new("--dir"), self.folder.as_os_str()]);
        self.process = Some(Guarded::start(&self.folder, &command));
        wait_until("redis-server", PATIENCE, || accepts(self.port) && self.command("PING").starts_with("+PONG"));
    }

    /// Makes it forget everything.
    pub fn flush_all(&self) {
        let answer = self.command("FLUSHALL");
        assert!(answer.starts_with("+OK"), "FLUSHALL: {answer}");
    }

    /// Runs a command given as words without blanks in them; gives the first bytes of the raw answer.
    pub fn command(&self, words: &str) -> String {
        let exchange = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            stream.write_all(format!("{words}\r\n").as_bytes())?;
            let mut answer = [0_u8; 4096];
            let read = stream.read(&mut answer)?;
            Ok(String::from_utf8_lossy(answer.get(..read).unwrap_or_default()).into_owned())
        };
        exchange().unwrap_or_else(|error| error.to_string())
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
        // Best effort: a folder left behind in the folder for temporary files harms nobody.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}
