//! One reader of the database per watched study and process, however many watch it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foresite_store::events::StudyEvent;
use foresite_store::ids::{StudyId, TenantId};
use foresite_store::{Store, StoreError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::app::studies::EVENTS_AT_ONCE;

/// How often the database is asked. It is the truth for every process, so no other channel is needed.
const INTERVAL: Duration = Duration::from_millis(500);
/// Events a watcher may be behind before it must look in the database itself.
const CAPACITY: usize = 64;

type Key = (TenantId, StudyId);

/// The studies that are watched now.
pub struct Hub {
    store: Store,
    shutdown: CancellationToken,
    channels: Mutex<HashMap<Key, broadcast::Sender<Arc<StudyEvent>>>>,
}

impl Hub {
    /// A hub that nobody watches yet. Its readers end with `shutdown`.
    pub fn new(store: Store, shutdown: CancellationToken) -> Arc<Self> {
        Arc::new(Self { store, shutdown, channels: Mutex::default() })
    }

    /// The events of a study from now on. `last` is the number of the study's last event, or of an earlier one; those since may
    /// come again. Closed when the study has ended, when the service stops, and when the database is away: whoever listens then
    /// looks for itself.
    ///
    /// Nothing is missed by who subscribes first and reads the database then.
    pub(super) fn subscribe(self: &Arc<Self>, key: Key, last: i64) -> broadcast::Receiver<Arc<StudyEvent>> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = channels.get(&key) {
            return sender.subscribe();
        }
        let (sender, receiver) = broadcast::channel(CAPACITY);
        channels.insert(key.clone(), sender.clone());
        tokio::spawn(Arc::clone(self).read(key, last, sender));
        receiver
    }

    async fn read(self: Arc<Self>, key: Key, mut after: i64, sender: broadcast::Sender<Arc<StudyEvent>>) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.shutdown.cancelled() => break,
            }
            if self.is_forsaken(&key, &sender) {
                return;
            }
            match self.look(&key, after).await {
                Ok((events, more)) => {
                    for event in events {
                        after = event.seq;
                        // Nobody may be left; that is found out at the next turn.
                        sender.send(Arc::new(event)).ok();
                    }
                    if !more {
                        break;
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "a watched study cannot be read");
                    break;
                }
            }
        }
        self.channels.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    /// Whether nobody listens any more; the channel is gone then. Under the lock that new listeners take.
    fn is_forsaken(&self, key: &Key, sender: &broadcast::Sender<Arc<StudyEvent>>) -> bool {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        let is_forsaken = sender.receiver_count() == 0;
        if is_forsaken {
            channels.remove(key);
        }
        is_forsaken
    }

    /// The events after `after`, and whether more may come.
    async fn look(&self, (tenant, study): &Key, after: i64) -> Result<(Vec<StudyEvent>, bool), StoreError> {
        // The row first: whatever it counts as told is then found among the events.
        let Some(row) = self.store.study_head(tenant, study).await? else { return Ok((Vec::new(), false)) };
        let events = self.store.study_events(tenant, study, after, EVENTS_AT_ONCE as i64).await?;
        let told = events.last().map_or(after, |event| event.seq);
        Ok((events, !row.state.is_final() || told < row.last_event))
    }
}
