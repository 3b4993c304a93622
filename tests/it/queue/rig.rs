//! A service without its doors: store, objects, queue, and workers whose child process is a shell script.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foresite_formats::summary_file::Summary;
use foresite_jobs_queue::{LocalQueue, Metrics, Queue, RedisQueue, Sweeper, Worker, WorkerSettings};
use foresite_store::Store;
use foresite_store::ids::StudyId;
use foresite_store::objects::Objects;
use foresite_store::state::StudyState;
use foresite_store::studies::Study;
use prometheus::Registry;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::fixtures::{Database, LocalObjects, blocking, create, local_objects, redis, s3, tenant, unique};

/// Reads the order; then `$scenario`, `$from`, `$to` are set, and `results` writes what a simulation would.
const PRELUDE: &str = r#"
read -r order
number() { printf '%s' "$order" | /bin/sed "s/.*\"$1\":\([0-9]*\).*/\1/"; }
scenario=$(number scenario); from=$(number from); to=$(number to)
results() {
    case $order in *'"kind":"summarize"'*) /bin/cat schedule-*.csv.zst > comparison.json; return ;; esac
    while [ "$from" -lt "$to" ]; do
        echo "schedule $scenario $from" > "schedule-$scenario-$from.csv.zst"
        printf '%s' "$SUMMARY" > "summary-$scenario-$from.json"
        from=$((from + 1))
    done
}
"#;

pub(crate) const LEASE: Duration = Duration::from_secs(2);

pub(crate) struct Rig {
    pub(crate) store: Store,
    pub(crate) objects: Objects,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) registry: Registry,
    metrics: Metrics,
    running: CancellationToken,
    _database: Database,
    _folder: Option<LocalObjects>,
}

impl Rig {
    /// SQLite, a queue in memory, a folder.
    pub(crate) async fn embedded() -> Self {
        let folder = local_objects();
        let objects = folder.objects.clone();
        Self::new(Database::sqlite().await, objects, Some(folder), Arc::new(LocalQueue::new()))
    }

    /// PostgreSQL, Redis, S3.
    pub(crate) async fn production() -> Self {
        let bucket = blocking(|| s3().create_bucket(&unique("bucket"))).await;
        let url = blocking(|| redis().url()).await;
        Self::new(Database::postgres().await, Objects::open(&bucket).unwrap(), None, redis_queue(&url))
    }

    /// PostgreSQL and Redis as given, a folder.
    pub(crate) async fn on(database: Database, redis_url: &str) -> Self {
        let folder = local_objects();
        let objects = folder.objects.clone();
        Self::new(database, objects, Some(folder), redis_queue(redis_url))
    }

    fn new(database: Database, objects: Objects, folder: Option<LocalObjects>, queue: Arc<dyn Queue>) -> Self {
        let registry = Registry::new();
        Self {
            store: database.store.clone(),
            objects,
            queue,
            metrics: Metrics::register(&registry).unwrap(),
            registry,
            running: CancellationToken::new(),
            _database: database,
            _folder: folder,
        }
    }

    /// Starts a worker that runs `script` for each task.
    pub(crate) fn work(&self, script: &str) -> RunningWorker {
        self.work_with(script, |_| ())
    }

    pub(crate) fn work_with(&self, script: &str, change: impl FnOnce(&mut WorkerSettings)) -> RunningWorker {
        let mut settings = WorkerSettings::new(unique("worker")).unwrap();
        let summary = Summary::default().to_json();
        settings.program = "/bin/sh".into();
        settings.arguments = vec!["-c".into(), format!("SUMMARY='{summary}'\n{PRELUDE}\n{script}").into()];
        settings.lease = LEASE;
        change(&mut settings);
        let worker = Worker {
            store: self.store.clone(),
            objects: self.objects.clone(),
            queue: Arc::clone(&self.queue),
            metrics: self.metrics.clone(),
            settings,
        };
        let shutdown = self.running.child_token();
        RunningWorker { handle: tokio::spawn(worker.run(shutdown.clone())), shutdown }
    }

    /// Starts a sweeper.
    pub(crate) fn sweep(&self) -> JoinHandle<()> {
        let (store, queue) = (self.store.clone(), Arc::clone(&self.queue));
        let sweeper = Sweeper { store, queue, interval: Duration::from_millis(300) };
        tokio::spawn(sweeper.run(self.running.child_token()))
    }

    /// Creates a study and pushes its tasks, as the service does.
    pub(crate) async fn submit(&self, n_scenarios: i64, replications: i64) -> Study {
        let (study, tasks) = create(&self.store, n_scenarios, replications).await;
        if let Err(error) = self.queue.push(&tasks).await {
            eprintln!("not pushed: {error}");
        }
        study
    }

    /// Waits until a study is in one of these states.
    pub(crate) async fn wait_for(&self, study: &StudyId, states: &[StudyState]) -> Study {
        let started = Instant::now();
        loop {
            // The database may be away meanwhile.
            if let Ok(Some(found)) = self.store.study(&tenant(), study).await {
                if states.contains(&found.state) {
                    return found;
                }
                assert!(!found.state.is_final(), "{:?}: {:?}", found.state, found.error);
            }
            assert!(started.elapsed() < Duration::from_secs(60), "not {states:?} in time");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }

    /// Waits for success, and checks that each result exists once and is what its replication made.
    pub(crate) async fn succeeds(&self, study: &StudyId, n_scenarios: i64, replications: i64) {
        let study = self.wait_for(study, &[StudyState::Succeeded]).await;
        let rows = self.store.study_replications(&study.id).await.unwrap();
        let found: Vec<_> = rows.iter().map(|row| (row.scenario, row.replication)).collect();
        let wanted: Vec<_> = (0..n_scenarios).flat_map(|s| (0..replications).map(move |r| (s, r))).collect();
        assert_eq!(found, wanted);
        for row in &rows {
            let schedule = self.objects.get(&row.schedule_object, 1_000).await.unwrap();
            assert_eq!(schedule, format!("schedule {} {}\n", row.scenario, row.replication));
        }
        let comparison = self.objects.get(&study.comparison_object.unwrap(), 1 << 20).await.unwrap();
        let lines = String::from_utf8_lossy(&comparison).lines().count() as i64;
        assert_eq!(lines, n_scenarios * replications);
        assert_eq!(study.replications_done, n_scenarios * replications);
    }

    /// A counter's value, as Prometheus would read it.
    pub(crate) fn metric(&self, line_start: &str) -> f64 {
        let text = prometheus::TextEncoder::new().encode_to_string(&self.registry.gather()).unwrap();
        let line = text.lines().find(|line| line.starts_with(line_start));
        line.and_then(|line| line.rsplit(' ').next()).map_or(0.0, |value| value.parse().unwrap())
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.running.cancel();
    }
}

fn redis_queue(url: &str) -> Arc<dyn Queue> {
    Arc::new(RedisQueue::open(url, &unique("rig"), "rig", LEASE).unwrap())
}

/// A worker in this process.
pub(crate) struct RunningWorker {
    handle: JoinHandle<()>,
    shutdown: CancellationToken,
}

impl RunningWorker {
    /// Ends it as SIGTERM would.
    pub(crate) async fn shut_down(self) {
        self.shutdown.cancel();
        self.handle.await.unwrap();
    }

    /// Ends it as SIGKILL would: it tells nobody.
    pub(crate) async fn kill(self) {
        self.handle.abort();
        let _aborted = self.handle.await;
    }
}
