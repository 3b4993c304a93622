//! Lists of stored files: what a configuration is made of, and what a study reads.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::objects::ObjectHash;

/// A named file kept as an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StoredFile {
    /// Its name in the file set: relative, with `/`.
    pub name: String,
    /// Its bytes.
    pub object: ObjectHash,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A trace as its reader left it, kept as an object so that its text need not be read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCompact {
    /// The file that it serves in place of.
    pub file: String,
    /// Its bytes.
    pub object: ObjectHash,
    /// The reader that made it, and can read it.
    pub reader: String,
}

impl StoredCompact {
    /// As the database keeps it: a JSON object.
    pub fn to_json(&self) -> String {
        // Plain strings cannot fail to serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`Self::to_json`] wrote.
    pub(crate) fn from_json(column: &'static str, text: &str) -> Result<Self, StoreError> {
        from_json(column, text)
    }
}

/// As the database keeps it: a JSON array.
pub fn files_to_json(files: &[StoredFile]) -> String {
    // A list of plain strings and numbers cannot fail to serialise.
    serde_json::to_string(files).unwrap_or_else(|_| "[]".to_owned())
}

/// Reads what [`files_to_json`] wrote.
pub(crate) fn files_from_json(column: &'static str, text: &str) -> Result<Vec<StoredFile>, StoreError> {
    from_json(column, text)
}

fn from_json<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt { column, value: text.chars().take(200).collect() })
}
