//! Times as the database keeps them, and what time it is.
//!
//! [`Store::now`] asks the database, whose clock is the one that all processes share: those of their machines may differ by hours,
//! or jump. Nothing else decides when a lease ends, what is due, or what is old. The store's other functions are told the time by
//! their callers, so that tests can be told any.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel::sql_types::BigInt;

use crate::connection::{Conn, Store, first};
use crate::error::StoreError;

/// Milliseconds since 1970-01-01 UTC.
pub type UnixMillis = i64;

/// How long an answer is carried on by the monotonic clock before the database is asked again.
const FRESH: Duration = Duration::from_secs(1);

/// A duration in milliseconds.
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The database's last answer, and when it was given by this process's monotonic clock.
#[derive(Debug, Default)]
pub(crate) struct Clock(Mutex<Option<(Instant, UnixMillis)>>);

impl Clock {
    fn carried_on(&self) -> Option<UnixMillis> {
        let (at, told) = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let since = at.elapsed();
        (since < FRESH).then(|| told.saturating_add(millis(since)))
    }

    fn set(&self, at: Instant, told: UnixMillis) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, told));
    }
}

impl Store {
    /// What time it is by the database's clock, as exact as the way to it is short. Costs a query a second at most.
    pub async fn now(&self) -> Result<UnixMillis, StoreError> {
        if let Some(now) = self.clock.carried_on() {
            return Ok(now);
        }
        let mut conn = self.read().await?;
        let asked = Instant::now();
        let clock = match &conn {
            Conn::Postgres(..) => "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
            Conn::Sqlite(..) => "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS BIGINT)",
        };
        let told: Option<UnixMillis> = first!(&mut conn, diesel::select(diesel::dsl::sql::<BigInt>(clock)))?;
        let told = told.ok_or(diesel::result::Error::NotFound)?;
        // It was told somewhere between question and answer.
        self.clock.set(asked + asked.elapsed() / 2, told);
        Ok(told)
    }
}
