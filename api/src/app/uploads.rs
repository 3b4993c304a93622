//! Traces that come in pieces, so that a broken connection costs only what was under way.

use bytes::Bytes;
use foresite_store::ids::{SiteId, TraceId, UploadId};
use foresite_store::traces::Trace;
use foresite_store::uploads::{Upload, UploadPart};
use futures::{Stream, StreamExt, TryStreamExt};

use super::traces::{self, Stored, TraceHeader};
use super::{audit, quotas, sites};
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// Begins an upload of `length` bytes.
///
/// # Errors
/// 404 without such a site; 413 when larger than allowed; 422 for a name that is none; 429 for too many uploads.
pub async fn begin(
    context: &Context,
    caller: &Authorised<WriteSites>,
    site: &str,
    header: TraceHeader,
    length: u64,
) -> ApiResult<Upload> {
    let caller = caller.principal();
    let site = sites::find(context, &caller.tenant, site).await?;
    let name = traces::checked_file_name(&header.name)?;
    let room = quotas::admit_upload(context, &caller.tenant, context.limits.trace_bytes).await?;
    let length = i64::try_from(length).ok().filter(|_| length <= room.most).ok_or_else(|| room.exceeded())?;
    let now = context.store.now().await?;
    let upload = Upload {
        id: UploadId::new(),
        tenant: caller.tenant.clone(),
        site: site.id,
        name,
        timezone: header.timezone,
        length,
        received: 0,
        trace: None,
        created_by: caller.actor.clone(),
        created_at: now,
        updated_at: now,
    };
    let limit = quotas::stored_bytes(context, &caller.tenant).await;
    let store = audit::noting(context, caller, "upload.create", upload.id.as_str()).await?;
    store.create_upload(&upload, limit).await?.map_err(quotas::storage_full)?;
    Ok(upload)
}

/// How far an upload is.
///
/// # Errors
/// 404 without such a site or upload.
pub async fn get(context: &Context, caller: &Authorised<ReadSites>, site: &str, id: &str) -> ApiResult<Upload> {
    find(context, &caller.principal().tenant, site, id).await
}

async fn find(context: &Context, tenant: &foresite_store::ids::TenantId, site: &str, id: &str) -> ApiResult<Upload> {
    let missing = || ApiError::not_found("upload", id);
    let (Some(site), Some(upload)) = (SiteId::parse(site), UploadId::parse(id)) else { return Err(missing()) };
    context.store.upload(tenant, &site, &upload).await?.ok_or_else(missing)
}

/// Adds the bytes that follow the first `offset`. What came before the connection broke is kept.
///
/// # Errors
/// 404 without such an upload; 409 when it ends elsewhere; 413 for more bytes than announced.
pub async fn add<S>(
    context: &Context,
    caller: &Authorised<WriteSites>,
    site: &str,
    id: &str,
    offset: u64,
    bytes: S,
) -> ApiResult<Upload>
where
    S: Stream<Item = ApiResult<Bytes>> + Unpin,
{
    let upload = find(context, &caller.principal().tenant, site, id).await?;
    let (length, received) = (to_u64(upload.length), to_u64(upload.received));
    let elsewhere = |received: u64| {
        ApiError::new(Code::UploadOffset, format!("the upload has {received} bytes; go on from there (HEAD tells)"))
    };
    if offset != received || upload.trace.is_some() {
        return Err(elsewhere(received));
    }
    let left = length - received;
    let room = quotas::Room::exactly(left);
    // A piece that breaks off is a shorter piece.
    let (file, size, broken) = traces::receive_what_comes(context, bytes, room).await?;
    if size > 0 {
        let put = context.objects.put_file(file.path()).await?;
        let bytes = i64::try_from(put.bytes).map_err(ApiError::internal)?;
        let part = UploadPart { upload: upload.id.clone(), start: upload.received, bytes, object: put.hash };
        if !context.store.add_part(&part, context.store.now().await?).await? {
            return Err(elsewhere(to_u64(find(context, &upload.tenant, site, id).await?.received)));
        }
    }
    match broken {
        Some(error) => Err(error),
        None => find(context, &upload.tenant, site, id).await,
    }
}

/// Makes a trace of an upload that is complete. Doing it twice gives the same trace.
///
/// # Errors
/// 404 without such an upload; 409 while bytes are missing; 422 with every fault of the trace.
pub async fn finish(context: &Context, caller: &Authorised<WriteSites>, site: &str, id: &str) -> ApiResult<Stored> {
    let upload = find(context, &caller.principal().tenant, site, id).await?;
    if let Some(trace) = &upload.trace {
        return made(context, &upload, trace).await.map(|trace| Stored { trace, is_new: false });
    }
    if upload.received < upload.length {
        let detail = format!("{} of {} bytes are there; send the rest", upload.received, upload.length);
        return Err(ApiError::new(Code::UploadOffset, detail));
    }
    let parts = context.store.upload_parts(&upload.id).await?;
    let objects = context.objects.clone();
    let bytes = futures::stream::iter(parts)
        .then(move |part| {
            let objects = objects.clone();
            async move { Ok::<_, ApiError>(objects.stream(&part.object).await?.1.map_err(ApiError::from)) }
        })
        .try_flatten()
        .boxed();
    let header = TraceHeader { name: upload.name.clone(), timezone: upload.timezone.clone() };
    let stored = traces::store_upload(context, caller.principal(), &upload, header, bytes).await?;
    context.store.end_upload(&upload.id, &stored.trace.id, context.store.now().await?).await?;
    Ok(stored)
}

async fn made(context: &Context, upload: &Upload, trace: &TraceId) -> ApiResult<Trace> {
    let found = context.store.trace(&upload.tenant, &upload.site, trace).await?;
    found.ok_or_else(|| ApiError::not_found("trace", trace.as_str()))
}

/// Forgets an upload.
///
/// # Errors
/// 404 without such a site or upload.
pub async fn delete(context: &Context, caller: &Authorised<WriteSites>, site: &str, id: &str) -> ApiResult<()> {
    let caller = caller.principal();
    let upload = find(context, &caller.tenant, site, id).await?;
    let store = audit::noting(context, caller, "upload.delete", upload.id.as_str()).await?;
    store.delete_upload(&caller.tenant, &upload.site, &upload.id).await?;
    Ok(())
}

fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
