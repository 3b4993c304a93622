//! A study's events as they come, for server-sent events and for gRPC's Watch.

mod hub;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use foresite_store::events::StudyEvent;
use futures::stream::{self, BoxStream, StreamExt};
use tokio::sync::broadcast;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

pub use hub::Hub;

use super::studies;
use crate::auth::permission::{Authorised, ReadStudies};
use crate::context::Context;
use crate::error::ApiResult;

struct Watch {
    context: Arc<Context>,
    caller: Authorised<ReadStudies>,
    study: String,
    after: i64,
    waiting: VecDeque<StudyEvent>,
    /// The database has more than was read at once.
    is_behind: bool,
    is_over: bool,
    news: broadcast::Receiver<Arc<StudyEvent>>,
    /// When the caller's token is to be looked at again.
    recheck: Interval,
}

/// How long a token that was revoked or has expired may keep a stream open.
const RECHECK: Duration = Duration::from_secs(15);

/// Every event of a study after number `after`; ends after the event of its final state.
///
/// # Errors
/// 404 if there is no such study; later errors come as the stream's last item, 401 once the caller's token is no longer good.
pub async fn watch(
    context: Arc<Context>,
    caller: Authorised<ReadStudies>,
    study: &str,
    after: i64,
) -> ApiResult<BoxStream<'static, ApiResult<StudyEvent>>> {
    let news = subscribe(&context, &caller, study).await?;
    let (waiting, is_behind, is_over) = (VecDeque::new(), false, false);
    let mut recheck = interval_at(Instant::now() + RECHECK, RECHECK);
    recheck.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let study = study.to_owned();
    let mut watch = Watch { context, caller, study, after, waiting, is_behind, is_over, news, recheck };
    watch.look().await?;
    Ok(stream::unfold(Some(watch), next).boxed())
}

/// Listens before the database is read, so that nothing falls between.
async fn subscribe(
    context: &Context,
    caller: &Authorised<ReadStudies>,
    study: &str,
) -> ApiResult<broadcast::Receiver<Arc<StudyEvent>>> {
    let tenant = &caller.principal().tenant;
    let study = studies::find(context, tenant, study).await?;
    // Not from the number that this caller has named: others will listen to the same reader.
    Ok(context.watches.subscribe((tenant.clone(), study.id), study.last_event))
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
        if watch.is_behind {
            match watch.look().await {
                Ok(()) => continue,
                Err(error) => return Some((Err(error), None)),
            }
        }
        let news = tokio::select! {
            news = watch.news.recv() => news,
            _ = watch.recheck.tick() => match watch.context.auth.recheck(watch.caller.principal()).await {
                Ok(()) => continue,
                Err(error) => return Some((Err(error), None)),
            },
            // The client comes back, with its last event's number, to whoever serves then.
            () = watch.context.shutdown.cancelled() => return None,
        };
        match news {
            Ok(event) if Some(event.seq) == watch.after.checked_add(1) => {
                watch.waiting.push_back(StudyEvent::clone(&event))
            }
            // Read from the database already.
            Ok(event) if event.seq <= watch.after => {}
            // Behind, or nobody reads for us any more: the study has ended, was deleted, or the database is away. In the last two
            // cases the client comes back with its last event's number.
            Ok(_) | Err(_) => match watch.catch_up().await {
                Ok(()) => {}
                Err(error) => return Some((Err(error), None)),
            },
        }
    }
}

impl Watch {
    async fn catch_up(&mut self) -> ApiResult<()> {
        self.news = subscribe(&self.context, &self.caller, &self.study).await?;
        self.look().await
    }

    /// Reads the database.
    async fn look(&mut self) -> ApiResult<()> {
        let (events, more) = studies::events(&self.context, &self.caller, &self.study, self.after).await?;
        self.is_behind = events.len() >= studies::EVENTS_AT_ONCE;
        self.waiting = events.into();
        self.is_over = !more;
        Ok(())
    }
}
