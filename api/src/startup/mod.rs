//! From settings to a running service, and back: `serve` and `work`.

mod metrics_listener;
mod running;
mod storage;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use foresite_jobs_queue::{QueueError, Sweeper, Worker, WorkerSettings};
use foresite_store::StoreError;
use prometheus::Registry;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use crate::app::health::Readiness;
use crate::app::watch::Hub;
use crate::auth::{Authenticator, token};
use crate::config::Config;
use crate::context::{CHECKS_AT_ONCE, Context, RENDERINGS_AT_ONCE};
use crate::error::ApiError;
use crate::janitor::Janitor;
use crate::links::Links;
use crate::metrics::Metrics;
use crate::quotas::Quotas;
use crate::room::Room;
use crate::turns::Turns;
use crate::webhooks::Dispatcher;
use crate::{grpc, rest};

pub use running::Running;
pub use storage::{Storage, database_url};

/// Why the service did not start. Nothing is left running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Database or objects.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The queue.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The database's tables are older than this program.
    #[error("the database lacks migrations ({0}); run `foresite migrate up` first")]
    NotMigrated(String),
    /// `work` was asked for without a shared queue.
    #[error("FORESITE_REDIS_URL is not set: without Redis `foresite serve` runs its own workers")]
    NoQueue,
    /// An address is taken or not ours.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no room for temporary files.
    #[error("no folder for temporary files in {folder}: {source}")]
    Scratch {
        /// Where it was to be.
        folder: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// This program's own file cannot be found, so no task could be started.
    #[error("cannot tell where this program is: {0}")]
    Program(std::io::Error),
    /// Anything else.
    #[error("{0:?}")]
    Other(ApiError),
}

