//! Objects: bytes addressed by their SHA-256, in a local folder or an S3-compatible store.
//!
//! Equal bytes are kept once. An object appears whole or not at all, never changes, and is checked when it is fetched.
//! What an object means (a trace, a schedule compressed with zstd) is its caller's business.

mod hash;
mod url;

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::error::StoreError;
use crate::time::UnixMillis;

pub use hash::ObjectHash;

/// Larger objects are sent in parts of this size.
const PART_BYTES: usize = 8 << 20;
const PARTS_IN_FLIGHT: usize = 4;
/// An object that nothing points to stays so long [ms]: its row may be about to be written. Whoever stores the same bytes in the
/// second half of that writes them again.
pub const GRACE_MS: i64 = 24 * 3_600_000;

/// The object store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Objects {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) prefix: String,
}

/// An object as [`Objects::list`] finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// The address.
    pub hash: ObjectHash,
    /// Size in bytes.
    pub bytes: u64,
    /// When it was last written [Unix milliseconds].
    pub modified_at: UnixMillis,
}

/// What [`Objects::put_stream`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutObject {
    /// The address.
    pub hash: ObjectHash,
    /// Size in bytes.
    pub bytes: u64,
    /// False if the same bytes were there before, and young enough.
    pub is_new: bool,
}

