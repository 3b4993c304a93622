//! From ids to files: what a study reads, checked as `foresite run` checks it.

use std::sync::Arc;

use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::study_document::{self, SiteSource, StudyDocument};
use foresite_formats::summary_file::foresite_engine_version;
use foresite_formats::trace::compact;
use foresite_jobs_queue::{plan_tasks, understand};
use foresite_store::files::{StoredCompact, StoredFile};
use foresite_store::files_to_json;
use foresite_store::ids::TenantId;
use foresite_store::tasks::NewTask;
use foresite_store::traces::Trace;
use sha2::{Digest, Sha256};

use super::studies::refuse_errors;
use super::{blocking, configs, reading, traces};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// What the document is called in diagnostics.
const DOCUMENT: &str = study_document::DOCUMENT;

/// A study fit to be stored.
pub(super) struct CheckedStudy {
    pub(super) name: String,
    pub(super) document: String,
    pub(super) inputs: Vec<StoredFile>,
    pub(super) compact_trace: Option<StoredCompact>,
    pub(super) input_hash: String,
    pub(super) engine_version: String,
    pub(super) tasks: Vec<NewTask>,
}

/// Reads a document, finds its configuration and trace, and prepares the study once to find every fault now.
pub(super) async fn check(context: &Context, tenant: &TenantId, bytes: &[u8]) -> ApiResult<CheckedStudy> {
    if bytes.len() > context.limits.study_bytes {
        let detail = format!("a study document has at most {} bytes", context.limits.study_bytes);
        return Err(ApiError::new(Code::PayloadTooLarge, detail));
    }
    // Even a small document can take long to read, and much memory: the threads that serve requests must not, and few may at once.
    let text: Arc<[u8]> = bytes.into();
    let to_read = Arc::clone(&text);
    let turn = context.documents.take(tenant).await?;
    let (document, diagnostics) = blocking(move || {
        // Also if nobody waits for it any more, the turn lasts as long as the work.
        let _turn = turn;
        Ok(study_document::read(DOCUMENT, &to_read))
    })
    .await?;
    refuse_errors(diagnostics)?;
    let named = document.iter().map(|document| ("/name".to_owned(), &document.name));
    let scenarios = document.iter().flat_map(|document| document.scenarios.iter().enumerate());
    let scenarios = scenarios.map(|(number, scenario)| (format!("/scenarios/{number}/name"), &scenario.name));
    // Not every database can keep them, and no list can show them.
    let unshowable = named.chain(scenarios).filter(|(_, name)| name.chars().any(char::is_control));
    let fault = |pointer: String| Diagnostic::error(DOCUMENT, "the name has control characters").field(pointer);
    refuse_errors(unshowable.map(|(pointer, _)| fault(pointer).cure("choose a plain name")).collect())?;
    let document = document.ok_or_else(|| ApiError::internal("the reader found neither a document nor a fault"))?;
    let (document, inputs, trace) = resolve(context, tenant, document).await?;
    let summary: understand::TraceSummary = serde_json::from_str(&trace.summary).map_err(ApiError::internal)?;
    admit_size(context, tenant, &document, summary.jobs).await?;

    let json = serde_json::to_string(&document).map_err(ApiError::internal)?;
    let file = document.trace.file.as_deref().unwrap_or_default();
    // A window is read as a window: who ran when it opens stands in no reading of the whole.
    let is_whole = document.trace.window.is_none() && document.trace.timezone == trace.timezone && file == trace.name;
    let is_ours = |compact: &StoredCompact| is_whole && compact.reader == compact::reader();
    let known = trace.compact_trace()?.filter(is_ours);
    let (mut diagnostics, compact_trace) =
        reading::study(context, tenant, json.clone(), &inputs, file, known.clone()).await?;
    study_document::locate(&mut diagnostics, DOCUMENT, &text);
    refuse_errors(diagnostics)?;
    if let Some(compact) = compact_trace.as_ref().filter(|compact| is_whole && known.as_ref() != Some(compact)) {
        context.store.keep_compact_trace(&trace.id, compact).await?;
    }
    let engine_version = foresite_engine_version().to_owned();
    let n_scenarios = i64::try_from(document.scenarios.len() + 1).map_err(ApiError::internal)?;
    Ok(CheckedStudy {
        name: document.name.clone(),
        input_hash: input_hash(&document, &inputs, &engine_version),
        tasks: plan_tasks(n_scenarios, document.replications.into()),
        document: json,
        inputs,
        compact_trace,
        engine_version,
    })
}

