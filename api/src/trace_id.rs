//! The id of the request at work: in its log lines, its problem document, its lines of the audit log.

use std::future::Future;

use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing_opentelemetry::OpenTelemetrySpanExt;

tokio::task_local! {
    static CURRENT: String;
}

/// Runs a request's future under its id.
pub(crate) async fn scope<T>(id: String, request: impl Future<Output = T>) -> T {
    CURRENT.scope(id, request).await
}

/// The id of the request at work; `None` outside of one.
pub(crate) fn current() -> Option<String> {
    CURRENT.try_with(Clone::clone).ok()
}

/// The caller's trace id (W3C Trace Context `traceparent`), or a new one.
pub(crate) fn of(traceparent: Option<&str>) -> String {
    match traceparent.and_then(|value| value.split('-').nth(1)) {
        Some(id) if id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) => id.to_ascii_lowercase(),
        _ => uuid::Uuid::new_v4().simple().to_string(),
    }
}

/// Makes a span part of the request's trace, for OpenTelemetry; without it nothing happens. The parent is the caller's span, or one
/// that nobody has seen.
pub(crate) fn join(span: &tracing::Span, id: &str, traceparent: Option<&str>) {
    let parent = traceparent.and_then(|value| value.split('-').nth(2)).filter(|parent| parent.len() == 16);
    let parent = parent.or(id.get(16..)).unwrap_or_default();
    let (Ok(trace), Ok(parent)) = (TraceId::from_hex(id), SpanId::from_hex(parent)) else { return };
    let remote = SpanContext::new(trace, parent, TraceFlags::SAMPLED, true, TraceState::default());
    if let Err(error) = span.set_parent(opentelemetry::Context::new().with_remote_span_context(remote)) {
        tracing::trace!(%error, "no OpenTelemetry");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_traceparent_is_carried_on() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(of(Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")), id);
        assert_eq!(of(Some("00-short-x")).len(), 32);
        assert_eq!(of(None).len(), 32);
    }
}
