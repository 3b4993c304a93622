//! Every RPC of the compiled protos × every kind of caller.

use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

use crate::foresite::{Place, jwt, token};

fn calls() -> Vec<(String, bool)> {
    let set = FileDescriptorSet::decode(foresite_api::grpc::DESCRIPTORS).unwrap();
    let mut found = Vec::new();
    for file in set.file.iter().filter(|file| file.package() == "foresite.v1") {
        for service in &file.service {
            for method in &service.method {
                let path = format!("/foresite.v1.{}/{}", service.name(), method.name());
                found.push((path, method.input_type().contains("Create") || method.input_type().contains("Cancel")));
            }
        }
    }
    found
}

/// The status of a call with an empty message; streams are asked for their first.
async fn call(channel: &Channel, path: &str, bearer: Option<&str>) -> Code {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let mut request = Request::new(futures::stream::iter([()]));
    if let Some(bearer) = bearer {
        request.metadata_mut().insert("authorization", format!("Bearer {bearer}").parse().unwrap());
    }
    let path: PathAndQuery = path.parse().unwrap();
    match client.streaming(request, path, ProstCodec::<(), ()>::default()).await {
        Err(status) => status.code(),
        Ok(answer) => match answer.into_inner().message().await {
            Ok(_) => Code::Ok,
            Err(status) => status.code(),
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_rpc_refuses_whom_it_must() {
    let place = Place::embedded();
    let service = tokio::task::block_in_place(|| place.serve());
    let channel = Channel::from_shared(service.grpc.clone()).unwrap().connect().await.unwrap();
    let calls = calls();
    assert_eq!(calls.len(), 10);
    for (path, changes) in calls {
        assert_eq!(call(&channel, &path, None).await, Code::Unauthenticated, "{path}");
        assert_eq!(call(&channel, &path, Some("not-a-token")).await, Code::Unauthenticated, "{path}");
        let expired = jwt("ours", "admin", 3600);
        assert_eq!(call(&channel, &path, Some(&expired)).await, Code::Unauthenticated, "{path}");
        let viewer = call(&channel, &path, Some(&token("ours", "viewer"))).await;
        let is_upload = path.contains("Upload");
        assert_eq!(viewer == Code::PermissionDenied, changes || is_upload, "{path}: {viewer:?}");
    }
    tokio::task::block_in_place(|| drop(service));
}
