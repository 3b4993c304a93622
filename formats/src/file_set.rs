//! The files a site hands over, by name, already in memory: the same reader serves a folder, a tar and a form upload.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Named files. Names use `/` and are relative to the folder of slurm.conf or of the study document.
#[derive(Clone, Debug, Default)]
pub struct FileSet {
    files: BTreeMap<String, Arc<Vec<u8>>>,
    /// Traces in their compact form, by the names of the files they were read from.
    compact: BTreeMap<String, Arc<Vec<u8>>>,
}

impl FileSet {
    /// Adds or replaces a file.
    pub fn insert(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(name.into(), Arc::new(bytes.into()));
    }

    /// The bytes of a file.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|bytes| bytes.as_slice())
    }

    /// Adds a trace in its compact form ([`crate::trace::compact`]), which serves in place of the file `name`. What comes from
    /// outside is never taken for one.
    pub fn insert_compact(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.compact.insert(name.into(), Arc::new(bytes.into()));
    }

    /// The compact form of the trace `name`.
    pub fn compact(&self, name: &str) -> Option<&[u8]> {
        self.compact.get(name).map(|bytes| bytes.as_slice())
    }

    /// Names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The file `name` in the same folder as `beside`.
    pub fn beside(&self, beside: &str, name: &str) -> Option<(String, &[u8])> {
        let path = self::beside(beside, name);
        self.get(&path).map(|bytes| (path.clone(), bytes))
    }
}

/// The name of `name` in the same folder as `file`.
pub(crate) fn beside(file: &str, name: &str) -> String {
    file.rsplit_once('/').map_or_else(|| name.to_owned(), |(folder, _)| format!("{folder}/{name}"))
}
