//! What a trace reader has to say, bounded: three examples of each kind of fault, and one count per caveat.

use std::collections::BTreeMap;

use super::caveat::{Caveat, CaveatKind};
use crate::diagnostic::{Diagnostic, Severity, any_error};

/// What to do about a value in a row that is none.
pub(crate) const ROW_CURE: &str = "correct the value, or remove the row";
/// Faults of one kind that are shown; the rest is counted.
const SHOWN: usize = 3;
/// Option names remembered by [`Log::option`].
const OPTIONS_KEPT: usize = 50;

/// Faults of one kind in one column.
struct Faults {
    kind: &'static str,
    field: &'static str,
    shown: Vec<Diagnostic>,
    more: u64,
    /// Lines of the first and the last one that is not shown.
    between: (u64, u64),
}

/// Collects diagnostics of one file.
pub(crate) struct Log {
    file: String,
    diagnostics: Vec<Diagnostic>,
    /// In the order in which the first of each kind was met.
    faults: Vec<Faults>,
    caveats: [(u64, u64); CaveatKind::ALL.len()],
    options: BTreeMap<String, (u64, u64)>,
}

impl Log {
    pub(crate) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            diagnostics: Vec::new(),
            faults: Vec::new(),
            caveats: [(0, 0); CaveatKind::ALL.len()],
            options: BTreeMap::new(),
        }
    }

    /// The file's name.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Whether an error was reported.
    pub(crate) fn has_errors(&self) -> bool {
        !self.faults.is_empty() || any_error(&self.diagnostics)
    }

    /// A remark about the whole file.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// An error about a field of a line: `kind` groups those that are alike. The first one names the cure of all. O(kinds).
    pub(crate) fn error(
        &mut self,
        line: u64,
        field: &'static str,
        kind: &'static str,
        cure: &'static str,
        message: impl FnOnce() -> String,
    ) {
        let place = self.faults.iter().position(|faults| (faults.kind, faults.field) == (kind, field));
        let place = place.unwrap_or_else(|| {
            self.faults.push(Faults { kind, field, shown: Vec::new(), more: 0, between: (line, line) });
            self.faults.len() - 1
        });
        let Some(faults) = self.faults.get_mut(place) else { return };
        if faults.shown.len() < SHOWN {
            let cure = if faults.shown.is_empty() { cure } else { "" };
            let diagnostic = Diagnostic::error(&self.file, message()).at(line).cure(cure);
            faults.shown.push(if field.is_empty() { diagnostic } else { diagnostic.field(field) });
        } else {
            faults.between = (if faults.more == 0 { line } else { faults.between.0 }, line);
            faults.more += 1;
        }
    }

    /// Counts a caveat about a job on `line`.
    pub(crate) fn caveat(&mut self, kind: CaveatKind, line: u64) {
        self.caveats_of(kind, 1, line);
    }

    /// Counts a caveat about so many jobs, the first of them on `line`.
    pub(crate) fn caveats_of(&mut self, kind: CaveatKind, jobs: u64, line: u64) {
        if let Some((count, first)) = self.caveats.get_mut(kind as usize) {
            if *count == 0 {
                *first = line;
            }
            *count += jobs;
        }
    }

    /// Counts a command-line option that has no effect here.
    pub(crate) fn option(&mut self, name: &[u8], line: u64) {
        let name = String::from_utf8_lossy(name.get(..name.len().min(40)).unwrap_or_default()).into_owned();
        if let Some((count, _)) = self.options.get_mut(&name) {
            *count += 1;
        } else if self.options.len() < OPTIONS_KEPT {
            self.options.insert(name, (1, line));
        }
    }

    /// The counted caveats, and all diagnostics.
    pub(crate) fn finish(mut self) -> (Vec<Caveat>, Vec<Diagnostic>) {
        for Faults { kind, field, shown, more, between: (first, last) } in self.faults {
            self.diagnostics.extend(shown);
            if more > 0 {
                let message = format!("{more} more like these ({kind}), in lines {first} to {last}");
                let rest = Diagnostic::error(&self.file, message).at(first);
                self.diagnostics.push(if field.is_empty() { rest } else { rest.field(field) });
            }
        }
        let mut caveats = Vec::new();
        for (kind, &(count, line)) in CaveatKind::ALL.iter().zip(&self.caveats) {
            if count > 0 {
                caveats.push(Caveat { kind: *kind, count, line });
                self.diagnostics.push(kind.diagnostic(&self.file, count, line));
            }
        }
        for (name, (count, line)) in &self.options {
            let message = format!("the option {name} of {count} jobs has no effect in the simulation");
            let diagnostic = Diagnostic::new(Severity::NotModelled, &self.file, message);
            self.diagnostics.push(diagnostic.at(*line).field("SubmitLine"));
        }
        (caveats, self.diagnostics)
    }
}
