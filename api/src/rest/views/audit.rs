//! The audit log.

use foresite_store::audit::{AuditEntry, AuditFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::clock::rfc3339;
use crate::error::{ApiError, ApiResult, Code};

/// Which lines.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only by this actor.
    #[param(example = "token:ci")]
    pub actor: Option<String>,
    /// Only this action.
    #[param(example = "study.create")]
    pub action: Option<String>,
    /// Only to the resource of this id.
    pub resource: Option<String>,
    /// Only from this time on, RFC 3339.
    #[param(format = DateTime)]
    pub since: Option<String>,
    /// Only before this time, RFC 3339.
    #[param(format = DateTime)]
    pub until: Option<String>,
    /// At most this many, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    #[serde(default, deserialize_with = "super::page_size")]
    pub limit: Option<i64>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

impl AuditQuery {
    /// The conditions, checked.
    pub(crate) fn filter(&self) -> ApiResult<AuditFilter> {
        for (name, value) in [("actor", &self.actor), ("action", &self.action), ("resource", &self.resource)] {
            if value.as_ref().is_some_and(|value| value.chars().any(char::is_control)) {
                return Err(ApiError::new(Code::InvalidRequest, format!("{name} has control characters")));
            }
        }
        Ok(AuditFilter {
            actor: self.actor.clone(),
            action: self.action.clone(),
            resource: self.resource.clone(),
            since: time("since", self.since.as_deref())?,
            until: time("until", self.until.as_deref())?,
        })
    }
}

fn time(name: &str, text: Option<&str>) -> ApiResult<Option<i64>> {
    let parse = |text: &str| text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond);
    text.map(parse).transpose().map_err(|error| {
        let detail = format!("{name} is no time: {error}; write for example 2027-01-31T00:00:00Z");
        ApiError::new(Code::InvalidRequest, detail)
    })
}

/// A line of the audit log.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditView {
    /// Its id; in order of time.
    pub id: String,
    /// Who: `token:NAME`, a JWT's subject, or `cli` for what was done next to the database.
    #[schema(example = "token:ci")]
    pub actor: String,
    /// What was done.
    #[schema(example = "study.create")]
    pub action: String,
    /// The id of what it was done to.
    pub resource: String,
    /// More about it.
    pub detail: serde_json::Value,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub at: String,
    /// The request's trace id; absent for what was done next to the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

impl TryFrom<AuditEntry> for AuditView {
    type Error = ApiError;

    fn try_from(entry: AuditEntry) -> ApiResult<Self> {
        Ok(Self {
            id: entry.id.into(),
            actor: entry.actor,
            action: entry.action,
            resource: entry.resource,
            detail: serde_json::from_str(&entry.detail).map_err(ApiError::internal)?,
            at: rfc3339(entry.at),
            trace_id: entry.trace_id,
        })
    }
}
