//! The tasks: pure functions from a folder of inputs to files in the same folder.

mod replicate;
mod summarize;

use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;
use foresite_formats::study::Study;
use foresite_formats::study_document;

use crate::task::{Task, TaskError, TaskFolder, TaskSpec};

/// Carries out an order; its results are files in the order's folder.
pub fn run_task_in(spec: &TaskSpec) -> Result<(), TaskError> {
    let folder = TaskFolder(&spec.folder);
    let study = prepare(spec, folder)?;
    match spec.task {
        Task::Replicate { scenario, from, to } => replicate::replicate(&study, scenario, from..to, folder),
        Task::Summarize => summarize::summarize(&study, folder),
    }
}

fn prepare(spec: &TaskSpec, folder: TaskFolder<'_>) -> Result<Study, TaskError> {
    let (document, diagnostics) = study_document::read("study", spec.document.as_bytes());
    let document = document.ok_or_else(|| wrong(&diagnostics))?;
    let mut files = FileSet::default();
    for (number, name) in spec.inputs.iter().enumerate() {
        let path = folder.input(number);
        let bytes = std::fs::read(&path).map_err(TaskError::file(&path))?;
        files.insert(name.clone(), bytes);
    }
    let (study, diagnostics) = Study::prepare(&document, &files);
    study.ok_or_else(|| wrong(&diagnostics))
}

fn wrong(diagnostics: &[Diagnostic]) -> TaskError {
    let faults = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    TaskError::Input(faults.map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
