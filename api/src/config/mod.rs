//! Settings: `FORESITE_*` variables, one struct per concern, each with its default. Read only at start; every fault is reported
//! at once. Kubernetes adds variables of its own for a service called `foresite`, so unknown ones are a warning, not a fault.

mod quotas;
mod reader;
mod retention;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use foresite_store::quotas::Limits;
use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use crate::webhooks::NetworkRules;

use reader::Reader;
pub use reader::{ConfigFault, ConfigFaults, Lookup};
pub use retention::RetentionConfig;

/// Everything the service can be told.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub listen: ListenConfig,
    /// Where it keeps things.
    pub storage: StorageConfig,
    /// Whom it trusts.
    pub auth: AuthConfig,
    /// What it accepts.
    pub limits: LimitsConfig,
    /// How it simulates.
    pub workers: WorkerConfig,
    /// `FORESITE_QUOTA_REQUESTS_PER_MINUTE` (12000), `…_UPLOADS_PER_HOUR` (600), `…_STORED_BYTES`, `…_STUDIES_ACTIVE`,
    /// `…_JOBS_PER_STUDY` (no limit): what a tenant may use that has no limits of its own; 0 is no limit.
    pub quotas: Limits,
    /// What goes when it is old.
    pub retention: RetentionConfig,
    /// `FORESITE_WEBHOOK_ALLOWED_NETWORKS`: private networks that webhooks may be sent to, such as `10.1.0.0/16`; default none.
    pub webhook_networks: NetworkRules,
    /// `FORESITE_*` variables that are set but mean nothing, in order.
    pub unknown: Vec<String>,
}

/// Addresses; all on loopback unless told otherwise.
#[derive(Clone, Debug)]
pub struct ListenConfig {
    /// `FORESITE_HTTP_LISTEN`: REST and pages; default `127.0.0.1:8080`.
    pub http: SocketAddr,
    /// `FORESITE_GRPC_LISTEN`: gRPC; default `127.0.0.1:50051`.
    pub grpc: SocketAddr,
    /// `FORESITE_METRICS_LISTEN`: Prometheus; default `127.0.0.1:9090`.
    pub metrics: SocketAddr,
    /// `FORESITE_PUBLIC_URL`: how browsers reach it. With `https`, cookies are sent over TLS only. Default: `http://` and the
    /// HTTP address.
    pub public_url: Option<String>,
    /// `FORESITE_LINK_KEY`: signs links to figures, at least 32 bytes; unset, one is made and kept in the database.
    pub link_key: Option<SecretString>,
}

/// Database, objects and queue.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// `FORESITE_DATA_DIR`: the folder of the embedded defaults; default `./.foresite`.
    pub data_dir: PathBuf,
    /// `FORESITE_DATABASE_URL`: `sqlite://PATH` or `postgres://…`; default a SQLite file in the data folder.
    pub database_url: SecretString,
    /// `FORESITE_OBJECTS_URL`: `file://PATH` or `s3://[KEY:SECRET@]BUCKET/PREFIX`; default a folder in the data folder.
    pub objects_url: SecretString,
    /// `FORESITE_REDIS_URL`: the workers' queue; unset, workers run embedded in `serve`.
    pub redis_url: Option<SecretString>,
}

/// JSON web tokens. API tokens need no setting.
#[derive(Clone, Debug)]
pub struct AuthConfig {
    /// `FORESITE_JWT_ISSUER`: `iss` must equal it; required with any JWT key.
    pub issuer: Option<String>,
    /// `FORESITE_JWT_AUDIENCE`: `aud` must contain it; required with any JWT key.
    pub audience: Option<String>,
    /// `FORESITE_JWT_TENANT_CLAIM`: default `tenant`.
    pub tenant_claim: String,
    /// `FORESITE_JWT_ROLE_CLAIM`: default `role`.
    pub role_claim: String,
    /// `FORESITE_JWT_JWKS_URL`: keys for RS256, ES256 and EdDSA, over TLS or from this machine; unset, none of these is accepted.
    pub jwks_url: Option<String>,
    /// `FORESITE_JWT_JWKS_REFRESH_SECONDS`: how long fetched keys are taken without asking again; default 300.
    pub jwks_refresh: Duration,
    /// `FORESITE_JWT_HS256_SECRET`: at least 32 bytes; unset, HS256 is refused.
    pub hs256_secret: Option<SecretString>,
}

