//! What every use case may touch. Made once at start, shared by both doors.

use std::sync::Arc;
use std::time::Duration;

use foresite_jobs_queue::{Queue, WorkerSettings};
use foresite_store::Store;
use foresite_store::objects::Objects;
use foresite_store::tasks::TaskRef;
use tokio_util::sync::CancellationToken;

use crate::app::health::Readiness;
use crate::app::watch::Hub;
use crate::auth::Authenticator;
use crate::config::LimitsConfig;
use crate::links::Links;
use crate::metrics::Metrics;
use crate::quotas::Quotas;
use crate::room::Room;
use crate::turns::Turns;
use crate::webhooks::NetworkRules;

/// Study documents read at once, studies checked at once, and uploads read at once; the latter two hold a trace in memory each.
pub const CHECKS_AT_ONCE: usize = 2;

/// Comparisons of which something is made at once; each may be large in memory.
pub const RENDERINGS_AT_ONCE: usize = 4;

/// How long a client waits for workers to be told of its study, which is stored already.
const RING: Duration = Duration::from_secs(2);

/// Everything a request needs.
pub struct Context {
    /// Rows.
    pub store: Store,
    /// Big things.
    pub objects: Objects,
    /// The doorbell: tells workers that there is work.
    pub queue: Arc<dyn Queue>,
    /// Who may do what.
    pub auth: Authenticator,
    /// What is accepted.
    pub limits: LimitsConfig,
    /// The doors' metrics.
    pub metrics: Metrics,
    /// What tenants may use.
    pub quotas: Quotas,
    /// Opens figures without a token.
    pub links: Links,
    /// How browsers reach us, without a slash at the end.
    pub public_url: String,
    /// Where webhooks may go.
    pub webhooks: NetworkRules,
    /// Who watches which study.
    pub watches: Arc<Hub>,
    /// How the child that reads an upload or prepares a study is run.
    pub checker: WorkerSettings,
    /// What was found when somebody last asked whether requests can be served.
    pub readiness: Readiness,
    /// Room for bodies that are read whole.
    pub room: Room,
    /// Turns for checking studies.
    pub checks: Turns,
    /// Turns for reading study documents, which takes a moment each.
    pub documents: Turns,
    /// Turns for reading uploads: long ones keep no study waiting.
    pub readings: Turns,
    /// Turns for making tables, pages and figures of comparisons.
    pub renderings: Turns,
    /// Whether browsers reach us over TLS, so that cookies may be marked for it.
    pub secure_cookies: bool,
    /// Cancelled when the service stops, so that streams of events end and their clients go to another replica.
    pub shutdown: CancellationToken,
}

impl Context {
    /// Announces tasks that are stored already. A queue that is away loses nothing: the sweeper finds the rows.
    pub async fn ring(&self, tasks: &[TaskRef]) {
        match tokio::time::timeout(RING, self.queue.push(tasks)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, tasks = tasks.len(), "tasks not announced; the sweeper will"),
            Err(_) => tracing::warn!(tasks = tasks.len(), "tasks not announced in time; the sweeper will"),
        }
    }
}
