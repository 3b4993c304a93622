//! Sends what is due. Any number of processes may do so: each claims a delivery before sending it.

use std::time::Duration;

use foresite_store::Store;
use foresite_store::webhooks::Webhook;
use foresite_store::webhooks::deliveries::{Attempted, Delivery};
use futures::StreamExt;
use reqwest::header::CONTENT_TYPE;
use tokio_util::sync::CancellationToken;

use super::{NetworkRules, sign};
use crate::clock::rfc3339;
use crate::error::ApiResult;
use crate::metrics::Metrics;

/// How often the database is asked when nothing was due.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(15);
/// A claim lasts longer than any attempt.
const CLAIM_MS: i64 = 60_000;
/// Sent at once by one process.
const AT_ONCE: usize = 16;
/// Waits after each failed attempt [s]; together 47 hours, so that a receiver may be away for one.
const WAITS: [i64; 10] = [5, 30, 120, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400];
/// A receiver that says so wants nothing more (Standard Webhooks).
const GONE: u16 = 410;

/// The part of the service that sends webhooks.
pub struct Dispatcher {
    /// Deliveries.
    pub store: Store,
    /// Where they may go.
    pub rules: NetworkRules,
    /// Counts attempts.
    pub metrics: Metrics,
}

struct Answer {
    status: Option<u16>,
    error: Option<String>,
}

impl Dispatcher {
    /// Sends until `shutdown`; what is being sent then is finished.
    pub async fn run(self, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            let sent = match self.send_due().await {
                Ok(sent) => sent,
                Err(error) => {
                    tracing::warn!(?error, "webhooks not sent, will try again");
                    0
                }
            };
            if sent == 0 {
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = tokio::time::sleep(INTERVAL) => {}
                }
            }
        }
    }

    async fn send_due(&self) -> ApiResult<usize> {
        let now = self.store.now().await?;
        let due = self.store.claim_deliveries(now, now + CLAIM_MS, AT_ONCE as i64).await?;
        let count = due.len();
        futures::stream::iter(due)
            .for_each_concurrent(AT_ONCE, |(delivery, webhook)| async move {
                if let Err(error) = self.send(&delivery, &webhook).await {
                    tracing::warn!(?error, delivery.id = %delivery.id, "the end of an attempt was not written");
                }
            })
            .await;
        Ok(count)
    }

    async fn send(&self, delivery: &Delivery, webhook: &Webhook) -> ApiResult<()> {
        let answer = self.post(delivery, webhook, self.store.now().await? / 1000).await;
        let now = self.store.now().await?;
        let wait = usize::try_from(delivery.attempts - 1).ok().and_then(|done| WAITS.get(done));
        let is_gone = answer.status == Some(GONE);
        let retry_at = wait.filter(|_| answer.error.is_some() && !is_gone).map(|seconds| now + seconds * 1000);
        let outcome = match (&answer.error, retry_at) {
            (None, _) => "delivered",
            (Some(_), Some(_)) => "retried",
            (Some(_), None) => "failed",
        };
        self.metrics.webhook(outcome);
        if is_gone {
            self.store.disable_webhook(&webhook.id, "the receiver answered 410 Gone", now).await?;
            return Ok(());
        }
        let attempted = Attempted { status: answer.status.map(i64::from), error: answer.error, retry_at };
        self.store.end_attempt(delivery, &attempted, now).await?;
        Ok(())
    }

    async fn post(&self, delivery: &Delivery, webhook: &Webhook, timestamp: i64) -> Answer {
        let failed = |error: String| Answer { status: None, error: Some(error) };
        let destination = match self.rules.resolve(&webhook.url).await {
            Ok(destination) => destination,
            Err(fault) => return failed(fault.to_string()),
        };
        let Some(body) = body(delivery) else { return failed("what is to be told cannot be read".to_owned()) };
        let Some(signature) = sign(&webhook.secret, delivery.id.as_str(), timestamp, &body) else {
            return failed("the webhook's secret cannot be read".to_owned());
        };
        let mut builder = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .resolve_to_addrs(&destination.host, &destination.addresses);
        if destination.url.scheme() == "http" {
            // No TLS, so no need for the machine to have root certificates.
            builder = builder.tls_certs_only([]);
        }
        let client = match builder.build() {
            Ok(client) => client,
            Err(error) => return failed(format!("no HTTP client: {error}")),
        };
        let request = client
            .post(destination.url)
            .header(CONTENT_TYPE, "application/json")
            .header("user-agent", concat!("foresite/", env!("CARGO_PKG_VERSION")))
            .header("webhook-id", delivery.id.as_str())
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature)
            .body(body);
        // The answer's body is not read: whatever it says is the receiver's business.
        match request.send().await {
            Ok(response) if response.status().is_success() => {
                Answer { status: Some(response.status().as_u16()), error: None }
            }
            Ok(response) => {
                let status = response.status();
                Answer { status: Some(status.as_u16()), error: Some(format!("the receiver answered {status}")) }
            }
            Err(error) => failed(reason(&error)),
        }
    }
}

/// The message. Made anew for each attempt, and always the same; `None` if what is stored of it cannot be read.
fn body(delivery: &Delivery) -> Option<String> {
    let data: serde_json::Value = serde_json::from_str(&delivery.data).ok()?;
    let timestamp = rfc3339(delivery.created_at);
    Some(serde_json::json!({ "type": delivery.event, "timestamp": timestamp, "data": data }).to_string())
}

/// Without the URL, which may hold a secret of the receiver's.
fn reason(error: &reqwest::Error) -> String {
    let words = if error.is_timeout() {
        "the receiver did not answer in time"
    } else if error.is_connect() {
        "the receiver cannot be reached"
    } else {
        "the request failed"
    };
    let mut source = std::error::Error::source(error);
    let mut last = String::new();
    while let Some(cause) = source {
        last = cause.to_string();
        source = cause.source();
    }
    if last.is_empty() { words.to_owned() } else { format!("{words}: {last}") }
}
