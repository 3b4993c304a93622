//! What happens around every call: authentication, one histogram. Only health and reflection are public.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Instant;

use foresite_store::ids::TenantId;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use tonic::body::Body;
use tower::{Layer, Service};
use tracing::Instrument;

use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

use super::pace::pace;
use super::rpcs::labels;
use super::status::status;
use crate::trace_id;

/// Services that answer without a token.
const PUBLIC: [&str; 2] = ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"];

/// The call whose body goes to a file as it comes.
const STREAMED: &str = "UploadTrace";

#[derive(Clone)]
pub(super) struct GuardLayer {
    pub(super) context: Arc<Context>,
}

impl<S> Layer<S> for GuardLayer {
    type Service = Guard<S>;

    fn layer(&self, inner: S) -> Guard<S> {
        Guard { context: Arc::clone(&self.context), inner }
    }
}

#[derive(Clone)]
pub(super) struct Guard<S> {
    context: Arc<Context>,
    inner: S,
}

impl<S> Service<Request<Body>> for Guard<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let context = Arc::clone(&self.context);
        // The clone is the one for later calls; the ready one serves this call.
        let next = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, next);
        Box::pin(async move {
            let (begin, patience) = (Instant::now(), context.limits.body_timeout);
            let path = request.uri().path().to_owned();
            let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or(("", ""));
            let header = request.headers().get("traceparent");
            let traceparent = header.and_then(|value| value.to_str().ok()).map(str::to_owned);
            let trace_id = trace_id::of(traceparent.as_deref());
            let span = tracing::info_span!("grpc", trace.id = %trace_id, rpc.service = service, rpc.method = method);
            trace_id::join(&span, &trace_id, traceparent.as_deref());
            let answered = async {
                let mut tenant = None;
                if !PUBLIC.contains(&service) {
                    match admit(&context, &mut request).await {
                        Ok(found) => tenant = Some(found),
                        Err(error) => return Ok(status(error).into_http()),
                    }
                }
                // Held until the answer is made.
                let held = (method != STREAMED).then(|| context.room.enter(tenant));
                ready.call(request.map(|body| pace(body, patience, held.clone()))).await
            };
            let mut response = trace_id::scope(trace_id.clone(), answered.instrument(span)).await?;
            if let Ok(value) = trace_id.parse() {
                response.headers_mut().insert("x-trace-id", value);
            }
            observe(&context, &path, &response, begin);
            Ok(response)
        })
    }
}

/// Puts the caller beside the request, for the handler to authorise; gives its tenant.
async fn admit(context: &Context, request: &mut Request<Body>) -> ApiResult<TenantId> {
    let header = match request.headers().get(AUTHORIZATION) {
        Some(value) => {
            Some(value.to_str().map_err(|_| ApiError::new(Code::Unauthenticated, "the metadata is no text"))?)
        }
        None => None,
    };
    let principal = context.auth.authenticate_header(header).await?;
    context.quotas.admit_request(&principal.tenant).await?;
    let tenant = principal.tenant.clone();
    request.extensions_mut().insert(principal);
    Ok(tenant)
}

/// Streams are noted when they begin; their code is that of their headers.
fn observe(context: &Context, path: &str, response: &Response<Body>, begin: Instant) {
    let code = response.headers().get("grpc-status").and_then(|value| value.to_str().ok()).unwrap_or("0");
    let (service, method) = labels(path);
    context.metrics.grpc(service, method, code, begin.elapsed().as_secs_f64());
}
