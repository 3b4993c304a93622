//! Whether requests can be served now.

use std::fmt::Display;

use crate::context::Context;

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
    let (database, objects, queue) = tokio::join!(context.store.ping(), context.objects.ping(), context.queue.depth());
    vec![
        dependency("database", database, true),
        dependency("objects", objects, true),
        dependency("queue", queue, false),
    ]
}

fn dependency<T>(name: &'static str, answer: Result<T, impl Display>, is_required: bool) -> Dependency {
    if let Err(error) = &answer {
        tracing::warn!(dependency = name, %error, "not ready");
    }
    Dependency { name, is_up: answer.is_ok(), is_required }
}
