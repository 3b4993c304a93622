//! PostgreSQL, Redis, and workers in processes of their own.

use std::time::Duration;

use foresite_api::grpc::v1;
use foresite_api::grpc::v1::study_service_client::StudyServiceClient;
use foresite_tests::servers::{PostgresServer, RedisServer, wait_until};
use tonic::Request;

use crate::foresite::{Place, offline_comparison, token};

fn with_token<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

/// Creates, watches to the end and fetches the comparison, all by gRPC.
async fn study_by_grpc(address: String, token: &str, document: String) -> Vec<u8> {
    let mut client = StudyServiceClient::connect(address).await.unwrap();
    let create = v1::CreateStudyRequest { document, idempotency_key: String::new() };
    let study = client.create(with_token(create, token)).await.unwrap().into_inner();
    let watch = v1::WatchStudyRequest { id: study.id.clone(), after_event: 0 };
    let mut events = client.watch(with_token(watch, token)).await.unwrap().into_inner();
    let mut last = String::new();
    while let Some(event) = events.message().await.unwrap() {
        last = event.data;
    }
    assert!(last.contains("succeeded"), "{last}");
    let comparison = v1::GetComparisonRequest { id: study.id.clone() };
    let comparison = client.get_comparison(with_token(comparison, token)).await.unwrap().into_inner().json;

    let schedule = v1::StreamScheduleRequest { study_id: study.id, scenario: "baseline".to_owned(), replication: 0 };
    let mut chunks = client.stream_schedule(with_token(schedule, token)).await.unwrap().into_inner();
    let first = chunks.message().await.unwrap().unwrap().data;
    assert!(first.starts_with(b"job_id,user,account"));
    comparison
}

#[test]
fn two_workers_give_the_same_bytes_over_rest_and_grpc() {
    let (postgres, redis) = (PostgresServer::start(), RedisServer::start());
    let place = Place::shared(&postgres.create_database(), &redis.url());
    assert!(!place.run(&["serve"]).status.success(), "served without migrations");
    place.must(&["migrate", "up"]);
    let service = place.serve();
    let _workers = [place.start(&["work"]), place.start(&["work"])];
    let operator = token("t", "operator");
    let document = service.example_study(&operator);

    let study = service.submit(&operator, &document);
    service.await_success(&operator, &study);
    assert!(service.comparison(&operator, &study) == offline_comparison(), "REST differs");

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let by_grpc = runtime.block_on(study_by_grpc(service.grpc.clone(), &operator, document.to_string()));
    assert!(by_grpc == offline_comparison(), "gRPC differs");
}

#[test]
fn a_worker_killed_in_mid_simulation_costs_nothing() {
    let (postgres, redis) = (PostgresServer::start(), RedisServer::start());
    let database = postgres.create_database();
    let place = Place::shared(&database, &redis.url()).with("FORESITE_LEASE_SECONDS", "2");
    place.must(&["migrate", "up"]);
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = serde_json::json!(40);
    let study = service.submit(&operator, &document);

    let name = database.rsplit('/').next().unwrap();
    let running = || postgres.psql(name, "SELECT count(*) FROM tasks WHERE state = 'running'") != "0";
    for _ in 0..3 {
        let mut victim = place.start(&["work"]);
        wait_until("a task is running", Duration::from_secs(60), running);
        victim.kill();
    }
    let _worker = place.start(&["work"]);
    service.await_success(&operator, &study);

    // 40 replications of the baseline and of four scenarios, each once.
    let counted = postgres.psql(name, "SELECT count(*), count(DISTINCT (scenario, replication)) FROM replications");
    assert_eq!(counted, "200|200");
    let attempts = postgres.psql(name, "SELECT max(attempt) > 1 FROM tasks");
    assert_eq!(attempts, "t", "no task was taken over");
}
