//! Probes and documentation: public.

use actix_web::{HttpResponse, get, web};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::app;
use crate::context::Context;
use crate::openapi;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(healthz).service(readyz);
}

/// A probe's answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Probe {
    /// `ok` or `unavailable`.
    status: &'static str,
    /// What the service depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<DependencyView>,
}

/// Something the service depends on.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct DependencyView {
    /// `database`, `objects`, `queue`; `service` while it stops.
    name: &'static str,
    /// Whether it answers.
    up: bool,
}

/// Whether the process lives. It asks nothing else, so that an outage elsewhere does not get it killed.
#[utoipa::path(tag = "operation", responses((status = 200, description = "It lives.", body = Probe)))]
#[get("/healthz")]
async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(Probe { status: "ok", dependencies: Vec::new() })
}

/// Whether requests can be served: database (with every migration) and objects answer, and the service does not stop. Without the queue
/// they can; tasks wait in the database.
#[utoipa::path(
    tag = "operation",
    responses(
        (status = 200, description = "Ready.", body = Probe),
        (status = 503, description = "Something is away.", body = Probe),
    )
)]
#[get("/readyz")]
async fn readyz(context: web::Data<Context>) -> HttpResponse {
    let found = app::health::ready(&context).await;
    let is_ready = app::health::is_ready(&found);
    let dependencies =
        found.into_iter().map(|dependency| DependencyView { name: dependency.name, up: dependency.is_up }).collect();
    if is_ready {
        HttpResponse::Ok().json(Probe { status: "ok", dependencies })
    } else {
        HttpResponse::ServiceUnavailable().json(Probe { status: "unavailable", dependencies })
    }
}

/// The OpenAPI document.
pub(super) async fn openapi_json() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(openapi::json())
}
