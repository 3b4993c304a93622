//! `sacctmgr show qos -P` and `sacctmgr show assoc -P`: a header and rows, columns separated by `|`.

use super::keys::{ASSOCIATION, QOS};
use super::{Change, Fields, QosRow, Row, Sacctmgr, put};
use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::settings::Place;

impl Sacctmgr {
    pub(super) fn read_table(&mut self, text: &str) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut lines = text.lines().zip(1_u64..).filter(|(line, _)| !line.trim().is_empty());
        let Some((header, header_line)) = lines.next() else { return diagnostics };
        let columns: Vec<String> = header.trim_end_matches('|').split('|').map(|name| name.replace(' ', "")).collect();
        let position = |names: &[&str]| {
            columns.iter().position(|column| names.iter().any(|name| column.eq_ignore_ascii_case(name)))
        };
        let (account, name) = (position(&["Account"]), position(&["Name"]));
        let place = |line: u64| Place { file: self.name.as_str().into(), line: Some(line) };
        let (Some(key_column), is_associations) = (account.or(name), account.is_some()) else {
            let error = place(header_line).error("header", "there is neither a column Account nor a column Name");
            diagnostics.push(error.cure("hand over sacctmgr show assoc -P or sacctmgr show qos -P with its header"));
            return diagnostics;
        };
        let special = [
            position(&["Cluster"]),
            position(&["User"]),
            position(&["Partition", "Part"]),
            position(&["ParentName", "ParName", "Parent"]),
            Some(key_column),
        ];
        let mut rows = Vec::new();
        for (line, number) in lines {
            let place = place(number);
            let cells: Vec<&str> = line.split('|').collect();
            if cells.len() < columns.len() {
                let message = format!("the row has {} columns, the header {}", cells.len(), columns.len());
                diagnostics.push(place.error("row", message).cure("hand over the file as sacctmgr printed it"));
                continue;
            }
            let keys = if is_associations { ASSOCIATION } else { QOS };
            let mut fields = Fields::new();
            for (at, (column, cell)) in columns.iter().zip(&cells).enumerate() {
                if !special.contains(&Some(at)) {
                    diagnostics.extend(put(&mut fields, keys, column, cell.trim(), Change::Set, &place));
                }
            }
            rows.push((cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<String>>(), fields, place));
        }
        // A column that is unknown is so in every row: once is enough.
        diagnostics.dedup_by(|a, b| a.field == b.field && a.message == b.message);
        if is_associations {
            self.association_rows(rows, special, &mut diagnostics);
        } else {
            let name_of =
                |cells: &[String]| cells.get(key_column).map_or_else(String::new, |name| name.trim().to_owned());
            self.qos = rows
                .into_iter()
                .map(|(cells, fields, _)| QosRow { name: name_of(&cells).to_ascii_lowercase(), fields })
                .collect();
        }
        diagnostics
    }

    /// Parents come from a ParentName column, or from the indentation that `tree` prints; else all stand under the root.
    fn association_rows(
        &mut self,
        rows: Vec<(Vec<String>, Fields, Place)>,
        special: [Option<usize>; 5],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let [cluster, user, partition, parent, account] = special;
        let mut above: Vec<(usize, String)> = Vec::new();
        let mut is_guessed = false;
        for (cells, fields, place) in rows {
            let cell = |column: Option<usize>| column.and_then(|at| cells.get(at)).map_or("", |cell| cell.trim());
            // sacctmgr lowers the names that it makes.
            let name = cell(account).to_ascii_lowercase();
            if let Some(cluster) = Some(cell(cluster)).filter(|cluster| !cluster.is_empty()) {
                let first = self.cluster.get_or_insert_with(|| cluster.to_owned());
                if first != cluster {
                    let message = format!("there is a second cluster '{cluster}' after '{first}'");
                    diagnostics.push(
                        place.error("Cluster", message).cure("print one cluster: sacctmgr show assoc cluster=NAME -P"),
                    );
                    return;
                }
            }
            let user = Some(cell(user)).filter(|user| !user.is_empty()).map(str::to_owned);
            let raw = account.and_then(|at| cells.get(at)).map_or("", String::as_str);
            let indent = raw.len() - raw.trim_start().len();
            let parent_name = match cell(parent) {
                "" if user.is_none() && name != "root" => {
                    above.retain(|(depth, _)| *depth < indent);
                    is_guessed |= above.is_empty();
                    above.last().map_or_else(|| "root".to_owned(), |(_, name)| name.clone())
                }
                "" => name.clone(),
                parent => parent.to_ascii_lowercase(),
            };
            if user.is_none() {
                above.push((indent, name.clone()));
            }
            let partition = Some(cell(partition)).filter(|partition| !partition.is_empty()).map(str::to_owned);
            self.push_row(Row { account: name, user, partition, parent: parent_name, fields, place }, diagnostics);
        }
        if is_guessed && self.rows.iter().any(|row| row.user.is_none()) {
            let message = "the table does not say which account is above which: all stand under root";
            diagnostics.push(
                Diagnostic::new(Severity::Assumed, self.name.as_str(), message)
                    .field("ParentName")
                    .cure("add ParentName to the columns, or hand over sacctmgr dump"),
            );
        }
    }
}
