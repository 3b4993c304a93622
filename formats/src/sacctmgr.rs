//! What `sacctmgr dump`, `sacctmgr show qos -P` and `sacctmgr show assoc -P` print, and scripts of sacctmgr commands: accounts, users, shares, limits and
//! qualities of service, kept by name so that what-ifs can edit them, then lowered to the engine's tree.

mod commands;
mod dump;
mod edit;
mod keys;
mod left_out;
mod limits;
mod loops;
mod lower;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::settings::Place;
use crate::utf16;
pub(crate) use dump::split_outside_quotes;
use keys::{Key, Kind, find_key};
pub(crate) use keys::{is_harmless_key, keys_by_standing};
pub(crate) use left_out::InForce;

/// Accounts, users and qualities of service of one cluster.
#[derive(Clone, Debug)]
pub struct Sacctmgr {
    /// The file's name, for messages.
    name: String,
    /// The cluster the associations belong to.
    cluster: Option<String>,
    /// Others that commands are about, which are passed over.
    others: BTreeSet<String>,
    /// What the `Cluster` line says: it holds for the root association.
    root: Fields,
    /// Accounts and users in the order of the file.
    rows: Vec<Row>,
    /// Accounts and users already there.
    seen: BTreeSet<(String, Option<String>, Option<String>)>,
    /// Qualities of service in the order of the file.
    qos: Vec<QosRow>,
}

/// Whether a line is the header of a table that `sacctmgr show … -P` prints.
pub fn is_header(line: &str) -> bool {
    const FIRST: [&str; 4] = ["Name", "Cluster", "Account", "User"];
    line.split_once('|').is_some_and(|(first, rest)| {
        FIRST.iter().any(|name| first.trim().eq_ignore_ascii_case(name))
            && ["Priority", "Account", "Share", "Fairshare", "GrpTRES", "Name"]
                .iter()
                .any(|name| rest.split('|').any(|cell| cell.trim().eq_ignore_ascii_case(name)))
    })
}

/// Whether a line is a record of a dump.
pub fn is_record(line: &str) -> bool {
    dump::head(line).is_some_and(|(kind, _)| dump::RECORDS.iter().any(|known| kind.eq_ignore_ascii_case(known)))
}

/// Whether a line is a sacctmgr command.
pub fn is_command(line: &str) -> bool {
    commands::words(line).is_some_and(|words| words.len() > 2)
}

/// Values by the key's present name.
type Fields = BTreeMap<&'static str, Field>;

/// One value.
#[derive(Clone, Debug)]
struct Field {
    key: &'static Key,
    value: String,
    change: Change,
    place: Place,
}

/// `=`, `+=` or `-=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Set,
    Add,
    Remove,
}

/// An account, or a user in an account.
#[derive(Clone, Debug)]
struct Row {
    account: String,
    user: Option<String>,
    /// The partition that a user's row is for, where it is not for all.
    partition: Option<String>,
    /// The account above an account.
    parent: String,
    fields: Fields,
    place: Place,
}

/// A quality of service.
#[derive(Clone, Debug)]
struct QosRow {
    name: String,
    fields: Fields,
}

