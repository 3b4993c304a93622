//! Values in a stream: each a block of its length (32 bits, little-endian) and its bytes as postcard encodes them, so that neither
//! side holds more than one block besides the value.

use std::io::{Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::CompactError;

/// Items of a list in one block.
const ITEMS: usize = 1024;
/// A longer block is broken [bytes].
const BYTES_MAX: usize = 256 << 20;

/// Writes blocks.
pub(super) struct BlockWriter<W>(pub(super) W);

impl<W: Write> BlockWriter<W> {
    pub(super) fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CompactError> {
        let bytes = postcard::to_stdvec(value).map_err(CompactError::broken)?;
        let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= BYTES_MAX);
        let length = length.ok_or_else(|| CompactError::broken("a block is too long"))?;
        self.0.write_all(&length.to_le_bytes()).and_then(|()| self.0.write_all(&bytes)).map_err(CompactError::broken)
    }

    /// A list: blocks of some items each, then an empty one.
    pub(super) fn put_list<T: Serialize>(&mut self, items: &[T]) -> Result<(), CompactError> {
        items.chunks(ITEMS).try_for_each(|chunk| self.put(chunk))?;
        self.put::<[T]>(&[])
    }
}

/// Reads what [`BlockWriter`] wrote.
pub(super) struct BlockReader<R> {
    source: R,
    block: Vec<u8>,
}

impl<R: Read> BlockReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, block: Vec::new() }
    }

    pub(super) fn get<T: DeserializeOwned>(&mut self) -> Result<T, CompactError> {
        let mut length = [0; 4];
        self.source.read_exact(&mut length).map_err(CompactError::broken)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > BYTES_MAX {
            return Err(CompactError::broken("a block is too long"));
        }
        self.block.clear();
        // As much as there is, not as much as is said.
        let found = self.source.by_ref().take(length as u64).read_to_end(&mut self.block);
        if found.map_err(CompactError::broken)? < length {
            return Err(CompactError::broken("it breaks off"));
        }
        postcard::from_bytes(&self.block).map_err(CompactError::broken)
    }

    pub(super) fn get_list<T: DeserializeOwned>(&mut self) -> Result<Vec<T>, CompactError> {
        let mut items = Vec::new();
        loop {
            let mut chunk: Vec<T> = self.get()?;
            if chunk.is_empty() {
                return Ok(items);
            }
            items.append(&mut chunk);
        }
    }
}
