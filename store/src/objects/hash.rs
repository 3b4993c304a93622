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

    /// The hash of a local file. Blocking.
    pub fn of_file(path: &std::path::Path) -> std::io::Result<Self> {
        let mut sha = Sha256::new();
        std::io::copy(&mut std::fs::File::open(path)?, &mut Hashing(&mut sha))?;
        Ok(Self::from_digest(sha.finalize().as_slice()))
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

struct Hashing<'a>(&'a mut Sha256);

impl std::io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
