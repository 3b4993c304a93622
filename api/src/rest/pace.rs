//! Bodies of HTTP requests under [`Pace`].

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use bytes::Bytes;
use futures::Stream;

use crate::error::{ApiError, Code};
use crate::pace::{Pace, TOO_SLOW};
use crate::room::{Held, no_room};

struct Paced {
    body: Payload,
    pace: Pace,
    held: Option<Arc<Held>>,
}

/// Gives a request's body a deadline, and has it hold room if it is read whole.
pub(super) fn pace(request: ServiceRequest, patience: Duration, held: Option<Arc<Held>>) -> ServiceRequest {
    let (request, body) = request.into_parts();
    let paced = Paced { body, pace: Pace::new(patience, held.is_some()), held };
    ServiceRequest::from_parts(request, Payload::Stream { payload: Box::pin(paced) })
}

impl Stream for Paced {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let too_slow = || Poll::Ready(Some(Err(PayloadError::Io(io::ErrorKind::TimedOut.into()))));
        match Pin::new(&mut self.body).poll_next(cx) {
            Poll::Ready(Some(Ok(chunk))) if !self.pace.received(chunk.len()) => too_slow(),
            Poll::Ready(Some(Ok(chunk))) if self.held.as_ref().is_some_and(|held| !held.hold(chunk.len())) => {
                Poll::Ready(Some(Err(PayloadError::Io(io::ErrorKind::OutOfMemory.into()))))
            }
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
        PayloadError::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => no_room(),
        PayloadError::Overflow => ApiError::new(Code::PayloadTooLarge, "the body is too large"),
        error => ApiError::new(Code::InvalidRequest, format!("the body broke off: {error}")),
    }
}
