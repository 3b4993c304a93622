//! What is to be told, and what was. A delivery is written in the transaction of the change it tells, so that none is lost; it is
//! claimed for a while before it is sent, so that none is sent by two at once. A receiver may still see one twice: its id is the same.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::{Webhook, WebhookEvent};
use crate::connection::{Conn, Store, execute, first, load};
use crate::error::StoreError;
use crate::ids::{DeliveryId, TenantId, WebhookId};
use crate::page::{Page, clamp};
use crate::schema::{webhook_deliveries, webhooks};
use crate::text_enum::text_enum;
use crate::time::UnixMillis;

text_enum! {
    /// Where a delivery stands.
    DeliveryState {
        /// Is to be sent, again perhaps.
        Queued = "queued",
        /// The receiver took it.
        Delivered = "delivered",
        /// It was tried for the last time.
        Failed = "failed",
    }
}

/// A delivery's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = webhook_deliveries)]
pub struct Delivery {
    /// Its id, also the message's `webhook-id`.
    pub id: DeliveryId,
    /// Whose it is.
    pub tenant: TenantId,
    /// To which webhook.
    pub webhook: WebhookId,
    /// What happened.
    pub event: WebhookEvent,
    /// More about it: a JSON object.
    pub data: String,
    /// Where it stands.
    pub state: DeliveryState,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is to be sent; while it is being sent, when another may try.
    pub next_at: UnixMillis,
    /// The receiver's last HTTP status.
    pub last_status: Option<i64>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it happened.
    pub created_at: UnixMillis,
    /// When it was taken or given up.
    pub finished_at: Option<UnixMillis>,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    /// The receiver's HTTP status, if it answered.
    pub status: Option<i64>,
    /// Why it failed; `None` if the receiver took it.
    pub error: Option<String>,
    /// When to try again; `None` for never.
    pub retry_at: Option<UnixMillis>,
}

/// Writes a delivery to every webhook of the tenant that wants the event.
pub(crate) async fn tell(
    conn: &mut Conn,
    tenant: &TenantId,
    event: WebhookEvent,
    data: &str,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let query = webhooks::table.filter(webhooks::tenant.eq(tenant)).filter(webhooks::disabled_at.is_null());
    let all: Vec<Webhook> = load!(conn, query.select(Webhook::as_select()))?;
    for webhook in all.iter().filter(|webhook| webhook.wants(event)) {
        let row = queued(webhook, event, data, now);
        execute!(conn, diesel::insert_into(webhook_deliveries::table).values(&row))?;
    }
    Ok(())
}

fn queued(webhook: &Webhook, event: WebhookEvent, data: &str, now: UnixMillis) -> Delivery {
    Delivery {
        id: DeliveryId::new(),
        tenant: webhook.tenant.clone(),
        webhook: webhook.id.clone(),
        event,
        data: data.to_owned(),
        state: DeliveryState::Queued,
        attempts: 0,
        next_at: now,
        last_status: None,
        last_error: None,
        created_at: now,
        finished_at: None,
    }
}

impl Store {
    /// Writes a delivery to one webhook, whatever it wants.
    pub async fn tell_webhook(
        &self,
        webhook: &Webhook,
        event: WebhookEvent,
        data: &str,
        now: UnixMillis,
    ) -> Result<Delivery, StoreError> {
        let mut conn = self.begin().await?;
        let row = queued(webhook, event, data, now);
        let inserted = execute!(&mut conn, diesel::insert_into(webhook_deliveries::table).values(&row));
        conn.finish(inserted.map(|_| row).map_err(StoreError::from)).await
    }

    /// Takes up to `limit` deliveries that are due; they are the caller's until `until`. The tenants take turns, each with what
    /// waits longest: one with many is nobody's wait but its own. O(n log n) in all that are due.
    pub async fn claim_deliveries(
        &self,
        now: UnixMillis,
        until: UnixMillis,
        limit: i64,
    ) -> Result<Vec<(Delivery, Webhook)>, StoreError> {
        let mut conn = self.read().await?;
        let due = || {
            webhook_deliveries::table
                .filter(webhook_deliveries::state.eq(DeliveryState::Queued))
                .filter(webhook_deliveries::next_at.le(now))
        };
        let turn = sql::<BigInt>("ROW_NUMBER() OVER (PARTITION BY tenant ORDER BY next_at, id)");
        let order = (turn, webhook_deliveries::next_at.asc(), webhook_deliveries::id.asc());
        let ids: Vec<DeliveryId> =
            load!(&mut conn, due().order(order).limit(clamp(limit)).select(webhook_deliveries::id))?;
        drop(conn);
        let mut claimed = Vec::new();
        if ids.is_empty() {
            return Ok(claimed);
        }
        let mut conn = self.begin().await?;
        let result = async {
            for id in ids {
                // Who comes second finds it no longer due.
                let taken: Option<Delivery> = first!(
                    &mut conn,
                    diesel::update(due().filter(webhook_deliveries::id.eq(&id)))
                        .set((
                            webhook_deliveries::next_at.eq(until),
                            webhook_deliveries::attempts.eq(webhook_deliveries::attempts + 1),
                        ))
                        .returning(Delivery::as_returning())
                )?;
                let Some(delivery) = taken else { continue };
                let query = webhooks::table.filter(webhooks::id.eq(&delivery.webhook));
                if let Some(webhook) = first!(&mut conn, query.select(Webhook::as_select()))? {
                    claimed.push((delivery, webhook));
                }
            }
            Ok(claimed)
        }
        .await;
        conn.finish(result).await
    }

