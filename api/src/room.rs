//! Room in memory for bodies that are read whole before they are judged. Each process has so much; whoever finds none is to come again.
//! Bodies that are streamed to disk need none.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, Code};

/// Room is counted in pieces of so many bytes.
const PIECE: usize = 1024;
/// The least room, whatever a configuration may have.
const LEAST_BYTES: usize = 64 << 20;
/// Largest configurations that may be received at once.
const AT_ONCE: usize = 4;

/// What a process has.
#[derive(Clone, Debug)]
pub struct Room(Arc<Semaphore>);

/// What a request holds; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    room: Arc<Semaphore>,
    bytes: Mutex<(usize, Option<OwnedSemaphorePermit>)>,
}

impl Room {
    /// Room for a few of the largest configurations.
    pub fn new(config_bytes: usize) -> Self {
        let bytes = config_bytes.saturating_mul(AT_ONCE).max(LEAST_BYTES);
        Self(Arc::new(Semaphore::new((bytes / PIECE).min(Semaphore::MAX_PERMITS))))
    }

    /// A request that holds nothing yet.
    pub(crate) fn enter(&self) -> Arc<Held> {
        Arc::new(Held { room: Arc::clone(&self.0), bytes: Mutex::default() })
    }
}

impl Held {
    /// Holds more; whether there was room.
    pub(crate) fn hold(&self, more: usize) -> bool {
        let mut held = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let pieces = |bytes: usize| u32::try_from(bytes.div_ceil(PIECE)).unwrap_or(u32::MAX);
        let (before, after) = (pieces(held.0), pieces(held.0.saturating_add(more)));
        held.0 = held.0.saturating_add(more);
        let Ok(fresh) = Arc::clone(&self.room).try_acquire_many_owned(after - before) else { return false };
        match &mut held.1 {
            Some(permit) => permit.merge(fresh),
            none => *none = Some(fresh),
        }
        true
    }
}

/// What whoever finds no room is told.
pub(crate) fn no_room() -> ApiError {
    let detail = "too much is being received at once; send it again in a moment";
    ApiError::later(Code::RateLimited, detail, Duration::from_secs(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back_and_never_exceeded() {
        let room = Room::new(LEAST_BYTES / AT_ONCE);
        let (first, second) = (room.enter(), room.enter());
        assert!(first.hold(LEAST_BYTES - PIECE) && second.hold(1) && second.hold(PIECE - 1));
        assert!(!second.hold(1) && !first.hold(1));
        drop(first);
        assert!(second.hold(LEAST_BYTES - 2 * PIECE));
    }
}
