//! Room in memory for bodies that are read whole before they are judged. Each process has so much, of which no tenant gets more
//! than half; whoever finds none is to come again. Bodies that are streamed to disk need none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foresite_store::ids::TenantId;

use crate::error::{ApiError, Code};

/// The least room, whatever a configuration may have [bytes].
const LEAST_BYTES: usize = 64 << 20;
/// Largest configurations that may be received at once.
const AT_ONCE: usize = 4;
/// A tenant's part of the room is one in so many.
const TENANT_PART: usize = 2;
/// The part of all callers without a token together: they have nothing large to send.
const STRANGERS_PART: usize = 8;

/// What a process has.
#[derive(Clone, Debug)]
pub struct Room(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bytes: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    /// By tenant, `None` for callers without a token; none that holds nothing.
    by_tenant: HashMap<Option<TenantId>, usize>,
}

/// What a request holds; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    room: Arc<Shared>,
    tenant: Option<TenantId>,
    bytes: Mutex<usize>,
}

impl Room {
    /// Room for a few of the largest configurations.
    pub fn new(config_bytes: usize) -> Self {
        let bytes = config_bytes.saturating_mul(AT_ONCE).max(LEAST_BYTES);
        Self(Arc::new(Shared { bytes, used: Mutex::default() }))
    }

    /// A tenant's request that holds nothing yet; `None` for a caller without a token.
    pub(crate) fn enter(&self, tenant: Option<TenantId>) -> Arc<Held> {
        Arc::new(Held { room: Arc::clone(&self.0), tenant, bytes: Mutex::default() })
    }
}

impl Held {
    /// Holds more; whether there was room.
    pub(crate) fn hold(&self, more: usize) -> bool {
        let part = if self.tenant.is_some() { TENANT_PART } else { STRANGERS_PART };
        let mut used = self.room.used.lock().unwrap_or_else(PoisonError::into_inner);
        let own = used.by_tenant.get(&self.tenant).copied().unwrap_or_default().saturating_add(more);
        let all = used.all.saturating_add(more);
        if own > self.room.bytes / part || all > self.room.bytes {
            return false;
        }
        used.all = all;
        used.by_tenant.insert(self.tenant.clone(), own);
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) += more;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let bytes = *self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = self.room.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.all = used.all.saturating_sub(bytes);
        if let Some(own) = used.by_tenant.get_mut(&self.tenant) {
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                used.by_tenant.remove(&self.tenant);
            }
        }
    }
}

/// What whoever finds no room is told.
pub(crate) fn no_room() -> ApiError {
    let detail = "too much is being received at once; send it again in a moment";
    ApiError::later(Code::RateLimited, detail, Duration::from_secs(5))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tenant(name: &str) -> Option<TenantId> {
        TenantId::parse(name)
    }

    #[test]
    fn room_is_given_back_and_never_exceeded() {
        let room = Room::new(LEAST_BYTES / AT_ONCE);
        let (one, other, third) = (room.enter(tenant("a")), room.enter(tenant("b")), room.enter(tenant("c")));
        assert!(one.hold(LEAST_BYTES / 2) && other.hold(LEAST_BYTES / 2 - 1) && third.hold(1));
        assert!(!third.hold(1) && !other.hold(1));
        drop(one);
        assert!(third.hold(LEAST_BYTES / 2 - 1));
        drop((other, third));
        assert!(room.0.used.lock().unwrap().by_tenant.is_empty());
    }

    #[test]
    fn no_tenant_takes_the_room_of_others() {
        let room = Room::new(LEAST_BYTES / AT_ONCE);
        let greedy: Vec<_> = (0..100).map(|_| room.enter(tenant("greedy"))).collect();
        assert_eq!(greedy.iter().filter(|held| held.hold(LEAST_BYTES / 10)).count(), 5);
        let strangers: Vec<_> = (0..100).map(|_| room.enter(None)).collect();
        assert_eq!(strangers.iter().filter(|held| held.hold(LEAST_BYTES / 100)).count(), 12);
        assert!(room.enter(tenant("calm")).hold(LEAST_BYTES / 3));
    }
}
