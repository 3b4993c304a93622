//! `/v1/sites/{site}/traces`.

use actix_web::{HttpResponse, delete, get, http::header, post, web};
use futures::StreamExt;
use utoipa_actix_web::service_config::ServiceConfig;

use super::pace;
use super::views::trace::{TraceQuery, TraceView};
use super::views::{FileBytes, List, PageQuery};
use crate::app;
use crate::app::traces::{Stored, TraceHeader};
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::context::Context;
use crate::error::ApiResult;
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(create_trace).service(list_traces).service(get_trace).service(delete_trace);
}

/// Stores a trace (sacct or SWF; plain, gzip, zstd), streamed as it is.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), TraceQuery),
    request_body(content = FileBytes, content_type = "application/octet-stream", description = "The file as it is."),
    responses(
        (status = 200, description = "The site has these bytes already, under the same name and time zone.", body = TraceView),
        (status = 201, description = "Stored, with a summary and what the reader said.", body = TraceView),
        (status = 404, description = "No such site.", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Errors; nothing was stored.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/sites/{site}/traces")]
async fn create_trace(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    site: web::Path<String>,
    query: web::Query<TraceQuery>,
    body: web::Payload,
) -> ApiResult<HttpResponse> {
    let TraceQuery { name, timezone } = query.into_inner();
    let bytes = body.map(|chunk| chunk.map_err(|error| pace::fault(&error)));
    stored(app::traces::create(&context, &caller, &site, TraceHeader { name, timezone }, bytes).await?)
}

/// The answer to an upload.
pub(super) fn stored(stored: Stored) -> ApiResult<HttpResponse> {
    let Stored { trace, is_new } = stored;
    let location = format!("/v1/sites/{}/traces/{}", trace.site, trace.id);
    let mut answer = if is_new { HttpResponse::Created() } else { HttpResponse::Ok() };
    Ok(answer.insert_header((header::LOCATION, location)).json(TraceView::try_from(trace)?))
}

/// The traces of a site, newest first.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), PageQuery),
    responses(
        (status = 200, description = "A page.", body = List<TraceView>),
        (status = 404, description = "No such site.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/sites/{site}/traces")]
async fn list_traces(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    site: web::Path<String>,
    page: web::Query<PageQuery>,
) -> ApiResult<web::Json<List<TraceView>>> {
    let found = app::traces::list(&context, &caller, &site, page.cursor.as_deref(), page.limit()).await?;
    let items = found.items.into_iter().map(TraceView::try_from).collect::<ApiResult<_>>()?;
    Ok(web::Json(List { items, next: found.next.map(String::from) }))
}

/// A trace.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), ("trace" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The trace.", body = TraceView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/sites/{site}/traces/{trace}")]
async fn get_trace(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<web::Json<TraceView>> {
    let (site, trace) = path.into_inner();
    Ok(web::Json(app::traces::get(&context, &caller, &site, &trace).await?.try_into()?))
}

/// Forgets a trace. Studies made from it keep their files.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), ("trace" = String, Path, description = "Its id.")),
    responses(
        (status = 204, description = "Forgotten."),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[delete("/v1/sites/{site}/traces/{trace}")]
async fn delete_trace(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (site, trace) = path.into_inner();
    app::traces::delete(&context, &caller, &site, &trace).await?;
    Ok(HttpResponse::NoContent().finish())
}