/// What is accepted, per request.
#[derive(Clone, Debug)]
pub struct LimitsConfig {
    /// `FORESITE_MAX_STUDY_BYTES`: a study document; default 1 MiB.
    pub study_bytes: usize,
    /// `FORESITE_MAX_CONFIG_BYTES`: a configuration, as sent and as expanded; default 64 MiB.
    pub config_bytes: usize,
    /// `FORESITE_MAX_TRACE_BYTES`: a trace as sent; default 16 GiB.
    pub trace_bytes: u64,
    /// `FORESITE_MAX_TRACE_EXPANDED_BYTES`: a trace after unpacking; default 128 GiB.
    pub trace_expanded_bytes: u64,
    /// `FORESITE_REQUEST_TIMEOUT_SECONDS`: to receive a request's head; default 30.
    pub request_timeout: Duration,
    /// `FORESITE_BODY_TIMEOUT_SECONDS`: how long a body may bring nothing, and after which it must bring 1 KiB a second on
    /// average; also how long a client may take nothing of an answer; default 30.
    pub body_timeout: Duration,
    /// `FORESITE_MAX_CONNECTIONS`: open connections per listener; more wait until some are closed; default 10000.
    pub connections: usize,
    /// `FORESITE_CHECK_TIMEOUT_SECONDS`: how long reading an upload or preparing a study may take before it is
    /// accepted; default 300.
    pub check_timeout: Duration,
    /// `FORESITE_SHUTDOWN_SECONDS`: how long a stopping service waits for requests and tasks; default 30.
    pub shutdown: Duration,
}

/// Tasks.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// `FORESITE_WORKER_TASKS`: tasks at once, each in its own process; default one per core.
    pub tasks: usize,
    /// `FORESITE_TASK_MEMORY_BYTES`: the address space of a task's process; default 8 GiB.
    pub task_memory_bytes: u64,
    /// `FORESITE_TASK_TIMEOUT_SECONDS`: the longest a task may run; default one day.
    pub task_timeout: Duration,
    /// `FORESITE_LEASE_SECONDS`: a worker silent for this long has lost its tasks; default 30.
    pub lease: Duration,
}

impl Config {
    /// Reads the process' environment.
    ///
    /// # Errors
    /// Every setting that cannot be used.
    pub fn from_environment() -> Result<Self, ConfigFaults> {
        let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        Self::read(&|name| std::env::var(name).ok(), set)
    }

    /// Reads settings from a table; `set` are the names of all variables, for those that mean nothing.
    ///
    /// # Errors
    /// Every setting that cannot be used.
    pub fn read(lookup: Lookup<'_>, set: impl Iterator<Item = String>) -> Result<Self, ConfigFaults> {
        let mut reader = Reader::new(lookup);
        let listen = listen(&mut reader);
        let storage = storage(&mut reader);
        let auth = auth(&mut reader);
        let limits = limits(&mut reader);
        let workers = workers(&mut reader);
        let quotas = quotas::quotas(&mut reader);
        let retention = retention::retention(&mut reader);
        let webhook_networks = reader.parsed("FORESITE_WEBHOOK_ALLOWED_NETWORKS", NetworkRules::default());
        // Read by the command line, before there is a configuration.
        reader.text("FORESITE_LOG");
        reader.text("FORESITE_LOG_FORMAT");
        reader.text("FORESITE_OTLP_ENDPOINT");
        reader.text("FORESITE_TOKEN");
        reader.text("FORESITE_SERVER");
        let (known, faults) = reader.finish();
        if !faults.is_empty() {
            return Err(ConfigFaults(faults));
        }
        let mut unknown: Vec<String> =
            set.filter(|name| name.starts_with("FORESITE_") && !known.contains(name.as_str())).collect();
        unknown.sort();
        Ok(Self { listen, storage, auth, limits, workers, quotas, retention, webhook_networks, unknown })
    }
}

fn listen(reader: &mut Reader<'_>) -> ListenConfig {
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let public_url = reader.text("FORESITE_PUBLIC_URL").map(|url| url.trim_end_matches('/').to_owned());
    if public_url.as_ref().is_some_and(|url| !is_http_url(url)) {
        reader.fault("FORESITE_PUBLIC_URL", "must begin with http:// or https://");
    }
    let link_key = reader.secret("FORESITE_LINK_KEY");
    if link_key.as_ref().is_some_and(|key| key.expose_secret().len() < 32) {
        reader.fault("FORESITE_LINK_KEY", "must have at least 32 bytes; `openssl rand -base64 48` makes one");
    }
    ListenConfig {
        link_key,
        http: reader.parsed("FORESITE_HTTP_LISTEN", loopback(8080)),
        grpc: reader.parsed("FORESITE_GRPC_LISTEN", loopback(50051)),
        metrics: reader.parsed("FORESITE_METRICS_LISTEN", loopback(9090)),
        public_url,
    }
}

