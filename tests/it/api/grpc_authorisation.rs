//! Every RPC of the compiled protos × every kind of caller.

use foresite_store::state::Scope;
use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request};
use tonic_prost::ProstCodec;

use super::authorisation::narrow_tokens;
use crate::foresite::{Place, jwt, token};

/// A message whose first field names a thing, as most of ours do.
#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    id: String,
}

struct Call {
    path: String,
    changes: bool,
    /// Whether the first field of its message is an id.
    is_named: bool,
}

fn calls() -> Vec<Call> {
    let set = FileDescriptorSet::decode(foresite_api::grpc::DESCRIPTORS).unwrap();
    let mut found = Vec::new();
    for file in set.file.iter().filter(|file| file.package() == "foresite.v1") {
        for service in &file.service {
            for method in &service.method {
                let path = format!("/foresite.v1.{}/{}", service.name(), method.name());
                let changes = ["Create", "Cancel", "Upload"].iter().any(|verb| method.name().starts_with(verb));
                let input = set
                    .file
                    .iter()
                    .flat_map(|file| &file.message_type)
                    .find(|message| method.input_type().rsplit('.').next() == Some(message.name()));
                let first = input.and_then(|message| message.field.iter().find(|field| field.number() == 1));
                let is_named = first.is_some_and(|field| ["id", "study_id", "site_id"].contains(&field.name()));
                found.push(Call { path, changes, is_named });
            }
        }
    }
    found
}

/// The status of a call that names nothing; streams are asked for their first.
async fn call(channel: &Channel, path: &str, bearer: Option<&str>) -> Code {
    call_about(channel, path, bearer, "").await
}

async fn call_about(channel: &Channel, path: &str, bearer: Option<&str>, id: &str) -> Code {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let mut request = Request::new(futures::stream::iter([Named { id: id.to_owned() }]));
    if let Some(bearer) = bearer {
        request.metadata_mut().insert("authorization", format!("Bearer {bearer}").parse().unwrap());
    }
    let path: PathAndQuery = path.parse().unwrap();
    match client.streaming(request, path, ProstCodec::<Named, ()>::default()).await {
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
    let admin = token("ours", "admin");
    let (site, study, narrow) = tokio::task::block_in_place(|| {
        let document = service.example_study(&admin);
        let site = document["site"]["site"].as_str().unwrap().to_owned();
        (site, service.submit(&admin, &document), narrow_tokens(&service))
    });
    let calls = calls();
    assert_eq!(calls.len(), 10);
    let mut n_cases = 0;
    for Call { path, changes, is_named } in calls {
        assert_eq!(call(&channel, &path, None).await, Code::Unauthenticated, "{path}");
        assert_eq!(call(&channel, &path, Some("not-a-token")).await, Code::Unauthenticated, "{path}");
        let expired = jwt("ours", "admin", 3600);
        assert_eq!(call(&channel, &path, Some(&expired)).await, Code::Unauthenticated, "{path}");
        let viewer = call(&channel, &path, Some(&token("ours", "viewer"))).await;
        assert_eq!(viewer == Code::PermissionDenied, changes, "{path}: {viewer:?}");
        n_cases += 4;
        let is_site = path.contains("SiteService");
        let needed = match (is_site, changes) {
            (true, _) => Scope::SitesWrite,
            (false, true) => Scope::StudiesWrite,
            (false, false) => Scope::StudiesRead,
        };
        for (scope, secret) in narrow.iter().filter(|(scope, _)| !scope.includes(needed)) {
            assert_eq!(
                call(&channel, &path, Some(secret)).await,
                Code::PermissionDenied,
                "{path} with the scope {scope}"
            );
            n_cases += 1;
        }
        if is_named {
            let stranger = token("theirs", "admin");
            let id = if is_site { &site } else { &study };
            assert_eq!(call_about(&channel, &path, Some(&stranger), id).await, Code::NotFound, "{path} as a stranger");
            n_cases += 1;
        }
    }
    println!("10 RPCs, {n_cases} cases");
    tokio::task::block_in_place(|| drop(service));
}
