//! A token bucket: so many at once, and so many per period.

use std::time::{Duration, Instant};

/// A bucket, full at first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    pub(super) fn full(capacity: i64, now: Instant) -> Self {
        Self { left: capacity as f64, at: now }
    }

    /// Takes one, or says how long until there is one. `capacity` per `period` flow in, up to `capacity`.
    pub(super) fn take(&mut self, capacity: i64, period: Duration, now: Instant) -> Result<(), Duration> {
        let per_second = capacity as f64 / period.as_secs_f64();
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * per_second;
        self.left = (self.left + gained).min(capacity as f64);
        self.at = now;
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        // A capacity of zero never has one: ask again after the whole period.
        let wait = if per_second > 0.0 { (1.0 - self.left) / per_second } else { period.as_secs_f64() };
        Err(Duration::from_secs_f64(wait.min(period.as_secs_f64())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_as_they_flow_in() {
        let start = Instant::now();
        let minute = Duration::from_secs(60);
        let mut bucket = Bucket::full(60, start);
        assert!((0..60).all(|_| bucket.take(60, minute, start).is_ok()));
        assert_eq!(bucket.take(60, minute, start), Err(Duration::from_secs(1)));
        let later = start + Duration::from_secs(2);
        assert!(bucket.take(60, minute, later).is_ok() && bucket.take(60, minute, later).is_ok());
        assert!(bucket.take(60, minute, later).is_err());
        let much_later = start + Duration::from_secs(3600);
        assert_eq!((0..100).filter(|_| bucket.take(60, minute, much_later).is_ok()).count(), 60);
    }

    #[test]
    fn nothing_flows_into_an_empty_limit() {
        let start = Instant::now();
        let mut bucket = Bucket::full(0, start);
        assert_eq!(bucket.take(0, Duration::from_secs(60), start), Err(Duration::from_secs(60)));
    }
}
