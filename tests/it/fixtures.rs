//! Servers shared by all tests of the program, each test with its own database, key prefix or bucket; and small studies.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use foresite_formats::summary_file::foresite_engine_version;
use foresite_jobs_queue::plan_tasks;
use foresite_store::ids::{StudyId, TenantId};
use foresite_store::objects::{ObjectHash, Objects};
use foresite_store::studies::{CreateOutcome, NewStudy, Study};
use foresite_store::tasks::{NewReplication, NewTask, TaskRef};
use foresite_store::{DatabaseUrl, Store, migrations};
use foresite_tests::servers::{PostgresServer, RedisServer, S3Server};

/// The shared PostgreSQL server; tests that stop one start their own.
pub(crate) fn postgres() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    SERVER.get_or_init(PostgresServer::start)
}

/// The shared Redis server; tests that stop or empty one, or run whole services on it, start their own: it belongs to one deployment.
pub(crate) fn redis() -> &'static RedisServer {
    static SERVER: OnceLock<RedisServer> = OnceLock::new();
    SERVER.get_or_init(RedisServer::start)
}

/// The shared S3 server.
pub(crate) fn s3() -> &'static S3Server {
    static SERVER: OnceLock<S3Server> = OnceLock::new();
    SERVER.get_or_init(S3Server::start)
}

/// A name no other test of this program has.
pub(crate) fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An empty database of its own, migrated.
pub(crate) struct Database {
    pub(crate) store: Store,
    pub(crate) url: DatabaseUrl,
    _folder: Option<tempfile::TempDir>,
}

impl Database {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("foresite.db").display());
        Self::open(&url, Some(folder)).await
    }

    pub(crate) async fn postgres() -> Self {
        let url = blocking(|| postgres().create_database()).await;
        Self::open(&url, None).await
    }

    pub(crate) async fn open(url: &str, folder: Option<tempfile::TempDir>) -> Self {
        let url = DatabaseUrl::parse(url).unwrap();
        migrations::up(&url).await.unwrap();
        let store = Store::connect(&url, 8).await.unwrap();
        store.ensure_tenant(&tenant(), 0).await.unwrap();
        Self { store, url, _folder: folder }
    }
}

/// Servers are started with blocking calls.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Objects in a folder that lives as long as the value.
pub(crate) struct LocalObjects {
    pub(crate) objects: Objects,
    _folder: tempfile::TempDir,
}

impl LocalObjects {
    /// Makes an object look as if it were written then.
    pub(crate) fn set_modified(&self, hash: &ObjectHash, at: std::time::SystemTime) {
        std::fs::File::options().write(true).open(self.path(hash)).unwrap().set_modified(at).unwrap();
    }

    /// Leaves other bytes where an object was.
    pub(crate) fn damage(&self, hash: &ObjectHash) {
        std::fs::write(self.path(hash), "damaged").unwrap();
    }

    fn path(&self, hash: &ObjectHash) -> PathBuf {
        let hex = hash.as_str();
        self._folder.path().join("sha256").join(&hex[..2]).join(hex)
    }
}

pub(crate) fn local_objects() -> LocalObjects {
    let folder = tempfile::tempdir().unwrap();
    let objects = Objects::open(&format!("file://{}", folder.path().display())).unwrap();
    LocalObjects { objects, _folder: folder }
}

pub(crate) fn tenant() -> TenantId {
    TenantId::default()
}

pub(crate) fn new_study(name: &str) -> NewStudy {
    NewStudy {
        id: StudyId::new(),
        tenant: tenant(),
        name: name.to_owned(),
        document: format!("{{\"name\":\"{name}\"}}"),
        inputs: Vec::new(),
        compact_trace: None,
        input_hash: name.to_owned(),
        engine_version: foresite_engine_version().to_owned(),
        created_by: "test".to_owned(),
        max_active: None,
    }
}

/// A study with these tasks.
pub(crate) async fn create_with(store: &Store, name: &str, tasks: &[NewTask], now: i64) -> (Study, Vec<TaskRef>) {
    match store.create_study(&new_study(name), tasks, None, now).await.unwrap() {
        CreateOutcome::Created { study, tasks } => (study, tasks),
        other => panic!("{other:?}"),
    }
}

/// A study of `n_scenarios` (with the baseline) times `replications`.
pub(crate) async fn create(store: &Store, n_scenarios: i64, replications: i64) -> (Study, Vec<TaskRef>) {
    create_with(store, "study", &plan_tasks(n_scenarios, replications), 1_000).await
}

/// Results for replications `from..to`.
pub(crate) fn results(from: i64, to: i64) -> Vec<NewReplication> {
    let schedule_object = ObjectHash::of(b"schedule");
    (from..to)
        .map(|replication| NewReplication {
            replication,
            schedule_object: schedule_object.clone(),
            summary: "{}".to_owned(),
        })
        .collect()
}
