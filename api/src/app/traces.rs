//! Traces: recorded history of a site. Received into a temporary file, read once, and stored as sent; a trace with errors is
//! not stored.

use std::io::Write;

use bytes::Bytes;
use foresite_formats::diagnostic::any_error;
use foresite_store::files::StoredCompact;
use foresite_store::ids::{SiteId, TenantId, TraceId, UploadId};
use foresite_store::objects::ObjectHash;
use foresite_store::page::Page;
use foresite_store::traces::{Trace, TraceOutcome};
use foresite_store::uploads::Upload;
use futures::{Stream, StreamExt};
use tempfile::NamedTempFile;

use super::quotas::Room;
use super::{archive, audit, blocking, quotas, reading, sites};
use crate::auth::Principal;
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// What comes with the bytes.
#[derive(Clone, Debug)]
pub struct TraceHeader {
    /// The file's name; a plain one.
    pub name: String,
    /// IANA zone of local times in sacct files; UTC where not given. A study that names none takes this one.
    pub timezone: Option<String>,
}

/// A trace, and whether it was stored now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The trace.
    pub trace: Trace,
    /// False if the site had these bytes already, under the same name and time zone.
    pub is_new: bool,
}

/// Stores a trace from a stream of its bytes. Bytes that the site has already are neither read nor stored again.
///
/// # Errors
/// 404 without such a site; 413 when larger than allowed; 422 with every fault of the trace; 429 for too many uploads.
pub async fn create<S>(
    context: &Context,
    caller: &Authorised<WriteSites>,
    site: &str,
    header: TraceHeader,
    bytes: S,
) -> ApiResult<Stored>
where
    S: Stream<Item = ApiResult<Bytes>> + Unpin,
{
    let caller = caller.principal();
    let site = sites::find(context, &caller.tenant, site).await?;
    let name = checked_file_name(&header.name)?;
    let room = quotas::admit_upload(context, &caller.tenant, context.limits.trace_bytes).await?;
    let (file, _, broken) = receive_what_comes(context, bytes, room).await?;
    match broken {
        Some(error) => Err(error),
        None => store_file(context, caller, &site.id, None, TraceHeader { name, ..header }, file).await,
    }
}

/// [`create`] for the bytes of an upload, which was admitted when it began.
pub(super) async fn store_upload<S>(
    context: &Context,
    caller: &Principal,
    upload: &Upload,
    header: TraceHeader,
    bytes: S,
) -> ApiResult<Stored>
where
    S: Stream<Item = ApiResult<Bytes>> + Unpin,
{
    let room = Room::exactly(context.limits.trace_bytes);
    let (file, _, broken) = receive_what_comes(context, bytes, room).await?;
    match broken {
        Some(error) => Err(error),
        None => store_file(context, caller, &upload.site, Some(&upload.id), header, file).await,
    }
}

async fn store_file(
    context: &Context,
    caller: &Principal,
    site: &SiteId,
    upload: Option<&UploadId>,
    header: TraceHeader,
    file: NamedTempFile,
) -> ApiResult<Stored> {
    let (file, hash) = blocking(move || {
        let hash = ObjectHash::of_file(file.path()).map_err(ApiError::internal)?;
        Ok((file, hash))
    })
    .await?;
    let timezone = header.timezone;
    if let Some(trace) = context.store.same_trace(site, &hash, &header.name, timezone.as_deref()).await? {
        return Ok(Stored { trace, is_new: false });
    }
    let (summary, diagnostics, compact) =
        reading::trace(context, &caller.tenant, (file.path(), &hash), &header.name, timezone.as_deref()).await?;
    if any_error(&diagnostics) {
        return Err(ApiError::refused(Code::InvalidTrace, diagnostics));
    }
    let put = context.objects.put_file(file.path()).await?;
    let trace = Trace {
        id: TraceId::new(),
        tenant: caller.tenant.clone(),
        site: site.clone(),
        name: header.name,
        object: put.hash,
        bytes: i64::try_from(put.bytes).unwrap_or(i64::MAX),
        summary: serde_json::to_string(&summary).map_err(ApiError::internal)?,
        diagnostics: serde_json::to_string(&diagnostics).map_err(ApiError::internal)?,
        created_by: caller.actor.clone(),
        created_at: context.store.now().await?,
        timezone,
        compact_trace: compact.as_ref().map(StoredCompact::to_json),
    };
    let limit = quotas::stored_bytes(context, &caller.tenant).await;
    let store = audit::noting(context, caller, "trace.create", trace.id.as_str()).await?;
    match store.create_trace(&trace, upload, limit).await? {
        TraceOutcome::Created => {}
        TraceOutcome::Same(trace) => return Ok(Stored { trace: *trace, is_new: false }),
        TraceOutcome::Full(full) => return Err(quotas::storage_full(full)),
    }
    if !context.objects.exists(&trace.object).await? {
        // Removed as unused at the very moment it came into use.
        context.objects.put_file(file.path()).await?;
    }
    Ok(Stored { trace, is_new: true })
}

