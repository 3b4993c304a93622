//! Whether requests can be served now.

use std::fmt::Display;
use std::time::{Duration, Instant};

use foresite_store::migrations;
use tokio::sync::Mutex;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::context::Context;

/// What has not answered by then is away: whoever probes does not wait for long either.
const PATIENCE: Duration = Duration::from_secs(2);
/// An answer is good for so long: anybody may ask, as often as they like.
const FRESH: Duration = Duration::from_secs(1);

/// One thing the service depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// `service` (it stops), `database`, `objects` or `queue`.
    pub name: &'static str,
    /// Whether it answers.
    pub is_up: bool,
    /// Whether requests can be served without it. Without the queue they can: tasks wait in the database.
    pub is_required: bool,
}

/// The last answer, and since when it stands.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<Option<(Instant, Vec<Dependency>)>>);

/// Asks everything the service depends on, at once, and at most once a second. A failure is logged here; the answer names only the
/// thing.
pub async fn ready(context: &Context) -> Vec<Dependency> {
    // Whoever asks meanwhile waits for the same answer.
    let mut last = context.readiness.0.lock().await;
    let mut found = match &*last {
        Some((at, found)) if at.elapsed() < FRESH => found.clone(),
        _ => {
            let found = ask(context).await;
            *last = Some((Instant::now(), found.clone()));
            found
        }
    };
    // Nobody shall come any more.
    if context.shutdown.is_cancelled() {
        found.push(Dependency { name: "service", is_up: false, is_required: true });
    }
    found
}

/// Whether requests can be served.
pub fn is_ready(found: &[Dependency]) -> bool {
    found.iter().all(|dependency| dependency.is_up || !dependency.is_required)
}

async fn ask(context: &Context) -> Vec<Dependency> {
    let (database, objects, queue) = tokio::join!(
        timeout(PATIENCE, migrations::check(&context.store)),
        timeout(PATIENCE, context.objects.ping()),
        timeout(PATIENCE, context.queue.depth()),
    );
    vec![
        dependency("database", database, true),
        dependency("objects", objects, true),
        dependency("queue", queue, false),
    ]
}

fn dependency<T>(
    name: &'static str,
    answer: Result<Result<T, impl Display>, Elapsed>,
    is_required: bool,
) -> Dependency {
    let is_up = match answer {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            tracing::warn!(dependency = name, %error, "not ready");
            false
        }
        Err(_) => {
            tracing::warn!(dependency = name, "not ready: no answer in time");
            false
        }
    };
    Dependency { name, is_up, is_required }
}
