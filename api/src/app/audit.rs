//! Who did what: one line per change, written in the change's own transaction. Administrators read it.

use foresite_store::Store;
use foresite_store::audit::{AuditEntry, AuditFilter};
use foresite_store::ids::{AuditId, TenantId};
use foresite_store::page::Page;
use serde_json::Value;

use super::sites;
use crate::auth::Principal;
use crate::auth::permission::{Authorised, ReadAudit};
use crate::context::Context;
use crate::error::ApiResult;
use crate::trace_id;

pub use crate::auth::COMMAND_LINE;

/// The store whose next write notes that the caller did `action` (such as `site.create`) to `resource`.
///
/// # Errors
/// 503 when the database is away, here and below.
pub(super) async fn noting(context: &Context, caller: &Principal, action: &str, resource: &str) -> ApiResult<Store> {
    noting_more(context, caller, action, resource, &Value::Object(serde_json::Map::new())).await
}

/// [`noting`], with more about it: a JSON object.
pub(super) async fn noting_more(
    context: &Context,
    caller: &Principal,
    action: &str,
    resource: &str,
    detail: &Value,
) -> ApiResult<Store> {
    let line = entry(&context.store, &caller.tenant, &caller.actor, action, resource, detail).await?;
    Ok(context.store.audited(line))
}

/// A line for now.
pub(super) async fn entry(
    store: &Store,
    tenant: &TenantId,
    actor: &str,
    action: &str,
    resource: &str,
    detail: &Value,
) -> ApiResult<AuditEntry> {
    Ok(AuditEntry {
        id: AuditId::new(),
        tenant: tenant.clone(),
        actor: actor.to_owned(),
        action: action.to_owned(),
        resource: resource.to_owned(),
        detail: detail.to_string(),
        at: store.now().await?,
        trace_id: trace_id::current(),
    })
}

/// The log of the caller's tenant, newest first.
///
/// # Errors
/// 400 for a cursor that is none of ours.
pub async fn list(
    context: &Context,
    caller: &Authorised<ReadAudit>,
    filter: &AuditFilter,
    before: Option<&str>,
    limit: i64,
) -> ApiResult<Page<AuditEntry, AuditId>> {
    let before = sites::cursor(before, AuditId::parse)?;
    Ok(context.store.list_audit(&caller.principal().tenant, filter, before.as_ref(), limit).await?)
}
