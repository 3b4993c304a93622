//! Traces.

use foresite_store::traces::Trace;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{DiagnosticView, diagnostics};
use crate::app::understand::TraceSummary;
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
    /// IANA zone of local times in sacct files; UTC where not given.
    #[param(example = "America/Chicago")]
    pub timezone: Option<String>,
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
    pub summary: TraceSummary,
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
            summary: serde_json::from_str(&trace.summary).map_err(ApiError::internal)?,
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
