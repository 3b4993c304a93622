//! The tasks: pure functions from a folder of inputs to files in the same folder.

mod replicate;
mod summarize;

use std::path::Path;

use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;
use foresite_formats::study::{self, Study};
use foresite_formats::study_document::{self, StudyDocument};
use serde::Serialize;

use crate::task::{Task, TaskError, TaskFolder, TaskSpec};
use crate::understand;

/// Carries out an order; its results are files in the order's folder.
pub fn run_task_in(spec: &TaskSpec) -> Result<(), TaskError> {
    let folder = TaskFolder(&spec.folder);
    match &spec.task {
        Task::Replicate { scenario, from, to } => {
            let (document, number) = only(read(spec)?, *scenario)?;
            replicate::replicate(&ready(&document, spec, folder)?, (*scenario, number), *from..*to, folder)
        }
        Task::Summarize => summarize::summarize(&ready(&read(spec)?, spec, folder)?, folder),
        Task::Check => tell(&folder.diagnostics(), &check(spec, folder)?),
        Task::ReadConfig => tell(&folder.diagnostics(), &understand::config(&files(spec, folder)?)),
        Task::ReadTrace { timezone, max_bytes, sha256 } => {
            let name = spec.inputs.first().map_or("trace", String::as_str);
            let understood = understand::trace(&folder.input(0), (name, sha256), timezone.as_deref(), *max_bytes)?;
            if let Some(compact) = &understood.compact {
                replicate::write(&folder.compact_trace(), compact)?;
            }
            tell(&folder.trace_summary(), &understood.summary)?;
            tell(&folder.diagnostics(), &understood.diagnostics)
        }
    }
}

fn read(spec: &TaskSpec) -> Result<StudyDocument, TaskError> {
    let (document, diagnostics) = study_document::read("study", spec.document.as_bytes());
    document.ok_or_else(|| wrong(&diagnostics))
}

/// The document with no scenario but that one, and the number that it has there: what a task does not simulate need not be made
/// ready, and a study may have hundreds. Nothing of a schedule comes from other scenarios than its own.
fn only(document: StudyDocument, scenario: usize) -> Result<(StudyDocument, usize), TaskError> {
    if scenario > document.scenarios.len() {
        return Err(TaskError::Input(format!("the study has no scenario number {scenario}")));
    }
    // The baseline is number 0 and stands in no list.
    let own: Vec<_> = document.scenarios.into_iter().take(scenario).skip(scenario.saturating_sub(1)).collect();
    let number = own.len();
    Ok((StudyDocument { scenarios: own, gates: Vec::new(), ..document }, number))
}

fn ready(document: &StudyDocument, spec: &TaskSpec, folder: TaskFolder<'_>) -> Result<Study, TaskError> {
    let (study, diagnostics) = Study::prepare(document, &files(spec, folder)?);
    study.ok_or_else(|| wrong(&diagnostics))
}

/// Prepares a study from its trace's compact form, which is left behind where it had to be made: the study's tasks start from it.
fn check(spec: &TaskSpec, folder: TaskFolder<'_>) -> Result<Vec<Diagnostic>, TaskError> {
    let (document, diagnostics) = study_document::read("study", spec.document.as_bytes());
    let Some(document) = document else { return Ok(diagnostics) };
    let mut files = files(spec, folder)?;
    if spec.compact.is_none()
        && let Some(name) = &document.trace.file
        && let Some(compact) = study::compact_trace(&document, &files)
    {
        replicate::write(&folder.compact_trace(), &compact)?;
        files.insert_compact(name, compact);
    }
    Ok(Study::prepare(&document, &files).1)
}

fn files(spec: &TaskSpec, folder: TaskFolder<'_>) -> Result<FileSet, TaskError> {
    let mut files = FileSet::default();
    for (number, name) in spec.inputs.iter().enumerate() {
        let path = folder.input(number);
        let bytes = std::fs::read(&path).map_err(TaskError::file(&path))?;
        if spec.compact == Some(number) {
            files.insert_compact(name.clone(), bytes);
        } else {
            files.insert(name.clone(), bytes);
        }
    }
    Ok(files)
}

fn tell(path: &Path, what: &impl Serialize) -> Result<(), TaskError> {
    let json = serde_json::to_vec(what).map_err(|error| TaskError::Input(error.to_string()))?;
    replicate::write(path, &json)
}

fn wrong(diagnostics: &[Diagnostic]) -> TaskError {
    let faults = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    TaskError::Input(faults.map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
