//! `/v1/sites/{site}/configs`.

use actix_multipart::{Multipart, MultipartError};
use actix_web::{HttpRequest, HttpResponse, delete, get, http::header, post, web};
use futures::StreamExt;
use utoipa_actix_web::service_config::ServiceConfig;

use super::pace;
use super::views::config::{ConfigForm, ConfigView};
use super::views::{FileBytes, List, PageQuery};
use crate::app;
use crate::app::archive::{FILES_MAX, too_many_files};
use crate::app::configs::Stored;
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(create_config).service(list_configs).service(get_config).service(delete_config);
}

/// Stores slurm.conf and its neighbours, and under their usual names `sacctmgr.cfg` (`sacctmgr dump`), `reservations.txt`,
/// `usage.txt`, `events.txt` and `sdiag.txt`: a tar (plain, gzip, zstd) or a form with one part per file.
#[utoipa::path(
    tag = "configs",
    params(("site" = String, Path, description = "The site's id.")),
    request_body(
        content(
            (FileBytes = "application/x-tar"), (FileBytes = "application/gzip"), (FileBytes = "application/zstd"),
            (ConfigForm = "multipart/form-data")
        ),
        description = "The files, named relative to slurm.conf's folder."
    ),
    responses(
        (status = 200, description = "The site's newest configuration has these very files.", body = ConfigView),
        (status = 201, description = "Stored, with what the reader said.", body = ConfigView),
        (status = 404, description = "No such site.", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "No tar and no form.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Errors; nothing was stored.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/sites/{site}/configs")]
async fn create_config(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    request: HttpRequest,
    site: web::Path<String>,
    body: web::Payload,
) -> ApiResult<HttpResponse> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let limit = context.limits.config_bytes;
    let Stored { config, is_new } = if kind.starts_with("multipart/form-data") {
        let parts = read_form(Multipart::new(request.headers(), body), limit).await?;
        app::configs::create_from_parts(&context, &caller, &site, parts).await?
    } else if is_archive(kind) {
        let bytes = read_body(body, limit).await?;
        app::configs::create_from_archive(&context, &caller, &site, bytes).await?
    } else {
        return Err(ApiError::new(Code::UnsupportedMediaType, "send application/x-tar or multipart/form-data"));
    };
    let location = format!("/v1/sites/{}/configs/{}", config.site, config.id);
    let mut answer = if is_new { HttpResponse::Created() } else { HttpResponse::Ok() };
    Ok(answer.insert_header((header::LOCATION, location)).json(ConfigView::try_from(config)?))
}

/// The configurations of a site, newest first.
#[utoipa::path(
    tag = "configs",
    params(("site" = String, Path, description = "The site's id."), PageQuery),
    responses(
        (status = 200, description = "A page.", body = List<ConfigView>),
        (status = 404, description = "No such site.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/sites/{site}/configs")]
async fn list_configs(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    site: web::Path<String>,
    page: web::Query<PageQuery>,
) -> ApiResult<web::Json<List<ConfigView>>> {
    let found = app::configs::list(&context, &caller, &site, page.cursor.as_deref(), page.limit()).await?;
    let items = found.items.into_iter().map(ConfigView::try_from).collect::<ApiResult<_>>()?;
    Ok(web::Json(List { items, next: found.next.map(String::from) }))
}

/// A configuration.
#[utoipa::path(
    tag = "configs",
    params(("site" = String, Path, description = "The site's id."), ("config" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The configuration.", body = ConfigView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/sites/{site}/configs/{config}")]
async fn get_config(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<web::Json<ConfigView>> {
    let (site, config) = path.into_inner();
    Ok(web::Json(app::configs::get(&context, &caller, &site, &config).await?.try_into()?))
}

/// Forgets a configuration. Studies made from it keep their files.
#[utoipa::path(
    tag = "configs",
    params(("site" = String, Path, description = "The site's id."), ("config" = String, Path, description = "Its id.")),
    responses(
        (status = 204, description = "Forgotten."),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[delete("/v1/sites/{site}/configs/{config}")]
async fn delete_config(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (site, config) = path.into_inner();
    app::configs::delete(&context, &caller, &site, &config).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn is_archive(kind: &str) -> bool {
    let known =
        ["application/x-tar", "application/gzip", "application/x-gzip", "application/zstd", "application/octet-stream"];
    known.iter().any(|known| kind.starts_with(known))
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(Code::PayloadTooLarge, format!("the configuration has more than {limit} bytes; send only its files"))
}

async fn read_body(mut body: web::Payload, limit: usize) -> ApiResult<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| pace::fault(&error))?;
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Every part of a form with its file name; at most `limit` bytes together, in at most [`FILES_MAX`] files.
async fn read_form(mut form: Multipart, limit: usize) -> ApiResult<Vec<(String, Vec<u8>)>> {
    let broken = |error: MultipartError| match error {
        MultipartError::Payload(error) => pace::fault(&error),
        error => ApiError::new(Code::InvalidRequest, error.to_string()),
    };
    let mut parts = Vec::new();
    let mut total = 0;
    while let Some(field) = form.next().await {
        let mut field = field.map_err(broken)?;
        if parts.len() >= FILES_MAX {
            return Err(ApiError::refused(Code::InvalidConfig, vec![too_many_files()]));
        }
        let name = field.content_disposition().and_then(|part| part.get_filename().or_else(|| part.get_name()));
        let name = name.unwrap_or_default().to_owned();
        let mut bytes = Vec::new();
        while let Some(chunk) = field.next().await {
            let chunk = chunk.map_err(broken)?;
            total += chunk.len();
            if total > limit {
                return Err(too_large(limit));
            }
            bytes.extend_from_slice(&chunk);
        }
        parts.push((name, bytes));
    }
    Ok(parts)
}
