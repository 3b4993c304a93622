//! An S3 server: moto, from Python's index.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::guarded::Guarded;
use super::{accepts, free_port, wait_until};

const MOTO: &str = "moto[server]==5.2.5";
const PATIENCE: Duration = Duration::from_secs(60);

/// An S3 server in memory. It asks for no credentials, but clients must sign with some.
#[derive(Debug)]
pub struct S3Server {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    process: Option<Guarded>,
}

impl S3Server {
    /// Starts one; the first time, installs moto into the target folder.
    pub fn start() -> Self {
        let program = install();
        let folder = tempfile::Builder::new().prefix("foresite-s3-").tempdir().expect("a folder").keep();
        let mut server = Self { program, folder, port: free_port(), process: None };
        server.restart();
        server
    }

    /// Makes a bucket; gives its address as `FORESITE_OBJECTS_URL`, credentials included.
    pub fn create_bucket(&self, name: &str) -> String {
        let answer = self.put(&format!("/{name}"));
        assert!(answer.starts_with("HTTP/1.1 200"), "PUT /{name}: {answer}");
        format!("s3://key:secret@{name}/objects?endpoint=http://127.0.0.1:{}&region=us-east-1", self.port)
    }

    /// Ends it.
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
        let command =
            [self.program.as_os_str(), OsStr::new("-H"), OsStr::new("127.0.0.1"), OsStr::new("-p"), OsStr::new(&port)];
        self.process = Some(Guarded::start(&self.folder, &command));
        wait_until("moto_server", PATIENCE, || accepts(self.port));
    }

    fn put(&self, path: &str) -> String {
        let exchange = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            let host = format!("127.0.0.1:{}", self.port);
            write!(stream, "PUT {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        exchange().unwrap_or_else(|error| error.to_string())
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.stop();
        // Best effort: a folder left behind in the folder for temporary files harms nobody.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

/// A virtual environment with moto in the target folder, made once; gives the server program.
fn install() -> PathBuf {
    let tools = target_folder().join("test-tools");
    std::fs::create_dir_all(&tools).expect("the target folder");
    // Held while installing: test programs may run side by side.
    let lock = std::fs::File::create(tools.join("moto.lock")).expect("the target folder");
    lock.lock().expect("a lock");
    let folder = tools.join("moto-5.2.5");
    let program = folder.join("bin/moto_server");
    let complete = folder.join("complete");
    if !complete.exists() {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
        let pip = folder.join("bin/python");
        run(Command::new(pip).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", MOTO]));
        std::fs::write(&complete, MOTO).expect("the target folder");
    }
    program
}

fn run(command: &mut Command) {
    let output = command.output().expect("python3 (tests/install-servers.sh installs python3-venv)");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// `…/target`, from the test program's place `…/target/debug/deps/it-…`.
fn target_folder() -> PathBuf {
    let program = std::env::current_exe().expect("this program's place");
    program.ancestors().nth(3).map_or_else(std::env::temp_dir, Path::to_owned)
}