/// A plain file name.
pub(super) fn checked_file_name(name: &str) -> ApiResult<String> {
    archive::safe_name(name)
        .ok()
        .filter(|name| name.len() <= 200 && !name.chars().any(char::is_control))
        .ok_or_else(|| ApiError::field("/name", "the name is no plain file name", "send for example name=sacct.txt"))
}

/// Receives a body into a temporary file, which goes away with its handle; gives its size, and why the body broke off if it did.
///
/// # Errors
/// 413 for more bytes than there is room.
pub(super) async fn receive_what_comes<S>(
    context: &Context,
    mut bytes: S,
    room: Room,
) -> ApiResult<(NamedTempFile, u64, Option<ApiError>)>
where
    S: Stream<Item = ApiResult<Bytes>> + Unpin,
{
    /// Written at once, so that small chunks don't cost a thread's turn each.
    const BATCH_BYTES: usize = 1 << 20;
    let (patience, scratch) = (context.limits.body_timeout, context.checker.scratch.clone());
    let mut file = blocking(move || NamedTempFile::new_in(scratch).map_err(ApiError::file)).await?;
    let mut total = 0_u64;
    let mut batch: Vec<u8> = Vec::new();
    loop {
        let (chunk, broken) = match tokio::time::timeout(patience, bytes.next()).await {
            Ok(None) => (None, None),
            Ok(Some(Ok(chunk))) => (Some(chunk), None),
            Ok(Some(Err(error))) => (None, Some(error)),
            Err(_) => {
                let detail = format!("nothing came for {} s", patience.as_secs());
                (None, Some(ApiError::new(Code::RequestTimeout, detail)))
            }
        };
        let done = chunk.is_none();
        if let Some(chunk) = chunk {
            total = total.saturating_add(chunk.len() as u64);
            if total > room.most {
                return Err(room.exceeded());
            }
            batch.extend_from_slice(&chunk);
        }
        if batch.len() >= BATCH_BYTES || done {
            let full = std::mem::take(&mut batch);
            file = blocking(move || {
                file.write_all(&full).map_err(ApiError::file)?;
                Ok(file)
            })
            .await?;
        }
        if done {
            return Ok((file, total, broken));
        }
    }
}

/// A site's traces, newest first.
///
/// # Errors
/// 404 without such a site; 400 for a cursor that is none of ours.
pub async fn list(
    context: &Context,
    caller: &Authorised<ReadSites>,
    site: &str,
    before: Option<&str>,
    limit: i64,
) -> ApiResult<Page<Trace, TraceId>> {
    let tenant = &caller.principal().tenant;
    let site = sites::find(context, tenant, site).await?;
    let before = sites::cursor(before, TraceId::parse)?;
    Ok(context.store.list_traces(tenant, &site.id, before.as_ref(), limit).await?)
}

/// A trace.
///
/// # Errors
/// 404 without such a site or trace.
pub async fn get(context: &Context, caller: &Authorised<ReadSites>, site: &str, id: &str) -> ApiResult<Trace> {
    let found = find(context, &caller.principal().tenant, site, id).await?;
    found.ok_or_else(|| ApiError::not_found("trace", id))
}

/// A tenant's trace of a site.
pub(super) async fn find(context: &Context, tenant: &TenantId, site: &str, id: &str) -> ApiResult<Option<Trace>> {
    let (Some(site), Some(trace)) = (SiteId::parse(site), TraceId::parse(id)) else { return Ok(None) };
    Ok(context.store.trace(tenant, &site, &trace).await?)
}

/// Forgets a trace. Studies made from it keep their files.
///
/// # Errors
/// 404 without such a site or trace.
pub async fn delete(context: &Context, caller: &Authorised<WriteSites>, site: &str, id: &str) -> ApiResult<()> {
    let caller = caller.principal();
    let missing = || ApiError::not_found("trace", id);
    let (Some(site), Some(trace)) = (SiteId::parse(site), TraceId::parse(id)) else { return Err(missing()) };
    let store = audit::noting(context, caller, "trace.delete", trace.as_str()).await?;
    if store.delete_trace(&caller.tenant, &site, &trace).await? { Ok(()) } else { Err(missing()) }
}
