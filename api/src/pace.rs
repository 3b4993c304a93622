//! How slowly a request's body may come: a client that sends a byte now and then must not hold a request open for ever, nor the
//! memory that its body is read into. Both doors keep to it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// The least average rate [bytes/s] of a body that has been coming for longer than the patience.
const LEAST_RATE: u64 = 1024;

/// In so many times the patience a body that is read whole must be there.
const WHOLE_IN: u32 = 10;

/// What a client is told.
pub(crate) const TOO_SLOW: &str = "the body came too slowly; send it faster, or in pieces by a resumable upload";

/// The deadline of one body: `patience` without a byte, and a least rate after that; a body that is held in memory also has to end.
pub(crate) struct Pace {
    patience: Duration,
    within: Option<Duration>,
    begin: Instant,
    received: u64,
    silence: Pin<Box<Sleep>>,
}

impl Pace {
    /// Begins now.
    pub(crate) fn new(patience: Duration, is_held: bool) -> Self {
        let within = is_held.then_some(patience.saturating_mul(WHOLE_IN));
        Self { patience, within, begin: Instant::now(), received: 0, silence: Box::pin(sleep(patience)) }
    }

    /// Counts bytes that came; whether they came in time.
    pub(crate) fn received(&mut self, bytes: usize) -> bool {
        self.received = self.received.saturating_add(bytes as u64);
        if !self.is_in_time(self.begin.elapsed()) {
            return false;
        }
        let deadline = Instant::now() + self.patience;
        self.silence.as_mut().reset(deadline);
        true
    }

    /// Whether what was received is enough after so long.
    fn is_in_time(&self, elapsed: Duration) -> bool {
        let late = elapsed.saturating_sub(self.patience).as_secs();
        self.received >= late.saturating_mul(LEAST_RATE) && self.within.is_none_or(|within| elapsed <= within)
    }

    /// Ready when nothing has come for too long.
    pub(crate) fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.silence.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_is_held_in_memory_has_to_end() {
        let after = |received: u64, seconds: u64, is_held: bool| {
            let pace = Pace { received, ..Pace::new(Duration::from_secs(30), is_held) };
            pace.is_in_time(Duration::from_secs(seconds))
        };
        assert!(after(0, 30, false) && !after(0, 31, false));
        assert!(after(3600 * 1024, 3600, false) && !after(3500 * 1024, 3600, false));
        assert!(after(1 << 30, 300, true) && !after(1 << 30, 301, true));
    }
}
