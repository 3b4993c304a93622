//! Database, objects and queue, as the settings name them.

use std::sync::Arc;

use foresite_jobs_queue::{LocalQueue, Queue, QueueError, RedisQueue};
use foresite_store::objects::Objects;
use foresite_store::{DatabaseUrl, Store, StoreError, migrations};
use secrecy::ExposeSecret;

use super::StartError;
use crate::config::{Config, StorageConfig};

/// Connections to PostgreSQL per process.
const MAX_CONNECTIONS: u32 = 16;
/// Prefix of our keys in Redis.
const NAMESPACE: &str = "foresite";

/// Where things are kept.
pub struct Storage {
    /// Rows.
    pub store: Store,
    /// Big things.
    pub objects: Objects,
    /// The doorbell.
    pub queue: Arc<dyn Queue>,
}

/// The database that the settings name.
///
/// # Errors
/// When its URL is not understood.
pub fn database_url(config: &StorageConfig) -> Result<DatabaseUrl, StoreError> {
    DatabaseUrl::parse(config.database_url.expose_secret())
}

impl Storage {
    /// Opens everything. The embedded database is migrated here; a shared one must have been.
    ///
    /// # Errors
    /// When something cannot be reached, or the database lacks migrations.
    pub async fn open(config: &Config) -> Result<Self, StartError> {
        let url = database_url(&config.storage)?;
        match &url {
            DatabaseUrl::Sqlite(_) => {
                migrations::up(&url).await?;
            }
            DatabaseUrl::Postgres(_) => {
                let missing: Vec<String> = migrations::status(&url)
                    .await?
                    .into_iter()
                    .filter(|step| !step.applied)
                    .map(|step| step.name)
                    .collect();
                if !missing.is_empty() {
                    return Err(StartError::NotMigrated(missing.join(", ")));
                }
            }
        }
        let store = Store::connect(&url, MAX_CONNECTIONS).await?;
        let objects = Objects::open(config.storage.objects_url.expose_secret())?;
        let queue: Arc<dyn Queue> = match &config.storage.redis_url {
            Some(url) => {
                let deployment = store.deployment().await?;
                Arc::new(RedisQueue::open(url.expose_secret(), NAMESPACE, &deployment, config.workers.lease)?)
            }
            None => Arc::new(LocalQueue::new()),
        };
        Ok(Self { store, objects, queue })
    }

    /// Makes sure that objects and queue are this database's. A Redis that is away is asked again before anything is read from it.
    ///
    /// # Errors
    /// When one is another's, or the objects cannot be reached.
    pub(super) async fn enter(&self) -> Result<(), StartError> {
        self.objects.belong_to(&self.store.deployment().await?).await?;
        match self.queue.enter().await {
            Err(QueueError::Unreachable(reason)) => {
                tracing::warn!(reason, "the queue cannot be reached; what is to be done waits in the database");
                Ok(())
            }
            entered => Ok(entered?),
        }
    }
}