/// Estimates the work before any file is read: a window may make it less, which the estimate does not know.
async fn admit_size(context: &Context, tenant: &TenantId, document: &StudyDocument, jobs: u64) -> ApiResult<()> {
    let Some(limit) = context.quotas.in_force(tenant).await.jobs_per_study else { return Ok(()) };
    let estimate = document.jobs_at_most(jobs);
    if i64::try_from(estimate).is_ok_and(|estimate| estimate <= limit) {
        return Ok(());
    }
    let detail = format!(
        "{jobs} jobs of the trace in {} replications of {} scenarios are up to {estimate} simulated jobs, the tenant may have \
         {limit} in a study; ask for fewer replications, scenarios or arrivals, or upload a shorter trace",
        document.replications,
        document.scenarios.len() + 1,
    );
    Err(ApiError::new(Code::StudyTooLarge, detail))
}

/// The document with names in place of ids, the stored files of these names, and the trace among them.
async fn resolve(
    context: &Context,
    tenant: &TenantId,
    mut document: StudyDocument,
) -> ApiResult<(StudyDocument, Vec<StoredFile>, Trace)> {
    let fault =
        |pointer: &str, message: String, cure: &str| Diagnostic::error(DOCUMENT, message).field(pointer).cure(cure);
    let mut faults = Vec::new();
    let mut inputs = Vec::new();
    let mut trace = None;
    let site = document.site.site.take().unwrap_or_default();
    if site.is_empty() {
        faults.push(fault("/site/site", "no site is named".to_owned(), "give the id that POST /v1/sites answered"));
    }
    match document.site.config.take() {
        None => faults.push(fault(
            "/site/config",
            "no configuration is named; a service reads no files of its own".to_owned(),
            "upload the files and give the id, or use `foresite submit`",
        )),
        Some(id) => match configs::find(context, tenant, &site, &id).await? {
            Some(config) => inputs = config.stored_files()?,
            None => faults.push(fault(
                "/site/config",
                format!("the site has no configuration {id}"),
                "give the id that the upload answered",
            )),
        },
    }
    if !inputs.is_empty() {
        name_config_files(&mut document, &inputs);
    }
    match document.trace.trace.take() {
        None => faults.push(fault(
            "/trace/trace",
            "no trace is named; a service reads no files of its own".to_owned(),
            "upload the trace and give its id, or use `foresite submit`",
        )),
        Some(id) => match traces::find(context, tenant, &site, &id).await? {
            Some(found) => trace = Some(found),
            None => faults.push(fault(
                "/trace/trace",
                format!("the site has no trace {id}"),
                "give the id that the upload answered",
            )),
        },
    }
    refuse_errors(faults)?;
    let trace = trace.ok_or_else(|| ApiError::internal("neither a trace nor a fault was found"))?;
    // A configuration could hold a file of the trace's name, or look for one beside slurm.conf.
    let is_taken = trace.name.ends_with(".conf") || inputs.iter().any(|file| file.name == trace.name);
    let name = if is_taken { format!("trace/{}", trace.name) } else { trace.name.clone() };
    document.trace.file = Some(name.clone());
    // Whoever uploaded it knew where it was recorded; the document may still say otherwise.
    document.trace.timezone = document.trace.timezone.take().or_else(|| trace.timezone.clone());
    let bytes = u64::try_from(trace.bytes).unwrap_or_default();
    inputs.push(StoredFile { name, object: trace.object.clone(), bytes });
    Ok((document, inputs, trace))
}

/// A stored configuration's files have their usual names.
fn name_config_files(document: &mut StudyDocument, files: &[StoredFile]) {
    let usual = |base| understand::only_file(files.iter().map(|file| file.name.as_str()), base).map(str::to_owned);
    document.site = SiteSource {
        slurm_conf: usual(understand::SLURM_CONF),
        accounts: usual(understand::ACCOUNTS),
        reservations: usual(understand::RESERVATIONS),
        usage: usual(understand::USAGE),
        events: usual(understand::EVENTS),
        sdiag: usual(understand::SDIAG),
        site: None,
        config: None,
    };
}

/// Equal for studies that must have equal comparisons.
fn input_hash(document: &StudyDocument, inputs: &[StoredFile], engine_version: &str) -> String {
    let mut sha = Sha256::new();
    for part in [&document.canonical_json(), &files_to_json(inputs), engine_version] {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part.as_bytes());
    }
    hex::encode(sha.finalize())
}
