//! `/v1/studies`.

use actix_web::{HttpRequest, HttpResponse, delete, get, http::header, post, web};
use utoipa_actix_web::service_config::ServiceConfig;

use super::views::List;
use super::views::study::{StudyQuery, StudyView};
use crate::app;
use crate::auth::permission::{Authorised, ReadStudies, WriteStudies};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(create_study).service(list_studies).service(get_study).service(cancel_study).service(delete_study);
}

/// Accepts a study document, the same that `foresite run` takes, with `site: {site: ID, config: ID}` and `trace: {trace: ID}`.
#[utoipa::path(
    tag = "studies",
    params(("Idempotency-Key" = Option<String>, Header, description = "Equal keys are one study, however often it is sent.")),
    request_body(content((String = "application/yaml"), (serde_json::Value = "application/json")), description = "The study document."),
    responses(
        (status = 202, description = "Accepted; Location names it.", body = StudyView),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Errors; nothing was stored.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/studies")]
async fn create_study(
    caller: Authorised<WriteStudies>,
    context: web::Data<Context>,
    request: HttpRequest,
    body: web::Bytes,
) -> ApiResult<HttpResponse> {
    let key = match request.headers().get("idempotency-key") {
        Some(key) => {
            Some(key.to_str().map_err(|_| ApiError::new(Code::InvalidRequest, "the Idempotency-Key is no text"))?)
        }
        None => None,
    };
    let status = app::studies::create(&context, &caller, &body, key).await?;
    let location = format!("/v1/studies/{}", status.study.id);
    Ok(HttpResponse::Accepted().insert_header((header::LOCATION, location)).json(StudyView::from(status)))
}

/// The studies, newest first.
#[utoipa::path(
    tag = "studies",
    params(StudyQuery),
    responses(
        (status = 200, description = "A page.", body = List<StudyView>),
        (status = 400, description = "No such state or cursor.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/studies")]
async fn list_studies(
    caller: Authorised<ReadStudies>,
    context: web::Data<Context>,
    query: web::Query<StudyQuery>,
) -> ApiResult<web::Json<List<StudyView>>> {
    let limit = query.limit.unwrap_or(50);
    let found = app::studies::list(&context, &caller, query.state.as_deref(), query.cursor.as_deref(), limit).await?;
    let items = found.items.into_iter().map(StudyView::from).collect();
    Ok(web::Json(List { items, next: found.next.map(String::from) }))
}

/// A study: state, progress, place in the queue, expected end.
#[utoipa::path(
    tag = "studies",
    params(("study" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The study.", body = StudyView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/studies/{study}")]
async fn get_study(
    caller: Authorised<ReadStudies>,
    context: web::Data<Context>,
    study: web::Path<String>,
) -> ApiResult<web::Json<StudyView>> {
    Ok(web::Json(app::studies::get(&context, &caller, &study).await?.into()))
}

/// Asks a study to stop. Doing it twice is as good as once.
#[utoipa::path(
    tag = "studies",
    params(("study" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "It is cancelled, or cancelling until its simulations have stopped.", body = StudyView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It has ended already.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/studies/{study}/cancel")]
async fn cancel_study(
    caller: Authorised<WriteStudies>,
    context: web::Data<Context>,
    study: web::Path<String>,
) -> ApiResult<web::Json<StudyView>> {
    Ok(web::Json(app::studies::cancel(&context, &caller, &study).await?.into()))
}

/// Removes a study that has ended, with its results.
#[utoipa::path(
    tag = "studies",
    params(("study" = String, Path, description = "Its id.")),
    responses(
        (status = 204, description = "Removed."),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It is at work.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[delete("/v1/studies/{study}")]
async fn delete_study(
    caller: Authorised<WriteStudies>,
    context: web::Data<Context>,
    study: web::Path<String>,
) -> ApiResult<HttpResponse> {
    app::studies::delete(&context, &caller, &study).await?;
    Ok(HttpResponse::NoContent().finish())
}
