//! A task's input files, from the object store into its folder.

use foresite_store::StoreError;
use foresite_store::files::{StoredCompact, StoredFile};
use foresite_store::objects::Objects;

use crate::task::TaskFolder;

/// Fetches what a study reads, the trace in its compact form where `compact` is one; gives the number of that input.
///
/// # Errors
/// When a file cannot be fetched. That the compact form is gone or damaged is none: it saves time, the text says the same.
pub async fn fetch_inputs(
    objects: &Objects,
    inputs: &[StoredFile],
    compact: Option<&StoredCompact>,
    folder: TaskFolder<'_>,
) -> Result<Option<usize>, StoreError> {
    let mut fetched = None;
    for (number, file) in inputs.iter().enumerate() {
        let path = folder.input(number);
        if let Some(compact) = compact.filter(|compact| compact.file == file.name) {
            match objects.fetch(&compact.object, &path).await {
                Ok(_) => {
                    fetched = Some(number);
                    continue;
                }
                Err(error @ (StoreError::NoSuchObject(_) | StoreError::Corrupt { .. })) => {
                    tracing::warn!(%error, file = file.name, "a trace's compact form cannot be had: its text is read");
                }
                Err(error) => return Err(error),
            }
        }
        objects.fetch(&file.object, &path).await?;
    }
    Ok(fetched)
}
