//! Bodies of HTTP requests under [`Pace`].

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use bytes::Bytes;
use futures::Stream;

use crate::error::{ApiError, Code};
use crate::pace::{Pace, TOO_SLOW};

struct Paced {
    body: Payload,
    pace: Pace,
}

/// Gives a request's body a deadline.
pub(super) fn pace(request: ServiceRequest, patience: Duration) -> ServiceRequest {
    let (request, body) = request.into_parts();
    let paced = Paced { body, pace: Pace::new(patience) };
    ServiceRequest::from_parts(request, Payload::Stream { payload: Box::pin(paced) })
}

impl Stream for Paced {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let too_slow = || Poll::Ready(Some(Err(PayloadError::Io(io::ErrorKind::TimedOut.into()))));
        match Pin::new(&mut self.body).poll_next(cx) {
            Poll::Ready(Some(Ok(chunk))) if !self.pace.received(chunk.len()) => too_slow(),
            Poll::Ready(other) => Poll::Ready(other),
            Poll::Pending => match self.pace.poll_silence(cx) {
                Poll::Ready(()) => too_slow(),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

/// A body that did not come whole, in our terms.
pub(super) fn fault(error: &PayloadError) -> ApiError {
    match error {
        PayloadError::Io(error) if error.kind() == io::ErrorKind::TimedOut => {
            ApiError::new(Code::RequestTimeout, TOO_SLOW)
        }
        PayloadError::Overflow => ApiError::new(Code::PayloadTooLarge, "the body is too large"),
        error => ApiError::new(Code::InvalidRequest, format!("the body broke off: {error}")),
    }
}
