//! The gRPC door beside its permissions: health, lists, slow bodies, labels.

use std::time::Duration;

use foresite_api::grpc::v1;
use foresite_api::grpc::v1::study_service_client::StudyServiceClient;
use foresite_tests::servers::{PostgresServer, RedisServer, wait_until};
use futures::StreamExt;
use prost::Message;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

use crate::foresite::{Place, Service, expect, token};

/// `grpc.health.v1.HealthCheckRequest`, and any message whose first field is a text.
#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

/// `grpc.health.v1.HealthCheckResponse`.
#[derive(Clone, PartialEq, Message)]
struct Health {
    #[prost(int32, tag = "1")]
    status: i32,
}

const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().unwrap()
}

async fn open(service: &Service) -> Channel {
    Channel::from_shared(service.grpc.clone()).unwrap().connect().await.unwrap()
}

async fn check(channel: &Channel, of: &str) -> Result<i32, Code> {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let request = Request::new(Named { name: of.to_owned() });
    let codec = ProstCodec::<Named, Health>::default();
    let path = "/grpc.health.v1.Health/Check".parse().unwrap();
    client.unary(request, path, codec).await.map(|answer| answer.into_inner().status).map_err(|status| status.code())
}

fn with_token<T>(message: T, role: &str) -> Request<T> {
    let mut request = Request::new(message);
    let bearer = format!("Bearer {}", token("t", role));
    request.metadata_mut().insert("authorization", bearer.parse().unwrap());
    request
}

#[test]
fn health_says_what_readiness_says() {
    let (mut postgres, redis) = (PostgresServer::start(), RedisServer::start());
    let place = Place::shared(&postgres.create_database(), &redis.url());
    place.must(&["migrate", "up"]);
    let service = place.serve();
    let runtime = runtime();
    let channel = runtime.block_on(open(&service));
    let is = |of: &str, status: i32| runtime.block_on(check(&channel, of)) == Ok(status);
    let probe = || service.http.get(format!("{}/readyz", service.url)).send().unwrap().status().as_u16();
    let all = ["", "foresite.v1.SiteService", "foresite.v1.StudyService"];
    let until = |status: i32, probed: u16| {
        wait_until("health and readiness agree", Duration::from_secs(60), || {
            all.iter().all(|of| is(of, status)) && probe() == probed
        });
    };
    until(SERVING, 200);
    assert_eq!(runtime.block_on(check(&channel, "nobody")), Err(Code::NotFound));
    place.must(&["migrate", "down"]);
    until(NOT_SERVING, 503);
    place.must(&["migrate", "up"]);
    until(SERVING, 200);
    postgres.kill();
    until(NOT_SERVING, 503);
    postgres.restart();
    until(SERVING, 200);
}

#[test]
fn whoever_watches_health_is_told_that_the_service_stops() {
    let place = Place::embedded();
    let service = place.serve();
    let runtime = runtime();
    let mut told = runtime.block_on(async {
        let mut client = Grpc::new(open(&service).await);
        client.ready().await.unwrap();
        let path = "/grpc.health.v1.Health/Watch".parse().unwrap();
        let request = Request::new(Named::default());
        client.server_streaming(request, path, ProstCodec::<Named, Health>::default()).await.unwrap().into_inner()
    });
    let mut next = || runtime.block_on(told.message()).unwrap().map(|health| health.status);
    assert_eq!(next(), Some(SERVING));
    let stopping = std::thread::spawn(move || service.process.terminate());
    assert_eq!(next(), Some(NOT_SERVING));
    assert_eq!(next(), None);
    assert!(stopping.join().unwrap().success());
}

