//! `/v1/quotas`.

use actix_web::{get, put, web};
use utoipa_actix_web::service_config::ServiceConfig;

use super::extract::Object;
use super::views::quota::{LimitsView, QuotaView};
use crate::app;
use crate::auth::permission::{Authorised, ManageQuotas, ReadQuotas};
use crate::context::Context;
use crate::error::ApiResult;
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(get_quotas).service(set_quotas);
}

/// The tenant's limits, and what is used of them.
#[utoipa::path(
    tag = "quotas",
    responses((status = 200, description = "Limits and use.", body = QuotaView)),
    security(("bearer" = []))
)]
#[get("/v1/quotas")]
async fn get_quotas(caller: Authorised<ReadQuotas>, context: web::Data<Context>) -> ApiResult<web::Json<QuotaView>> {
    Ok(web::Json(app::quotas::get(&context, &caller).await?.into()))
}

/// Sets the tenant's own limits, all of them, at most what the service grants. More is granted next to the database, by
/// `foresite quota set`.
#[utoipa::path(
    tag = "quotas",
    request_body = LimitsView,
    responses(
        (status = 200, description = "Limits and use.", body = QuotaView),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "No JSON.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Above what is granted.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[put("/v1/quotas")]
async fn set_quotas(
    caller: Authorised<ManageQuotas>,
    context: web::Data<Context>,
    web::Json(Object(body)): web::Json<Object<LimitsView>>,
) -> ApiResult<web::Json<QuotaView>> {
    Ok(web::Json(app::quotas::set(&context, &caller, &body.into()).await?.into()))
}
