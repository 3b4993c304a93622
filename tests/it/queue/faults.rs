//! Nothing lost, nothing doubled: workers die, Redis forgets, servers go and come back.

use std::time::Duration;

use foresite_store::state::StudyState;
use foresite_tests::servers::{PostgresServer, RedisServer};

use super::rig::Rig;
use crate::fixtures::{Database, blocking};

const SLOWLY: &str = "/bin/sleep 0.2; results";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_workers_task_is_taken_over() {
    for rig in [Rig::embedded().await, Rig::production().await] {
        let dying = rig.work("exec /bin/sleep 60");
        let study = rig.submit(1, 2).await;
        rig.wait_for(&study.id, &[StudyState::Running]).await;
        dying.kill().await;
        let _worker = rig.work("results");
        let _sweeper = rig.sweep();
        rig.succeeds(&study.id, 1, 2).await;
        let tasks = rig.store.study_tasks(&study.id).await.unwrap();
        assert_eq!((tasks[0].attempt, tasks[0].failures, tasks[0].losses), (2, 0, 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_killed_again_and_again_lose_nothing() {
    let rig = Rig::production().await;
    let _sweeper = rig.sweep();
    // One task, so that every blow hits the same: more often than it may fail.
    let study = rig.submit(1, 3).await;
    for lost in 1..=4 {
        let dying = rig.work("exec /bin/sleep 60");
        while rig.store.queue_depth().await.unwrap().running == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        dying.kill().await;
        while rig.store.study_tasks(&study.id).await.unwrap()[0].losses < lost {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let _worker = rig.work(SLOWLY);
    rig.succeeds(&study.id, 1, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_forgets_everything_loses_nothing() {
    let redis = blocking(RedisServer::start).await;
    let rig = Rig::on(Database::postgres().await, &redis.url()).await;
    let waiting = rig.submit(2, 10).await;
    redis.flush_all();
    let _sweeper = rig.sweep();
    let _workers = [rig.work(SLOWLY), rig.work(SLOWLY)];
    let running = rig.submit(2, 10).await;
    for _ in 0..5 {
        redis.flush_all();
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    rig.succeeds(&waiting.id, 2, 10).await;
    rig.succeeds(&running.id, 2, 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_submitted_while_redis_is_down_runs_when_it_returns() {
    let mut redis = blocking(RedisServer::start).await;
    let rig = Rig::on(Database::postgres().await, &redis.url()).await;
    let _sweeper = rig.sweep();
    let _worker = rig.work(SLOWLY);
    let before = rig.submit(2, 10).await;
    redis = blocking(move || {
        redis.kill();
        redis
    })
    .await;
    let during = rig.submit(1, 3).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let _redis = blocking(move || {
        redis.restart();
        redis
    })
    .await;
    rig.succeeds(&before.id, 2, 10).await;
    rig.succeeds(&during.id, 1, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_that_restarts_loses_nothing() {
    let mut postgres = blocking(PostgresServer::start).await;
    let redis = blocking(RedisServer::start).await;
    let rig = Rig::on(Database::open(&postgres.create_database(), None).await, &redis.url()).await;
    let _sweeper = rig.sweep();
    let _workers = [rig.work(SLOWLY), rig.work(SLOWLY)];
    let study = rig.submit(3, 10).await;
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        postgres = blocking(move || {
            postgres.kill();
            postgres.restart();
            postgres
        })
        .await;
    }
    rig.succeeds(&study.id, 3, 10).await;
}
