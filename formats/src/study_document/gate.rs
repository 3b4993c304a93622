//! Gates: how far a metric may move before a change is refused.

use serde::{Deserialize, Serialize};

use super::units::{Span, Threshold};
use crate::comparison::{Dimension, Metric};

/// A threshold on one metric, judged for every group of a dimension, on the interval's unfavourable end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The metric's name, such as `wait_seconds.mean`.
    pub metric: Metric,
    /// The groups: `overall` (default), `user`, `account`, `partition` or `qos`.
    #[serde(default)]
    pub by: Dimension,
    /// Only this group of the dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The metric must not grow by more; per cent of jobs_unstarted are of the group's jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_increase: Option<Threshold>,
    /// The metric must not shrink by more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_decrease: Option<Threshold>,
    /// A change smaller than this never breaches; only for metrics in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_below: Option<Span>,
    /// Groups with fewer counted jobs are not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_jobs: Option<u64>,
    /// What a group without an interval, or whose waits are not comparable, means, default `fail`.
    #[serde(default)]
    pub on_inconclusive: OnInconclusive,
}

/// What a group means that cannot be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnInconclusive {
    /// It does not breach.
    Pass,
    /// It breaches.
    #[default]
    Fail,
}
