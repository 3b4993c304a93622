//! The id of the request at work: in its log lines, its problem document, its lines of the audit log.

use std::future::Future;

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
