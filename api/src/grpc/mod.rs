//! The gRPC door: decodes, calls one function of `app`, encodes.

mod health;
mod incoming;
mod layer;
mod messages;
mod pace;
mod rpcs;
mod site_service;
mod status;
mod study_service;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic_health::pb::health_server::HealthServer;

use crate::context::Context;
use crate::error::{ApiError, ApiResult};

use health::Health;
use layer::GuardLayer;
use site_service::Sites;
use study_service::Studies;

/// The generated messages, servers and clients.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod v1 {
    tonic::include_proto!("foresite.v1");
}

/// The compiled protos, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/foresite_descriptor.bin"));
/// The largest message read: a configuration, or a piece of a trace.
const MESSAGE_SLACK_BYTES: usize = 64 << 10;
/// Idle connections are asked for a sign of life this often, and closed without one.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How long a connection may take to answer that.
const KEEP_ALIVE_ANSWER: Duration = Duration::from_secs(20);
/// Calls at once on one connection; more wait.
const STREAMS_MAX: u32 = 256;
/// Metadata of a call.
const HEADERS_MAX_BYTES: u32 = 32 << 10;

/// Serves until `shutdown` is done, then ends gracefully.
///
/// # Errors
/// When the listener fails.
pub async fn serve(context: Arc<Context>, listener: TcpListener, shutdown: impl Future<Output = ()>) -> ApiResult<()> {
    let health = HealthServer::new(Health::new(Arc::clone(&context)));
    let sites = v1::site_service_server::SiteServiceServer::new(Sites { context: Arc::clone(&context) })
        .max_decoding_message_size(context.limits.config_bytes + MESSAGE_SLACK_BYTES);
    let studies = v1::study_service_server::StudyServiceServer::new(Studies { context: Arc::clone(&context) })
        .max_decoding_message_size(context.limits.study_bytes + MESSAGE_SLACK_BYTES);
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .build_v1()
        .map_err(ApiError::internal)?;
    let (most, patience) = (context.limits.connections, context.limits.request_timeout);
    let connections = incoming::incoming(listener, most, patience);
    Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE_ANSWER))
        .max_concurrent_streams(Some(STREAMS_MAX))
        .http2_max_header_list_size(Some(HEADERS_MAX_BYTES))
        .layer(GuardLayer { context })
        .add_service(health)
        .add_service(reflection)
        .add_service(sites)
        .add_service(studies)
        .serve_with_incoming_shutdown(connections, shutdown)
        .await
        .map_err(ApiError::internal)
}
