//! Workers and studies, all servers well.

use std::time::{Duration, Instant};

use foresite_store::state::{StudyState, TaskState};

use super::rig::{LEASE, Rig};
use crate::fixtures::tenant;

async fn a_study_runs_to_its_end(rig: Rig) {
    let _worker = rig.work_with("results", |settings| settings.slots = 2);
    let study = rig.submit(3, 7).await;
    rig.succeeds(&study.id, 3, 7).await;
    let replicated = r#"foresite_tasks_total{kind="replicate",outcome="succeeded"}"#;
    assert_eq!(rig.metric(replicated), 6.0);
    assert_eq!(rig.metric("foresite_engine_speedup_count"), 21.0);
    // The acknowledgement comes after the end is written.
    for _ in 0..100 {
        if rig.queue.depth().await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a message is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_runs_to_its_end_embedded() {
    a_study_runs_to_its_end(Rig::embedded().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_runs_to_its_end_in_production() {
    a_study_runs_to_its_end(Rig::production().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_workers_share_studies_and_double_nothing() {
    let rig = Rig::production().await;
    let _sweeper = rig.sweep();
    let _workers: Vec<_> = (0..4).map(|_| rig.work("results")).collect();
    let mut studies = Vec::new();
    for _ in 0..5 {
        studies.push(rig.submit(3, 6).await);
    }
    for study in studies {
        rig.succeeds(&study.id, 3, 6).await;
    }
    assert_eq!(rig.metric(r#"foresite_tasks_total{kind="replicate",outcome="fenced"}"#), 0.0);
    assert_eq!(rig.metric(r#"foresite_tasks_total{kind="replicate",outcome="succeeded"}"#), 30.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_study_stops_within_two_seconds() {
    let rig = Rig::embedded().await;
    let worker = rig.work("exec /bin/sleep 60");
    let study = rig.submit(1, 10).await;
    rig.wait_for(&study.id, &[StudyState::Running]).await;
    let cancelled = Instant::now();
    rig.store.cancel_study(&tenant(), &study.id, 5_000).await.unwrap();
    rig.wait_for(&study.id, &[StudyState::Cancelled]).await;
    assert!(cancelled.elapsed() < Duration::from_secs(2), "{:?}", cancelled.elapsed());
    assert!(rig.store.study_replications(&study.id).await.unwrap().is_empty());
    worker.shut_down().await;
    assert_eq!(rig.metric(r#"foresite_tasks_total{kind="replicate",outcome="cancelled"}"#), 1.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_shuts_down_hands_its_task_back() {
    let rig = Rig::production().await;
    let leaving = rig.work("exec /bin/sleep 60");
    let study = rig.submit(1, 2).await;
    rig.wait_for(&study.id, &[StudyState::Running]).await;
    let asked = Instant::now();
    leaving.shut_down().await;
    assert!(asked.elapsed() < LEASE, "{:?}", asked.elapsed());
    let task = rig.store.study_tasks(&study.id).await.unwrap().remove(0);
    assert_eq!((task.state, task.attempt, task.failures), (TaskState::Queued, 2, 0));
    assert_eq!(rig.queue.depth().await.unwrap(), 1);
    let _worker = rig.work("results");
    rig.succeeds(&study.id, 1, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crashing_simulation_fails_its_study_and_nothing_else() {
    let rig = Rig::embedded().await;
    let _worker = rig.work(r#"[ "$scenario" = 1 ] && { echo "out of memory" >&2; kill -SEGV $$; }; results"#);
    let poisoned = rig.submit(2, 1).await;
    let failed = rig.wait_for(&poisoned.id, &[StudyState::Failed]).await;
    let error = failed.error.unwrap();
    assert!(error.contains("signal: 11") && error.contains("out of memory"), "{error}");
    let tasks = rig.store.study_tasks(&poisoned.id).await.unwrap();
    assert!(tasks.iter().any(|task| task.state == TaskState::Failed && task.failures == 3), "{tasks:?}");
    let healthy = rig.submit(1, 3).await;
    rig.succeeds(&healthy.id, 1, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_input_fails_at_the_first_attempt_and_says_why() {
    let rig = Rig::embedded().await;
    let _worker = rig.work("echo 'slurm.conf:7: error: NodeNam: unknown parameter' >&2; exit 2");
    let study = rig.submit(1, 1).await;
    let failed = rig.wait_for(&study.id, &[StudyState::Failed]).await;
    assert_eq!(failed.error.as_deref(), Some("slurm.conf:7: error: NodeNam: unknown parameter"));
    assert_eq!(rig.store.study_tasks(&study.id).await.unwrap()[0].failures, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_simulation_is_ended() {
    let rig = Rig::embedded().await;
    let _worker = rig.work_with("while :; do :; done", |settings| settings.time_limit = Duration::from_millis(200));
    let study = rig.submit(1, 1).await;
    let failed = rig.wait_for(&study.id, &[StudyState::Failed]).await;
    assert!(failed.error.unwrap().contains("took longer"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_simulation_longer_than_the_lease_keeps_its_task() {
    let rig = Rig::production().await;
    let _sweeper = rig.sweep();
    let _workers = [rig.work("/bin/sleep 3; results"), rig.work("/bin/sleep 3; results")];
    let study = rig.submit(1, 1).await;
    rig.succeeds(&study.id, 1, 1).await;
    assert!(rig.store.study_tasks(&study.id).await.unwrap().iter().all(|task| task.attempt == 1));
}
