//! sacct's rows. They come out as `sacct --parsable2` writes them, with the columns that the simulation reads, whatever came in.

use std::io::{self, Read, Write};

use super::{NameKind, PseudonymError, Pseudonyms};
use crate::compression;
use crate::diagnostic::Diagnostic;
use crate::trace::{Column, Cut, Layout, Lines, Log, RowCutter, Rows, is_swf, rewrite_submit_line};

impl Pseudonyms {
    /// Rewrites a trace as a stream; gzip and zstd are unpacked on the way. Rows whose fields cannot be told apart are left out and
    /// counted: a name could stand anywhere in them. O(bytes).
    ///
    /// # Errors
    /// When it is no output of sacct (an SWF log holds numbers for names already), or cannot be read or written.
    pub fn trace(&mut self, source: impl Read, out: &mut impl Write) -> Result<(), PseudonymError> {
        let unpacked = compression::open(source, None).map_err(|error| match error.kind() {
            io::ErrorKind::Unsupported => PseudonymError::Unknown(format!("{error}: unpack it, or use gzip or zstd")),
            _ => error.into(),
        })?;
        let mut lines = Lines::new(unpacked);
        let mut line = Vec::new();
        while line.trim_ascii().is_empty() {
            line.clear();
            if !lines.append(&mut line)? {
                return Err(PseudonymError::Unknown("the file is empty".to_owned()));
            }
        }
        if is_swf(&line) {
            let words = "an SWF log holds numbers for users and groups already: there is nothing to replace";
            return Err(PseudonymError::Unknown(words.to_owned()));
        }
        let (layout, has_header) = Layout::detect(&line)
            .map_err(|_| PseudonymError::Unknown("this is not what sacct --parsable2 prints".to_owned()))?;
        let is_kept = |column: &Column| match column {
            // Numbers of users say as much as their names.
            Column::Uid => false,
            Column::User => layout.has(Column::User) || layout.has(Column::Uid),
            column => layout.has(*column),
        };
        let columns: Vec<Column> = Column::ALL.iter().copied().filter(is_kept).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
        writeln!(out, "{}", names.join("|"))?;
        let mut rows = Rows::new(&mut lines, line, has_header);
        let (mut cutter, mut text, mut log) = (RowCutter::default(), Vec::new(), Log::new(""));
        while let Some((_, cut)) = rows.next(&layout, &mut cutter, &mut text, &mut log)? {
            if let Cut::Broken(_) = cut {
                self.rows_left_out += 1;
                continue;
            }
            let row = cutter.row(&text);
            let get = |column| String::from_utf8_lossy(row.get(column));
            let fields: Vec<String> = columns
                .iter()
                .map(|&column| match column {
                    Column::User if get(column).is_empty() => self.of(NameKind::User, &get(Column::Uid)),
                    column => self.field(column, &get(column)),
                })
                .collect();
            writeln!(out, "{}", fields.join("|"))?;
        }
        // Rows below another header would have names where none are looked for.
        match log.finish().1.into_iter().find(Diagnostic::is_error) {
            Some(fault) => Err(PseudonymError::Unknown(format!("{}: {}", fault.message, fault.cure))),
            None => Ok(()),
        }
    }

    fn field(&mut self, column: Column, text: &str) -> String {
        match column {
            Column::User => self.of(NameKind::User, text),
            Column::Account => self.of(NameKind::Account, text),
            Column::JobName => self.of(NameKind::Job, text),
            Column::Reservation => self.list(NameKind::Reservation, text),
            Column::SubmitLine => rewrite_submit_line(text.as_bytes(), |is_job, name| {
                self.of(if is_job { NameKind::Job } else { NameKind::Reservation }, name)
            }),
            // Constraints may hold the delimiter; whoever reads the file tells it apart as it was told apart here.
            _ => text.replace(['\n', '\r'], " "),
        }
    }
}
