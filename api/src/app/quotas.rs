//! Limits: read by everybody, lowered by administrators. What the service grants is set next to the database.

use foresite_store::Store;
use foresite_store::ids::TenantId;
use foresite_store::quotas::{Full, Limits, QuotaSource, Usage};
use serde_json::{Value, json};

use super::audit;
use crate::auth::permission::{Authorised, ManageQuotas, ReadQuotas};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// How long a client waits for one of its studies to end before it asks again.
pub(super) const STUDY_WAIT: std::time::Duration = std::time::Duration::from_secs(60);

/// Limits and use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaStatus {
    /// In force.
    pub limits: Limits,
    /// Granted by the service; an administrator may set lower ones.
    pub granted: Limits,
    /// Used now.
    pub used: Usage,
}

/// The limits of the caller's tenant, and what is used of them.
///
/// # Errors
/// 503 when the database is away.
pub async fn get(context: &Context, caller: &Authorised<ReadQuotas>) -> ApiResult<QuotaStatus> {
    status(context, &caller.principal().tenant).await
}

/// Sets the tenant's own limits, all of them; `None` is none of its own.
///
/// # Errors
/// 422 for a limit that is negative, above what is granted, or allows no request at all.
pub async fn set(context: &Context, caller: &Authorised<ManageQuotas>, wish: &Limits) -> ApiResult<QuotaStatus> {
    let caller = caller.principal();
    let granted = context.quotas.granted(&caller.tenant).await?;
    for (pointer, own, most) in [
        ("/requests_per_minute", wish.requests_per_minute, granted.requests_per_minute),
        ("/uploads_per_hour", wish.uploads_per_hour, granted.uploads_per_hour),
        ("/stored_bytes", wish.stored_bytes, granted.stored_bytes),
        ("/studies_active", wish.studies_active, granted.studies_active),
        ("/jobs_per_study", wish.jobs_per_study, granted.jobs_per_study),
    ] {
        if own.is_some_and(|own| own < 0) {
            return Err(ApiError::field(pointer, "a limit is not negative", "give 0 or more, or null for none"));
        }
        if pointer == "/requests_per_minute" && own == Some(0) {
            let fault = "without any request nobody could set it back";
            return Err(ApiError::field(pointer, fault, "give 1 or more, or null for none"));
        }
        if let (Some(own), Some(most)) = (own, most)
            && own > most
        {
            let cure = format!("give at most {most}, or ask whoever runs the service for more");
            return Err(ApiError::field(pointer, "this is more than the service grants", cure));
        }
    }
    let now = context.store.now().await?;
    context.store.ensure_tenant(&caller.tenant, now).await?;
    let store = audit::noting_more(context, caller, "quotas.set", caller.tenant.as_str(), &told(wish)).await?;
    store.set_limits(&caller.tenant, QuotaSource::Tenant, wish, now).await?;
    context.quotas.changed(&caller.tenant);
    status(context, &caller.tenant).await
}

/// Grants limits, all of them; `None` is the settings' default. Called next to the database.
///
/// # Errors
/// 503 when the database is away.
pub async fn grant(store: &Store, tenant: &TenantId, limits: &Limits) -> ApiResult<()> {
    let now = store.now().await?;
    store.ensure_tenant(tenant, now).await?;
    let line = audit::entry(store, tenant, audit::COMMAND_LINE, "quotas.grant", tenant.as_str(), &told(limits)).await?;
    Ok(store.audited(line).set_limits(tenant, QuotaSource::Service, limits, now).await?)
}

fn told(limits: &Limits) -> Value {
    json!({
        "requests_per_minute": limits.requests_per_minute, "uploads_per_hour": limits.uploads_per_hour,
        "stored_bytes": limits.stored_bytes, "studies_active": limits.studies_active,
        "jobs_per_study": limits.jobs_per_study,
    })
}

async fn status(context: &Context, tenant: &TenantId) -> ApiResult<QuotaStatus> {
    Ok(QuotaStatus {
        limits: context.quotas.in_force(tenant).await,
        granted: context.quotas.granted(tenant).await?,
        used: context.store.usage(tenant).await?,
    })
}

/// Admits an upload; gives how many bytes it may have, at most `most`.
///
/// # Errors
/// 429 when there were too many; 413 when nothing more may be stored.
pub(super) async fn admit_upload(context: &Context, tenant: &TenantId, most: u64) -> ApiResult<Room> {
    context.quotas.admit_upload(tenant).await?;
    let Some(limit) = stored_bytes(context, tenant).await else {
        return Ok(Room { most, storage: None });
    };
    let used = context.store.usage(tenant).await?.stored_bytes;
    let left = u64::try_from(limit.saturating_sub(used)).unwrap_or_default();
    let room = Room { most: most.min(left), storage: (left < most).then_some(Full { used, limit }) };
    if left == 0 { Err(room.exceeded()) } else { Ok(room) }
}

/// How many bytes a tenant may store; `None` for any number. What is admitted here may be one of many, so that the database judges
/// again when it is stored.
pub(super) async fn stored_bytes(context: &Context, tenant: &TenantId) -> Option<i64> {
    context.quotas.in_force(tenant).await.stored_bytes
}

/// The refusal of what would be stored.
pub(super) fn storage_full(full: Full) -> ApiError {
    let Full { used, limit } = full;
    ApiError::new(
        Code::StorageFull,
        format!(
            "the tenant stores {used} of {limit} bytes, with uploads that have begun; delete traces, configurations and uploads \
             that are no longer needed, compress the upload, or ask whoever runs the service for more"
        ),
    )
}

/// How many bytes an upload may have, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes.
    pub(super) most: u64,
    storage: Option<Full>,
}

impl Room {
    /// So many bytes, for reasons of no tenant's.
    pub(super) fn exactly(most: u64) -> Self {
        Self { most, storage: None }
    }

    /// The refusal of an upload that is larger.
    pub(super) fn exceeded(&self) -> ApiError {
        match self.storage {
            Some(full) => storage_full(full),
            None => ApiError::new(
                Code::PayloadTooLarge,
                format!("it has more than {} bytes; compress it, or send a shorter period", self.most),
            ),
        }
    }
}
