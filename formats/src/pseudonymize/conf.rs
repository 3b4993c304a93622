//! slurm.conf, gres.conf, topology.conf: `Key=Value` lines.

use super::{NameKind, Pseudonyms};

/// Keys whose values are lists of names. `Users`, `Accounts`, `Groups` stand in reservations (`scontrol show reservation -o`).
const NAMES: [(&str, NameKind); 8] = [
    ("AllowAccounts", NameKind::Account),
    ("DenyAccounts", NameKind::Account),
    ("Accounts", NameKind::Account),
    ("AllowGroups", NameKind::Group),
    ("Groups", NameKind::Group),
    ("Users", NameKind::User),
    ("ReservationName", NameKind::Reservation),
    ("MailDomain", NameKind::Group),
];
/// Keys whose values are secrets, or lead to them, or name machines that nobody else need know.
const REMOVED: [&str; 6] = [
    "AccountingStoragePass",
    "JobCompPass",
    "AccountingStorageParameters",
    "JobCompParams",
    "AuthAltParameters",
    "Comment",
];

/// Whether a value stays here: those named, and every password (`StoragePass`, `DefaultStoragePass` of slurmdbd.conf).
fn is_removed(key: &str) -> bool {
    REMOVED.iter().any(|name| key.eq_ignore_ascii_case(name)) || key.to_ascii_lowercase().ends_with("pass")
}

impl Pseudonyms {
    /// A file of `Key=Value` lines. Comments are removed; lines keep their numbers.
    pub fn slurm_conf(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (line, end) = match line.strip_suffix('\n') {
                Some(line) => (line, "\n"),
                None => (line, ""),
            };
            self.conf_line(line.split('#').next().unwrap_or_default(), &mut out);
            out.push_str(end);
        }
        out
    }

    /// A line without its comment: values of known keys are renamed where they stand.
    fn conf_line(&mut self, line: &str, out: &mut String) {
        let mut rest = line;
        while let Some(equals) = rest.find('=') {
            let (before, after) = rest.split_at(equals);
            let key = before.rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
            let value_from = 1 + after.get(1..).map_or(0, |value| value.len() - value.trim_start().len());
            let value = after.get(value_from..).unwrap_or_default();
            let end = match value.strip_prefix('"').and_then(|inner| inner.find('"')) {
                Some(close) => close + 2,
                None => value.find(char::is_whitespace).unwrap_or(value.len()),
            };
            let (value, tail) = value.split_at(end);
            out.push_str(before);
            out.push_str(after.get(..value_from).unwrap_or_default());
            if let Some((_, kind)) = NAMES.iter().find(|(name, _)| key.eq_ignore_ascii_case(name)) {
                out.push_str(&self.list(*kind, value.trim_matches('"')));
            } else if is_removed(key) {
                self.leave_out(key);
                out.push_str("removed");
            } else {
                out.push_str(value);
            }
            rest = tail;
        }
        out.push_str(rest);
    }
}