    /// Writes how an attempt ended; `false` if another has claimed the delivery meanwhile.
    pub async fn end_attempt(
        &self,
        delivery: &Delivery,
        attempted: &Attempted,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let state = match (&attempted.error, attempted.retry_at) {
            (None, _) => DeliveryState::Delivered,
            (Some(_), Some(_)) => DeliveryState::Queued,
            (Some(_), None) => DeliveryState::Failed,
        };
        let mine = webhook_deliveries::table
            .filter(webhook_deliveries::id.eq(&delivery.id))
            .filter(webhook_deliveries::state.eq(DeliveryState::Queued))
            .filter(webhook_deliveries::attempts.eq(delivery.attempts));
        let written = execute!(
            &mut conn,
            diesel::update(mine).set((
                webhook_deliveries::state.eq(state),
                webhook_deliveries::next_at.eq(attempted.retry_at.unwrap_or(delivery.next_at)),
                webhook_deliveries::last_status.eq(attempted.status),
                webhook_deliveries::last_error.eq(&attempted.error),
                webhook_deliveries::finished_at.eq((state != DeliveryState::Queued).then_some(now)),
            ))
        );
        conn.finish(written.map(|rows| rows > 0).map_err(StoreError::from)).await
    }

    /// Queues a delivery that was given up or taken once more; `false` if the webhook has no such delivery, or it waits anyway.
    pub async fn redeliver(&self, webhook: &WebhookId, id: &DeliveryId, now: UnixMillis) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let row = webhook_deliveries::table
            .filter(webhook_deliveries::webhook.eq(webhook))
            .filter(webhook_deliveries::id.eq(id))
            .filter(webhook_deliveries::state.ne(DeliveryState::Queued));
        let written = execute!(
            &mut conn,
            diesel::update(row).set((
                webhook_deliveries::state.eq(DeliveryState::Queued),
                webhook_deliveries::attempts.eq(0),
                webhook_deliveries::next_at.eq(now),
                webhook_deliveries::finished_at.eq(None::<UnixMillis>),
            ))
        );
        conn.finish_if_changed(written.map(|rows| rows > 0).map_err(StoreError::from)).await
    }

    /// A webhook's delivery.
    pub async fn delivery(&self, webhook: &WebhookId, id: &DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let mut conn = self.read().await?;
        let query = webhook_deliveries::table
            .filter(webhook_deliveries::webhook.eq(webhook))
            .filter(webhook_deliveries::id.eq(id));
        Ok(first!(&mut conn, query.select(Delivery::as_select()))?)
    }

    /// A webhook's deliveries, newest first, older than `before`.
    pub async fn list_deliveries(
        &self,
        webhook: &WebhookId,
        before: Option<&DeliveryId>,
        limit: i64,
    ) -> Result<Page<Delivery, DeliveryId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let mut query = webhook_deliveries::table.filter(webhook_deliveries::webhook.eq(webhook)).into_boxed();
            if let Some(before) = before {
                query = query.filter(webhook_deliveries::id.lt(before));
            }
            query.order(webhook_deliveries::id.desc()).limit(clamp(limit) + 1).select(Delivery::as_select())
        })?;
        Ok(Page::new(rows, limit, |delivery: &Delivery| delivery.id.clone()))
    }

    /// Deliveries that wait, over all tenants.
    pub async fn count_waiting_deliveries(&self) -> Result<i64, StoreError> {
        let mut conn = self.read().await?;
        let waiting = webhook_deliveries::table.filter(webhook_deliveries::state.eq(DeliveryState::Queued));
        Ok(first!(&mut conn, waiting.count())?.unwrap_or_default())
    }

    /// Removes deliveries that were finished before `before`; gives how many.
    pub async fn prune_deliveries(&self, before: UnixMillis) -> Result<usize, StoreError> {
        let mut conn = self.begin().await?;
        let old = webhook_deliveries::table.filter(webhook_deliveries::finished_at.lt(before));
        let deleted = execute!(&mut conn, diesel::delete(old));
        conn.finish(deleted.map_err(StoreError::from)).await
    }
}
