//! A server process that cannot outlive the tests.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts the server in the background, tells its process id, waits until standard input ends (when the test process ends, even
/// by SIGKILL), and kills it. `$1` is a folder to remove then, or empty.
const GUARD: &str = r#"
folder=$1; shift
"$@" </dev/null >>"${folder:-/tmp}/server.log" 2>&1 &
pid=$!
echo $pid
exec >&- 2>&-
while read -r order; do
    case $order in keep) folder= ;; esac
done
kill -INT $pid 2>/dev/null; kill -TERM $pid 2>/dev/null
tries=0
while kill -0 $pid 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
kill -KILL $pid 2>/dev/null
wait $pid
[ -z "$folder" ] || rm -rf "$folder"
"#;

/// A running server.
#[derive(Debug)]
pub(super) struct Guarded {
    guard: Child,
    pid: String,
}

impl Guarded {
    /// Starts a program. `folder` holds its log, and is removed when the test process ends.
    pub(super) fn start(folder: &Path, command: &[&OsStr]) -> Self {
        let mut guard = Command::new("/bin/sh")
            .args(["-c", GUARD, "guard"])
            .arg(folder)
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("/bin/sh");
        let mut pid = String::new();
        let mut output = BufReader::new(guard.stdout.take().expect("a pipe"));
        output.read_line(&mut pid).expect("the server's process id");
        Self { guard, pid: pid.trim().to_owned() }
    }

    /// Sends a signal to the server, such as `KILL`, `STOP`, `CONT`, `INT`.
    pub(super) fn signal(&self, signal: &str) {
        Command::new("/bin/kill").args(["-s", signal, &self.pid]).status().expect("/bin/kill");
    }

    /// Ends the server and waits for its end; its folder stays.
    pub(super) fn end(mut self) {
        use std::io::Write;
        if let Some(mut orders) = self.guard.stdin.take() {
            // A guard that is gone already has nothing to keep.
            let _gone = writeln!(orders, "keep");
        }
        let _status = self.guard.wait();
    }

    /// Kills the server as a crash would, and waits for its end; its folder stays.
    pub(super) fn crash(self) {
        self.signal("KILL");
        self.end();
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _status = self.guard.wait();
    }
}
