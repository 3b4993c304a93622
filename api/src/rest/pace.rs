//! Bodies that come too slowly: a client that sends a byte now and then must not hold a request open for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use bytes::Bytes;
use futures::Stream;
use tokio::time::{Instant, Sleep, sleep};

use crate::error::{ApiError, Code};

/// The least average rate [bytes/s] of a body that has been coming for longer than the patience.
const LEAST_RATE: u64 = 1024;

struct Paced {
    body: Payload,
    patience: Duration,
    begin: Instant,
    received: u64,
    silence: Pin<Box<Sleep>>,
}

/// Gives a request's body a deadline: `patience` without a byte, and a least rate after that.
pub(super) fn pace(request: ServiceRequest, patience: Duration) -> ServiceRequest {
    let (request, body) = request.into_parts();
    let paced = Paced { body, patience, begin: Instant::now(), received: 0, silence: Box::pin(sleep(patience)) };
    ServiceRequest::from_parts(request, Payload::Stream { payload: Box::pin(paced) })
}

impl Paced {
    fn is_too_slow(&self) -> bool {
        let late = self.begin.elapsed().saturating_sub(self.patience).as_secs();
        self.received < late.saturating_mul(LEAST_RATE)
    }
}

impl Stream for Paced {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let too_slow = || Poll::Ready(Some(Err(PayloadError::Io(io::ErrorKind::TimedOut.into()))));
        match Pin::new(&mut self.body).poll_next(cx) {
            Poll::Ready(Some(Ok(chunk))) => {
                self.received = self.received.saturating_add(chunk.len() as u64);
                if self.is_too_slow() {
                    return too_slow();
                }
                let deadline = Instant::now() + self.patience;
                self.silence.as_mut().reset(deadline);
                Poll::Ready(Some(Ok(chunk)))
            }
            Poll::Ready(end) => Poll::Ready(end),
            Poll::Pending => match self.silence.as_mut().poll(cx) {
                Poll::Ready(()) => too_slow(),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

/// A body that did not come whole, in our terms.
pub(super) fn fault(error: &PayloadError) -> ApiError {
    match error {
        PayloadError::Io(error) if error.kind() == io::ErrorKind::TimedOut => ApiError::new(
            Code::RequestTimeout,
            "the body came too slowly; send it faster, or in pieces by a resumable upload",
        ),
        PayloadError::Overflow => ApiError::new(Code::PayloadTooLarge, "the body is too large"),
        error => ApiError::new(Code::InvalidRequest, format!("the body broke off: {error}")),
    }
}
