//! What a tenant may use. Counts of rows are the database's; rates are kept by each process for itself, so that a request costs
//! no write: with N replicas a tenant has up to N times its rate.

mod bucket;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use foresite_store::Store;
use foresite_store::ids::TenantId;
use foresite_store::quotas::{Limits, QuotaSource};

use crate::error::{ApiError, ApiResult, Code};
use bucket::Bucket;

/// How long limits are taken without asking the database again.
const FRESH: Duration = Duration::from_secs(10);
/// Tenants remembered; beyond, those who have not asked for a while are forgotten.
const TENANTS_MAX: usize = 10_000;
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// The limits of all tenants.
pub struct Quotas {
    store: Store,
    defaults: Limits,
    tenants: Mutex<HashMap<TenantId, Known>>,
}

struct Known {
    limits: Limits,
    read_at: Instant,
    /// The limits were changed since: they are read again, while what is used of the rates stays used.
    is_stale: bool,
    requests: Bucket,
    uploads: Bucket,
}

impl Quotas {
    /// Limits from the database, with the settings' defaults.
    pub fn new(store: Store, defaults: Limits) -> Self {
        Self { store, defaults, tenants: Mutex::default() }
    }

    /// What the service grants a tenant.
    ///
    /// # Errors
    /// 503 when the database is away.
    pub async fn granted(&self, tenant: &TenantId) -> ApiResult<Limits> {
        let own = self.store.limits(tenant, QuotaSource::Service).await?;
        Ok(combine(own, self.defaults, |own, default| own.or(default)))
    }

    /// The limits in force, at most ten seconds old. With the database away, the last known or the defaults.
    pub async fn in_force(&self, tenant: &TenantId) -> Limits {
        let known = self.with(tenant, |known| (known.limits, known.read_at, known.is_stale));
        let (last, fresh) = match known {
            Some((limits, read_at, is_stale)) => (limits, !is_stale && read_at.elapsed() < FRESH),
            None => (self.defaults, false),
        };
        if fresh {
            return last;
        }
        let limits = match self.read(tenant).await {
            Ok(limits) => limits,
            Err(error) => {
                tracing::warn!(?error, "limits not read; the last known stay in force");
                last
            }
        };
        self.remember(tenant, limits);
        limits
    }

    /// Reads a tenant's limits again when they are next asked for, so that a change is in force at once in this process.
    pub fn changed(&self, tenant: &TenantId) {
        self.with(tenant, |known| known.is_stale = true);
    }

    /// Counts a request.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub async fn admit_request(&self, tenant: &TenantId) -> ApiResult<()> {
        let Some(limit) = self.in_force(tenant).await.requests_per_minute else { return Ok(()) };
        let taken = self.with(tenant, |known| known.requests.take(limit, MINUTE, Instant::now()));
        refuse(taken, || {
            format!(
                "the tenant may send {limit} requests a minute; send fewer, for example by watching events instead of asking again and again"
            )
        })
    }

    /// Counts an upload.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub async fn admit_upload(&self, tenant: &TenantId) -> ApiResult<()> {
        let Some(limit) = self.in_force(tenant).await.uploads_per_hour else { return Ok(()) };
        let taken = self.with(tenant, |known| known.uploads.take(limit, HOUR, Instant::now()));
        refuse(taken, || format!("the tenant may upload {limit} files an hour; use the ids of earlier uploads again"))
    }

    async fn read(&self, tenant: &TenantId) -> ApiResult<Limits> {
        let own = self.store.limits(tenant, QuotaSource::Tenant).await?;
        Ok(combine(own, self.granted(tenant).await?, |own, granted| match (own, granted) {
            (Some(own), Some(granted)) => Some(own.min(granted)),
            (own, granted) => own.or(granted),
        }))
    }

    fn with<T>(&self, tenant: &TenantId, work: impl FnOnce(&mut Known) -> T) -> Option<T> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.get_mut(tenant).map(work)
    }

    fn remember(&self, tenant: &TenantId, limits: Limits) {
        let now = Instant::now();
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() >= TENANTS_MAX {
            tenants.retain(|_, known| known.read_at.elapsed() < HOUR);
        }
        let full = |limit: Option<i64>| Bucket::full(limit.unwrap_or_default(), now);
        let fresh = || Known {
            limits,
            read_at: now,
            is_stale: false,
            requests: full(limits.requests_per_minute),
            uploads: full(limits.uploads_per_hour),
        };
        let known = tenants.entry(tenant.clone()).or_insert_with(fresh);
        // A limit that was raised from nothing begins with a full bucket.
        if known.limits.requests_per_minute.is_none() {
            known.requests = full(limits.requests_per_minute);
        }
        if known.limits.uploads_per_hour.is_none() {
            known.uploads = full(limits.uploads_per_hour);
        }
        (known.limits, known.read_at, known.is_stale) = (limits, now, false);
    }
}

/// Two sets of limits into one, limit by limit.
pub fn combine(one: Limits, other: Limits, each: impl Fn(Option<i64>, Option<i64>) -> Option<i64>) -> Limits {
    Limits {
        requests_per_minute: each(one.requests_per_minute, other.requests_per_minute),
        uploads_per_hour: each(one.uploads_per_hour, other.uploads_per_hour),
        stored_bytes: each(one.stored_bytes, other.stored_bytes),
        studies_active: each(one.studies_active, other.studies_active),
        jobs_per_study: each(one.jobs_per_study, other.jobs_per_study),
    }
}

fn refuse(taken: Option<Result<(), Duration>>, detail: impl FnOnce() -> String) -> ApiResult<()> {
    match taken {
        Some(Err(wait)) => Err(ApiError::later(Code::RateLimited, detail(), wait)),
        // Forgotten between two locks: the next request counts again.
        Some(Ok(())) | None => Ok(()),
    }
}