impl Sacctmgr {
    /// Reads a dump, a table of QOS or associations with its header, or a script of sacctmgr commands; which one is told by content.
    /// Several of them may follow each other in one file (`cat sacctmgr.cfg qos.txt`): a dump does not hold the QOS. O(bytes).
    /// What is in separate files can be put together with [`Self::merge`].
    pub fn read(name: &str, bytes: &[u8]) -> (Self, Vec<Diagnostic>) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut accounts = Self {
            name: name.to_owned(),
            cluster: None,
            others: BTreeSet::new(),
            root: Fields::new(),
            rows: Vec::new(),
            seen: BTreeSet::new(),
            qos: Vec::new(),
        };
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let diagnostics = match text.lines().find(is_content) {
            Some(_) if utf16::is_utf16(bytes) => vec![utf16::fault(name)],
            None => vec![
                Diagnostic::error(name, "the file holds nothing").cure("hand over the output of sacctmgr dump CLUSTER"),
            ],
            Some(_) => accounts.read_parts(text),
        };
        (accounts, crate::diagnostic::bounded(diagnostics, name))
    }

    /// The parts of a file, each with its place in it: what stands before the other parts is blank.
    fn read_parts(&mut self, text: &str) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut lines: Vec<&str> = text.lines().collect();
        while let Some(begin) = lines.iter().rposition(|line| is_header(line)) {
            let mut table = Self { rows: Vec::new(), seen: BTreeSet::new(), qos: Vec::new(), ..self.clone() };
            let part = format!("{}{}", "\n".repeat(begin), lines.split_off(begin).join("\n"));
            diagnostics.extend(table.read_table(&part));
            self.merge(table);
        }
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        if lines.iter().any(is_content) {
            let text = lines.join("\n");
            let mut rest = Self { rows: Vec::new(), seen: BTreeSet::new(), qos: Vec::new(), ..self.clone() };
            diagnostics.extend(if lines.iter().find(|line| is_content(line)).is_some_and(|line| line.contains('|')) {
                rest.read_table(&text)
            } else {
                rest.read_dump(&text)
            });
            let tables = std::mem::replace(self, rest);
            self.merge(tables);
        }
        diagnostics
    }

    /// Takes over what `other` says: its QOS replace those of the same name, its associations are used where this one has
    /// none.
    pub fn merge(&mut self, other: Self) {
        for qos in other.qos {
            match self.qos.iter_mut().find(|known| known.name == qos.name) {
                Some(known) => *known = qos,
                None => self.qos.push(qos),
            }
        }
        if self.rows.is_empty() && !other.rows.is_empty() {
            (self.rows, self.seen, self.root) = (other.rows, other.seen, other.root);
            self.cluster = other.cluster.or(self.cluster.take());
        }
    }

    /// The cluster that it is about, where it says so.
    pub fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    /// Whether there are associations (a table of QOS alone has none).
    pub fn has_associations(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The names of all accounts, in the order of the file.
    pub fn account_names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.user.is_none()).map(|row| row.account.as_str())
    }

    /// The names of all qualities of service described, in the order of the file.
    pub fn qos_names(&self) -> impl Iterator<Item = &str> {
        self.qos.iter().map(|qos| qos.name.as_str())
    }
}

/// Puts a value under its key's present name; a remark where it cannot be used.
fn put(
    fields: &mut Fields,
    keys: &'static [Key],
    name: &str,
    value: &str,
    change: Change,
    place: &Place,
) -> Option<Diagnostic> {
    let shown: String = name.chars().take(60).collect();
    let Some((key, implied)) = find_key(keys, name) else {
        let known = keys.iter().map(|key| key.name);
        let cure = did_you_mean(name, known, "remove it");
        return Some(place.remark(Severity::Warning, shown, "unknown; left out").cure(cure));
    };
    if key.kind == Kind::Ignored {
        return None;
    }
    // Old limits by resource (GrpCPUs=4) are entries of the present ones (GrpTRES=cpu=4).
    let value = implied.map_or_else(|| value.to_owned(), |tres| format!("{tres}={value}"));
    if value.is_empty() {
        return None;
    }
    if let Err(fault) = key.kind.check(&value) {
        return Some(place.error(key.name, fault).cure(format!("correct {shown}")));
    }
    // Names are kept in lower case; flags are compared without it.
    let is_named = key.kind == Kind::Names && key.name != "Flags";
    let value = if is_named { value.to_ascii_lowercase() } else { value };
    match fields.get_mut(key.name) {
        Some(field) if key.kind == Kind::Amounts => {
            field.value.push(',');
            field.value.push_str(&value);
        }
        _ => {
            fields.insert(key.name, Field { key, value, change, place: place.clone() });
        }
    }
    None
}

#[cfg(test)]
mod tests;
