//! A study whose row is locked, so that its changes happen one after the other.

use diesel::prelude::*;

use crate::connection::{Conn, execute, first};
use crate::error::StoreError;
use crate::events::{EventKind, StudyEvent};
use crate::ids::StudyId;
use crate::schema::{studies, study_events, tasks};
use crate::state::{StudyState, TaskState};
use crate::studies::Study;
use crate::time::UnixMillis;
use crate::webhooks::WebhookEvent;
use crate::webhooks::deliveries::tell;

/// A locked study; change `row`, then [`LockedStudy::save`].
pub(crate) struct LockedStudy {
    pub(crate) row: Study,
    events: Vec<StudyEvent>,
    told: Vec<(WebhookEvent, UnixMillis)>,
}

impl LockedStudy {
    /// Locks a study until the transaction ends. Writing a value back unchanged takes the row's lock on PostgreSQL;
    /// on SQLite the transaction holds the database's lock already.
    pub(crate) async fn lock(conn: &mut Conn, id: &StudyId) -> Result<Option<Self>, StoreError> {
        let row = first!(
            conn,
            diesel::update(studies::table.filter(studies::id.eq(id)))
                .set(studies::last_event.eq(studies::last_event))
                .returning(Study::as_returning())
        )?;
        Ok(row.map(Self::of))
    }

    /// A row made in this very transaction.
    pub(crate) fn of(row: Study) -> Self {
        Self { row, events: Vec::new(), told: Vec::new() }
    }

    /// Enters a state and tells so; stamps the first start and the end.
    pub(crate) fn enter(&mut self, state: StudyState, now: UnixMillis) {
        self.row.state = state;
        if state == StudyState::Running && self.row.started_at.is_none() {
            self.row.started_at = Some(now);
        }
        if state.is_final() {
            self.row.finished_at = Some(now);
            // Nothing reads its trace any more.
            self.row.compact_trace = None;
        }
        let mut data = serde_json::json!({ "state": state.as_str() });
        if let Some(error) = &self.row.error {
            data["error"] = serde_json::Value::String(error.clone());
        }
        self.event(EventKind::State, data, now);
        let told = match state {
            StudyState::Succeeded => WebhookEvent::StudySucceeded,
            StudyState::Failed => WebhookEvent::StudyFailed,
            StudyState::Cancelled => WebhookEvent::StudyCancelled,
            StudyState::Queued | StudyState::Running | StudyState::Cancelling => return,
        };
        self.told.push((told, now));
    }

    /// Tells that a gate does not hold.
    pub(crate) fn gate_breached(&mut self, now: UnixMillis) {
        self.told.push((WebhookEvent::GateBreached, now));
    }

    /// Counts finished replications and tells so.
    pub(crate) fn progress(&mut self, finished: i64, now: UnixMillis) {
        self.row.replications_done += finished;
        let data = serde_json::json!({ "done": self.row.replications_done, "total": self.row.replications_total });
        self.event(EventKind::Progress, data, now);
    }

    fn event(&mut self, kind: EventKind, data: serde_json::Value, now: UnixMillis) {
        self.row.last_event += 1;
        self.events.push(StudyEvent {
            tenant: self.row.tenant.clone(),
            study: self.row.id.clone(),
            seq: self.row.last_event,
            kind,
            data: data.to_string(),
            at: now,
        });
    }

    /// Cancels every task that waits; gives how many tasks still run.
    pub(crate) async fn cancel_queued_tasks(&self, conn: &mut Conn, now: UnixMillis) -> Result<i64, StoreError> {
        let mine = || tasks::table.filter(tasks::study.eq(&self.row.id));
        execute!(
            conn,
            diesel::update(mine().filter(tasks::state.eq(TaskState::Queued)))
                .set((tasks::state.eq(TaskState::Cancelled), tasks::finished_at.eq(now)))
        )?;
        self.running_tasks(conn).await
    }

    /// How many of its tasks a worker holds.
    pub(crate) async fn running_tasks(&self, conn: &mut Conn) -> Result<i64, StoreError> {
        let mine = tasks::table.filter(tasks::study.eq(&self.row.id)).filter(tasks::state.eq(TaskState::Running));
        let count: Option<i64> = first!(conn, mine.count())?;
        Ok(count.unwrap_or_default())
    }

    /// Writes the row's changeable columns, the new events, and what webhooks are to be told.
    pub(crate) async fn save(self, conn: &mut Conn) -> Result<Study, StoreError> {
        let row = self.row;
        execute!(
            conn,
            diesel::update(studies::table.filter(studies::id.eq(&row.id))).set((
                studies::input_hash.eq(&row.input_hash),
                studies::engine_version.eq(&row.engine_version),
                studies::state.eq(row.state),
                studies::replications_done.eq(row.replications_done),
                studies::last_event.eq(row.last_event),
                studies::error.eq(&row.error),
                studies::comparison_object.eq(&row.comparison_object),
                studies::started_at.eq(row.started_at),
                studies::finished_at.eq(row.finished_at),
                studies::compact_trace.eq(&row.compact_trace),
            ))
        )?;
        for event in &self.events {
            execute!(conn, diesel::insert_into(study_events::table).values(event))?;
        }
        for (event, now) in self.told {
            let data = serde_json::json!({
                "study": row.id.as_str(), "name": row.name, "state": row.state.as_str(), "error": row.error,
            });
            tell(conn, &row.tenant, event, &data.to_string(), now).await?;
        }
        Ok(row)
    }
}
