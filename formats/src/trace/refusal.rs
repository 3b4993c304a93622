//! What is said of a file whose first line is neither a header nor a row of a known form.

use std::io::BufRead;

use super::layout::{LayoutError, is_header_of_jobs};
use super::lines::Lines;
use super::log::Log;
use crate::diagnostic::Diagnostic;

/// A header may stand below so many lines of banners, prompts and comments.
const LINES_ABOVE: usize = 100;

/// Says why the file is refused; the line read last was its first one that says something.
pub(super) fn refuse<R: BufRead>(reason: LayoutError, lines: &mut Lines<R>, log: &mut Log) {
    let first = lines.number();
    let (line, message, cure) = match (reason, header_below(lines)) {
        // Rows above a header were sorted there.
        (LayoutError::NoHeader, _) => (
            first,
            "these are rows of sacct without the header that names their columns".to_owned(),
            "export without --noheader, or write the header line above the rows".to_owned(),
        ),
        (_, Some(header)) => (
            header,
            format!("the header stands in line {header}, below text that is none of sacct's"),
            format!("delete the lines above line {header}"),
        ),
        (LayoutError::FixedWidth, None) => (
            first,
            "this is sacct's table of fixed width, whose fields are cut off".to_owned(),
            "export with sacct --parsable2".to_owned(),
        ),
        (LayoutError::Unknown, None) => (
            first,
            "this is neither sacct --parsable2 output nor SWF".to_owned(),
            "hand over sacct --parsable2 output with its header, or a log in the Standard Workload Format".to_owned(),
        ),
    };
    log.push(Diagnostic::error(log.file(), message).at(line).cure(cure));
}

/// The number of the line further down that is a header.
fn header_below<R: BufRead>(lines: &mut Lines<R>) -> Option<u64> {
    let mut line = Vec::new();
    for _ in 0..LINES_ABOVE {
        line.clear();
        if !lines.append(&mut line).ok()? {
            return None;
        }
        if is_header_of_jobs(&line) {
            return Some(lines.number());
        }
    }
    None
}
