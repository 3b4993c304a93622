//! Webhooks: whom to tell when a study ends. What is to be told is in [`deliveries`].

pub mod deliveries;

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, first, load};
use crate::error::StoreError;
use crate::ids::{TenantId, WebhookId};
use crate::page::{Page, clamp};
use crate::schema::{webhook_deliveries, webhooks};
use crate::text_enum::text_enum;
use crate::time::UnixMillis;
use deliveries::DeliveryState;

text_enum! {
    /// What may be told.
    WebhookEvent {
        /// A study has its comparison.
        StudySucceeded = "study.succeeded",
        /// A study has failed.
        StudyFailed = "study.failed",
        /// A study was cancelled.
        StudyCancelled = "study.cancelled",
        /// A study has its comparison, and a gate of it does not hold.
        GateBreached = "study.gate_breached",
        /// Somebody asked for a test.
        Test = "webhook.test",
    }
}

/// A webhook's row.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = webhooks)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Where to.
    pub url: String,
    /// The key its messages are signed with: `whsec_` and base64. It cannot be hashed, since it signs.
    pub secret: String,
    /// Of what it is told: words of [`WebhookEvent`] with one blank between.
    pub events: String,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: UnixMillis,
    /// Since when it is told nothing more.
    pub disabled_at: Option<UnixMillis>,
    /// Why.
    pub disabled_reason: Option<String>,
}

impl Webhook {
    /// Whether it is told of this.
    pub fn wants(&self, event: WebhookEvent) -> bool {
        self.events.split(' ').any(|word| word == event.as_str())
    }
}

/// Never shows the secret: fit for logs.
impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("id", &self.id).field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

impl Store {
    /// Stores a webhook; its tenant must exist.
    pub async fn create_webhook(&self, webhook: &Webhook) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let inserted = execute!(&mut conn, diesel::insert_into(webhooks::table).values(webhook));
        conn.finish(inserted.map(|_| ()).map_err(StoreError::from)).await
    }

    /// A tenant's webhook.
    pub async fn webhook(&self, tenant: &TenantId, id: &WebhookId) -> Result<Option<Webhook>, StoreError> {
        let mut conn = self.read().await?;
        let query = webhooks::table.filter(webhooks::tenant.eq(tenant)).filter(webhooks::id.eq(id));
        Ok(first!(&mut conn, query.select(Webhook::as_select()))?)
    }

    /// How many webhooks a tenant has.
    pub async fn count_webhooks(&self, tenant: &TenantId) -> Result<i64, StoreError> {
        let mut conn = self.read().await?;
        Ok(first!(&mut conn, webhooks::table.filter(webhooks::tenant.eq(tenant)).count())?.unwrap_or_default())
    }

    /// A tenant's webhooks, newest first, older than `before`.
    pub async fn list_webhooks(
        &self,
        tenant: &TenantId,
        before: Option<&WebhookId>,
        limit: i64,
    ) -> Result<Page<Webhook, WebhookId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let mut query = webhooks::table.filter(webhooks::tenant.eq(tenant)).into_boxed();
            if let Some(before) = before {
                query = query.filter(webhooks::id.lt(before));
            }
            query.order(webhooks::id.desc()).limit(clamp(limit) + 1).select(Webhook::as_select())
        })?;
        Ok(Page::new(rows, limit, |webhook: &Webhook| webhook.id.clone()))
    }

    /// Forgets a webhook and everything it was or would have been told; `false` if there is none.
    pub async fn delete_webhook(&self, tenant: &TenantId, id: &WebhookId) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let row = webhooks::table.filter(webhooks::tenant.eq(tenant)).filter(webhooks::id.eq(id));
        let deleted = execute!(&mut conn, diesel::delete(row));
        conn.finish_if_changed(deleted.map(|rows| rows > 0).map_err(StoreError::from)).await
    }

    /// Tells a webhook nothing more; what waited is given up.
    pub async fn disable_webhook(&self, id: &WebhookId, reason: &str, now: UnixMillis) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let result = disable(&mut conn, id, reason, now).await;
        conn.finish(result).await
    }
}

async fn disable(conn: &mut Conn, id: &WebhookId, reason: &str, now: UnixMillis) -> Result<(), StoreError> {
    let row = webhooks::table.filter(webhooks::id.eq(id)).filter(webhooks::disabled_at.is_null());
    execute!(conn, diesel::update(row).set((webhooks::disabled_at.eq(now), webhooks::disabled_reason.eq(reason))))?;
    let waiting = webhook_deliveries::table
        .filter(webhook_deliveries::webhook.eq(id))
        .filter(webhook_deliveries::state.eq(DeliveryState::Queued));
    execute!(
        conn,
        diesel::update(waiting).set((
            webhook_deliveries::state.eq(DeliveryState::Failed),
            webhook_deliveries::last_error.eq(reason),
            webhook_deliveries::finished_at.eq(now),
        ))
    )?;
    Ok(())
}
