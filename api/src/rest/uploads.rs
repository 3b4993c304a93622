//! `/v1/sites/{site}/uploads`: traces in pieces, after tus 1.0.0 (<https://tus.io/protocols/resumable-upload>): core, creation,
//! expiration and termination. Making the trace of the pieces is a request of its own, since it may fail for reasons of its own.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, delete, get, head, patch, post, web};
use foresite_store::uploads::Upload;
use futures::StreamExt;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::views::FileBytes;
use super::views::trace::{TraceQuery, TraceView};
use super::{pace, traces};
use crate::app;
use crate::app::traces::TraceHeader;
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::clock::rfc3339;
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::rest::problem::Problem;
use crate::trace_id;

/// The version of the protocol.
const TUS: (&str, &str) = ("tus-resumable", "1.0.0");
const OFFSET: &str = "upload-offset";
const LENGTH: &str = "upload-length";
const PIECE: &str = "application/offset+octet-stream";

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(create_upload)
        .service(head_upload)
        .service(get_upload)
        .service(patch_upload)
        .service(delete_upload)
        .service(finish_upload);
}

/// An upload.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct UploadView {
    /// Its id.
    id: String,
    /// The trace's file name.
    name: String,
    /// How many bytes there will be.
    length: i64,
    /// How many there are: where to go on.
    offset: i64,
    /// The id of the trace that was made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    /// When the last piece came, RFC 3339. What nothing is added to for two days is forgotten.
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<Upload> for UploadView {
    fn from(upload: Upload) -> Self {
        Self {
            id: upload.id.into(),
            name: upload.name,
            length: upload.length,
            offset: upload.received,
            trace: upload.trace.map(String::from),
            updated_at: rfc3339(upload.updated_at),
        }
    }
}

fn number(request: &HttpRequest, name: &str) -> ApiResult<u64> {
    let value = request.headers().get(name).and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    value
        .filter(|number| i64::try_from(*number).is_ok())
        .ok_or_else(|| ApiError::new(Code::InvalidRequest, format!("send the header {name} with a number of bytes")))
}

fn answer(mut builder: HttpResponseBuilder, upload: &Upload) -> HttpResponseBuilder {
    builder
        .insert_header(TUS)
        .insert_header((OFFSET, upload.received.to_string()))
        .insert_header((LENGTH, upload.length.to_string()))
        .insert_header((header::CACHE_CONTROL, "no-store"));
    builder
}

/// Begins a resumable upload of a trace: announce its size, send pieces by PATCH, then POST to `…/trace`. Speaks tus 1.0.0.
#[utoipa::path(
    tag = "traces",
    params(
        ("site" = String, Path, description = "The site's id."),
        TraceQuery,
        ("Upload-Length" = i64, Header, description = "How many bytes there will be.")
    ),
    responses(
        (status = 201, description = "Begun; Location names it.", body = UploadView),
        (status = 404, description = "No such site.", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The name is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/sites/{site}/uploads")]
async fn create_upload(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    request: HttpRequest,
    site: web::Path<String>,
    query: web::Query<TraceQuery>,
) -> ApiResult<HttpResponse> {
    let TraceQuery { name, timezone } = query.into_inner();
    let length = number(&request, LENGTH)?;
    let upload = app::uploads::begin(&context, &caller, &site, TraceHeader { name, timezone }, length).await?;
    let location = format!("/v1/sites/{}/uploads/{}", upload.site, upload.id);
    let mut builder = answer(HttpResponse::Created(), &upload);
    Ok(builder.insert_header((header::LOCATION, location)).json(UploadView::from(upload)))
}

/// Where to go on: `Upload-Offset`.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), ("upload" = String, Path, description = "Its id.")),
    responses((status = 200, description = "Its offset and length, in the headers."), (status = 404, description = "There is none.")),
    security(("bearer" = []))
)]
#[head("/v1/sites/{site}/uploads/{upload}")]
async fn head_upload(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (site, upload) = path.into_inner();
    let upload = app::uploads::get(&context, &caller, &site, &upload).await?;
    Ok(answer(HttpResponse::Ok(), &upload).finish())
}

/// How far an upload is.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), ("upload" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The upload.", body = UploadView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/sites/{site}/uploads/{upload}")]
async fn get_upload(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (site, upload) = path.into_inner();
    let upload = app::uploads::get(&context, &caller, &site, &upload).await?;
    Ok(answer(HttpResponse::Ok(), &upload).json(UploadView::from(upload)))
}

/// Adds the bytes that follow. What came before a connection broke is kept: ask for the offset and go on.
#[utoipa::path(
    tag = "traces",
    params(
        ("site" = String, Path, description = "The site's id."),
        ("upload" = String, Path, description = "Its id."),
        ("Upload-Offset" = i64, Header, description = "Where these bytes begin: how many were sent before.")
    ),
    request_body(content = FileBytes, content_type = "application/offset+octet-stream", description = "The next bytes."),
    responses(
        (status = 204, description = "Added; Upload-Offset says where to go on."),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "It came too slowly; what came is kept.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The upload ends elsewhere.", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "More bytes than announced.", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Another content type.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[patch("/v1/sites/{site}/uploads/{upload}")]
async fn patch_upload(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    request: HttpRequest,
    path: web::Path<(String, String)>,
    body: web::Payload,
) -> ApiResult<HttpResponse> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind != PIECE {
        return Err(ApiError::new(Code::UnsupportedMediaType, format!("send {PIECE}")));
    }
    let (site, upload) = path.into_inner();
    let offset = number(&request, OFFSET)?;
    let bytes = body.map(|chunk| chunk.map_err(|error| pace::fault(&error)));
    // A task of its own: this request ends with its connection, and then what came is still to be kept.
    let id = trace_id::current().unwrap_or_else(|| trace_id::of(None));
    let kept = async move { app::uploads::add(&context, &caller, &site, &upload, offset, bytes).await };
    let upload = actix_web::rt::spawn(trace_id::scope(id, kept)).await.map_err(ApiError::internal)??;
    Ok(answer(HttpResponse::NoContent(), &upload).finish())
}

/// Forgets an upload.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), ("upload" = String, Path, description = "Its id.")),
    responses(
        (status = 204, description = "Forgotten."),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[delete("/v1/sites/{site}/uploads/{upload}")]
async fn delete_upload(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (site, upload) = path.into_inner();
    app::uploads::delete(&context, &caller, &site, &upload).await?;
    Ok(HttpResponse::NoContent().insert_header(TUS).finish())
}

/// Makes a trace of an upload that is complete. Doing it twice gives the same trace.
#[utoipa::path(
    tag = "traces",
    params(("site" = String, Path, description = "The site's id."), ("upload" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The site has this trace already.", body = TraceView),
        (status = 201, description = "Stored, with a summary and what the reader said.", body = TraceView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "Bytes are missing.", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Errors; nothing was stored.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/sites/{site}/uploads/{upload}/trace")]
async fn finish_upload(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (site, upload) = path.into_inner();
    traces::stored(app::uploads::finish(&context, &caller, &site, &upload).await?)
}
