//! One attempt at a task: inputs into a folder, child process, results into the object store.

use foresite_formats::summary_file::Summary;
use foresite_formats::trace::compact;
use foresite_store::StoreError;
use foresite_store::error::disk_is_full;
use foresite_store::files::StoredCompact;
use foresite_store::objects::ObjectHash;
use foresite_store::state::TaskKind;
use foresite_store::studies::Study;
use foresite_store::tasks::{Claimed, NewReplication};

use super::{Worker, process};
use crate::inputs::fetch_inputs;
use crate::task::{Task, TaskFolder, TaskSpec};

/// What a finished attempt has to show; its objects are stored, its rows not yet.
pub(super) enum Produced {
    Replications(Vec<(NewReplication, Summary)>),
    Comparison { hash: ObjectHash, gate_breached: bool },
}

/// Why an attempt gave nothing.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// Another attempt may do better.
    Retry(String),
    /// None can.
    Fatal(String),
    /// It is not the task's fault: a server is away, or a disk full. The same attempt again, later.
    Away(String),
}

impl From<StoreError> for AttemptError {
    fn from(error: StoreError) -> Self {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        let words = format!("{error}{cause}");
        if error.is_temporary() { Self::Away(words) } else { Self::Retry(words) }
    }
}

impl From<std::io::Error> for AttemptError {
    fn from(error: std::io::Error) -> Self {
        let words = format!("a local file failed: {error}");
        if disk_is_full(&error) { Self::Away(words) } else { Self::Retry(words) }
    }
}

/// Makes one attempt. Dropping the future kills the child and removes the folder.
pub(super) async fn make(worker: &Worker, claimed: &Claimed) -> Result<Produced, AttemptError> {
    let scratch = tempfile::Builder::new().prefix("task-").tempdir_in(&worker.settings.scratch)?;
    let folder = TaskFolder(scratch.path());
    let task = task_of(claimed)?;
    let inputs = claimed.study.input_files()?;
    let is_ours = |compact: &StoredCompact| compact.reader == compact::reader();
    let compact = claimed.study.compact_trace()?.filter(is_ours);
    let compact = fetch_inputs(&worker.objects, &inputs, compact.as_ref(), folder).await?;
    if task == Task::Summarize {
        fetch_replications(worker, &claimed.study, folder).await?;
    }
    let mut spec = TaskSpec {
        task,
        document: claimed.study.document.clone(),
        inputs: inputs.iter().map(|file| file.name.clone()).collect(),
        compact,
        folder: scratch.path().to_owned(),
        memory_limit_bytes: worker.settings.memory_limit_bytes,
    };
    let mut ended = process::run(&worker.settings, &spec).await;
    if let Err(AttemptError::Fatal(words)) = &ended
        && spec.compact.is_some()
    {
        // The study was accepted: it may be the compact form that another version of the program refuses.
        tracing::warn!(words, "refused with the trace's compact form: again with its text");
        spec.compact = fetch_inputs(&worker.objects, &inputs, None, folder).await?;
        ended = process::run(&worker.settings, &spec).await;
    }
    ended?;
    match spec.task {
        Task::Replicate { scenario, from, to } => {
            let mut results = Vec::new();
            for replication in from..to {
                results.push(replication_result(worker, folder, scenario, replication).await?);
            }
            Ok(Produced::Replications(results))
        }
        Task::Summarize => {
            let stored = worker.objects.put_file(&folder.comparison()).await?;
            Ok(Produced::Comparison { hash: stored.hash, gate_breached: folder.gate_breached().exists() })
        }
        Task::Check | Task::ReadConfig | Task::ReadTrace { .. } => {
            Err(AttemptError::Fatal("no worker gets such an order".to_owned()))
        }
    }
}

fn task_of(claimed: &Claimed) -> Result<Task, AttemptError> {
    let row = &claimed.task;
    let number = |number: i64| {
        u32::try_from(number).map_err(|_| AttemptError::Fatal(format!("task {} has an impossible number", row.id)))
    };
    Ok(match row.kind {
        TaskKind::Replicate => Task::Replicate {
            scenario: number(row.scenario)? as usize,
            from: number(row.replication_from)?,
            to: number(row.replication_to)?,
        },
        TaskKind::Summarize => Task::Summarize,
    })
}

async fn fetch_replications(worker: &Worker, study: &Study, folder: TaskFolder<'_>) -> Result<(), AttemptError> {
    for row in worker.store.study_replications(&study.id).await? {
        let (Ok(scenario), Ok(replication)) = (usize::try_from(row.scenario), u32::try_from(row.replication)) else {
            return Err(AttemptError::Fatal(format!("study {} has an impossible replication", study.id)));
        };
        worker.objects.fetch(&row.schedule_object, &folder.schedule(scenario, replication)).await?;
        tokio::fs::write(folder.summary(scenario, replication), &row.summary).await?;
    }
    Ok(())
}

async fn replication_result(
    worker: &Worker,
    folder: TaskFolder<'_>,
    scenario: usize,
    replication: u32,
) -> Result<(NewReplication, Summary), AttemptError> {
    let stored = worker.objects.put_file(&folder.schedule(scenario, replication)).await?;
    let text = tokio::fs::read_to_string(folder.summary(scenario, replication)).await?;
    let summary: Summary = serde_json::from_str(&text)
        .map_err(|error| AttemptError::Retry(format!("the child wrote a summary that cannot be read: {error}")))?;
    let row = NewReplication { replication: i64::from(replication), schedule_object: stored.hash, summary: text };
    Ok((row, summary))
}
