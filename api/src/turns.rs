//! Turns for work of which a process does little at once. Tenants take turns: one that asks for much waits for itself, not others
//! for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foresite_store::ids::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, ApiResult};

/// Tenants remembered; beyond, those that have and want no turn are forgotten.
const TENANTS_MAX: usize = 1000;

/// So many turns at once.
#[derive(Debug)]
pub struct Turns {
    at_once: usize,
    all: Arc<Semaphore>,
    /// Of each tenant as many may have a turn or wait for one among the others; the rest wait here.
    tenants: Mutex<HashMap<TenantId, Arc<Semaphore>>>,
}

/// A turn; over when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _among_all: OwnedSemaphorePermit,
    _of_tenant: OwnedSemaphorePermit,
}

impl Turns {
    /// Turns for so many at once.
    pub fn new(at_once: usize) -> Self {
        Self { at_once, all: Arc::new(Semaphore::new(at_once)), tenants: Mutex::default() }
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// Never: the semaphores stay open.
    pub(crate) async fn take(&self, tenant: &TenantId) -> ApiResult<Turn> {
        let of_tenant = self.of(tenant).acquire_owned().await.map_err(ApiError::internal)?;
        // First come, first served: whoever has more to ask for stands behind those that came meanwhile.
        let among_all = Arc::clone(&self.all).acquire_owned().await.map_err(ApiError::internal)?;
        Ok(Turn { _among_all: among_all, _of_tenant: of_tenant })
    }

    fn of(&self, tenant: &TenantId) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() >= TENANTS_MAX {
            // Whoever has or wants a turn holds one more.
            tenants.retain(|_, own| Arc::strong_count(own) > 1);
        }
        Arc::clone(tenants.entry(tenant.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.at_once))))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn who_asks_for_much_waits_behind_who_asks_for_little() {
        let turns = Turns::new(2);
        let (greedy, calm) = (TenantId::parse("greedy").unwrap(), TenantId::parse("calm").unwrap());
        let (first, _second) = (turns.take(&greedy).await.unwrap(), turns.take(&greedy).await.unwrap());
        let mut more: Vec<_> = (0..100).map(|_| Box::pin(turns.take(&greedy))).collect();
        assert!(more.iter_mut().all(|turn| turn.now_or_never().is_none()));
        let mut other = Box::pin(turns.take(&calm));
        assert!((&mut other).now_or_never().is_none());
        drop(first);
        assert!(more.iter_mut().all(|turn| turn.now_or_never().is_none()));
        let turn = other.now_or_never().unwrap().unwrap();
        drop(turn);
        let served: Vec<_> = more.iter_mut().filter_map(|turn| turn.now_or_never()).collect();
        assert_eq!(served.len(), 1);
    }

    #[tokio::test]
    async fn tenants_without_a_turn_are_forgotten() {
        let turns = Turns::new(1);
        let held = turns.take(&TenantId::parse("held").unwrap()).await.unwrap();
        for number in 0..2 * TENANTS_MAX {
            turns.of(&TenantId::parse(&format!("t{number}")).unwrap());
        }
        let tenants = turns.tenants.lock().unwrap();
        assert!(tenants.len() <= TENANTS_MAX && tenants.contains_key(&TenantId::parse("held").unwrap()));
        drop(held);
    }
}
