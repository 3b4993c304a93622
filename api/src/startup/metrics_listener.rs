//! `/metrics` on a listener of its own, so that it can stay inside; and `/healthz`, for workers have no other listener.

use std::net::TcpListener;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::{App, HttpResponse, HttpServer, web};
use foresite_store::Store;

use crate::error::{ApiError, ApiResult};
use crate::metrics::Metrics;

/// How long the database may take; Prometheus gives up after 10 s.
const PATIENCE: Duration = Duration::from_secs(3);

/// The server; it runs once it is awaited.
pub(super) fn server(metrics: Metrics, store: Store, listener: TcpListener) -> ApiResult<Server> {
    let shared = web::Data::new((metrics, store));
    let app = move || {
        App::new()
            .app_data(shared.clone())
            .route("/metrics", web::get().to(text))
            .route("/healthz", web::get().to(healthz))
    };
    let server = HttpServer::new(app)
        .workers(1)
        .shutdown_timeout(1)
        .disable_signals()
        .listen(listener)
        .map_err(ApiError::internal)?;
    Ok(server.run())
}

/// The process lives. It asks nothing else, so that an outage elsewhere does not get a worker killed.
async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(serde_json::json!({ "status": "ok" }))
}

/// The figures that only the database knows come if it answers soon: the others tell most when it does not.
async fn text(shared: web::Data<(Metrics, Store)>) -> HttpResponse {
    let (metrics, store) = shared.get_ref();
    match tokio::time::timeout(PATIENCE, metrics.refresh(store)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(?error, "queue figures are not fresh"),
        Err(_) => tracing::warn!("queue figures are not fresh: the database does not answer in time"),
    }
    match metrics.text() {
        Ok(text) => HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(text),
        Err(error) => {
            tracing::error!(?error, "metrics cannot be written");
            HttpResponse::InternalServerError().finish()
        }
    }
}
