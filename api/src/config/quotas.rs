//! Limits of tenants that have none of their own.

use foresite_store::quotas::Limits;

use super::reader::Reader;

/// Reads `FORESITE_QUOTA_*`; 0 is no limit.
pub(super) fn quotas(reader: &mut Reader<'_>) -> Limits {
    let mut limit = |variable, default| Some(reader.parsed::<u32>(variable, default)).filter(|limit| *limit > 0);
    let requests_per_minute = limit("FORESITE_QUOTA_REQUESTS_PER_MINUTE", 12_000).map(i64::from);
    let uploads_per_hour = limit("FORESITE_QUOTA_UPLOADS_PER_HOUR", 600).map(i64::from);
    let studies_active = limit("FORESITE_QUOTA_STUDIES_ACTIVE", 0).map(i64::from);
    let mut large = |variable| reader.optional::<u64>(variable).map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let positive = |limit: &i64| *limit > 0;
    Limits {
        requests_per_minute,
        uploads_per_hour,
        studies_active,
        stored_bytes: large("FORESITE_QUOTA_STORED_BYTES").filter(positive),
        jobs_per_study: large("FORESITE_QUOTA_JOBS_PER_STUDY").filter(positive),
    }
}
