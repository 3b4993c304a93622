//! Times as people read them.

/// RFC 3339 text of Unix milliseconds; empty for a time no calendar has.
pub(crate) fn rfc3339(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map(|time| time.to_string()).unwrap_or_default()
}
