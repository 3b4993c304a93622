//! `/v1/studies/{study}/events`: server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, get, web};
use bytes::Bytes;
use foresite_store::events::StudyEvent;
use futures::StreamExt;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::app;
use crate::auth::permission::{Authorised, ReadStudies};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::rest::problem::Problem;

/// A comment is sent when nothing happens for this long, so that proxies keep the connection and dead clients are noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(study_events);
}

/// An event as it stands in the stream; described to OpenAPI only.
#[derive(utoipa::ToSchema)]
#[allow(dead_code, reason = "events are written as lines")]
pub(super) struct EventView {
    /// Its number; send the last one seen as `Last-Event-ID`.
    id: String,
    /// `state` or `progress`.
    event: String,
    /// JSON.
    data: String,
}

/// Every event of a study, as server-sent events, until it ends. Goes on after `Last-Event-ID`.
#[utoipa::path(
    tag = "studies",
    params(
        ("study" = String, Path, description = "Its id."),
        ("Last-Event-ID" = Option<i64>, Header, description = "Only events after this one.")
    ),
    responses(
        (status = 200, description = "The events.", body = EventView, content_type = "text/event-stream"),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/studies/{study}/events")]
async fn study_events(
    caller: Authorised<ReadStudies>,
    context: web::Data<Context>,
    request: HttpRequest,
    study: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let after = match request.headers().get("last-event-id") {
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
            ApiError::new(Code::InvalidRequest, "Last-Event-ID is no number; send the `id` of the last event seen")
        })?,
        None => 0,
    };
    let events = app::watch::watch(context.into_inner(), caller, &study, after).await?;
    let lines = tokio_stream::StreamExt::timeout_repeating(events, tokio::time::interval(KEEP_ALIVE)).map(|item| {
        Ok::<Bytes, Infallible>(match item {
            Ok(Ok(event)) => Bytes::from(line(&event)),
            // The stream ends here; the client's library reconnects by itself.
            Ok(Err(_)) | Err(_) => Bytes::from_static(b":\n\n"),
        })
    });
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header(("cache-control", "no-store"))
        .insert_header(("x-accel-buffering", "no"))
        .streaming(lines))
}

/// One event; its data is JSON and so has no line ends.
fn line(event: &StudyEvent) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", event.seq, event.kind, event.data)
}
