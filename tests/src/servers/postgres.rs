//! A PostgreSQL server.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::guarded::Guarded;
use super::{accepts, find_program, free_port, wait_until};

const PATIENCE: Duration = Duration::from_secs(60);

/// Nothing is synced, and little of the log is kept: a disk that is nearly full must not fail a test.
const SETTINGS: [&str; 9] = [
    "listen_addresses=127.0.0.1",
    "max_connections=300",
    "fsync=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "wal_recycle=off",
    "min_wal_size=32MB",
    "max_wal_size=64MB",
];

/// A PostgreSQL server with a cluster of its own. It trusts everybody on 127.0.0.1 and syncs nothing to disk.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    process: Option<Guarded>,
    databases: AtomicU32,
    tls: bool,
}

impl PostgresServer {
    /// Makes a cluster and starts it.
    pub fn start() -> Self {
        let programs = find_programs().expect("PostgreSQL (tests/install-servers.sh installs it)");
        let folder = tempfile::Builder::new().prefix("foresite-postgres-").tempdir().expect("a folder").keep();
        let folder_name = folder.clone().into_os_string();
        if is_root() {
            let chown = Command::new("chown").arg("postgres:").arg(&folder).output().expect("chown");
            assert_success("chown postgres:", &chown);
        }
        let data = folder.join("data");
        let initdb = programs.join("initdb").into_os_string();
        let arguments = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync", "-D"];
        let mut command = as_postgres();
        command.push(initdb);
        command.extend(arguments.iter().map(OsString::from));
        command.push(data.into_os_string());
        let output = run(&command, &folder_name);
        assert_success("initdb", &output);
        let mut server =
            Self { programs, folder, port: free_port(), process: None, databases: AtomicU32::new(0), tls: false };
        server.restart();
        server
    }

    /// Starts it again, speaking TLS with this certificate and key (PEM).
    pub fn restart_with_tls(&mut self, certificate: &str, key: &str) {
        for (name, text) in [("server.pem", certificate), ("server.key", key)] {
            let file = self.folder.join(name);
            std::fs::write(&file, text).expect("a file");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&file, mode).expect("chmod");
            if is_root() {
                let chown = Command::new("chown").arg("postgres:").arg(&file).output().expect("chown");
                assert_success("chown postgres:", &chown);
            }
        }
        self.tls = true;
        self.restart();
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database that nobody else uses; gives its address.
    pub fn create_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// Runs a statement; gives what psql prints, unaligned and without headers.
    pub fn psql(&self, database: &str, statement: &str) -> String {
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &self.url(database), "-c", statement])
            .output()
            .expect("psql");
        assert_success(statement, &output);
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.folder.join("server.log")).expect("a log");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Ends it in an orderly manner (a fast shutdown: clients are disconnected).
    pub fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.signal("INT");
            process.end();
        }
    }

    /// Ends it as a crash would: committed work must survive, open transactions must not.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            // An immediate shutdown: the postmaster ends its children without a checkpoint. After SIGKILL they would linger and
            // keep the next start waiting.
            process.signal("QUIT");
            process.end();
        }
    }

    /// Starts it again, on the same port, with its data.
    pub fn restart(&mut self) {
        self.stop();
        let port = self.port.to_string();
        let mut command = as_postgres();
        command.push(self.programs.join("postgres").into_os_string());
        command.extend(["-D".into(), self.folder.join("data").into_os_string(), "-p".into(), port.into()]);
        command.extend(["-k".into(), self.folder.clone().into_os_string()]);
        for setting in SETTINGS {
            command.extend(["-c".into(), setting.into()]);
        }
        if self.tls {
            for setting in ["server.pem", "server.key"] {
                let name = if setting.ends_with("key") { "ssl_key_file" } else { "ssl_cert_file" };
                command.extend(["-c".into(), format!("{name}={}", self.folder.join(setting).display()).into()]);
            }
            command.extend(["-c".into(), "ssl=on".into()]);
        }
        let words: Vec<&OsStr> = command.iter().map(OsString::as_os_str).collect();
        self.process = Some(Guarded::start(&self.folder, &words));
        let is_ready = self.programs.join("pg_isready");
        wait_until("postgres", PATIENCE, || {
            accepts(self.port)
                && Command::new(&is_ready)
                    .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                    .status()
                    .is_ok_and(|status| status.success())
        });
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop();
        // Best effort: a folder left behind in the folder for temporary files harms nobody.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

/// The folder of `initdb` and `postgres`: Debian keeps them out of PATH.
fn find_programs() -> Option<PathBuf> {
    let asked = Command::new("pg_config").arg("--bindir").output().ok().filter(|output| output.status.success());
    let asked = asked.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    debian.sort();
    let found = find_program(&["initdb".to_owned()]).and_then(|file| file.canonicalize().ok());
    let found = found.and_then(|file| file.parent().map(Path::to_owned));
    let has_both = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    asked.into_iter().chain(debian.into_iter().rev()).chain(found).find(has_both)
}

/// `initdb` and `postgres` refuse to run as root: they run as the user the package made.
fn as_postgres() -> Vec<OsString> {
    if !is_root() {
        return Vec::new();
    }
    ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"].map(OsString::from).to_vec()
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn run(command: &[OsString], folder: &OsStr) -> Output {
    let (program, arguments) = command.split_first().expect("a program");
    Command::new(program).args(arguments).current_dir(folder).output().expect("a program that starts")
}

fn assert_success(what: &str, output: &Output) {
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
}
