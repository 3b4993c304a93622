//! Times as the database keeps them. The store reads no clock: callers say what time it is.

/// Milliseconds since 1970-01-01 UTC.
pub type UnixMillis = i64;
