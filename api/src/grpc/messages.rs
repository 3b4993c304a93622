//! Rows to messages.

use foresite_formats::diagnostic::{Diagnostic, Severity};
use foresite_jobs_queue::understand::TraceSummary;
use foresite_store::configs::Config;
use foresite_store::events::StudyEvent;
use foresite_store::sites::Site;
use foresite_store::state::StudyState;
use foresite_store::traces::Trace;

use super::v1;
use crate::app::studies::StudyStatus;
use crate::clock::rfc3339;
use crate::error::{ApiError, ApiResult, Code};

pub(super) fn diagnostic(diagnostic: Diagnostic) -> v1::Diagnostic {
    let severity = match diagnostic.severity {
        Severity::Error => v1::Severity::Error,
        Severity::Warning => v1::Severity::Warning,
        Severity::NotModelled => v1::Severity::NotModelled,
        Severity::Assumed => v1::Severity::Assumed,
    };
    v1::Diagnostic {
        severity: severity.into(),
        file: diagnostic.file,
        line: diagnostic.line,
        field: diagnostic.field,
        message: diagnostic.message,
        cure: diagnostic.cure,
    }
}

fn diagnostics(text: &str) -> ApiResult<Vec<v1::Diagnostic>> {
    let read: Vec<Diagnostic> = serde_json::from_str(text).map_err(ApiError::internal)?;
    Ok(read.into_iter().map(diagnostic).collect())
}

pub(super) fn site(site: Site) -> v1::Site {
    v1::Site { id: site.id.into(), name: site.name, created_at: rfc3339(site.created_at) }
}

pub(super) fn config(config: Config) -> ApiResult<v1::Config> {
    Ok(v1::Config {
        files: config.stored_files()?.into_iter().map(|file| file.name).collect(),
        diagnostics: diagnostics(&config.diagnostics)?,
        id: config.id.into(),
        site_id: config.site.into(),
        sha256: config.object.into(),
        created_at: rfc3339(config.created_at),
    })
}

pub(super) fn trace(trace: Trace) -> ApiResult<v1::Trace> {
    let summary: TraceSummary = serde_json::from_str(&trace.summary).map_err(ApiError::internal)?;
    Ok(v1::Trace {
        diagnostics: diagnostics(&trace.diagnostics)?,
        id: trace.id.into(),
        site_id: trace.site.into(),
        name: trace.name,
        sha256: trace.object.into(),
        size_bytes: u64::try_from(trace.bytes).unwrap_or_default(),
        jobs: summary.jobs,
        first_submit: summary.first_submit,
        last_submit: summary.last_submit,
        created_at: rfc3339(trace.created_at),
    })
}

pub(super) fn study(status: StudyStatus) -> v1::Study {
    let StudyStatus { study, queue_position, expected_end_at } = status;
    let count = |number: i64| u32::try_from(number).unwrap_or_default();
    let state = match study.state {
        StudyState::Queued => v1::StudyState::Queued,
        StudyState::Running => v1::StudyState::Running,
        StudyState::Succeeded => v1::StudyState::Succeeded,
        StudyState::Failed => v1::StudyState::Failed,
        StudyState::Cancelling => v1::StudyState::Cancelling,
        StudyState::Cancelled => v1::StudyState::Cancelled,
    };
    v1::Study {
        id: study.id.into(),
        name: study.name,
        state: state.into(),
        error: study.error.unwrap_or_default(),
        replications_done: count(study.replications_done),
        replications_total: count(study.replications_total),
        queue_position: queue_position.and_then(|position| u32::try_from(position).ok()),
        created_at: rfc3339(study.created_at),
        expected_end_at: expected_end_at.map(rfc3339),
        engine_version: study.engine_version,
        created_by: study.created_by,
        started_at: study.started_at.map(rfc3339),
        finished_at: study.finished_at.map(rfc3339),
    }
}

/// The state that a list is asked for; `None` for all.
///
/// # Errors
/// For a number that stands for no state.
pub(super) fn state(number: i32) -> ApiResult<Option<StudyState>> {
    let state = v1::StudyState::try_from(number)
        .map_err(|_| ApiError::new(Code::InvalidRequest, format!("there is no state {number}")))?;
    Ok(match state {
        v1::StudyState::Unspecified => None,
        v1::StudyState::Queued => Some(StudyState::Queued),
        v1::StudyState::Running => Some(StudyState::Running),
        v1::StudyState::Succeeded => Some(StudyState::Succeeded),
        v1::StudyState::Failed => Some(StudyState::Failed),
        v1::StudyState::Cancelling => Some(StudyState::Cancelling),
        v1::StudyState::Cancelled => Some(StudyState::Cancelled),
    })
}

pub(super) fn event(event: StudyEvent) -> v1::StudyEvent {
    v1::StudyEvent {
        id: event.seq,
        kind: event.kind.as_str().to_owned(),
        data: event.data,
        created_at: rfc3339(event.at),
    }
}
