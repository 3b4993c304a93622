//! `sacctmgr dump`: `Account - 'name':Key=value:Key='value'`; commands may stand among its lines.

use super::commands;
use super::keys::{ASSOCIATION, QOS, find_key};
use super::{Change, Fields, QosRow, Row, Sacctmgr, put};
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::near::did_you_mean;
use crate::slurm_conf::settings::Place;

/// What a line may describe.
pub(super) const RECORDS: [&str; 5] = ["Cluster", "Parent", "Account", "User", "QOS"];

/// What a line describes, and its name.
pub(super) fn head(line: &str) -> Option<(&str, String)> {
    let (kind, name) = split_outside_quotes(line).first()?.split_once(" - ")?;
    Some((kind.trim(), unquoted(name)))
}

impl Sacctmgr {
    pub(super) fn read_dump(&mut self, text: &str) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut parent = "root".to_owned();
        for (line, number) in text.lines().zip(1_u64..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = Place { file: self.name.as_str().into(), line: Some(number) };
            if let Some(words) = commands::words(line) {
                if self.rows.is_empty() {
                    self.add_root_user();
                }
                self.command(&words, &place, &mut diagnostics);
                continue;
            }
            self.dump_line(line, &place, &mut parent, &mut diagnostics);
        }
        diagnostics
    }

    fn dump_line(&mut self, line: &str, place: &Place, parent: &mut String, diagnostics: &mut Vec<Diagnostic>) {
        let mut segments = split_outside_quotes(line).into_iter();
        let first = segments.next().unwrap_or_default();
        let Some((kind, name)) = head(first) else {
            let message = "this is neither Cluster, Parent, Account, User nor QOS - 'name'";
            diagnostics.push(
                place
                    .error(first.chars().take(60).collect::<String>(), message)
                    .cure("hand over what sacctmgr dump prints"),
            );
            return;
        };
        let keys = if kind.eq_ignore_ascii_case("QOS") { QOS } else { ASSOCIATION };
        let known = |name: &str| find_key(keys, name).is_some() || name.eq_ignore_ascii_case("Partition");
        let options = joined(segments.collect(), known);
        let mut fields = Fields::new();
        let mut partition = None;
        for (key, value, change) in options {
            if keys.as_ptr() == ASSOCIATION.as_ptr() && key.eq_ignore_ascii_case("Partition") {
                partition = (!value.is_empty()).then_some(value);
                continue;
            }
            diagnostics.extend(put(&mut fields, keys, &key, &value, change, place));
        }
        let kind = kind.to_ascii_lowercase();
        // Users' names are the system's; those of accounts and QOS sacctmgr lowers.
        let name = if ["user", "cluster"].contains(&kind.as_str()) { name } else { name.to_ascii_lowercase() };
        match kind.as_str() {
            "cluster" => match &self.cluster {
                Some(first) if *first != name => {
                    let message = format!("there is a second cluster '{name}' after '{first}'");
                    diagnostics.push(place.error("Cluster", message).cure("dump one cluster into each file"));
                }
                _ => (self.cluster, self.root) = (Some(name), fields),
            },
            "parent" => *parent = name,
            "account" => {
                let (parent, place) = (parent.clone(), place.clone());
                self.push_row(Row { account: name, user: None, partition: None, parent, fields, place }, diagnostics);
            }
            "user" => {
                let row = Row {
                    account: parent.clone(),
                    user: Some(name),
                    partition,
                    parent: parent.clone(),
                    fields,
                    place: place.clone(),
                };
                self.push_row(row, diagnostics);
            }
            "qos" => self.qos.push(QosRow { name, fields }),
            _ => {
                let cure = did_you_mean(&kind, RECORDS, "known are Cluster, Parent, Account, User and QOS");
                diagnostics.push(place.error(kind.chars().take(60).collect::<String>(), "no such record").cure(cure));
            }
        }
    }

    /// Adds a row unless there is one like it.
    pub(super) fn push_row(&mut self, row: Row, diagnostics: &mut Vec<Diagnostic>) {
        if row.user.is_none() && row.account == "root" {
            self.root.extend(row.fields);
            return;
        }
        if !self.seen.insert((row.account.clone(), row.user.clone(), row.partition.clone())) {
            let who = row.user.as_ref().unwrap_or(&row.account);
            let message = format!("'{who}' stands twice in account '{}'; the first is taken", row.account);
            diagnostics.push(row.place.remark(Severity::Warning, "Account", message).cure("keep one"));
            return;
        }
        self.rows.push(row);
    }
}

/// Splits at colons that no quotes enclose. A quote ends before a colon or the line's end: `'bob's lab'` is one.
pub(crate) fn split_outside_quotes(line: &str) -> Vec<&str> {
    let (mut quote, mut begin, mut parts) = (None, 0, Vec::new());
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (None, ':') => {
                parts.extend(line.get(begin..at));
                begin = at + 1;
            }
            (Some(open), _) if open == character => {
                let after = line.get(at + 1..).unwrap_or_default();
                if after.starts_with(':') || after.trim().is_empty() {
                    quote = None;
                }
            }
            _ => {}
        }
    }
    parts.extend(line.get(begin..));
    parts
}

/// Key, value and operator of each segment. Typed resources bring colons of their own (`gres/gpu:a100=4`): a segment that
/// begins with no key belongs to the value before it.
fn joined(segments: Vec<&str>, is_key: impl Fn(&str) -> bool) -> Vec<(String, String, Change)> {
    let mut options: Vec<(String, String, Change)> = Vec::new();
    for segment in segments {
        let (left, value) = segment.split_once('=').unwrap_or((segment, ""));
        let (key, change) = match (left.strip_suffix('+'), left.strip_suffix('-')) {
            (Some(key), _) => (key, Change::Add),
            (_, Some(key)) => (key, Change::Remove),
            _ => (left, Change::Set),
        };
        if let Some((_, previous, _)) = options.last_mut()
            && !is_key(key.trim())
            && previous.rsplit(',').next().is_some_and(|item| item.contains('/') && !item.contains('='))
        {
            previous.push(':');
            previous.push_str(&unquoted(segment));
            continue;
        }
        if !segment.trim().is_empty() {
            options.push((key.trim().to_owned(), unquoted(value), change));
        }
    }
    options
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('\'').or_else(|| inner('"')).unwrap_or(text).to_owned()
}