impl From<ApiError> for StartError {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

/// Starts REST, pages, gRPC and metrics, and embedded workers where no Redis is named. `program` runs tasks; this very program
/// if `None`.
///
/// # Errors
/// Whatever keeps it from serving; nothing is left running then.
pub async fn serve(config: &Config, program: Option<std::path::PathBuf>) -> Result<Running, StartError> {
    let storage = Storage::open(config).await?;
    storage.enter().await?;
    let patience = config.limits.body_timeout;
    let http = listen(config.listen.http, patience)?;
    let grpc = listen(config.listen.grpc, patience)?;
    let metrics_listener = listen(config.listen.metrics, patience)?;
    let mut running = Running::new(local(&http)?, local(&grpc)?, local(&metrics_listener)?, config.limits.shutdown);

    let scratch = running.scratch(&std::env::temp_dir())?;
    let metrics = Metrics::new(Registry::new())?;
    let mut checker = WorkerSettings::new("check").map_err(StartError::Program)?;
    checker.scratch.clone_from(&scratch);
    checker.time_limit = config.limits.check_timeout;
    checker.memory_limit_bytes = Some(config.workers.task_memory_bytes);
    if let Some(program) = &program {
        checker.program.clone_from(program);
    }
    let context = web::Data::new(Context {
        checker,
        auth: Authenticator::new(storage.store.clone(), &config.auth)?,
        store: storage.store.clone(),
        objects: storage.objects.clone(),
        queue: Arc::clone(&storage.queue),
        limits: config.limits.clone(),
        metrics: metrics.clone(),
        links: Links::new(&link_key(&storage.store, config).await?)?,
        public_url: config.listen.public_url.clone().unwrap_or_else(|| format!("http://{}", running.http)),
        quotas: Quotas::new(storage.store.clone(), config.quotas),
        webhooks: config.webhook_networks.clone(),
        watches: Hub::new(storage.store.clone(), running.token()),
        checks: Turns::new(CHECKS_AT_ONCE),
        documents: Turns::new(CHECKS_AT_ONCE),
        readings: Turns::new(CHECKS_AT_ONCE),
        renderings: Turns::new(RENDERINGS_AT_ONCE),
        readiness: Readiness::default(),
        room: Room::new(config.limits.config_bytes),
        shutdown: running.token(),
        secure_cookies: config.listen.public_url.as_ref().is_some_and(|url| url.starts_with("https://")),
    });
    if config.storage.redis_url.is_none() {
        start_workers(config, &storage, &metrics, (program, scratch), &mut running)?;
    }
    let dispatcher =
        Dispatcher { store: storage.store.clone(), rules: config.webhook_networks.clone(), metrics: metrics.clone() };
    let janitor = Janitor { store: storage.store.clone(), objects: storage.objects.clone(), keep: config.retention };
    running.run("retention", janitor.run(running.token()));
    running.run("webhooks", dispatcher.run(running.token()));
    running.run_http("http", rest::server(context.clone(), http)?);
    running.run_http("metrics", metrics_listener::server(metrics, storage.store, metrics_listener)?);
    let grpc = tokio_listener(grpc).map_err(|source| StartError::Listen { address: config.listen.grpc, source })?;
    let (stop, grace) = (running.token(), config.limits.shutdown);
    running.run("grpc", async move {
        // Calls under way may end, but none can keep a stopping service for longer than the grace.
        let too_late = async {
            stop.cancelled().await;
            tokio::time::sleep(grace).await;
        };
        tokio::select! {
            ended = grpc::serve(context.into_inner(), grpc, stop.clone().cancelled_owned()) => {
                if let Err(error) = ended {
                    tracing::error!(?error, "gRPC ended");
                }
            }
            () = too_late => tracing::warn!("gRPC calls were cut off"),
        }
    });
    Ok(running)
}

/// Starts a worker of the pool, with its metrics.
///
/// # Errors
/// Whatever keeps it from working; nothing is left running then.
pub async fn work(config: &Config, program: Option<std::path::PathBuf>) -> Result<Running, StartError> {
    if config.storage.redis_url.is_none() {
        return Err(StartError::NoQueue);
    }
    let storage = Storage::open(config).await?;
    storage.enter().await?;
    let listener = listen(config.listen.metrics, config.limits.body_timeout)?;
    let mut running = Running::new(config.listen.http, config.listen.grpc, local(&listener)?, config.limits.shutdown);
    let metrics = Metrics::new(Registry::new())?;
    let scratch = running.scratch(&std::env::temp_dir())?;
    start_workers(config, &storage, &metrics, (program, scratch), &mut running)?;
    running.run_http("metrics", metrics_listener::server(metrics, storage.store, listener)?);
    Ok(running)
}

/// The worker and the sweeper; both are idempotent, so any number of processes may run them.
fn start_workers(
    config: &Config,
    storage: &Storage,
    metrics: &Metrics,
    (program, scratch): (Option<std::path::PathBuf>, std::path::PathBuf),
    running: &mut Running,
) -> Result<(), StartError> {
    // Unlike any other's, also unlike its own before a restart.
    let name = format!("worker-{}", uuid::Uuid::now_v7().simple());
    let mut settings = WorkerSettings::new(name).map_err(StartError::Program)?;
    settings.scratch = scratch;
    settings.slots = config.workers.tasks;
    settings.lease = config.workers.lease;
    settings.time_limit = config.workers.task_timeout;
    settings.memory_limit_bytes = Some(config.workers.task_memory_bytes);
    if let Some(program) = program {
        settings.program = program;
    }
    let counters = foresite_jobs_queue::Metrics::register(metrics.registry()).map_err(ApiError::internal)?;
    let worker = Worker {
        store: storage.store.clone(),
        objects: storage.objects.clone(),
        queue: Arc::clone(&storage.queue),
        metrics: counters,
        settings,
    };
    let sweeper = Sweeper {
        store: storage.store.clone(),
        queue: Arc::clone(&storage.queue),
        interval: (config.workers.lease / 3).max(Duration::from_secs(1)),
    };
    let token: CancellationToken = running.token();
    running.run("sweeper", sweeper.run(token.clone()));
    running.run("worker", worker.run(token));
    Ok(())
}

/// The key of links to figures: the setting's, or one that all replicas share through the database.
async fn link_key(store: &foresite_store::Store, config: &Config) -> Result<String, StartError> {
    if let Some(key) = &config.listen.link_key {
        return Ok(key.expose_secret().to_owned());
    }
    let fresh = token::generate()?;
    Ok(store.shared_secret("figure-links", fresh.expose_secret(), store.now().await?).await?)
}

/// A listener. Its connections end when a client takes nothing of its answers for longer than the patience.
fn listen(address: SocketAddr, patience: Duration) -> Result<TcpListener, StartError> {
    let listener = TcpListener::bind(address).map_err(|source| StartError::Listen { address, source })?;
    // Other systems know no such option: there, what is not taken is kept until the client goes away.
    #[cfg(target_os = "linux")]
    if let Err(error) = socket2::SockRef::from(&listener).set_tcp_user_timeout(Some(patience)) {
        tracing::warn!(%error, "clients that take nothing of their answers are not disconnected");
    }
    #[cfg(not(target_os = "linux"))]
    let _unused = patience;
    Ok(listener)
}

fn local(listener: &TcpListener) -> Result<SocketAddr, StartError> {
    listener.local_addr().map_err(|error| ApiError::internal(error).into())
}

fn tokio_listener(listener: TcpListener) -> std::io::Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}
