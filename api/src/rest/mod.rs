//! The REST door and the pages: decodes, calls one function of `app`, encodes.

mod audit;
mod conditional;
mod configs;
mod events;
mod extract;
mod guard;
mod links;
mod operation;
mod outer;
mod pace;
pub mod pages;
pub mod problem;
mod quotas;
mod results;
mod sites;
mod studies;
mod tokens;
mod traces;
mod uploads;
pub mod views;
mod webhooks;

use std::net::TcpListener;

use actix_web::dev::Server;
use actix_web::middleware::{DefaultHeaders, from_fn};
use actix_web::{App, HttpServer, web};
use foresite_formats::diagnostic::Diagnostic;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// Pages load nothing from elsewhere, run no scripts, and may be framed by nobody else.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    frame-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'";
/// The largest JSON body other than a study.
const JSON_MAX_BYTES: usize = 64 << 10;

/// Every documented route. The OpenAPI document is collected from this very list.
pub fn routes(config: &mut ServiceConfig<'_>) {
    config
        .configure(operation::routes)
        .configure(sites::routes)
        .configure(configs::routes)
        .configure(traces::routes)
        .configure(studies::routes)
        .configure(events::routes)
        .configure(results::routes)
        .configure(tokens::routes)
        .configure(audit::routes)
        .configure(quotas::routes)
        .configure(webhooks::routes)
        .configure(links::routes)
        .configure(uploads::routes);
}

/// The server on a bound listener; it runs once it is awaited, and stops gracefully.
///
/// # Errors
/// When the listener cannot be used.
pub fn server(context: web::Data<Context>, listener: TcpListener) -> ApiResult<Server> {
    let (head_timeout, shutdown) = (context.limits.request_timeout, context.limits.shutdown);
    let (study_bytes, connections) = (context.limits.study_bytes, context.limits.connections);
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let server = HttpServer::new(move || {
        let headers = DefaultHeaders::new()
            .add(("x-content-type-options", "nosniff"))
            .add(("referrer-policy", "same-origin"))
            .add(("content-security-policy", CONTENT_SECURITY_POLICY));
        App::new()
            .app_data(context.clone())
            .app_data(web::PayloadConfig::new(study_bytes))
            .app_data(
                web::JsonConfig::default().limit(JSON_MAX_BYTES).error_handler(|error, _| json_fault(&error).into()),
            )
            .app_data(
                web::FormConfig::default().limit(JSON_MAX_BYTES).error_handler(|error, _| form_fault(&error).into()),
            )
            .app_data(web::QueryConfig::default().error_handler(|error, _| invalid(&error.to_string()).into()))
            .app_data(
                web::PathConfig::default().error_handler(|error, _| {
                    ApiError::new(Code::NotFound, format!("no such address: {error}")).into()
                }),
            )
            .wrap(from_fn(guard::guard))
            .wrap(from_fn(conditional::conditional))
            .wrap(from_fn(outer::outer))
            .wrap(headers)
            .configure(|config| routes(&mut ServiceConfig::new(config)))
            .configure(pages::routes)
            .route("/openapi.json", web::get().to(operation::openapi_json))
    })
    .workers(workers)
    .max_connections(connections.div_ceil(workers).max(1))
    .client_request_timeout(head_timeout)
    .client_disconnect_timeout(head_timeout)
    .shutdown_timeout(shutdown.as_secs())
    .disable_signals()
    .listen(listener)
    .map_err(ApiError::internal)?;
    Ok(server.run())
}

fn invalid(words: &str) -> ApiError {
    ApiError::new(Code::InvalidRequest, words)
}

fn form_fault(error: &actix_web::error::UrlencodedError) -> ApiError {
    use actix_web::error::UrlencodedError;
    match error {
        UrlencodedError::Overflow { .. } => {
            ApiError::new(Code::PayloadTooLarge, format!("at most {JSON_MAX_BYTES} bytes are read here"))
        }
        UrlencodedError::ContentType => ApiError::new(Code::UnsupportedMediaType, "send a form"),
        UrlencodedError::Payload(error) => pace::fault(error),
        other => invalid(&other.to_string()),
    }
}

fn json_fault(error: &actix_web::error::JsonPayloadError) -> ApiError {
    use actix_web::error::JsonPayloadError;
    match error {
        JsonPayloadError::Overflow { .. } | JsonPayloadError::OverflowKnownLength { .. } => {
            ApiError::new(Code::PayloadTooLarge, format!("at most {JSON_MAX_BYTES} bytes are read here"))
        }
        JsonPayloadError::ContentType => ApiError::new(Code::UnsupportedMediaType, "send application/json"),
        // Shape and unknown fields: serde names the field and the place.
        JsonPayloadError::Deserialize(error) if error.is_data() => {
            let fault = Diagnostic::error("", error.to_string()).cure("see /docs for the fields");
            ApiError::refused(Code::InvalidField, vec![fault])
        }
        JsonPayloadError::Payload(error) => pace::fault(error),
        other => invalid(&other.to_string()),
    }
}