#[test]
fn strangers_who_watch_health_are_counted() {
    let place = Place::embedded();
    let service = place.serve();
    runtime().block_on(async {
        let channel = open(&service).await;
        let watch = async || {
            let mut client = Grpc::new(channel.clone());
            client.ready().await.unwrap();
            let path = "/grpc.health.v1.Health/Watch".parse().unwrap();
            let request = Request::new(Named::default());
            let codec = ProstCodec::<Named, Health>::default();
            client.server_streaming(request, path, codec).await.map(tonic::Response::into_inner)
        };
        let mut watchers = Vec::new();
        for _ in 0..100 {
            watchers.push(watch().await.unwrap());
        }
        assert_eq!(watch().await.unwrap_err().code(), Code::ResourceExhausted);
        assert_eq!(check(&channel, "").await, Ok(SERVING));
        drop(watchers);
        let begin = std::time::Instant::now();
        while watch().await.is_err() {
            assert!(begin.elapsed() < Duration::from_secs(20), "no place became free");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
}

#[test]
fn lists_are_filtered_by_state() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let document = service.example_study(&operator);
    let study = service.submit(&operator, &document);
    service.await_success(&operator, &study);
    let shown = expect(service.get(&operator, &format!("/v1/studies/{study}")).send().unwrap(), 200);
    runtime().block_on(async {
        let mut client = StudyServiceClient::new(open(&service).await);
        let request = v1::GetStudyRequest { id: study.clone() };
        let told = client.get(with_token(request, "viewer")).await.unwrap().into_inner();
        assert_eq!(
            (
                Some(&*told.engine_version),
                Some(&*told.created_by),
                told.started_at.as_deref(),
                told.finished_at.as_deref()
            ),
            (
                shown["engine_version"].as_str(),
                shown["created_by"].as_str(),
                shown["started_at"].as_str(),
                shown["finished_at"].as_str()
            )
        );
        let mut list = async |state: i32| {
            let request = v1::ListStudiesRequest { state, ..Default::default() };
            client.list(with_token(request, "viewer")).await.map(|answer| answer.into_inner().studies.len())
        };
        assert_eq!(list(0).await.unwrap(), 1);
        assert_eq!(list(v1::StudyState::Succeeded.into()).await.unwrap(), 1);
        assert_eq!(list(v1::StudyState::Failed.into()).await.unwrap(), 0);
        assert_eq!(list(99).await.unwrap_err().code(), Code::InvalidArgument);
    });
}

#[test]
fn bodies_that_do_not_come_are_given_up() {
    let place = Place::embedded().with("FORESITE_BODY_TIMEOUT_SECONDS", "1");
    let service = place.serve();
    let operator = token("t", "operator");
    let site = service.site(&operator);
    let header = v1::TraceHeader { site_id: site, name: "sacct.txt".to_owned(), timezone: String::new() };
    let header = v1::UploadTraceRequest { part: Some(v1::upload_trace_request::Part::Header(header)) };
    runtime().block_on(async {
        let channel = open(&service).await;
        for sent in [vec![], vec![header]] {
            let messages = futures::stream::iter(sent).chain(futures::stream::pending());
            let mut client = v1::site_service_client::SiteServiceClient::new(channel.clone());
            let refused = client.upload_trace(with_token(messages, "operator")).await.unwrap_err();
            assert_eq!(refused.code(), Code::DeadlineExceeded, "{refused}");
        }
        // A call of one message, whose message does not come; the last two need no token.
        for path in [
            "/foresite.v1.StudyService/Create",
            "/foresite.v1.SiteService/UploadConfig",
            "/grpc.health.v1.Health/Check",
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        ] {
            let mut client = Grpc::new(channel.clone());
            client.ready().await.unwrap();
            let nothing = with_token(futures::stream::pending::<Named>(), "operator");
            let codec = ProstCodec::<Named, ()>::default();
            let ended = match client.streaming(nothing, path.parse().unwrap(), codec).await {
                Err(status) => Err(status),
                Ok(answer) => answer.into_inner().message().await,
            };
            match ended {
                Err(refused) => assert_eq!(refused.code(), Code::DeadlineExceeded, "{path}: {refused}"),
                // Reflection ends its own stream without a word.
                Ok(told) => assert!(told.is_none() && path.contains("reflection"), "{path}"),
            }
        }
    });
}

#[test]
fn names_that_strangers_invent_are_no_labels() {
    let place = Place::embedded();
    let service = place.serve();
    runtime().block_on(async {
        let channel = open(&service).await;
        for number in 0..20 {
            for path in [
                format!("/foresite.v1.StudyService/Invented{number}"),
                format!("/foresite.v1.Invented{number}/Get"),
                format!("/grpc.health.v1.Health/Invented{number}"),
                format!("/Invented{number}/Get"),
            ] {
                for role in ["", "operator"] {
                    let mut client = Grpc::new(channel.clone());
                    client.ready().await.unwrap();
                    let request = match role {
                        "" => Request::new(Named::default()),
                        role => with_token(Named::default(), role),
                    };
                    let codec = ProstCodec::<Named, ()>::default();
                    client.unary(request, path.parse().unwrap(), codec).await.unwrap_err();
                }
            }
        }
    });
    for number in 0..20 {
        let method = reqwest::Method::from_bytes(format!("INVENTED{number}").as_bytes()).unwrap();
        for path in [format!("/Invented{number}"), format!("/v1/Invented{number}"), "/v1/studies".to_owned()] {
            service.http.request(method.clone(), format!("{}{path}", service.url)).send().unwrap();
            service.http.get(format!("{}{path}", service.url)).send().unwrap();
        }
    }
    let text = service.http.get(&service.metrics).send().unwrap().text().unwrap();
    let named: Vec<&str> = text.lines().filter(|line| line.to_ascii_lowercase().contains("invented")).collect();
    assert!(named.is_empty(), "{named:#?}");
    assert!(
        text.contains("foresite_grpc_request_seconds_count{code=\"16\",method=\"unmatched\",service=\"unmatched\"}"),
        "{text}"
    );
}
