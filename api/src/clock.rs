//! The wall clock, in one place.

pub(crate) use foresite_jobs_queue::clock::now as now_ms;

/// RFC 3339 text of Unix milliseconds; empty for a time no calendar has.
pub(crate) fn rfc3339(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map(|time| time.to_string()).unwrap_or_default()
}
