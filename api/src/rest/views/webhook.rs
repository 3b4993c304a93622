//! Webhooks and their deliveries.

use foresite_store::webhooks::deliveries::Delivery;
use foresite_store::webhooks::{Webhook, WebhookEvent};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;
use crate::error::{ApiError, ApiResult};

/// A webhook to be made.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhook {
    /// Where to: https, a public host.
    #[schema(example = "https://example.org/foresite")]
    pub url: String,
    /// Of what it is told: `study.succeeded`, `study.failed`, `study.cancelled`, `study.gate_breached`.
    #[schema(value_type = Vec<String>, example = json!(["study.failed", "study.gate_breached"]))]
    pub events: Vec<WebhookEvent>,
}

/// A webhook, without its secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WebhookView {
    /// Its id.
    pub id: String,
    /// Where to.
    pub url: String,
    /// Of what it is told.
    pub events: Vec<String>,
    /// Who made it.
    pub created_by: String,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Since when it is told nothing more, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub disabled_at: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
}

/// A webhook just made: the only answer that holds its secret.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct IssuedWebhook {
    /// The webhook.
    pub webhook: WebhookView,
    /// The key of its signatures (Standard Webhooks). It is not shown again.
    #[schema(example = "whsec_…")]
    pub secret: String,
}

/// Something told, or to be told.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DeliveryView {
    /// Its id, sent as `webhook-id`; equal for every attempt.
    pub id: String,
    /// What happened.
    #[schema(example = "study.succeeded")]
    pub event: String,
    /// More about it, as sent.
    pub data: serde_json::Value,
    /// `queued`, `delivered` or `failed`.
    pub state: String,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried next, RFC 3339; absent once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub next_attempt_at: Option<String>,
    /// The receiver's last HTTP status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<i64>,
    /// Why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When it happened, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it was taken or given up, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub finished_at: Option<String>,
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        Self {
            id: webhook.id.into(),
            url: webhook.url,
            events: webhook.events.split_whitespace().map(str::to_owned).collect(),
            created_by: webhook.created_by,
            created_at: rfc3339(webhook.created_at),
            disabled_at: webhook.disabled_at.map(rfc3339),
            disabled_reason: webhook.disabled_reason,
        }
    }
}

impl IssuedWebhook {
    /// The answer to its maker.
    pub fn new(webhook: Webhook, secret: &SecretString) -> Self {
        Self { webhook: webhook.into(), secret: secret.expose_secret().to_owned() }
    }
}

impl TryFrom<Delivery> for DeliveryView {
    type Error = ApiError;

    fn try_from(delivery: Delivery) -> ApiResult<Self> {
        Ok(Self {
            id: delivery.id.into(),
            event: delivery.event.as_str().to_owned(),
            data: serde_json::from_str(&delivery.data).map_err(ApiError::internal)?,
            state: delivery.state.as_str().to_owned(),
            attempts: delivery.attempts,
            next_attempt_at: delivery.finished_at.is_none().then(|| rfc3339(delivery.next_at)),
            last_status: delivery.last_status,
            last_error: delivery.last_error,
            created_at: rfc3339(delivery.created_at),
            finished_at: delivery.finished_at.map(rfc3339),
        })
    }
}
