//! Configurations: versions of a site's slurm.conf and its neighbours. A configuration with errors is not stored.

use foresite_formats::diagnostic::any_error;
use foresite_formats::file_set::FileSet;
use foresite_store::configs::{Config, ConfigOutcome};
use foresite_store::files::StoredFile;
use foresite_store::files_to_json;
use foresite_store::ids::{ConfigId, SiteId, TenantId};
use foresite_store::objects::ObjectHash;
use foresite_store::page::Page;

use super::{archive, audit, blocking, quotas, reading, sites};
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// A configuration, and whether it was stored now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The configuration.
    pub config: Config,
    /// False if the site's newest has these very files.
    pub is_new: bool,
}

/// Stores a configuration sent as a tar, if it is another than the site's newest.
///
/// # Errors
/// 404 without such a site; 422 with every fault of the files.
pub async fn create_from_archive(
    context: &Context,
    caller: &Authorised<WriteSites>,
    site: &str,
    archive: Vec<u8>,
) -> ApiResult<Stored> {
    sites::find(context, &caller.principal().tenant, site).await?;
    let limit = context.limits.config_bytes as u64;
    // What comes out of it is in memory until it is stored: a few at a time.
    let turn = context.readings.take(&caller.principal().tenant).await?;
    let (files, _turn) = blocking(move || Ok((archive::unpack(&archive, limit)?, turn))).await?;
    create(context, caller, site, files).await
}

/// Stores a configuration sent as named files, if it is another than the site's newest.
///
/// # Errors
/// 404 without such a site; 422 with every unsafe name and every fault of the files.
pub async fn create_from_parts(
    context: &Context,
    caller: &Authorised<WriteSites>,
    site: &str,
    parts: Vec<(String, Vec<u8>)>,
) -> ApiResult<Stored> {
    let mut files = FileSet::default();
    let mut faults = Vec::new();
    for (name, bytes) in parts {
        match archive::safe_name(&name) {
            Ok(name) => files.insert(name, bytes),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(ApiError::refused(Code::InvalidConfig, faults));
    }
    let _turn = context.readings.take(&caller.principal().tenant).await?;
    create(context, caller, site, files).await
}

/// The caller has a turn for reading.
async fn create(context: &Context, caller: &Authorised<WriteSites>, site: &str, files: FileSet) -> ApiResult<Stored> {
    let caller = caller.principal();
    let site = sites::find(context, &caller.tenant, site).await?;
    let bytes: u64 = files.names().filter_map(|name| files.get(name)).map(|bytes| bytes.len() as u64).sum();
    let room = quotas::admit_upload(context, &caller.tenant, context.limits.config_bytes as u64).await?;
    if bytes > room.most {
        return Err(room.exceeded());
    }
    let (files, diagnostics) = reading::config(context, files).await?;
    if any_error(&diagnostics) {
        return Err(ApiError::refused(Code::InvalidConfig, diagnostics));
    }
    let mut stored = Vec::new();
    for name in files.names() {
        let Some(bytes) = files.get(name) else { continue };
        let put = context.objects.put(bytes.to_vec()).await?;
        stored.push(StoredFile { name: name.to_owned(), object: put.hash, bytes: put.bytes });
    }
    let files = files_to_json(&stored);
    let config = Config {
        id: ConfigId::new(),
        tenant: caller.tenant.clone(),
        site: site.id,
        object: ObjectHash::of(files.as_bytes()),
        files,
        diagnostics: serde_json::to_string(&diagnostics).map_err(ApiError::internal)?,
        created_by: caller.actor.clone(),
        created_at: context.store.now().await?,
        bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
    };
    let limit = quotas::stored_bytes(context, &caller.tenant).await;
    let store = audit::noting(context, caller, "config.create", config.id.as_str()).await?;
    match store.create_config(&config, limit).await? {
        ConfigOutcome::Created => Ok(Stored { config, is_new: true }),
        ConfigOutcome::Same(config) => Ok(Stored { config: *config, is_new: false }),
        ConfigOutcome::Full(full) => Err(quotas::storage_full(full)),
    }
}

/// A site's configurations, newest first.
///
/// # Errors
/// 404 without such a site; 400 for a cursor that is none of ours.
pub async fn list(
    context: &Context,
    caller: &Authorised<ReadSites>,
    site: &str,
    before: Option<&str>,
    limit: i64,
) -> ApiResult<Page<Config, ConfigId>> {
    let tenant = &caller.principal().tenant;
    let site = sites::find(context, tenant, site).await?;
    let before = sites::cursor(before, ConfigId::parse)?;
    Ok(context.store.list_configs(tenant, &site.id, before.as_ref(), limit).await?)
}

/// A configuration.
///
/// # Errors
/// 404 without such a site or configuration.
pub async fn get(context: &Context, caller: &Authorised<ReadSites>, site: &str, id: &str) -> ApiResult<Config> {
    let found = find(context, &caller.principal().tenant, site, id).await?;
    found.ok_or_else(|| ApiError::not_found("configuration", id))
}

/// A tenant's configuration of a site.
pub(super) async fn find(context: &Context, tenant: &TenantId, site: &str, id: &str) -> ApiResult<Option<Config>> {
    let (Some(site), Some(config)) = (SiteId::parse(site), ConfigId::parse(id)) else { return Ok(None) };
    Ok(context.store.config(tenant, &site, &config).await?)
}

/// Forgets a configuration. Studies made from it keep their files.
///
/// # Errors
/// 404 without such a site or configuration.
pub async fn delete(context: &Context, caller: &Authorised<WriteSites>, site: &str, id: &str) -> ApiResult<()> {
    let caller = caller.principal();
    let missing = || ApiError::not_found("configuration", id);
    let (Some(site), Some(config)) = (SiteId::parse(site), ConfigId::parse(id)) else { return Err(missing()) };
    let store = audit::noting(context, caller, "config.delete", config.as_str()).await?;
    if store.delete_config(&caller.tenant, &site, &config).await? { Ok(()) } else { Err(missing()) }
}
