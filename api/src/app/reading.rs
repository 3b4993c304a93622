//! What the readers say about what comes from outside. Child processes read it, a few at a time: none can eat the service's memory.

use std::path::Path;

use foresite_formats::diagnostic::{Diagnostic, any_error};
use foresite_formats::file_set::FileSet;
use foresite_formats::trace::compact;
use foresite_jobs_queue::check::{CheckError, Judge};
use foresite_jobs_queue::inputs::fetch_inputs;
use foresite_jobs_queue::task::TaskFolder;
use foresite_jobs_queue::understand::TraceSummary;
use foresite_store::files::{StoredCompact, StoredFile};
use foresite_store::ids::TenantId;
use foresite_store::objects::ObjectHash;
use jiff::tz::TimeZone;
use tempfile::TempDir;

use super::blocking;
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// Prepares a study of stored files, of which `trace` is the trace; `json` is its document with the files' names. Gives what was
/// found, and the trace's compact form: the `known` one, or else one that is stored now.
pub(super) async fn study(
    context: &Context,
    tenant: &TenantId,
    json: String,
    inputs: &[StoredFile],
    trace: &str,
    known: Option<StoredCompact>,
) -> ApiResult<(Vec<Diagnostic>, Option<StoredCompact>)> {
    let _turn = context.checks.take(tenant).await?;
    let folder = folder(context)?;
    let mut place = fetch_inputs(&context.objects, inputs, known.as_ref(), TaskFolder(folder.path())).await?;
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let refused =
        |error| refusal(error, Code::StudyTooLarge, "ask for less: a shorter trace, fewer nodes, plain files");
    let mut diagnostics = judge(context, &folder).study(json.clone(), names.clone(), place).await.map_err(refused)?;
    if place.is_some() && any_error(&diagnostics) {
        // It may be the compact form itself, made by another version of the program.
        place = fetch_inputs(&context.objects, inputs, None, TaskFolder(folder.path())).await?;
        diagnostics = judge(context, &folder).study(json, names, place).await.map_err(refused)?;
    }
    let compact = match place {
        Some(_) => known,
        None if any_error(&diagnostics) => None,
        None => keep_compact(context, &folder, trace).await?,
    };
    Ok((diagnostics, compact))
}

/// Stores the compact form that a child left of the trace `file`, if it did.
async fn keep_compact(context: &Context, folder: &TempDir, file: &str) -> ApiResult<Option<StoredCompact>> {
    let path = TaskFolder(folder.path()).compact_trace();
    if !tokio::fs::try_exists(&path).await.map_err(ApiError::file)? {
        return Ok(None);
    }
    let object = context.objects.put_file(&path).await?.hash;
    Ok(Some(StoredCompact { file: file.to_owned(), object, reader: compact::reader() }))
}

/// Reads a configuration's files. The caller has a turn.
pub(super) async fn config(context: &Context, files: FileSet) -> ApiResult<(FileSet, Vec<Diagnostic>)> {
    let folder = folder(context)?;
    let (files, folder, names) = blocking(move || {
        let mut names = Vec::new();
        for (number, name) in files.names().enumerate() {
            let bytes = files.get(name).unwrap_or_default();
            std::fs::write(TaskFolder(folder.path()).input(number), bytes).map_err(ApiError::file)?;
            names.push(name.to_owned());
        }
        Ok((files, folder, names))
    })
    .await?;
    let said = judge(context, &folder).config(names).await;
    let cure = "send fewer or smaller files";
    Ok((files, said.map_err(|error| refusal(error, Code::PayloadTooLarge, cure))?))
}

/// Reads a trace, of which `file` is a temporary file with the SHA-256 `hash`; its compact form is stored.
pub(super) async fn trace(
    context: &Context,
    tenant: &TenantId,
    (file, hash): (&Path, &ObjectHash),
    name: &str,
    timezone: Option<&str>,
) -> ApiResult<(TraceSummary, Vec<Diagnostic>, Option<StoredCompact>)> {
    if let Some(name) = timezone {
        TimeZone::get(name).map_err(|_| {
            ApiError::field("/timezone", format!("there is no time zone {name}"), "write for example Europe/Berlin")
        })?;
    }
    let _turn = context.readings.take(tenant).await?;
    let folder = folder(context)?;
    tokio::fs::hard_link(file, TaskFolder(folder.path()).input(0)).await.map_err(ApiError::file)?;
    let limit = context.limits.trace_expanded_bytes;
    let named = (name.to_owned(), hash.as_str().to_owned());
    let said = judge(context, &folder).trace(named, timezone.map(str::to_owned), limit).await;
    let (summary, diagnostics) =
        said.map_err(|error| refusal(error, Code::PayloadTooLarge, "send a shorter period"))?;
    let compact = if any_error(&diagnostics) { None } else { keep_compact(context, &folder, name).await? };
    Ok((summary, diagnostics, compact))
}

fn folder(context: &Context) -> ApiResult<TempDir> {
    tempfile::Builder::new().prefix("check-").tempdir_in(&context.checker.scratch).map_err(ApiError::file)
}

fn judge<'a>(context: &'a Context, folder: &'a TempDir) -> Judge<'a> {
    Judge { settings: &context.checker, folder: folder.path() }
}

fn refusal(error: CheckError, code: Code, cure: &str) -> ApiError {
    match error {
        CheckError::File(error) => ApiError::file(error),
        CheckError::Away(words) => ApiError::unavailable(words),
        error => ApiError::new(code, format!("{error}; {cure}")),
    }
}
