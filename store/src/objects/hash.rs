//! The address of an object.

use sha2::{Digest, Sha256};

use crate::ids::id_type;

id_type! {
    /// SHA-256 of an object's bytes, 64 lower-case hexadecimal digits.
    ObjectHash
}

impl ObjectHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_digest(Sha256::digest(bytes).as_slice())
    }

    /// Reads a hash.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(text.to_owned()))
    }

    pub(crate) fn from_digest(digest: &[u8]) -> Self {
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
