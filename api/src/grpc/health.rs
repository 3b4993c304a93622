//! `grpc.health.v1.Health`: what `/readyz` says.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::Semaphore;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse, health_server};

use super::v1;
use crate::app;
use crate::context::Context;

/// How often a watcher's answer is looked at again.
const INTERVAL: Duration = Duration::from_secs(2);
/// The whole server, and each of its services.
const KNOWN: [&str; 3] = ["", v1::site_service_server::SERVICE_NAME, v1::study_service_server::SERVICE_NAME];

/// Watchers at once; anybody may be one, without a token.
const WATCHERS_MAX: usize = 100;

pub(super) struct Health {
    context: Arc<Context>,
    watchers: Arc<Semaphore>,
}

impl Health {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context, watchers: Arc::new(Semaphore::new(WATCHERS_MAX)) }
    }
}

async fn serving(context: &Context) -> ServingStatus {
    match app::health::is_ready(&app::health::ready(context).await) {
        true => ServingStatus::Serving,
        false => ServingStatus::NotServing,
    }
}

fn answer(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

#[tonic::async_trait]
impl health_server::Health for Health {
    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        if !KNOWN.contains(&request.get_ref().service.as_str()) {
            return Err(Status::not_found("there is no such service"));
        }
        Ok(Response::new(answer(serving(&self.context).await)))
    }

    /// Tells each change. Ends with the service, having said so. Whoever is one too many is to ask by `Check`.
    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let is_known = KNOWN.contains(&request.get_ref().service.as_str());
        let place = Arc::clone(&self.watchers).try_acquire_owned();
        let place = place.map_err(|_| Status::resource_exhausted("too many watch already; ask by Check"))?;
        let state = Some((Arc::clone(&self.context), place, None));
        let told = stream::unfold(state, move |state| async move {
            let (context, place, last) = state?;
            loop {
                let is_over = context.shutdown.is_cancelled();
                let now = if is_known { serving(&context).await } else { ServingStatus::ServiceUnknown };
                if is_over || last != Some(now) {
                    return Some((Ok(answer(now)), (!is_over).then_some((context, place, Some(now)))));
                }
                tokio::select! {
                    () = context.shutdown.cancelled() => {}
                    () = tokio::time::sleep(INTERVAL) => {}
                }
            }
        });
        Ok(Response::new(told.boxed()))
    }
}
