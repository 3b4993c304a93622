//! Studies.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::studies::StudyStatus;
use crate::clock::rfc3339;

/// Which studies.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StudyQuery {
    /// Only studies in this state.
    #[param(example = "running")]
    pub state: Option<String>,
    /// At most this many, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    #[serde(default, deserialize_with = "super::page_size")]
    pub limit: Option<i64>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// A study.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StudyView {
    /// Its id.
    pub id: String,
    /// Its name from the document.
    pub name: String,
    /// `queued`, `running`, `succeeded`, `failed`, `cancelling` or `cancelled`.
    #[schema(example = "running")]
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How far it is.
    pub progress: Progress,
    /// Waiting tasks of other studies before its first one; absent unless it is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<i64>,
    /// When it will probably have ended, RFC 3339; absent until a first replication is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expected_end_at: Option<String>,
    /// Version of the engine it is run with.
    pub engine_version: String,
    /// Who asked for it.
    pub created_by: String,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When its first task started, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub finished_at: Option<String>,
}

/// Replications done, of all scenarios and the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// Done.
    pub replications_done: i64,
    /// In all.
    pub replications_total: i64,
}

impl From<StudyStatus> for StudyView {
    fn from(status: StudyStatus) -> Self {
        let StudyStatus { study, queue_position, expected_end_at } = status;
        Self {
            id: study.id.into(),
            name: study.name,
            state: study.state.as_str().to_owned(),
            error: study.error,
            progress: Progress {
                replications_done: study.replications_done,
                replications_total: study.replications_total,
            },
            queue_position,
            expected_end_at: expected_end_at.map(rfc3339),
            engine_version: study.engine_version,
            created_by: study.created_by,
            created_at: rfc3339(study.created_at),
            started_at: study.started_at.map(rfc3339),
            finished_at: study.finished_at.map(rfc3339),
        }
    }
}
