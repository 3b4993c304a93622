//! The wall clock: the only place of this crate that reads it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use foresite_store::time::UnixMillis;

/// Now, in Unix milliseconds.
pub fn now() -> UnixMillis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A duration in milliseconds.
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
