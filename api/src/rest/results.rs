//! `/v1/studies/{study}/…`: what it found.

use std::io;

use actix_web::body::SizedStream;
use actix_web::http::header::{self, ETAG};
use actix_web::{HttpRequest, HttpResponse, get, web};
use bytes::Bytes;
use foresite_formats::comparison::Comparison;
use foresite_formats::comparison::figure;
use futures::stream::BoxStream;
use futures::{Stream, TryStreamExt};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::app;
use crate::app::results::Pieces;
use crate::auth::permission::{Authorised, ReadStudies};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(get_comparison).service(get_report).service(get_figure).service(get_schedule);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Csv,
}

/// For links, which cannot send an Accept header.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ComparisonQuery {
    /// `json` or `csv`; goes before Accept.
    #[param(value_type = Option<String>, example = "csv")]
    format: Option<Format>,
}

/// The comparison document, as JSON (byte for byte what `foresite run` writes) or CSV by Accept.
#[utoipa::path(
    tag = "results",
    params(("study" = String, Path, description = "The study's id."), ComparisonQuery),
    responses(
        (status = 200, description = "The comparison.", content(
            (serde_json::Value = "application/json"), (String = "text/csv")
        )),
        (status = 404, description = "No such study.", body = Problem, content_type = "application/problem+json"),
        (status = 406, description = "Only JSON and CSV are offered.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The study has not succeeded.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/studies/{study}/comparison")]
async fn get_comparison(
    caller: Authorised<ReadStudies>,
    context: web::Data<Context>,
    request: HttpRequest,
    study: web::Path<String>,
    query: web::Query<ComparisonQuery>,
) -> ApiResult<HttpResponse> {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*");
    let format = query.format.map_or_else(|| format(accept), Ok)?;
    let mut response = HttpResponse::Ok();
    response.insert_header((header::VARY, "accept"));
    Ok(match format {
        Format::Json => {
            let Pieces { tag, bytes, pieces } = app::results::comparison_stream(&context, &caller, &study).await?;
            response.insert_header((ETAG, format!("\"{tag}\""))).content_type("application/json");
            response.body(SizedStream::new(bytes, whole_or_nothing(pieces)))
        }
        Format::Csv => {
            let (tag, csv) = app::results::rendered(&context, &caller, &study, Comparison::to_csv).await?;
            let tag = (ETAG, format!("\"{tag}-csv\""));
            response.insert_header(tag).content_type("text/csv; charset=utf-8").body(csv)
        }
    })
}

/// After an error the status is sent already: the body breaks off, so that nobody takes half a file for whole.
fn whole_or_nothing(pieces: BoxStream<'static, io::Result<Bytes>>) -> impl Stream<Item = io::Result<Bytes>> {
    pieces.inspect_err(|error| tracing::error!(%error, "a result could not be read to its end"))
}

/// The first format we offer in the order of the header; weights are seldom sent and not weighed.
fn format(accept: &str) -> ApiResult<Format> {
    let kinds = accept.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim());
    for kind in kinds {
        match kind {
            "application/json" | "application/*" | "*/*" | "" => return Ok(Format::Json),
            "text/csv" | "text/*" => return Ok(Format::Csv),
            _ => {}
        }
    }
    Err(ApiError::new(Code::NotAcceptable, "accept application/json or text/csv"))
}

/// The comparison for people: a page that needs no other file.
#[utoipa::path(
    tag = "results",
    params(("study" = String, Path, description = "The study's id.")),
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        (status = 404, description = "No such study.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The study has not succeeded.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/studies/{study}/report")]
async fn get_report(
    caller: Authorised<ReadStudies>,
    context: web::Data<Context>,
    study: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (_, page) = app::results::rendered(&context, &caller, &study, Comparison::to_html).await?;
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page))
}

/// A figure of the comparison, for embedding.
#[utoipa::path(
    tag = "results",
    params(
        ("study" = String, Path, description = "The study's id."),
        ("name" = String, Path, description = "The figure's name.", example = "wait-by-user-1")
    ),
    responses(
        (status = 200, description = "The figure.", body = String, content_type = "image/svg+xml"),
        (status = 404, description = "No such study or figure.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The study has not succeeded.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/studies/{study}/figures/{name}.svg")]
async fn get_figure(
    caller: Authorised<ReadStudies>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (study, name) = path.into_inner();
    let wanted = name.clone();
    let (_, svg) = app::results::rendered(&context, &caller, &study, move |found| figure::svg(found, &wanted)).await?;
    let svg = svg.ok_or_else(|| ApiError::not_found("figure", &name))?;
    Ok(HttpResponse::Ok().content_type("image/svg+xml").body(svg))
}

/// The schedule file of one replication (CSV).
#[utoipa::path(
    tag = "results",
    params(
        ("study" = String, Path, description = "The study's id."),
        ("scenario" = String, Path, description = "`baseline` or a scenario's name."),
        ("replication" = u32, Path, description = "From 0.")
    ),
    responses(
        (status = 200, description = "The schedule file.", body = String, content_type = "text/csv"),
        (status = 404, description = "No such study, scenario or replication, or it is not done.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/studies/{study}/scenarios/{scenario}/replications/{replication}/schedule")]
async fn get_schedule(
    caller: Authorised<ReadStudies>,
    context: web::Data<Context>,
    path: web::Path<(String, String, u32)>,
) -> ApiResult<HttpResponse> {
    let (study, scenario, replication) = path.into_inner();
    let (tag, stream) = app::results::schedule(&context, &caller, &study, &scenario, replication).await?;
    let tag = (ETAG, format!("\"{tag}\""));
    let body = whole_or_nothing(stream);
    Ok(HttpResponse::Ok().insert_header(tag).content_type("text/csv; charset=utf-8").streaming(body))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_offered_format_is_taken() {
        assert_eq!(format("text/csv").unwrap(), Format::Csv);
        assert_eq!(format("text/html, application/json;q=0.9").unwrap(), Format::Json);
        assert_eq!(format("*/*").unwrap(), Format::Json);
        assert_eq!(format("image/png").unwrap_err().code(), Code::NotAcceptable);
    }
}
