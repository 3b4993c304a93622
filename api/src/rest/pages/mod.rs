//! Pages for people: plain HTML written here, no scripts, nothing loaded from elsewhere.

mod docs;
mod layout;
mod sign_in;
mod studies;

use actix_web::web;

/// Every page. They take a session cookie where REST takes a token.
pub(super) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/", web::get().to(studies::list))
        .route("/studies/{study}", web::get().to(studies::one))
        .route("/sign-in", web::get().to(sign_in::form))
        .route("/sign-in", web::post().to(sign_in::exchange))
        .route("/sign-out", web::post().to(sign_in::end))
        .route("/docs", web::get().to(docs::page_of_routes))
        .route("/assets/foresite.css", web::get().to(layout::stylesheet));
}
