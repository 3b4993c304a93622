//! Removes what is old, and objects that nothing points to. Idempotent, so that any number of replicas may run it.
//!
//! An object goes when no row points to it and it was last written a day ago. Whoever stores bytes whose object is older than half
//! a day writes them again, so that an object that is coming back into use is young; and rows written while this runs are looked
//! at once more before each batch goes.

use std::time::Duration;

use foresite_store::Store;
use foresite_store::objects::{GRACE_MS, ObjectHash, Objects};
use foresite_store::time::UnixMillis;
use futures::TryStreamExt;
use tokio_util::sync::CancellationToken;

use crate::config::RetentionConfig;
use crate::error::ApiResult;

/// Rows removed in one transaction, and objects between two looks at new rows.
const BATCH: usize = 100;

/// The part of the service that tidies up.
pub struct Janitor {
    /// Rows.
    pub store: Store,
    /// Big things.
    pub objects: Objects,
    /// How long they stay.
    pub keep: RetentionConfig,
}

/// What one round removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Studies with their results.
    pub studies: usize,
    /// Traces.
    pub traces: usize,
    /// Lines of the audit log.
    pub audit: usize,
    /// Idempotency keys.
    pub idempotency_keys: usize,
    /// Webhooks' deliveries.
    pub deliveries: usize,
    /// Uploads that were given up.
    pub uploads: usize,
    /// Objects.
    pub objects: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Janitor {
    /// Tidies up every interval until `shutdown`, first after one interval.
    pub async fn run(self, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(self.keep.interval) => {}
            }
            let round = tokio::select! {
                () = shutdown.cancelled() => return,
                round = self.tidy_now() => round,
            };
            match round {
                Ok(done) if done != Tidied::default() => tracing::info!(?done, "tidied up"),
                Ok(_) => {}
                Err(error) => tracing::warn!(?error, "not tidied up, will try again"),
            }
        }
    }

    async fn tidy_now(&self) -> ApiResult<Tidied> {
        self.tidy(self.store.now().await?).await
    }

    /// One round.
    ///
    /// # Errors
    /// When database or objects are away; what was removed until then is gone, the rest goes next time.
    pub async fn tidy(&self, now: UnixMillis) -> ApiResult<Tidied> {
        let mut done = Tidied::default();
        let before = |keep: Option<Duration>| keep.map(|keep| now - i64::try_from(keep.as_millis()).unwrap_or(now));
        if let Some(before) = before(self.keep.studies) {
            done.studies = self.old_studies(before).await?;
        }
        if let Some(before) = before(self.keep.traces) {
            done.traces = self.unread_traces(before).await?;
        }
        if let Some(before) = before(self.keep.audit) {
            done.audit = self.store.prune_audit(before).await?;
        }
        if let Some(before) = before(self.keep.idempotency_keys) {
            done.idempotency_keys = self.store.prune_idempotency_keys(before).await?;
        }
        if let Some(before) = before(self.keep.deliveries) {
            done.deliveries = self.store.prune_deliveries(before).await?;
        }
        if let Some(before) = before(self.keep.uploads) {
            done.uploads = self.store.prune_uploads(before).await?;
        }
        (done.objects, done.bytes) = self.remove_unused(now).await?;
        Ok(done)
    }

    async fn old_studies(&self, before: UnixMillis) -> ApiResult<usize> {
        let mut total = 0;
        loop {
            let removed = self.store.prune_studies(before, BATCH as i64).await?;
            total += removed;
            if removed < BATCH {
                return Ok(total);
            }
        }
    }

    async fn unread_traces(&self, before: UnixMillis) -> ApiResult<usize> {
        let mut total = 0;
        loop {
            let removed = self.store.prune_traces(before, BATCH as i64).await?;
            total += removed;
            if removed < BATCH {
                return Ok(total);
            }
        }
    }

    async fn remove_unused(&self, now: UnixMillis) -> ApiResult<(usize, u64)> {
        let used = self.store.referenced_objects(0).await?;
        let mut unused: Vec<(ObjectHash, u64)> = Vec::new();
        let mut found = self.objects.list();
        while let Some(object) = found.try_next().await? {
            if now - object.modified_at >= GRACE_MS && !used.contains(&object.hash) {
                unused.push((object.hash, object.bytes));
            }
        }
        let (mut removed, mut bytes) = (0, 0);
        for batch in unused.chunks(BATCH) {
            // With room for transactions that took their time.
            let new = self.store.referenced_objects(now - 60_000).await?;
            for (hash, size) in batch.iter().filter(|(hash, _)| !new.contains(hash)) {
                let is_old = self.objects.modified_at(hash).await?.is_some_and(|at| now - at >= GRACE_MS);
                if is_old {
                    self.objects.delete(hash).await?;
                    removed += 1;
                    bytes += size;
                }
            }
        }
        Ok((removed, bytes))
    }
}
