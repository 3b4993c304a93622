//! Which deployment a database, a queue and objects belong to. A worker that knew another's database would throw messages away, and
//! retention another's objects: whoever starts compares first.

use object_store::{ObjectStoreExt, path::Path};

use crate::connection::Store;
use crate::error::StoreError;
use crate::objects::Objects;

/// Where objects say whose they are, beside their folder.
const MARK: &str = "deployment";

impl Store {
    /// The deployment's id, made when it is first asked for; it stays with the database, also in a backup.
    pub async fn deployment(&self) -> Result<String, StoreError> {
        let fresh = uuid::Uuid::new_v4().to_string();
        self.shared_secret("deployment", &fresh, self.now().await?).await
    }
}

impl Objects {
    /// Marks objects that are nobody's as the deployment's.
    ///
    /// # Errors
    /// When they are another's.
    pub async fn belong_to(&self, deployment: &str) -> Result<(), StoreError> {
        let mark = Path::from_iter([self.prefix.as_str(), MARK].into_iter().filter(|part| !part.is_empty()));
        if let Err(object_store::Error::NotFound { .. }) = self.store.head(&mark).await {
            self.store.put(&mark, deployment.to_owned().into()).await?;
        }
        let found = self.store.get(&mark).await?.bytes().await?;
        let owner = String::from_utf8_lossy(&found).trim().to_owned();
        if owner == deployment {
            return Ok(());
        }
        Err(StoreError::ForeignObjects { owner, deployment: deployment.to_owned(), mark: mark.to_string() })
    }
}
