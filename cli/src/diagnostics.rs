//! Diagnostics for people, aligned, and for machines.

use foresite_formats::diagnostic::{Diagnostic, Severity, any_error};
use foresite_formats::study_document::DOCUMENT;
use serde_json::json;

use crate::exit::Exit;

const ORDER: [Severity; 4] = [Severity::Error, Severity::Warning, Severity::NotModelled, Severity::Assumed];

/// Diagnostics by severity, places and severities aligned.
pub(crate) fn listed(diagnostics: &[Diagnostic]) -> String {
    let place = |it: &Diagnostic| it.line.map_or_else(|| it.file.clone(), |line| format!("{}:{line}", it.file));
    let width = diagnostics.iter().map(|it| place(it).chars().count()).max().unwrap_or(0).min(40);
    let mut out = String::new();
    for severity in ORDER {
        for it in diagnostics.iter().filter(|it| it.severity == severity) {
            let field = it.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
            let cure = if it.cure.is_empty() { String::new() } else { format!("; {}", it.cure) };
            out += &format!("{:<width$}  {:<12}  {field}{}{cure}\n", place(it), severity.to_string(), it.message);
        }
    }
    out
}

/// How many there are of each severity: `2 errors, 1 assumed`.
pub(crate) fn counted(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|it| it.severity == severity).count();
    let words = ORDER.into_iter().filter(|severity| count(*severity) > 0).map(|severity| {
        let n = count(severity);
        let plural = matches!(severity, Severity::Error | Severity::Warning) && n > 1;
        format!("{n} {severity}{}", if plural { "s" } else { "" })
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Faults of the study made from the command line name the option that the user wrote.
pub(crate) fn name_option(diagnostic: &mut Diagnostic) {
    if diagnostic.file != DOCUMENT {
        return;
    }
    let pointer = diagnostic.field.as_deref().unwrap_or_default();
    if let Some((_, key)) = pointer.split_once("/set/") {
        (diagnostic.file, diagnostic.field) = ("--set".to_owned(), Some(key.replace("~1", "/").replace("~0", "~")));
    } else if pointer == "/trace/timezone" {
        (diagnostic.file, diagnostic.field) = ("--timezone".to_owned(), None);
    }
}

/// Lists all faults and ends with [`Exit::Wrong`].
pub(crate) fn refuse(diagnostics: &[Diagnostic], json: bool) -> Exit {
    if json {
        println!("{:#}", json!({ "diagnostics": diagnostics }));
    }
    eprint!("{}", listed(diagnostics));
    eprintln!("foresite: the input is wrong: {}", counted(diagnostics));
    Exit::Wrong
}

/// Says in a line what is assumed and not modelled, and lists warnings.
pub(crate) fn note(diagnostics: &[Diagnostic]) {
    debug_assert!(!any_error(diagnostics), "errors are refused, not noted");
    let warnings: Vec<Diagnostic> = diagnostics.iter().filter(|it| it.severity == Severity::Warning).cloned().collect();
    eprint!("{}", listed(&warnings));
    let others: Vec<Diagnostic> = diagnostics.iter().filter(|it| it.severity != Severity::Warning).cloned().collect();
    if !others.is_empty() {
        eprintln!("foresite: {}; `foresite check` lists them", counted(&others));
    }
}
