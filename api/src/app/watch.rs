//! A study's events as they come, for server-sent events and for gRPC's Watch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use foresite_store::events::StudyEvent;
use futures::stream::{self, BoxStream, StreamExt};

use super::studies;
use crate::auth::permission::{Authorised, ReadStudies};
use crate::context::Context;
use crate::error::ApiResult;

/// How often the database is asked. It is the truth for every process, so no other channel is needed.
const INTERVAL: Duration = Duration::from_millis(500);

struct Watch {
    context: Arc<Context>,
    caller: Authorised<ReadStudies>,
    study: String,
    after: i64,
    waiting: VecDeque<StudyEvent>,
    is_over: bool,
}

/// Every event of a study after number `after`; ends after the event of its final state.
///
/// # Errors
/// 404 if there is no such study; later errors come as the stream's last item.
pub async fn watch(
    context: Arc<Context>,
    caller: Authorised<ReadStudies>,
    study: &str,
    after: i64,
) -> ApiResult<BoxStream<'static, ApiResult<StudyEvent>>> {
    let (events, more) = studies::events(&context, &caller, study, after).await?;
    let watch = Watch { context, caller, study: study.to_owned(), after, waiting: events.into(), is_over: !more };
    Ok(stream::unfold(Some(watch), next).boxed())
}

async fn next(watch: Option<Watch>) -> Option<(ApiResult<StudyEvent>, Option<Watch>)> {
    let mut watch = watch?;
    loop {
        if let Some(event) = watch.waiting.pop_front() {
            watch.after = event.seq;
            return Some((Ok(event), Some(watch)));
        }
        if watch.is_over {
            return None;
        }
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            // The client comes back, with its last event's number, to whoever serves then.
            () = watch.context.shutdown.cancelled() => return None,
        }
        match studies::events(&watch.context, &watch.caller, &watch.study, watch.after).await {
            Ok((events, more)) => {
                watch.waiting = events.into();
                watch.is_over = !more;
            }
            // Deleted meanwhile, or the database is away: the client comes back with its last event's number.
            Err(error) => return Some((Err(error), None)),
        }
    }
}
