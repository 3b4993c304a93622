//! What a trace reader has to say, bounded: at most a hundred diagnostics of one kind, and one count per caveat.

use std::collections::BTreeMap;

use super::caveat::{Caveat, CaveatKind};
use crate::diagnostic::{Diagnostic, Severity, any_error};

/// What to do about a value in a row that is none.
pub(crate) const ROW_CURE: &str = "correct the value, or remove the row";
/// Diagnostics kept of one kind; the rest is counted.
const KEPT: u64 = 100;
/// Option names remembered by [`Log::option`].
const OPTIONS_KEPT: usize = 50;

/// Collects diagnostics of one file.
pub(crate) struct Log {
    file: String,
    diagnostics: Vec<Diagnostic>,
    kinds: BTreeMap<(&'static str, &'static str), (Severity, u64)>,
    caveats: [(u64, u64); CaveatKind::ALL.len()],
    options: BTreeMap<String, (u64, u64)>,
}

impl Log {
    pub(crate) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            diagnostics: Vec::new(),
            kinds: BTreeMap::new(),
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
        any_error(&self.diagnostics)
    }

    /// A remark about the whole file.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// An error about a field of a line: `kind` groups those that are alike.
    pub(crate) fn error(
        &mut self,
        line: u64,
        field: &'static str,
        kind: &'static str,
        cure: &'static str,
        message: impl FnOnce() -> String,
    ) {
        let (_, count) = self.kinds.entry((kind, field)).or_insert((Severity::Error, 0));
        *count += 1;
        if *count <= KEPT {
            let diagnostic = Diagnostic::error(&self.file, message()).at(line).cure(cure);
            self.diagnostics.push(if field.is_empty() { diagnostic } else { diagnostic.field(field) });
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
        for ((kind, field), (severity, count)) in &self.kinds {
            if *count > KEPT {
                let message = format!("{} more faults of this kind: {kind}", count - KEPT);
                self.diagnostics.push(Diagnostic::new(*severity, &self.file, message).field(*field));
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
