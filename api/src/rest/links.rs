//! `/v1/studies/{study}/figures/{name}.svg/links`.

use actix_web::{HttpResponse, post, web};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::app;
use crate::auth::permission::{Authorised, WriteStudies};
use crate::clock::rfc3339;
use crate::context::Context;
use crate::error::ApiResult;
use crate::rest::extract::Object;
use crate::rest::problem::Problem;

/// A week [s].
const LIFE_SECONDS: i64 = 7 * 86_400;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(link_figure);
}

/// A link to be made.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewLink {
    /// How long it opens, in seconds; a week where not given, a year at most.
    #[serde(default = "week")]
    #[schema(minimum = 1, maximum = 31_622_400, default = 604_800)]
    expires_in_seconds: i64,
}

fn week() -> i64 {
    LIFE_SECONDS
}

/// A link just made.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct LinkView {
    /// The whole address, for an `<img>` of any page.
    url: String,
    /// When it ends, RFC 3339.
    #[schema(format = DateTime)]
    expires_at: String,
}

/// Makes a link that opens this figure, without a token, to whoever has it, until it expires. It cannot be taken back.
#[utoipa::path(
    tag = "results",
    params(
        ("study" = String, Path, description = "The study's id."),
        ("name" = String, Path, description = "The figure's name.", example = "wait-by-user-1")
    ),
    request_body = NewLink,
    responses(
        (status = 201, description = "The link.", body = LinkView),
        (status = 404, description = "No such study or figure.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The study has not succeeded.", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "No JSON.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The life is too long.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/studies/{study}/figures/{name}.svg/links")]
async fn link_figure(
    caller: Authorised<WriteStudies>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
    web::Json(Object(body)): web::Json<Object<NewLink>>,
) -> ApiResult<HttpResponse> {
    let (study, name) = path.into_inner();
    let link = app::links::figure(&context, &caller, &study, &name, body.expires_in_seconds).await?;
    let view = LinkView { url: link.url, expires_at: rfc3339(link.expires_at) };
    Ok(HttpResponse::Created().insert_header(("cache-control", "no-store")).json(view))
}
