//! Sites: a tenant's clusters.

use foresite_store::ids::SiteId;
use foresite_store::page::Page;
use foresite_store::sites::Site;

use super::audit;
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::context::Context;
use crate::error::{ApiError, ApiResult};

/// The longest name of anything [characters].
pub(super) const NAME_MAX: usize = 200;

/// Makes a site.
///
/// # Errors
/// 422 for a name that is empty or too long.
pub async fn create(context: &Context, caller: &Authorised<WriteSites>, name: &str) -> ApiResult<Site> {
    let name = checked_name(name)?;
    let caller = caller.principal();
    let now = context.store.now().await?;
    context.store.ensure_tenant(&caller.tenant, now).await?;
    let site = Site {
        id: SiteId::new(),
        tenant: caller.tenant.clone(),
        name,
        created_by: caller.actor.clone(),
        created_at: now,
    };
    audit::noting(context, caller, "site.create", site.id.as_str()).await?.create_site(&site).await?;
    Ok(site)
}

/// The sites of the caller's tenant, newest first.
///
/// # Errors
/// 400 for a cursor that is none of ours.
pub async fn list(
    context: &Context,
    caller: &Authorised<ReadSites>,
    before: Option<&str>,
    limit: i64,
) -> ApiResult<Page<Site, SiteId>> {
    let before = cursor(before, SiteId::parse)?;
    Ok(context.store.list_sites(&caller.principal().tenant, before.as_ref(), limit).await?)
}

/// A site of the caller's tenant.
///
/// # Errors
/// 404 if there is none, or if it is another tenant's.
pub async fn get(context: &Context, caller: &Authorised<ReadSites>, id: &str) -> ApiResult<Site> {
    find(context, &caller.principal().tenant, id).await
}

/// The site of a tenant; another tenant's does not exist.
pub(super) async fn find(context: &Context, tenant: &foresite_store::ids::TenantId, id: &str) -> ApiResult<Site> {
    let missing = || ApiError::not_found("site", id);
    let site = SiteId::parse(id).ok_or_else(missing)?;
    context.store.site(tenant, &site).await?.ok_or_else(missing)
}

/// A name for people: not empty, not endless, no control characters.
pub(super) fn checked_name(name: &str) -> ApiResult<String> {
    let name = name.trim();
    if name.is_empty() {
        return Err(ApiError::field("/name", "the name is empty", "give it a name"));
    }
    if name.chars().count() > NAME_MAX || name.chars().any(char::is_control) {
        return Err(ApiError::field(
            "/name",
            format!("the name has more than {NAME_MAX} characters, or control characters"),
            "choose a shorter, plain name",
        ));
    }
    Ok(name.to_owned())
}

/// The place to go on from, as an earlier page gave it.
pub(super) fn cursor<T>(before: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> ApiResult<Option<T>> {
    match before {
        None | Some("") => Ok(None),
        Some(text) => parse(text).map(Some).ok_or_else(|| {
            ApiError::new(
                crate::error::Code::InvalidRequest,
                "the cursor is none of ours; take `next` of the page before",
            )
        }),
    }
}