impl Objects {
    /// Opens `file:///FOLDER` (made if absent) or `s3://[KEY:SECRET@]BUCKET[/PREFIX][?endpoint=URL&region=NAME]`.
    /// S3 credentials outside the URL come from AWS's usual variables and instance services.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let (store, prefix) = url::open(url)?;
        Ok(Self { store, prefix })
    }

    /// Stores bytes.
    pub async fn put(&self, bytes: impl Into<Bytes>) -> Result<PutObject, StoreError> {
        let bytes = bytes.into();
        let hash = ObjectHash::of(&bytes);
        let size = bytes.len() as u64;
        let is_new = !self.is_fresh(&hash).await?;
        if is_new {
            self.store.put(&self.path(&hash), bytes.into()).await?;
        }
        Ok(PutObject { hash, bytes: size, is_new })
    }

    /// Stores a stream of at most `limit` bytes, without holding it in memory: it is written to a temporary file first, since
    /// its address is known only at its end.
    pub async fn put_stream<S, E>(&self, stream: S, limit: u64) -> Result<PutObject, StoreError>
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin,
        E: Into<StoreError>,
    {
        let mut stream = stream;
        let mut file = tokio::fs::File::from_std(tempfile::tempfile()?);
        let mut sha = Sha256::new();
        let mut size = 0_u64;
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(Into::into)?;
            size = size.saturating_add(chunk.len() as u64);
            if size > limit {
                return Err(StoreError::TooLarge { limit });
            }
            sha.update(&chunk);
            file.write_all(&chunk).await?;
        }
        file.flush().await?;
        file.rewind().await?;
        let hash = ObjectHash::from_digest(sha.finalize().as_slice());
        let is_new = !self.is_fresh(&hash).await?;
        if is_new {
            self.upload(&hash, file).await?;
        }
        Ok(PutObject { hash, bytes: size, is_new })
    }

    /// Stores a local file.
    pub async fn put_file(&self, path: &std::path::Path) -> Result<PutObject, StoreError> {
        let file = tokio::fs::File::open(path).await?;
        let chunks = futures::stream::try_unfold(file, |mut file| async move {
            let chunk = read_part(&mut file).await?;
            Ok::<_, std::io::Error>(if chunk.is_empty() { None } else { Some((chunk, file)) })
        });
        self.put_stream(chunks.boxed(), u64::MAX).await
    }

    /// All bytes of an object of at most `limit` bytes.
    pub async fn get(&self, hash: &ObjectHash, limit: u64) -> Result<Bytes, StoreError> {
        let found = self.store.get(&self.path(hash)).await.map_err(|error| missing(error, hash))?;
        if found.meta.size > limit {
            return Err(StoreError::TooLarge { limit });
        }
        Ok(found.bytes().await?)
    }

    /// An object piece by piece, with its size in bytes.
    pub async fn stream(
        &self,
        hash: &ObjectHash,
    ) -> Result<(u64, BoxStream<'static, Result<Bytes, StoreError>>), StoreError> {
        let found = self.store.get(&self.path(hash)).await.map_err(|error| missing(error, hash))?;
        Ok((found.meta.size, found.into_stream().map_err(StoreError::from).boxed()))
    }

    /// Copies an object into a local file and checks its hash on the way.
    pub async fn fetch(&self, hash: &ObjectHash, to: &std::path::Path) -> Result<u64, StoreError> {
        let (_, mut stream) = self.stream(hash).await?;
        let mut file = tokio::fs::File::create(to).await?;
        let mut sha = Sha256::new();
        let mut size = 0_u64;
        while let Some(chunk) = stream.try_next().await? {
            sha.update(&chunk);
            size += chunk.len() as u64;
            file.write_all(&chunk).await?;
        }
        file.flush().await?;
        let found = ObjectHash::from_digest(sha.finalize().as_slice());
        if found != *hash {
            return Err(StoreError::Corrupt { column: "objects", value: hash.to_string() });
        }
        Ok(size)
    }

    /// Every object, in no order.
    pub fn list(&self) -> BoxStream<'_, Result<StoredObject, StoreError>> {
        let prefix = Path::from_iter([self.prefix.as_str(), "sha256"].into_iter().filter(|part| !part.is_empty()));
        let found = self.store.list(Some(&prefix)).map_err(StoreError::from);
        found
            .try_filter_map(|meta| async move {
                // What bears no hash is not ours.
                let hash = meta.location.filename().and_then(ObjectHash::parse);
                let modified_at = meta.last_modified.timestamp_millis();
                Ok(hash.map(|hash| StoredObject { hash, bytes: meta.size, modified_at }))
            })
            .boxed()
    }

    /// When an object was last written [Unix milliseconds]; `None` if it is not there.
    pub async fn modified_at(&self, hash: &ObjectHash) -> Result<Option<UnixMillis>, StoreError> {
        match self.store.head(&self.path(hash)).await {
            Ok(meta) => Ok(Some(meta.last_modified.timestamp_millis())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether an object is there and young enough to be relied on: an old one may be on the point of being removed as unused, so
    /// that whoever wants it writes it again.
    async fn is_fresh(&self, hash: &ObjectHash) -> Result<bool, StoreError> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        Ok(self.modified_at(hash).await?.is_some_and(|at| now - at < GRACE_MS / 2))
    }

    /// Whether an object is there.
    pub async fn exists(&self, hash: &ObjectHash) -> Result<bool, StoreError> {
        match self.store.head(&self.path(hash)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an object; nothing happens if it is not there. The caller knows that no row points to it.
    pub async fn delete(&self, hash: &ObjectHash) -> Result<(), StoreError> {
        match self.store.delete(&self.path(hash)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the object store for a sign of life: looks for an object that does not exist.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.exists(&ObjectHash::of(b"foresite ping")).await.map(|_| ())
    }

    async fn upload(&self, hash: &ObjectHash, mut file: tokio::fs::File) -> Result<(), StoreError> {
        let path = self.path(hash);
        let first = read_part(&mut file).await?;
        if first.len() < PART_BYTES {
            self.store.put(&path, first.into()).await?;
            return Ok(());
        }
        let mut parts = WriteMultipart::new_with_chunk_size(self.store.put_multipart(&path).await?, PART_BYTES);
        let mut part = first;
        while !part.is_empty() {
            parts.wait_for_capacity(PARTS_IN_FLIGHT).await?;
            parts.put(part);
            part = read_part(&mut file).await?;
        }
        parts.finish().await?;
        Ok(())
    }

    /// `PREFIX/sha256/ab/abcdef…`: few enough files in one folder.
    fn path(&self, hash: &ObjectHash) -> Path {
        let hex = hash.as_str();
        let folder = hex.get(..2).unwrap_or_default();
        Path::from_iter([self.prefix.as_str(), "sha256", folder, hex].into_iter().filter(|part| !part.is_empty()))
    }
}

/// Up to [`PART_BYTES`] bytes; fewer only at the end.
async fn read_part(file: &mut tokio::fs::File) -> std::io::Result<Bytes> {
    let mut part = Vec::new();
    file.take(PART_BYTES as u64).read_to_end(&mut part).await?;
    Ok(part.into())
}

fn missing(error: object_store::Error, hash: &ObjectHash) -> StoreError {
    match error {
        object_store::Error::NotFound { .. } => StoreError::NoSuchObject(hash.clone()),
        other => other.into(),
    }
}
