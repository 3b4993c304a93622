//! Lists of stored files: what a configuration is made of, and what a study reads.

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

/// As the database keeps it: a JSON array.
pub fn files_to_json(files: &[StoredFile]) -> String {
    // A list of plain strings and numbers cannot fail to serialise.
    serde_json::to_string(files).unwrap_or_else(|_| "[]".to_owned())
}

/// Reads what [`files_to_json`] wrote.
pub(crate) fn files_from_json(column: &'static str, text: &str) -> Result<Vec<StoredFile>, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt { column, value: text.chars().take(200).collect() })
}
