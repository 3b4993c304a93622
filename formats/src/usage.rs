//! Recorded usage (`sshare -alP`): what each association had used when the simulated part begins.
//! Source: sshare(1); seen on 22.05.8. sshare prints the whole tree, indented by one blank a level.

use std::collections::BTreeMap;

use foresite_engine::association::AssociationTree;

use crate::diagnostic::{Diagnostic, Severity, any_error};
use crate::site::Site;

/// Faults of one file that are listed; the rest is not.
const FAULTS_KEPT: usize = 100;
/// Unknown associations that are named.
const NAMES_KEPT: usize = 20;

/// The usage of every association of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedUsage {
    /// The file's name, for diagnostics.
    file: String,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    line: u64,
    depth: usize,
    account: String,
    user: Option<String>,
    /// Raw usage of the row without what the rows below it have [billing seconds].
    own: f64,
}

/// Where the columns stand.
struct Columns {
    account: usize,
    user: usize,
    usage: usize,
    count: usize,
}

impl RecordedUsage {
    /// Reads the output of `sshare -alP`; `name` is what diagnostics call it. `None` if anything is wrong. O(rows).
    pub fn read(name: &str, bytes: &[u8]) -> (Option<Self>, Vec<Diagnostic>) {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().zip(1_u64..).filter(|(line, _)| !line.trim().is_empty());
        let columns = match lines.next() {
            Some((header, line)) => columns(name, header, line),
            None => Err(Diagnostic::error(name, "the file is empty").cure("hand over the output of sshare -alP")),
        };
        let columns = match columns {
            Ok(columns) => columns,
            Err(fault) => return (None, vec![fault]),
        };
        let mut diagnostics = Vec::new();
        let mut usage = Self { file: name.to_owned(), rows: Vec::new() };
        // The accounts that the row in hand stands below.
        let mut above: Vec<usize> = Vec::new();
        for (line, number) in lines {
            match row(name, &columns, line, number) {
                Ok(row) => usage.add(row, &mut above),
                Err(fault) if diagnostics.len() < FAULTS_KEPT => diagnostics.push(fault),
                Err(_) => {}
            }
        }
        for row in &mut usage.rows {
            // sshare prints whole seconds, so that sums may differ by some.
            row.own = row.own.max(0.0);
        }
        if usage.rows.is_empty() && diagnostics.is_empty() {
            let fault = Diagnostic::error(name, "the file holds no association");
            diagnostics.push(fault.cure("hand over the output of sshare -alP: without -a it shows the caller's only"));
        }
        ((!any_error(&diagnostics)).then_some(usage), diagnostics)
    }

    fn add(&mut self, row: Row, above: &mut Vec<usize>) {
        while above.last().is_some_and(|&at| self.rows.get(at).is_none_or(|other| other.depth >= row.depth)) {
            above.pop();
        }
        if let Some(parent) = above.last().and_then(|&at| self.rows.get_mut(at)) {
            parent.own -= row.own;
        }
        if row.user.is_none() {
            above.push(self.rows.len());
        }
        self.rows.push(row);
    }

    /// Gives each association of the site its usage. What belongs to associations that the site does not have is
    /// charged to the account above, so that the sums stay right, and named. O(rows × log associations).
    pub fn apply(&self, site: &mut Site) -> Vec<Diagnostic> {
        let mut ids: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
        for (index, row) in site.associations.rows.iter().enumerate() {
            ids.entry((row.account.clone(), row.user.clone())).or_insert(index);
        }
        let mut unknown: Vec<String> = Vec::new();
        let mut first_line = None;
        let mut above: Vec<(usize, usize)> = Vec::new();
        for row in &self.rows {
            above.retain(|&(depth, _)| depth < row.depth);
            let known = ids.get(&(row.account.clone(), row.user.clone())).copied();
            let nearest = above.last().map_or(AssociationTree::ROOT.index(), |&(_, id)| id);
            if let Some(association) = site.associations.rows.get_mut(known.unwrap_or(nearest)) {
                association.initial_usage += row.own;
            }
            if known.is_none() && row.own > 0.0 {
                first_line = first_line.or(Some(row.line));
                unknown.push(match &row.user {
                    Some(user) => format!("{user} in {}", row.account),
                    None => row.account.clone(),
                });
            }
            if row.user.is_none() {
                above.push((row.depth, known.unwrap_or(nearest)));
            }
        }
        let assumed = "recorded usage is taken as that of the moment when the simulated part begins";
        let mut diagnostics = vec![Diagnostic::new(Severity::Assumed, &self.file, assumed).field("RawUsage")];
        if let Some(line) = first_line {
            let more = unknown.len().saturating_sub(NAMES_KEPT);
            let named = unknown.iter().take(NAMES_KEPT).cloned().collect::<Vec<_>>().join(", ");
            let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let message = format!("usage of unknown associations is charged to the account above: {named}{and_more}");
            let remark = Diagnostic::new(Severity::Warning, &self.file, message).at(line).field("User");
            diagnostics.push(remark.cure("hand over a sacctmgr dump of the same time"));
        }
        diagnostics
    }
}

/// Whether a line is the header of what `sshare -alP` prints.
pub fn is_header(line: &str) -> bool {
    columns("", line, 1).is_ok()
}

fn columns(name: &str, header: &str, line: u64) -> Result<Columns, Diagnostic> {
    let names: Vec<&str> = header.split('|').map(str::trim).collect();
    let find = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    match (find("Account"), find("User"), find("RawUsage")) {
        (Some(account), Some(user), Some(usage)) => Ok(Columns { account, user, usage, count: names.len() }),
        (account, user, usage) => {
            let missing: Vec<&str> = [("Account", account), ("User", user), ("RawUsage", usage)]
                .into_iter()
                .filter_map(|(name, at)| at.is_none().then_some(name))
                .collect();
            let fault = Diagnostic::error(name, format!("the columns {} are missing", missing.join(", ")));
            Err(fault.at(line).cure("hand over the output of sshare -alP, with its header"))
        }
    }
}

fn row(name: &str, columns: &Columns, line: &str, number: u64) -> Result<Row, Diagnostic> {
    let cells: Vec<&str> = line.split('|').collect();
    let (Some(account), Some(user), Some(usage)) =
        (cells.get(columns.account), cells.get(columns.user), cells.get(columns.usage))
    else {
        let message = format!("the row has {} columns, the header {}", cells.len(), columns.count);
        return Err(Diagnostic::error(name, message).at(number).cure("hand over the file as sshare printed it"));
    };
    let own = usage.trim().parse::<f64>().ok().filter(|usage| usage.is_finite() && *usage >= 0.0);
    let Some(own) = own else {
        let shown: String = usage.trim().chars().take(60).collect();
        let fault = Diagnostic::error(name, format!("'{shown}' is no usage in seconds")).at(number);
        return Err(fault.field("RawUsage").cure("hand over the file as sshare printed it"));
    };
    if account.trim().is_empty() {
        return Err(Diagnostic::error(name, "the row names no account")
            .at(number)
            .field("Account")
            .cure("hand over the file as sshare printed it"));
    }
    Ok(Row {
        line: number,
        depth: account.len() - account.trim_start().len(),
        account: account.trim().to_owned(),
        user: Some(user.trim()).filter(|user| !user.is_empty()).map(str::to_owned),
        own,
    })
}

#[cfg(test)]
mod tests;