fn storage(reader: &mut Reader<'_>) -> StorageConfig {
    let data_dir = reader.text("FORESITE_DATA_DIR").map_or_else(|| PathBuf::from(".foresite"), PathBuf::from);
    let mut storage = StorageConfig::embedded(&data_dir);
    if let Some(url) = reader.secret("FORESITE_DATABASE_URL") {
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if !known.iter().any(|scheme| url.expose_secret().starts_with(scheme)) {
            reader.fault("FORESITE_DATABASE_URL", "must begin with sqlite:// or postgres://");
        }
        storage.database_url = url;
    }
    if let Some(url) = reader.secret("FORESITE_OBJECTS_URL") {
        if !["file://", "s3://"].iter().any(|scheme| url.expose_secret().starts_with(scheme)) {
            reader.fault("FORESITE_OBJECTS_URL", "must begin with file:// or s3://");
        }
        storage.objects_url = url;
    }
    storage.redis_url = reader.secret("FORESITE_REDIS_URL");
    let redis_scheme =
        |url: &SecretString| ["redis://", "rediss://"].iter().any(|s| url.expose_secret().starts_with(s));
    if storage.redis_url.as_ref().is_some_and(|url| !redis_scheme(url)) {
        reader.fault("FORESITE_REDIS_URL", "must begin with redis:// or rediss://");
    }
    storage
}

impl StorageConfig {
    /// The embedded defaults: SQLite, local files and an in-process queue in one folder.
    pub fn embedded(data_dir: &Path) -> Self {
        let absolute = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
        Self {
            database_url: SecretString::from(format!("sqlite://{}", absolute.join("foresite.db").display())),
            objects_url: SecretString::from(format!("file://{}", absolute.join("objects").display())),
            redis_url: None,
            data_dir: absolute,
        }
    }
}

fn auth(reader: &mut Reader<'_>) -> AuthConfig {
    let auth = AuthConfig {
        issuer: reader.text("FORESITE_JWT_ISSUER"),
        audience: reader.text("FORESITE_JWT_AUDIENCE"),
        tenant_claim: reader.text("FORESITE_JWT_TENANT_CLAIM").unwrap_or_else(|| "tenant".to_owned()),
        role_claim: reader.text("FORESITE_JWT_ROLE_CLAIM").unwrap_or_else(|| "role".to_owned()),
        jwks_url: reader.text("FORESITE_JWT_JWKS_URL"),
        jwks_refresh: reader.seconds("FORESITE_JWT_JWKS_REFRESH_SECONDS", 1, 300),
        hs256_secret: reader.secret("FORESITE_JWT_HS256_SECRET"),
    };
    if auth.jwks_url.as_ref().is_some_and(|url| !is_unforged(url)) {
        let fault = "must begin with https://, or with http:// on this very machine: who can change keys on their way lets anybody in";
        reader.fault("FORESITE_JWT_JWKS_URL", fault);
    }
    if auth.hs256_secret.as_ref().is_some_and(|secret| secret.expose_secret().len() < 32) {
        reader.fault("FORESITE_JWT_HS256_SECRET", "must have at least 32 bytes; `openssl rand -base64 48` makes one");
    }
    if auth.jwks_url.is_some() || auth.hs256_secret.is_some() {
        if auth.issuer.is_none() {
            reader.fault("FORESITE_JWT_ISSUER", "must be set when tokens are accepted, or anybody's tokens would do");
        }
        if auth.audience.is_none() {
            reader
                .fault("FORESITE_JWT_AUDIENCE", "must be set when tokens are accepted, or tokens for others would do");
        }
    }
    auth
}

fn limits(reader: &mut Reader<'_>) -> LimitsConfig {
    LimitsConfig {
        study_bytes: reader.positive("FORESITE_MAX_STUDY_BYTES", 1 << 20),
        config_bytes: reader.positive("FORESITE_MAX_CONFIG_BYTES", 64 << 20),
        trace_bytes: reader.positive("FORESITE_MAX_TRACE_BYTES", 16 << 30),
        trace_expanded_bytes: reader.positive("FORESITE_MAX_TRACE_EXPANDED_BYTES", 128 << 30),
        request_timeout: reader.seconds("FORESITE_REQUEST_TIMEOUT_SECONDS", 1, 30),
        body_timeout: reader.seconds("FORESITE_BODY_TIMEOUT_SECONDS", 1, 30),
        connections: reader.positive("FORESITE_MAX_CONNECTIONS", 10_000),
        check_timeout: reader.seconds("FORESITE_CHECK_TIMEOUT_SECONDS", 1, 300),
        shutdown: reader.seconds("FORESITE_SHUTDOWN_SECONDS", 0, 30),
    }
}

fn workers(reader: &mut Reader<'_>) -> WorkerConfig {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    WorkerConfig {
        tasks: reader.positive("FORESITE_WORKER_TASKS", cores),
        task_memory_bytes: reader.positive("FORESITE_TASK_MEMORY_BYTES", 8 << 30),
        task_timeout: reader.seconds("FORESITE_TASK_TIMEOUT_SECONDS", 1, 86_400),
        lease: reader.seconds("FORESITE_LEASE_SECONDS", 1, 30),
    }
}

/// Whether what comes from a URL is what is there.
fn is_unforged(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| match (url.scheme(), url.host()) {
        ("https", _) | ("http", Some(Host::Domain("localhost"))) => true,
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        _ => false,
    })
}

fn is_http_url(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}
