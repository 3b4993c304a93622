//! Who did what: one line per change.

use foresite_store::audit::AuditEntry;
use foresite_store::ids::AuditId;

use crate::auth::Principal;
use crate::clock::now_ms;
use crate::context::Context;
use crate::error::ApiResult;

/// Notes that the caller did `action` (such as `site.create`) to `resource`.
pub(super) async fn note(context: &Context, caller: &Principal, action: &str, resource: &str) -> ApiResult<()> {
    let entry = AuditEntry {
        id: AuditId::new(),
        tenant: caller.tenant.clone(),
        actor: caller.actor.clone(),
        action: action.to_owned(),
        resource: resource.to_owned(),
        detail: "{}".to_owned(),
        at: now_ms(),
    };
    Ok(context.store.append_audit(&entry).await?)
}
