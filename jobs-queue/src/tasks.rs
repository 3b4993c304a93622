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
    let (study, diagnostics) = prepare(spec, folder)?;
    if spec.task == Task::Check {
        let json = serde_json::to_vec(&diagnostics).map_err(|error| TaskError::Input(error.to_string()))?;
        return replicate::write(&folder.diagnostics(), &json);
    }
    let study = study.ok_or_else(|| wrong(&diagnostics))?;
    match spec.task {
        Task::Replicate { scenario, from, to } => replicate::replicate(&study, scenario, from..to, folder),
        Task::Summarize => summarize::summarize(&study, folder),
        Task::Check => Ok(()),
    }
}

fn prepare(spec: &TaskSpec, folder: TaskFolder<'_>) -> Result<(Option<Study>, Vec<Diagnostic>), TaskError> {
    let (document, diagnostics) = study_document::read("study", spec.document.as_bytes());
    let Some(document) = document else { return Ok((None, diagnostics)) };
    let mut files = FileSet::default();
    for (number, name) in spec.inputs.iter().enumerate() {
        let path = folder.input(number);
        let bytes = std::fs::read(&path).map_err(TaskError::file(&path))?;
        files.insert(name.clone(), bytes);
    }
    Ok(Study::prepare(&document, &files))
}

fn wrong(diagnostics: &[Diagnostic]) -> TaskError {
    let faults = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    TaskError::Input(faults.map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
