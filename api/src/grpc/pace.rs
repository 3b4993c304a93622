//! Bodies of calls under [`Pace`]: also of those that tonic reads whole before a handler sees them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;

use super::status::status;
use crate::error::{ApiError, Code};
use crate::pace::{Pace, TOO_SLOW};
use crate::room::{Held, no_room};

struct Paced {
    body: Body,
    pace: Pace,
    held: Option<Arc<Held>>,
}

/// Gives a call's body a deadline, and has it hold room if it is read whole.
pub(super) fn pace(body: Body, patience: Duration, held: Option<Arc<Held>>) -> Body {
    Body::new(Paced { body, pace: Pace::new(patience, held.is_some()), held })
}

impl http_body::Body for Paced {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let too_slow = || Poll::Ready(Some(Err(status(ApiError::new(Code::RequestTimeout, TOO_SLOW)))));
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if !self.pace.received(bytes) {
                    return too_slow();
                }
                if self.held.as_ref().is_some_and(|held| !held.hold(bytes)) {
                    return Poll::Ready(Some(Err(status(no_room()))));
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(other) => Poll::Ready(other),
            Poll::Pending => match self.pace.poll_silence(cx) {
                Poll::Ready(()) => too_slow(),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
