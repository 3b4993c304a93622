//! Whether requests can be served now.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::context::Context;

/// What has not answered by then is away: whoever probes does not wait for long either.
const PATIENCE: Duration = Duration::from_secs(2);

/// One thing the service depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// `database`, `objects` or `queue`.
    pub name: &'static str,
    /// Whether it answers.
    pub is_up: bool,
    /// Whether requests can be served without it. Without the queue they can: tasks wait in the database.
    pub is_required: bool,
}

/// Asks everything the service depends on, at once. A failure is logged here; the answer names only the thing.
pub async fn ready(context: &Context) -> Vec<Dependency> {
    let (database, objects, queue) = tokio::join!(
        timeout(PATIENCE, context.store.ping()),
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
