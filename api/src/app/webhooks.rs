//! Webhooks: made and looked after by administrators. Sending is [`crate::webhooks`]' business.

use foresite_store::ids::{DeliveryId, WebhookId};
use foresite_store::page::Page;
use foresite_store::webhooks::deliveries::Delivery;
use foresite_store::webhooks::{Webhook, WebhookEvent};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{audit, sites};
use crate::auth::permission::{Authorised, ManageWebhooks};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::webhooks::generate_secret;

/// More webhooks than any tenant needs: each ended study writes a delivery to each.
const WEBHOOKS_MAX: i64 = 50;
/// The longest URL [bytes].
const URL_MAX: usize = 2000;

/// Makes a webhook; the secret is returned here and nowhere else.
///
/// # Errors
/// 422 for a URL that must not be told, or for no event; 409 when there are too many.
pub async fn create(
    context: &Context,
    caller: &Authorised<ManageWebhooks>,
    url: &str,
    events: &[WebhookEvent],
) -> ApiResult<(Webhook, SecretString)> {
    let caller = caller.principal();
    if url.len() > URL_MAX {
        return Err(ApiError::field("/url", format!("the URL has more than {URL_MAX} bytes"), "use a shorter one"));
    }
    let cure =
        "give an https:// URL of a public host, or have the network allowed by FORESITE_WEBHOOK_ALLOWED_NETWORKS";
    context.webhooks.check(url).map_err(|fault| ApiError::field("/url", fault.to_string(), cure))?;
    let wanted: Vec<&str> =
        WebhookEvent::ALL.iter().filter(|event| events.contains(event)).map(|event| event.as_str()).collect();
    if wanted.is_empty() {
        return Err(ApiError::field("/events", "no event is named", "name at least one, such as study.succeeded"));
    }
    if context.store.count_webhooks(&caller.tenant).await? >= WEBHOOKS_MAX {
        let detail = format!("the tenant has {WEBHOOKS_MAX} webhooks, which is the most; delete one first");
        return Err(ApiError::new(Code::TooMany, detail));
    }
    let (secret, now) = (generate_secret()?, context.store.now().await?);
    let webhook = Webhook {
        id: WebhookId::new(),
        tenant: caller.tenant.clone(),
        url: url.to_owned(),
        secret: secret.expose_secret().to_owned(),
        events: wanted.join(" "),
        created_by: caller.actor.clone(),
        created_at: now,
        disabled_at: None,
        disabled_reason: None,
    };
    context.store.ensure_tenant(&caller.tenant, now).await?;
    let detail = json!({ "events": webhook.events });
    audit::noting_more(context, caller, "webhook.create", webhook.id.as_str(), &detail)
        .await?
        .create_webhook(&webhook)
        .await?;
    Ok((webhook, secret))
}

/// The webhooks of the caller's tenant, newest first.
///
/// # Errors
/// 400 for a cursor that is none of ours.
pub async fn list(
    context: &Context,
    caller: &Authorised<ManageWebhooks>,
    before: Option<&str>,
    limit: i64,
) -> ApiResult<Page<Webhook, WebhookId>> {
    let before = sites::cursor(before, WebhookId::parse)?;
    Ok(context.store.list_webhooks(&caller.principal().tenant, before.as_ref(), limit).await?)
}

/// A webhook of the caller's tenant.
///
/// # Errors
/// 404 if there is none.
pub async fn get(context: &Context, caller: &Authorised<ManageWebhooks>, id: &str) -> ApiResult<Webhook> {
    let missing = || ApiError::not_found("webhook", id);
    let webhook = WebhookId::parse(id).ok_or_else(missing)?;
    context.store.webhook(&caller.principal().tenant, &webhook).await?.ok_or_else(missing)
}

/// Forgets a webhook with all its deliveries.
///
/// # Errors
/// 404 if there is none.
pub async fn delete(context: &Context, caller: &Authorised<ManageWebhooks>, id: &str) -> ApiResult<()> {
    let missing = || ApiError::not_found("webhook", id);
    let webhook = WebhookId::parse(id).ok_or_else(missing)?;
    let store = audit::noting(context, caller.principal(), "webhook.delete", webhook.as_str()).await?;
    if store.delete_webhook(&caller.principal().tenant, &webhook).await? { Ok(()) } else { Err(missing()) }
}

/// Sends a webhook a test, whatever it wants otherwise.
///
/// # Errors
/// 404 if there is none; 409 if it is disabled.
pub async fn test(context: &Context, caller: &Authorised<ManageWebhooks>, id: &str) -> ApiResult<Delivery> {
    let webhook = get(context, caller, id).await?;
    let store = noted_on(context, caller, "webhook.test", &webhook).await?;
    Ok(store.tell_webhook(&webhook, WebhookEvent::Test, "{}", context.store.now().await?).await?)
}

/// A webhook's deliveries, newest first.
///
/// # Errors
/// 404 without such a webhook; 400 for a cursor that is none of ours.
pub async fn deliveries(
    context: &Context,
    caller: &Authorised<ManageWebhooks>,
    id: &str,
    before: Option<&str>,
    limit: i64,
) -> ApiResult<Page<Delivery, DeliveryId>> {
    let webhook = get(context, caller, id).await?;
    let before = sites::cursor(before, DeliveryId::parse)?;
    Ok(context.store.list_deliveries(&webhook.id, before.as_ref(), limit).await?)
}

/// Sends a delivery once more, with all its retries.
///
/// # Errors
/// 404 without such a webhook or delivery; 409 if the webhook is disabled.
pub async fn redeliver(
    context: &Context,
    caller: &Authorised<ManageWebhooks>,
    id: &str,
    delivery: &str,
) -> ApiResult<Delivery> {
    let missing = || ApiError::not_found("delivery", delivery);
    let webhook = get(context, caller, id).await?;
    let delivery = DeliveryId::parse(delivery).ok_or_else(missing)?;
    let store = noted_on(context, caller, "webhook.redeliver", &webhook).await?;
    // One that waits anyway is as good as queued again.
    store.redeliver(&webhook.id, &delivery, context.store.now().await?).await?;
    context.store.delivery(&webhook.id, &delivery).await?.ok_or_else(missing)
}

async fn noted_on(
    context: &Context,
    caller: &Authorised<ManageWebhooks>,
    action: &str,
    webhook: &Webhook,
) -> ApiResult<foresite_store::Store> {
    if let Some(reason) = &webhook.disabled_reason {
        return Err(ApiError::new(
            Code::WebhookDisabled,
            format!("the webhook is disabled: {reason}; delete it and make another"),
        ));
    }
    audit::noting(context, caller.principal(), action, webhook.id.as_str()).await
}
