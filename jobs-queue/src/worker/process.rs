//! Running a task in a child process.

use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::WorkerSettings;
use super::attempt::AttemptError;
use crate::child::{EXIT_DISK_FULL, EXIT_INPUT};
use crate::task::TaskSpec;

/// So much of what the child says last is kept.
const WORDS_MAX: usize = 8 << 10;

/// Runs an order to its end. Dropping the future kills the child.
pub(crate) async fn run(settings: &WorkerSettings, spec: &TaskSpec) -> Result<(), AttemptError> {
    let mut child = start(settings, spec)
        .map_err(|error| AttemptError::Away(format!("{} could not be started: {error}", settings.program.display())))?;
    let mut order = serde_json::to_vec(spec).map_err(|error| AttemptError::Fatal(error.to_string()))?;
    order.push(b'\n');
    // Kept open until the child has ended: it ends itself when this closes.
    let mut input = child.stdin.take();
    if let Some(input) = &mut input
        && let Err(error) = input.write_all(&order).await
    {
        tracing::debug!(error = %error, "the child did not read its order");
    }
    let words = last_words(child.stderr.take()).await;
    let status = child.wait().await.map_err(|error| AttemptError::Retry(error.to_string()))?;
    drop(input);
    if status.success() {
        return Ok(());
    }
    if status.code() == Some(i32::from(EXIT_INPUT)) {
        return Err(AttemptError::Fatal(words));
    }
    if status.code() == Some(i32::from(EXIT_DISK_FULL)) {
        return Err(AttemptError::Away(words));
    }
    let limit = match spec.memory_limit_bytes {
        Some(bytes) => format!("; its memory was limited to {bytes} bytes"),
        None => String::new(),
    };
    Err(AttemptError::Retry(format!("its process ended abnormally ({status}{limit}): {words}")))
}

fn start(settings: &WorkerSettings, spec: &TaskSpec) -> std::io::Result<Child> {
    Command::new(&settings.program)
        .args(&settings.arguments)
        // The child needs no secrets of ours.
        .env_clear()
        .current_dir(&spec.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Reads until the child closes its standard error, keeps the end.
async fn last_words(stderr: Option<tokio::process::ChildStderr>) -> String {
    let Some(mut stderr) = stderr else { return String::new() };
    let mut kept: Vec<u8> = Vec::new();
    let mut chunk = [0_u8; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        kept.extend(chunk.iter().take(read));
        let surplus = kept.len().saturating_sub(WORDS_MAX);
        kept.drain(..surplus);
    }
    // Not every database can keep a NUL.
    String::from_utf8_lossy(&kept).trim().replace('\0', "\u{fffd}")
}
