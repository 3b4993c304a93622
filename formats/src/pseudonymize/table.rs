//! Tables with `|` between columns: `sacctmgr show … -P`, `sshare -alP`.

use super::{NameKind, Pseudonyms};
use crate::sacctmgr::is_harmless_key;

/// What becomes of a column.
#[derive(Clone, Copy)]
enum Fate {
    Keep,
    Rename(NameKind),
    Empty,
}

/// Columns of `sshare`, `sacctmgr show event` and `show tres` that hold numbers, times, states or machines.
const HARMLESS: [&str; 19] = [
    "Name",
    "Cluster",
    "Partition",
    "QOS",
    "DefQOS",
    "Share",
    "RawShares",
    "NormShares",
    "RawUsage",
    "NormUsage",
    "EffectvUsage",
    "FairShare",
    "LevelFS",
    "TRESRunMins",
    "NodeName",
    "TimeStart",
    "TimeEnd",
    "State",
    "TRES",
];

fn fate(column: &str) -> Fate {
    let name: String = column.chars().filter(|letter| !letter.is_whitespace()).collect();
    let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
    if is(&["User"]) {
        Fate::Rename(NameKind::User)
    } else if is(&["Account", "ParentName", "ParName", "Parent", "DefaultAccount", "DefAcct"]) {
        Fate::Rename(NameKind::Account)
    } else if is(&HARMLESS) || is_harmless_key(&name) {
        Fate::Keep
    } else {
        Fate::Empty
    }
}

impl Pseudonyms {
    /// A table with a header. Columns that are not known to be harmless are emptied.
    pub(super) fn table_text(&mut self, text: &str) -> String {
        let mut fates: Vec<Fate> = Vec::new();
        let mut out = String::with_capacity(text.len());
        for line in text.lines() {
            if line.trim().is_empty() {
                out.push('\n');
                continue;
            }
            if fates.is_empty() {
                fates = line.split('|').map(fate).collect();
                for (column, fate) in line.split('|').zip(&fates) {
                    if matches!(fate, Fate::Empty) && !column.is_empty() {
                        self.leave_out(column);
                    }
                }
                out.push_str(line);
            } else {
                let cells: Vec<String> =
                    line.split('|').enumerate().map(|(at, cell)| self.cell(fates.get(at), cell)).collect();
                out.push_str(&cells.join("|"));
            }
            out.push('\n');
        }
        out
    }

    /// sshare indents accounts by their depth; that stays.
    fn cell(&mut self, fate: Option<&Fate>, cell: &str) -> String {
        match fate {
            Some(Fate::Keep) => cell.to_owned(),
            Some(Fate::Rename(kind)) => {
                let name = cell.trim_start();
                let indent = cell.get(..cell.len() - name.len()).unwrap_or_default();
                format!("{indent}{}", self.of(*kind, name.trim_end()))
            }
            Some(Fate::Empty) | None => String::new(),
        }
    }
}
