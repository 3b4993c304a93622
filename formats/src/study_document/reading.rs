//! Bytes to a checked document.

use serde_json::Value;

use super::lines::Lines;
use super::{StudyDocument, checks, expansion, faults};
use crate::diagnostic::Diagnostic;

/// What diagnostics call the document where its file's name is not known.
pub const DOCUMENT: &str = "study";

/// A document larger than this is refused unread [bytes].
const BYTES_MAX: usize = 4 << 20;

/// Levels of nesting beyond which a document is refused unread: YAML readers take quadratic time in the depth.
const DEPTH_MAX: usize = 64;

/// So much of a name that a document chose is told in a fault [bytes].
const TOLD_MAX: usize = 1000;

/// The line in which brackets, indentation or sequence dashes go deeper than any study needs. O(bytes).
fn too_deep(text: &str) -> Option<u64> {
    let mut open: usize = 0;
    for (index, line) in text.lines().enumerate() {
        let dashes = line.split(' ').take_while(|word| matches!(*word, "" | "-" | "?")).filter(|word| !word.is_empty());
        let indentation = line.len() - line.trim_start_matches(' ').len();
        let mut deepest = open.max(dashes.count()).max(indentation / 8);
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(open);
        }
        if deepest > DEPTH_MAX {
            return Some(index as u64 + 1);
        }
    }
    None
}

/// Reads a study document, YAML or JSON, and lists every fault with its JSON pointer and line.
/// The document is `Some` only if no fault was found.
pub fn read(name: &str, bytes: &[u8]) -> (Option<StudyDocument>, Vec<Diagnostic>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if bytes.len() <= BYTES_MAX => text,
        Ok(_) => {
            let fault = format!("the study document has {} bytes, more than {BYTES_MAX}", bytes.len());
            return (None, vec![Diagnostic::error(name, fault)]);
        }
        Err(error) => {
            let fault = format!("the study document is not UTF-8 (byte {})", error.valid_up_to());
            return (None, vec![Diagnostic::error(name, fault).cure("save it as UTF-8")]);
        }
    };
    if let Some(line) = too_deep(text) {
        let fault = format!("the study document is nested deeper than {DEPTH_MAX} levels");
        return (None, vec![Diagnostic::error(name, fault).at(line).cure("a study needs fewer than ten levels")]);
    }
    let tree = match tree(text) {
        Ok(tree) => tree,
        Err((message, line)) => {
            let bare =
                line.and_then(|line| bare_hostlist(text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?));
            let cure = bare.map(|word| format!("put hostlists in quotes: \"{word}\""));
            let cure = cure.unwrap_or_else(|| "correct the YAML or JSON syntax".to_owned());
            let mut fault = Diagnostic::error(name, message).cure(cure);
            fault.line = line;
            return (None, vec![fault]);
        }
    };
    let lines = Lines::of(text);
    let mut diagnostics: Vec<Diagnostic> = lines
        .repeated
        .iter()
        .map(|(pointer, line)| {
            Diagnostic::error(name, "the key is given twice").at(*line).field(pointer).cure("keep one of them")
        })
        .collect();
    let (document, found) = faults::read_all::<StudyDocument>(tree);
    diagnostics.extend(found.into_iter().map(|fault| {
        let mut diagnostic = Diagnostic::error(name, fault.message);
        diagnostic.line = lines.line(&fault.pointer);
        if fault.pointer == "/trace/file" && diagnostic.message.contains("sequence") {
            diagnostic =
                diagnostic.cure("join the files into one, such as with cat: a header that is repeated is fine");
        }
        diagnostic.field = (!fault.pointer.is_empty()).then_some(fault.pointer);
        if diagnostic.message.ends_with("expected map with a single key") {
            // So `{remove: n1,n2}` reads: two keys.
            diagnostic.cure = "give one key; put hostlists in quotes: \"n[1-2]\", \"n1,n2\"".to_owned();
        }
        diagnostic
    }));
    if let Some(document) = &document {
        diagnostics.extend(checks::faults(document).into_iter().map(|(pointer, message, cure)| {
            let mut diagnostic = Diagnostic::error(name, message).field(&pointer).cure(cure);
            diagnostic.line = lines.line(&pointer);
            diagnostic
        }));
    }
    for diagnostic in &mut diagnostics {
        shorten(&mut diagnostic.message);
        if let Some(field) = &mut diagnostic.field {
            shorten(field);
        }
    }
    (document.filter(|_| diagnostics.is_empty()), diagnostics)
}

/// The first word of a line such as `n[1-2]` that stands in no quotes: YAML takes its bracket for a list's.
fn bare_hostlist(line: &str) -> Option<&str> {
    let mut quoted = None;
    for (at, letter) in line.char_indices() {
        match (quoted, letter) {
            (None, '"' | '\'') => quoted = Some(letter),
            (Some(quote), letter) if letter == quote => quoted = None,
            (None, '[') => {
                let before = line.get(..at)?;
                let name = before.rsplit(|it: char| !it.is_ascii_alphanumeric() && it != '-' && it != '_').next()?;
                let rest = line.get(at..)?;
                let end = rest.find(']').map_or(rest.len(), |end| end + 1);
                if !name.is_empty() {
                    return line.get(at - name.len()..at + end);
                }
            }
            _ => {}
        }
    }
    None
}

/// Many faults may name the same long key.
fn shorten(text: &mut String) {
    if text.len() > TOLD_MAX {
        text.truncate(text.floor_char_boundary(TOLD_MAX));
        text.push('…');
    }
}

/// Tells diagnostics of [`crate::study::Study::prepare`] that are about the document its file and lines: those readers know it
/// only as [`DOCUMENT`] and by JSON pointers.
pub fn locate(diagnostics: &mut [Diagnostic], name: &str, bytes: &[u8]) {
    let readable = std::str::from_utf8(bytes).ok().filter(|text| too_deep(text).is_none());
    let lines = readable.map(Lines::of).unwrap_or_default();
    for diagnostic in diagnostics.iter_mut().filter(|it| it.file == DOCUMENT) {
        diagnostic.file = name.to_owned();
        diagnostic.line = diagnostic.field.as_deref().and_then(|pointer| lines.line(pointer));
    }
}

fn tree(text: &str) -> Result<Value, (String, Option<u64>)> {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        return Ok(value);
    }
    let yaml: serde_norway::Value = expansion::check(text)
        .and_then(|()| serde_norway::from_str(text))
        .map_err(|error| (error.to_string(), error.location().map(|place| place.line() as u64)))?;
    if yaml.is_null() {
        return Err(("the study document is empty".to_owned(), None));
    }
    serde_json::to_value(yaml).map_err(|error| (format!("a key must be a text: {error}"), None))
}
