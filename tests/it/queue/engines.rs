//! An upgrade: workers of two engines take tasks side by side, and each study is done by one of them.

use std::time::Duration;

use foresite_store::state::StudyState;

use super::rig::Rig;
use crate::fixtures::tenant;

/// As unlike the other's as another engine's.
const OLD_RESULTS: &str = "/bin/sleep 0.1; results; for file in schedule-*; do echo old > $file; done";
const NEW: &str = "99.0.0";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_of_an_older_engine_begins_anew_with_a_newer_one() {
    for rig in [Rig::embedded().await, Rig::production().await] {
        let _sweeper = rig.sweep();
        let _old = rig.work(OLD_RESULTS);
        let study = rig.submit(3, 20).await;
        while rig.store.study(&tenant(), &study.id).await.unwrap().unwrap().replications_done == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let _new = rig.work_with("/bin/sleep 0.1; results", |settings| settings.engine_version = NEW.to_owned());
        rig.succeeds(&study.id, 3, 20).await;
        let ended = rig.store.study(&tenant(), &study.id).await.unwrap().unwrap();
        assert_eq!(ended.engine_version, NEW);
        assert_ne!(ended.input_hash, study.input_hash);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_worker_leaves_a_study_of_a_newer_engine() {
    let rig = Rig::production().await;
    let new = rig.work_with("exec /bin/sleep 60", |settings| settings.engine_version = NEW.to_owned());
    let study = rig.submit(1, 2).await;
    rig.wait_for(&study.id, &[StudyState::Running]).await;
    new.shut_down().await;
    let _old = rig.work(OLD_RESULTS);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(rig.store.study_replications(&study.id).await.unwrap().is_empty());
    assert_eq!(rig.queue.depth().await.unwrap(), 1, "nobody waits for it any more");
    let _new = rig.work_with("results", |settings| settings.engine_version = NEW.to_owned());
    rig.succeeds(&study.id, 1, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_worker_forgets_what_is_cancelled_of_a_newer_engine() {
    let rig = Rig::production().await;
    let new = rig.work_with("exec /bin/sleep 60", |settings| settings.engine_version = NEW.to_owned());
    let study = rig.submit(3, 20).await;
    rig.wait_for(&study.id, &[StudyState::Running]).await;
    new.shut_down().await;
    assert!(rig.queue.depth().await.unwrap() > 0);
    rig.store.cancel_study(&tenant(), &study.id, rig.store.now().await.unwrap()).await.unwrap();
    let _old = rig.work(OLD_RESULTS);
    let emptied = async {
        while rig.queue.depth().await.unwrap() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), emptied).await.expect("nobody can do them, and nobody forgets them");
}
