//! How slowly a request's body may come: a client that sends a byte now and then must not hold a request open for ever. Both doors
//! keep to it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// The least average rate [bytes/s] of a body that has been coming for longer than the patience.
const LEAST_RATE: u64 = 1024;

/// What a client is told.
pub(crate) const TOO_SLOW: &str = "the body came too slowly; send it faster, or in pieces by a resumable upload";

/// The deadline of one body: `patience` without a byte, and a least rate after that.
pub(crate) struct Pace {
    patience: Duration,
    begin: Instant,
    received: u64,
    silence: Pin<Box<Sleep>>,
}

impl Pace {
    /// Begins now.
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, begin: Instant::now(), received: 0, silence: Box::pin(sleep(patience)) }
    }

    /// Counts bytes that came; whether they came in time.
    pub(crate) fn received(&mut self, bytes: usize) -> bool {
        self.received = self.received.saturating_add(bytes as u64);
        let late = self.begin.elapsed().saturating_sub(self.patience).as_secs();
        if self.received < late.saturating_mul(LEAST_RATE) {
            return false;
        }
        let deadline = Instant::now() + self.patience;
        self.silence.as_mut().reset(deadline);
        true
    }

    /// Ready when nothing has come for too long.
    pub(crate) fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.silence.as_mut().poll(cx)
    }
}
