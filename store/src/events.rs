//! What happened to a study, in order: the source of server-sent events and of Watch.

use diesel::prelude::*;

use crate::connection::{Store, load};
use crate::error::StoreError;
use crate::ids::{StudyId, TenantId};
use crate::page::clamp;
use crate::schema::study_events;
use crate::text_enum::text_enum;
use crate::time::UnixMillis;

text_enum! {
    /// What an event tells.
    EventKind {
        /// The study entered a state; data `{"state": …}`, with `"error"` if it failed.
        State = "state",
        /// Replications were finished; data `{"done": …, "total": …}`.
        Progress = "progress",
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = study_events)]
pub struct StudyEvent {
    /// Whose study.
    pub tenant: TenantId,
    /// Which study.
    pub study: StudyId,
    /// Its number within the study, from 1 without gaps: the Last-Event-ID.
    pub seq: i64,
    /// What it tells.
    pub kind: EventKind,
    /// A JSON object.
    pub data: String,
    /// When.
    pub at: UnixMillis,
}

impl Store {
    /// A study's events after number `after` (0 for all), oldest first.
    pub async fn study_events(
        &self,
        tenant: &TenantId,
        study: &StudyId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<StudyEvent>, StoreError> {
        let mut conn = self.read().await?;
        let query = study_events::table.filter(study_events::tenant.eq(tenant)).filter(study_events::study.eq(study));
        let query = query.filter(study_events::seq.gt(after)).order(study_events::seq.asc()).limit(clamp(limit));
        Ok(load!(&mut conn, query.select(StudyEvent::as_select()))?)
    }
}
