//! Limits.

use foresite_store::quotas::Limits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::quotas::QuotaStatus;

/// Limits; null or absent is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsView {
    /// Requests per minute, with as many at once; counted by each replica of the service for itself. An administrator sets
    /// at least 1.
    #[schema(minimum = 0)]
    pub requests_per_minute: Option<i64>,
    /// Uploads of configurations and traces per hour, counted likewise.
    #[schema(minimum = 0)]
    pub uploads_per_hour: Option<i64>,
    /// Bytes of configurations and traces, as sent, and of uploads that have begun, as announced.
    #[schema(minimum = 0)]
    pub stored_bytes: Option<i64>,
    /// Studies that have not ended.
    #[schema(minimum = 0)]
    pub studies_active: Option<i64>,
    /// Jobs of the trace × scenarios (baseline included) × replications; where a scenario scales arrivals, as many more.
    #[schema(minimum = 0)]
    pub jobs_per_study: Option<i64>,
}

/// What is used now.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// Bytes of configurations and traces, and those announced of uploads that have begun.
    pub stored_bytes: i64,
    /// Studies that have not ended.
    pub studies_active: i64,
}

/// Limits and use.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct QuotaView {
    /// In force: the lower of what is granted and what an administrator set.
    pub limits: LimitsView,
    /// Granted by whoever runs the service.
    pub granted: LimitsView,
    /// Used now.
    pub used: UsageView,
}

impl From<Limits> for LimitsView {
    fn from(limits: Limits) -> Self {
        let Limits { requests_per_minute, uploads_per_hour, stored_bytes, studies_active, jobs_per_study } = limits;
        Self { requests_per_minute, uploads_per_hour, stored_bytes, studies_active, jobs_per_study }
    }
}

impl From<LimitsView> for Limits {
    fn from(view: LimitsView) -> Self {
        let LimitsView { requests_per_minute, uploads_per_hour, stored_bytes, studies_active, jobs_per_study } = view;
        Self { requests_per_minute, uploads_per_hour, stored_bytes, studies_active, jobs_per_study }
    }
}

impl From<QuotaStatus> for QuotaView {
    fn from(status: QuotaStatus) -> Self {
        let used = UsageView { stored_bytes: status.used.stored_bytes, studies_active: status.used.studies_active };
        Self { limits: status.limits.into(), granted: status.granted.into(), used }
    }
}
