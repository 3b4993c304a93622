//! Lines of a stream, one buffer reused, of bounded length.

use std::io::{self, BufRead};

/// The longest line read [bytes]; longer ones are an error, so that a file without newlines does not fill the memory.
const LONGEST: usize = 16 << 20;

/// Reads lines and counts them.
pub(crate) struct Lines<R> {
    source: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, number: 0 }
    }

    /// 1-based number of the line read last.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether no line follows; false where that cannot be read.
    pub(crate) fn at_end(&mut self) -> bool {
        self.source.fill_buf().is_ok_and(<[u8]>::is_empty)
    }

    /// Appends the next line without its end (`\n` or `\r\n`); false at the end of the stream.
    pub(crate) fn append(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let start = line.len();
        loop {
            let available = match self.source.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                let any = line.len() > start;
                self.number += u64::from(any);
                return Ok(any);
            }
            let (taken, ended) = match memchr::memchr(b'\n', available) {
                Some(at) => (at, true),
                None => (available.len(), false),
            };
            line.extend_from_slice(available.get(..taken).unwrap_or_default());
            self.source.consume(taken + usize::from(ended));
            if ended {
                if line.len() > start && line.last() == Some(&b'\r') {
                    line.pop();
                }
                self.number += 1;
                return Ok(true);
            }
            if line.len() - start > LONGEST {
                return Err(io::Error::other(format!("line {} is longer than {LONGEST} bytes", self.number + 1)));
            }
        }
    }
}
