//! What runs, and how it stops.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use actix_web::dev::Server;
use foresite_jobs_queue::Scratch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::StartError;

/// What each part does when its own time is over, such as cutting requests off.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A running service. Stops when [`Running::stop`] is awaited; dropping it leaves it to the runtime.
pub struct Running {
    /// Where REST and pages are served.
    pub http: SocketAddr,
    /// Where gRPC is served.
    pub grpc: SocketAddr,
    /// Where metrics are served.
    pub metrics: SocketAddr,
    token: CancellationToken,
    grace: Duration,
    parts: JoinSet<&'static str>,
    /// Last, so that it goes when nothing runs any more.
    scratch: Option<Scratch>,
}

impl Running {
    /// `grace` is how long what runs may take to stop.
    pub(super) fn new(http: SocketAddr, grpc: SocketAddr, metrics: SocketAddr, grace: Duration) -> Self {
        Self { http, grpc, metrics, token: CancellationToken::new(), grace, parts: JoinSet::new(), scratch: None }
    }

    /// Cancelled when the service shall stop.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Makes the folder for temporary files, which goes with what runs.
    pub(super) fn scratch(&mut self, parent: &Path) -> Result<PathBuf, StartError> {
        let failed = |source| StartError::Scratch { folder: parent.to_owned(), source };
        let scratch = self.scratch.insert(Scratch::enter(parent).map_err(failed)?);
        Ok(scratch.path().to_owned())
    }

    pub(super) fn run(&mut self, name: &'static str, part: impl Future<Output = ()> + Send + 'static) {
        self.parts.spawn(async move {
            part.await;
            name
        });
    }

    /// Runs an HTTP server; asks it to end gracefully when the service shall stop.
    pub(super) fn run_http(&mut self, name: &'static str, server: Server) {
        let (handle, token) = (server.handle(), self.token.clone());
        self.run(name, async move {
            let mut server = std::pin::pin!(server);
            let ended = tokio::select! {
                ended = &mut server => ended,
                () = token.cancelled() => tokio::join!(server, handle.stop(true)).0,
            };
            if let Err(error) = ended {
                tracing::error!(%error, part = name, "a listener ended");
            }
        });
    }

    /// Waits until any part ends by itself, which none should; gives its name.
    pub async fn ended(&mut self) -> &'static str {
        match self.parts.join_next().await {
            Some(Ok(name)) => name,
            Some(Err(_)) => "a part that panicked",
            None => "everything",
        }
    }

    /// Takes no more requests, lets those under way end, hands running tasks back, and returns once all is quiet. What waits for a
    /// database that hangs is cut off after the grace: its tasks go on elsewhere when their leases end.
    pub async fn stop(mut self) {
        self.token.cancel();
        let all = async { while self.parts.join_next().await.is_some() {} };
        if tokio::time::timeout(self.grace + LAST_WORDS, all).await.is_err() {
            tracing::warn!("what did not stop in time was cut off");
            self.parts.shutdown().await;
        }
    }
}
