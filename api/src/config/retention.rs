//! What goes when it is old.

use std::time::Duration;

use super::reader::Reader;

const DAY: Duration = Duration::from_secs(86_400);

/// How long things stay; `None` is for ever.
#[derive(Clone, Copy, Debug)]
pub struct RetentionConfig {
    /// `FORESITE_RETAIN_STUDIES_DAYS`: studies after their end, with their results; default for ever.
    pub studies: Option<Duration>,
    /// `FORESITE_RETAIN_TRACES_DAYS`: traces that no study reads; default for ever.
    pub traces: Option<Duration>,
    /// `FORESITE_RETAIN_AUDIT_DAYS`: lines of the audit log; default for ever.
    pub audit: Option<Duration>,
    /// `FORESITE_RETAIN_IDEMPOTENCY_DAYS`: idempotency keys; default 30.
    pub idempotency_keys: Option<Duration>,
    /// `FORESITE_RETAIN_DELIVERIES_DAYS`: webhooks' deliveries after their end; default 30.
    pub deliveries: Option<Duration>,
    /// `FORESITE_RETAIN_UPLOADS_DAYS`: uploads that nothing is added to; default 2.
    pub uploads: Option<Duration>,
    /// `FORESITE_RETENTION_INTERVAL_SECONDS`: how often all this is looked at, and objects that nothing points to are removed (a
    /// day after they were written); default 3600.
    pub interval: Duration,
}

/// Reads `FORESITE_RETAIN_*`; 0 is for ever.
pub(super) fn retention(reader: &mut Reader<'_>) -> RetentionConfig {
    let mut days = |variable, default| Some(DAY * reader.parsed::<u32>(variable, default)).filter(|d| !d.is_zero());
    let studies = days("FORESITE_RETAIN_STUDIES_DAYS", 0);
    let traces = days("FORESITE_RETAIN_TRACES_DAYS", 0);
    let audit = days("FORESITE_RETAIN_AUDIT_DAYS", 0);
    let idempotency_keys = days("FORESITE_RETAIN_IDEMPOTENCY_DAYS", 30);
    let deliveries = days("FORESITE_RETAIN_DELIVERIES_DAYS", 30);
    let uploads = days("FORESITE_RETAIN_UPLOADS_DAYS", 2);
    let interval = Duration::from_secs(reader.parsed::<u32>("FORESITE_RETENTION_INTERVAL_SECONDS", 3600).max(1).into());
    RetentionConfig { studies, traces, audit, idempotency_keys, deliveries, uploads, interval }
}
