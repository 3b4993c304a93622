//! What a study found: comparison, report, figures, schedules.

use std::io;

use async_compression::tokio::bufread::ZstdDecoder;
use bytes::Bytes;
use foresite_formats::comparison::Comparison;
use foresite_formats::study_document::{BASELINE, StudyDocument};
use foresite_store::state::StudyState;
use foresite_store::studies::StudyHead;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use tokio_util::io::{ReaderStream, StreamReader};

use super::{blocking, studies};
use crate::auth::permission::{Authorised, ReadStudies};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// No comparison is larger; a bound for memory.
const COMPARISON_MAX_BYTES: u64 = 256 << 20;

/// Size of the pieces in which a schedule is sent.
const CHUNK_BYTES: usize = 64 << 10;

/// A file that comes piece by piece.
pub struct Pieces {
    /// Equal for equal files.
    pub tag: String,
    /// Its size.
    pub bytes: u64,
    /// Its bytes.
    pub pieces: BoxStream<'static, io::Result<Bytes>>,
}

/// A comparison, and a tag that is equal for equal bytes.
#[derive(Clone, Debug)]
pub struct ComparisonBytes {
    /// The JSON document, byte for byte what `foresite run` writes.
    pub json: Bytes,
    /// SHA-256 of the bytes.
    pub tag: String,
}

/// The comparison document of a study, whole: a few at a time.
///
/// # Errors
/// 404 without such a study; 409 until it has succeeded.
pub async fn comparison(context: &Context, caller: &Authorised<ReadStudies>, id: &str) -> ApiResult<ComparisonBytes> {
    let _turn = context.renderings.take(&caller.principal().tenant).await?;
    loaded(context, caller, id).await
}

async fn loaded(context: &Context, caller: &Authorised<ReadStudies>, id: &str) -> ApiResult<ComparisonBytes> {
    let study = studies::find(context, &caller.principal().tenant, id).await?;
    let Some(object) = &study.comparison_object else { return Err(not_succeeded(&study)) };
    let json = context.objects.get(object, COMPARISON_MAX_BYTES).await?;
    Ok(ComparisonBytes { json, tag: object.to_string() })
}

/// The comparison document piece by piece, with its size, and its tag.
///
/// # Errors
/// As [`comparison`].
pub async fn comparison_stream(context: &Context, caller: &Authorised<ReadStudies>, id: &str) -> ApiResult<Pieces> {
    let study = studies::find(context, &caller.principal().tenant, id).await?;
    let Some(object) = &study.comparison_object else { return Err(not_succeeded(&study)) };
    let (bytes, pieces) = context.objects.stream(object).await?;
    Ok(Pieces { tag: object.to_string(), bytes, pieces: pieces.map_err(io::Error::other).boxed() })
}

/// What is made of a comparison, off the threads that serve requests, and the comparison's tag.
///
/// # Errors
/// As [`comparison`].
pub async fn rendered<T: Send + 'static>(
    context: &Context,
    caller: &Authorised<ReadStudies>,
    id: &str,
    render: impl FnOnce(&Comparison) -> T + Send + 'static,
) -> ApiResult<(String, T)> {
    let turn = context.renderings.take(&caller.principal().tenant).await?;
    let ComparisonBytes { json, tag } = loaded(context, caller, id).await?;
    blocking(move || {
        // Also if nobody waits for it any more, the turn lasts as long as the work.
        let _turn = turn;
        let comparison: Comparison = serde_json::from_slice(&json).map_err(ApiError::internal)?;
        Ok((tag, render(&comparison)))
    })
    .await
}

fn not_succeeded(study: &StudyHead) -> ApiError {
    let detail = match study.state {
        StudyState::Failed => "the study has failed; GET the study for the reason".to_owned(),
        StudyState::Cancelled | StudyState::Cancelling => "the study was cancelled".to_owned(),
        state => {
            let (done, total) = (study.replications_done, study.replications_total);
            format!("the study is {state}, {done} of {total} replications are done; ask again later")
        }
    };
    ApiError::new(Code::StudyNotSucceeded, detail)
}

/// The schedule file of one replication (CSV), unpacked on the way, and a tag that is equal for equal files; `number` counts from 0.
///
/// # Errors
/// 404 without such a study, scenario or replication, or before it is done.
pub async fn schedule(
    context: &Context,
    caller: &Authorised<ReadStudies>,
    id: &str,
    scenario: &str,
    number: u32,
) -> ApiResult<(String, BoxStream<'static, io::Result<Bytes>>)> {
    let tenant = &caller.principal().tenant;
    let study = studies::find_whole(context, tenant, id).await?;
    let document: StudyDocument = serde_json::from_str(&study.document).map_err(ApiError::internal)?;
    let index = scenario_index(&document, scenario).ok_or_else(|| ApiError::not_found("scenario", scenario))?;
    let row = context.store.replication(tenant, &study.id, index, number.into()).await?;
    let row = row.ok_or_else(|| ApiError::not_found("finished replication", &number.to_string()))?;
    let (_, stream) = context.objects.stream(&row.schedule_object).await?;
    let packed = StreamReader::new(stream.map_err(io::Error::other));
    let unpacked = ReaderStream::with_capacity(ZstdDecoder::new(packed), CHUNK_BYTES).boxed();
    Ok((row.schedule_object.into(), unpacked))
}

/// 0 for the baseline, then the document's order.
fn scenario_index(document: &StudyDocument, name: &str) -> Option<i64> {
    if name == BASELINE {
        return Some(0);
    }
    let position = document.scenarios.iter().position(|scenario| scenario.name == name)?;
    i64::try_from(position + 1).ok()
}
