//! Names of people to pseudonyms, before a site's files leave it: users, accounts, groups, job names and reservations.
//!
//! A pseudonym is a keyed hash (HMAC-SHA-256) of kind and name: the same in every file and on every day for the same key, and not to
//! be guessed from a list of names without it. What is not known to be harmless is left out: comments, columns and keys that the
//! simulation does not read, and of recorded command lines everything but the options that decide where and when a job runs. Names
//! of clusters, nodes, partitions, QOS and features stay.

mod conf;
mod dump;
mod table;
#[cfg(test)]
mod tests;
mod trace;

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What a name is of. Pseudonyms of different kinds never agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A user; letter case does not count.
    User,
    /// An account; letter case does not count.
    Account,
    /// A group of the operating system.
    Group,
    /// A job's name.
    Job,
    /// An advance reservation; Slurm's own names for them begin with the user's.
    Reservation,
}

impl NameKind {
    /// The first letter of its pseudonyms.
    const fn letter(self) -> char {
        match self {
            Self::User => 'u',
            Self::Account => 'a',
            Self::Group => 'g',
            Self::Job => 'j',
            Self::Reservation => 'r',
        }
    }

    /// `user`, `account`, `group`, `job` or `reservation`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Account => "account",
            Self::Group => "group",
            Self::Job => "job",
            Self::Reservation => "reservation",
        }
    }
}

/// The fewest bytes of a key.
pub const KEY_BYTES_MIN: usize = 32;
/// Letters of a pseudonym after its first: 12 × 5 bits; among a million names two agree once in two million sites.
const LETTERS: usize = 12;
const ALPHABET: [u8; 32] = *b"abcdefghijklmnopqrstuvwxyz234567";

/// Why a file cannot be made pseudonymous.
#[derive(Debug, thiserror::Error)]
pub enum PseudonymError {
    /// A short key can be found by trying.
    #[error("the key has {0} bytes, at least {KEY_BYTES_MIN} are needed; `openssl rand -base64 48` makes one")]
    ShortKey(usize),
    /// The file is nothing that can be rewritten.
    #[error("{0}")]
    Unknown(String),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A site's pseudonyms under one key, and what was met while files were rewritten.
#[derive(Debug)]
pub struct Pseudonyms {
    mac: Hmac<Sha256>,
    names: BTreeMap<(NameKind, String), String>,
    left_out: BTreeSet<String>,
    rows_left_out: u64,
}

impl Pseudonyms {
    /// Pseudonyms under `key`.
    ///
    /// # Errors
    /// When the key is shorter than [`KEY_BYTES_MIN`].
    pub fn new(key: &[u8]) -> Result<Self, PseudonymError> {
        let short = || PseudonymError::ShortKey(key.len());
        if key.len() < KEY_BYTES_MIN {
            return Err(short());
        }
        let mac = Hmac::new_from_slice(key).map_err(|_| short())?;
        Ok(Self { mac, names: BTreeMap::new(), left_out: BTreeSet::new(), rows_left_out: 0 })
    }

    /// The pseudonym of a name. Slurm's own words stay: nothing, `root`, `(null)`.
    pub fn of(&mut self, kind: NameKind, name: &str) -> String {
        let folded = match kind {
            NameKind::User | NameKind::Account => name.to_lowercase(),
            NameKind::Group | NameKind::Job | NameKind::Reservation => name.to_owned(),
        };
        if matches!(folded.as_str(), "" | "root" | "(null)") {
            return name.to_owned();
        }
        if let Some(known) = self.names.get(&(kind, folded.clone())) {
            return known.clone();
        }
        let mut mac = self.mac.clone();
        mac.update(kind.as_str().as_bytes());
        mac.update(&[0]);
        mac.update(folded.as_bytes());
        let tag = mac.finalize().into_bytes();
        let pseudonym: String = std::iter::once(kind.letter()).chain(base32(&tag).take(LETTERS)).collect();
        self.names.insert((kind, folded), pseudonym.clone());
        pseudonym
    }

    /// The pseudonyms of a list separated by commas; a sign before a name (`+`, `-`, `=`) stays.
    fn list(&mut self, kind: NameKind, list: &str) -> String {
        let renamed: Vec<String> = list
            .split(',')
            .map(|item| {
                let name = item.trim_start_matches(['+', '-', '=']);
                let sign = item.get(..item.len() - name.len()).unwrap_or_default();
                // All of them, in slurm.conf.
                let renamed =
                    if name.eq_ignore_ascii_case("all") { name.to_owned() } else { self.of(kind, name.trim()) };
                format!("{sign}{renamed}")
            })
            .collect();
        renamed.join(",")
    }

    /// Every name met so far and its pseudonym, in order. This is what the key protects: it stays at the site.
    pub fn table(&self) -> impl Iterator<Item = (NameKind, &str, &str)> {
        self.names.iter().map(|((kind, name), pseudonym)| (*kind, name.as_str(), pseudonym.as_str()))
    }

    /// Keys and columns that were left out because they are not known to be harmless, in order.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.left_out.iter().map(String::as_str)
    }

    /// Rows of traces that could not be read and were left out.
    pub fn rows_left_out(&self) -> u64 {
        self.rows_left_out
    }

    fn leave_out(&mut self, what: &str) {
        let what: String = what.chars().filter(|letter| letter.is_ascii_graphic()).take(60).collect();
        self.left_out.insert(what);
    }
}

/// RFC 4648's letters in lower case, five bits each.
fn base32(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    (0..bytes.len() * 8 / 5).map(|index| {
        let (byte, bit) = (index * 5 / 8, index * 5 % 8);
        let pair = u16::from_be_bytes([
            bytes.get(byte).copied().unwrap_or_default(),
            bytes.get(byte + 1).copied().unwrap_or_default(),
        ]);
        let five = (pair >> (11 - bit)) & 31;
        char::from(ALPHABET.get(usize::from(five)).copied().unwrap_or(b'a'))
    })
}
