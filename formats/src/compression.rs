//! Plain, gzip (several members) and zstd bytes, told apart by their first bytes and read as a stream.
//!
//! The output can be capped, so that a small file that unpacks to terabytes ends in an error and not in exhausted memory. Its ratio to
//! the input always is: no table of jobs is a thousand times as long as its packed file.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use crate::diagnostic::Diagnostic;

/// Size of the buffers between source, decoder and reader [bytes].
const BUFFER: usize = 256 * 1024;

/// What comes out may be so many times what went in …
const RATIO_MAX: u64 = 1000;
/// … beyond the first bytes.
const RATIO_FREE_BYTES: u64 = 64 << 20;

/// How the bytes were packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not packed.
    Plain,
    /// gzip (RFC 1952), one member or several.
    Gzip,
    /// zstd (RFC 8878), one frame or several.
    Zstd,
}

impl Packing {
    /// The packing that a file's first bytes tell.
    pub fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// The name of a packing that is not read.
fn foreign(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xfd, b'7', b'z', b'X', ..] => Some("xz"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2"),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some("lz4"),
        [b'P', b'K', 3, 4, ..] => Some("zip"),
        _ => None,
    }
}

/// Whether a file's first bytes tell that it is packed, in whatever way.
pub fn is_packed(start: &[u8]) -> bool {
    Packing::of(start) != Packing::Plain || foreign(start).is_some()
}

/// Why packed bytes cannot be read. Carried inside an [`io::Error`]; [`fault`] turns it into a diagnostic.
#[derive(Debug, thiserror::Error)]
pub enum CompressionError {
    /// The packing is not one of those read.
    #[error("the file is packed with {packing}")]
    Foreign {
        /// Its name.
        packing: &'static str,
    },
    /// The stream breaks off or its bytes are damaged.
    #[error("the {packing} stream is torn at byte {offset}: {reason}")]
    Torn {
        /// `gzip` or `zstd`.
        packing: &'static str,
        /// Position in the packed file [bytes].
        offset: u64,
        /// The decoder's word for it.
        reason: String,
    },
    /// Much came out of little.
    #[error("the {packing} stream unpacks to more than {RATIO_MAX} times its size")]
    TooDense {
        /// `gzip` or `zstd`.
        packing: &'static str,
    },
    /// More came out than allowed.
    #[error("more than {limit} bytes after unpacking")]
    TooLarge {
        /// The cap [bytes].
        limit: u64,
    },
}

/// The unpacked bytes of a source.
pub struct Unpacked<R: Read> {
    inner: BufReader<Capped<R>>,
}

struct Capped<R: Read> {
    decoder: Decoder<R>,
    consumed: Rc<Cell<u64>>,
    limit: u64,
    produced: u64,
}

enum Decoder<R: Read> {
    Plain(Counted<Rewound<R>>),
    Gzip(MultiGzDecoder<Counted<Rewound<R>>>),
    Zstd(zstd::stream::read::Decoder<'static, Counted<Rewound<R>>>),
}

/// Counts what the decoder has taken from the source, to name the place of a fault.
struct Counted<R> {
    inner: R,
    consumed: Rc<Cell<u64>>,
}

/// Opens a source: looks at its first bytes and unpacks what follows; `max_output_bytes` caps what comes out.
///
/// # Errors
/// What the source itself reports while its first bytes are read, and a packing that is not read ([`CompressionError::Foreign`]).
pub fn open<R: Read>(source: R, max_output_bytes: Option<u64>) -> io::Result<Unpacked<R>> {
    let mut source = source;
    let start = read_start(&mut source)?;
    if let Some(packing) = foreign(&start) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, CompressionError::Foreign { packing }));
    }
    let packing = Packing::of(&start);
    let source = BufReader::with_capacity(BUFFER, io::Cursor::new(start).chain(source));
    let consumed = Rc::new(Cell::new(0));
    let counted = Counted { inner: source, consumed: Rc::clone(&consumed) };
    let decoder = match packing {
        Packing::Plain => Decoder::Plain(counted),
        Packing::Gzip => Decoder::Gzip(MultiGzDecoder::new(counted)),
        Packing::Zstd => Decoder::Zstd(zstd::stream::read::Decoder::with_buffer(counted)?),
    };
    let capped = Capped { decoder, consumed, limit: max_output_bytes.unwrap_or(u64::MAX), produced: 0 };
    Ok(Unpacked { inner: BufReader::with_capacity(BUFFER, capped) })
}

/// The first four bytes, or all of a shorter source.
fn read_start(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(4);
    source.take(4).read_to_end(&mut start)?;
    Ok(start)
}

/// The source with the bytes that were looked at put back.
type Rewound<R> = BufReader<io::Chain<io::Cursor<Vec<u8>>, R>>;

/// The diagnostic for an error met while reading the file `file`.
pub fn fault(file: &str, error: &io::Error) -> Diagnostic {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<CompressionError>());
    let diagnostic = Diagnostic::error(file, error.to_string());
    match inner {
        Some(CompressionError::Foreign { .. }) => diagnostic.cure("unpack it, or use gzip or zstd"),
        Some(CompressionError::Torn { .. }) => diagnostic.cure("copy the file again: it is incomplete or damaged"),
        Some(CompressionError::TooDense { .. }) => diagnostic.cure("hand over the file unpacked"),
        Some(CompressionError::TooLarge { .. }) => diagnostic.cure("hand over a shorter period, or raise the limit"),
        None => diagnostic.cure("check that the file can be read"),
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.consumed.set(self.consumed.get() + count as u64);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.consumed.set(self.consumed.get() + count as u64);
        self.inner.consume(count);
    }
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (packing, result) = match &mut self.decoder {
            Decoder::Plain(decoder) => ("plain", decoder.read(buffer)),
            Decoder::Gzip(decoder) => ("gzip", decoder.read(buffer)),
            Decoder::Zstd(decoder) => ("zstd", decoder.read(buffer)),
        };
        let count = match result {
            Err(error) if packing != "plain" && error.kind() != io::ErrorKind::Interrupted => {
                let (offset, reason) = (self.consumed.get(), error.to_string());
                return Err(io::Error::new(error.kind(), CompressionError::Torn { packing, offset, reason }));
            }
            other => other?,
        };
        self.produced += count as u64;
        if self.produced > self.limit {
            return Err(io::Error::other(CompressionError::TooLarge { limit: self.limit }));
        }
        if packing != "plain" && self.produced > RATIO_FREE_BYTES && self.produced / RATIO_MAX > self.consumed.get() {
            return Err(io::Error::other(CompressionError::TooDense { packing }));
        }
        Ok(count)
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

impl<R: Read> BufRead for Unpacked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
    }
}

#[cfg(test)]
mod tests;
