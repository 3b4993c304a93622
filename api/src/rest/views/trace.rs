//! Traces.

use foresite_jobs_queue::understand::TraceSummary;
use foresite_store::traces::Trace;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{DiagnosticView, diagnostics};
use crate::clock::rfc3339;
use crate::error::{ApiError, ApiResult};

/// What comes with a trace's bytes.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TraceQuery {
    /// The file's name.
    #[param(example = "sacct.txt.zst")]
    pub name: String,
    /// IANA zone of local times in sacct files; UTC where not given. A study that names none takes this one.
    #[param(example = "America/Chicago")]
    pub timezone: Option<String>,
}

/// What is in a trace.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = TraceSummary)]
pub struct TraceSummaryView {
    /// Jobs, array tasks and components.
    pub jobs: u64,
    /// First submission, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_submit: Option<i64>,
    /// Last submission, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_submit: Option<i64>,
}

impl From<TraceSummary> for TraceSummaryView {
    fn from(TraceSummary { jobs, first_submit, last_submit }: TraceSummary) -> Self {
        Self { jobs, first_submit, last_submit }
    }
}

/// A stored trace.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TraceView {
    /// Its id.
    pub id: String,
    /// The site it was recorded at.
    pub site: String,
    /// The file's name.
    pub name: String,
    /// SHA-256 of the bytes as sent.
    pub sha256: String,
    /// Bytes as sent.
    pub bytes: u64,
    /// What is in it.
    pub summary: TraceSummaryView,
    /// What the reader said: warnings, assumptions, what is not modelled.
    pub diagnostics: Vec<DiagnosticView>,
    /// Who uploaded it.
    pub created_by: String,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl TryFrom<Trace> for TraceView {
    type Error = ApiError;

    fn try_from(trace: Trace) -> ApiResult<Self> {
        Ok(Self {
            summary: serde_json::from_str::<TraceSummary>(&trace.summary).map_err(ApiError::internal)?.into(),
            diagnostics: diagnostics(&trace.diagnostics)?,
            id: trace.id.into(),
            site: trace.site.into(),
            name: trace.name,
            sha256: trace.object.into(),
            bytes: u64::try_from(trace.bytes).unwrap_or_default(),
            created_by: trace.created_by,
            created_at: rfc3339(trace.created_at),
        })
    }
}
