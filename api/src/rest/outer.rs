//! What happens around every request: a trace id, a span, one histogram, and every refusal as a problem document.

use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::{InternalError, PayloadError};
use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, web};
use tracing::Instrument;

use super::pace;
use super::problem::{Problem, from_status};
use crate::context::Context;
use crate::error::ApiError;
use crate::openapi;
use crate::trace_id;

/// Names the request in our answers.
const TRACE_HEADER: HeaderName = HeaderName::from_static("x-trace-id");

/// Wraps every route.
pub(super) async fn outer(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<actix_web::body::BoxBody>, Error> {
    let begin = Instant::now();
    let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let trace_id = trace_id::of(traceparent.as_deref());
    let context = request.app_data::<web::Data<Context>>().cloned();
    let method = request.method().as_str().to_owned();
    let span = tracing::info_span!("http", trace.id = %trace_id, http.method = %method, http.path = request.path());

    trace_id::join(&span, &trace_id, traceparent.as_deref());
    let mut response = match trace_id::scope(trace_id.clone(), next.call(request).instrument(span.clone())).await {
        Ok(response) => explain(response.map_into_boxed_body(), &trace_id),
        Err(error) => {
            // Handlers' errors are answers already; this one comes from between, where the request is no longer ours.
            let problem = problem_of(&error, &trace_id);
            return Err(InternalError::from_response(error, problem).into());
        }
    };
    if let Ok(value) = HeaderValue::from_str(&trace_id) {
        response.headers_mut().insert(TRACE_HEADER, value);
    }
    // The pattern, never the path: labels hold no ids.
    let route = response.request().match_pattern().unwrap_or_else(|| "unmatched".to_owned());
    let seconds = begin.elapsed().as_secs_f64();
    let status = response.status();
    if let Some(context) = context {
        context.metrics.http(&route, &method, status.as_u16(), seconds);
    }
    span.in_scope(
        || tracing::info!(http.route = %route, http.status = status.as_u16(), duration_seconds = seconds, "request"),
    );
    Ok(response)
}

/// Replaces the body of a refusal by its problem document; a fault of ours is logged here and nowhere else.
fn explain(response: ServiceResponse, trace_id: &str) -> ServiceResponse {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    if let Some(error) = response.response().error().and_then(actix_web::Error::as_error::<ApiError>)
        && let Some(context) = response.request().app_data::<web::Data<Context>>()
    {
        context.metrics.refused(error.code());
    }
    let problem = match response.response().error() {
        Some(error) => problem_of(error, trace_id),
        None if is_ours(&response) => return response,
        None => match response.request().match_pattern().as_deref().and_then(openapi::methods) {
            Some(methods) if status == StatusCode::NOT_FOUND => wrong_method(methods, trace_id),
            _ => {
                let error = from_status(status, "");
                error.log(trace_id);
                Problem::response(&error, trace_id)
            }
        },
    };
    ServiceResponse::new(response.into_parts().0, problem)
}

/// The path exists, the method does not; to the router that is the same as no path.
fn wrong_method(methods: &'static str, trace_id: &str) -> HttpResponse {
    let error = from_status(StatusCode::METHOD_NOT_ALLOWED, "");
    let mut response = Problem::response(&error, trace_id);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// Pages and probes answer refusals with bodies of their own.
fn is_ours(response: &ServiceResponse) -> bool {
    response.headers().contains_key(actix_web::http::header::CONTENT_TYPE)
}

fn problem_of(error: &Error, trace_id: &str) -> actix_web::HttpResponse {
    if let Some(error) = error.as_error::<ApiError>() {
        error.log(trace_id);
        return Problem::response(error, trace_id);
    }
    if let Some(error) = error.as_error::<PayloadError>() {
        let error = pace::fault(error);
        return Problem::response(&error, trace_id);
    }
    let status = error.as_response_error().status_code();
    let error = from_status(status, &error.to_string());
    error.log(trace_id);
    Problem::response(&error, trace_id)
}
