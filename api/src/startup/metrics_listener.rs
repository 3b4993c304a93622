//! `/metrics` on a listener of its own, so that it can stay inside; and `/healthz`, for workers have no other listener.

use std::net::TcpListener;

use actix_web::dev::Server;
use actix_web::{App, HttpResponse, HttpServer, web};
use foresite_store::Store;

use crate::error::{ApiError, ApiResult};
use crate::metrics::Metrics;

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

async fn text(shared: web::Data<(Metrics, Store)>) -> HttpResponse {
    let (metrics, store) = shared.get_ref();
    if let Err(error) = metrics.refresh(store).await {
        // The other figures are as good as ever.
        tracing::warn!(?error, "queue figures are not fresh");
    }
    match metrics.text() {
        Ok(text) => HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(text),
        Err(error) => {
            tracing::error!(?error, "metrics cannot be written");
            HttpResponse::InternalServerError().finish()
        }
    }
}
