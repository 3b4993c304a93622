//! `/v1/webhooks`.

use actix_web::{HttpResponse, delete, get, http::header, post, web};
use utoipa_actix_web::service_config::ServiceConfig;

use super::extract::Object;
use super::views::webhook::{DeliveryView, IssuedWebhook, NewWebhook, WebhookView};
use super::views::{List, PageQuery};
use crate::app;
use crate::auth::permission::{Authorised, ManageWebhooks};
use crate::context::Context;
use crate::error::ApiResult;
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(create_webhook)
        .service(list_webhooks)
        .service(get_webhook)
        .service(delete_webhook)
        .service(test_webhook)
        .service(list_deliveries)
        .service(retry_delivery);
}

/// Makes a webhook. Messages follow Standard Webhooks: headers `webhook-id`, `webhook-timestamp`, `webhook-signature`; body
/// `{"type", "timestamp", "data"}`. They are retried for two days; the secret is in this answer and nowhere else.
#[utoipa::path(
    tag = "webhooks",
    request_body = NewWebhook,
    responses(
        (status = 201, description = "Made; Location names it.", body = IssuedWebhook),
        (status = 409, description = "There are too many.", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "No JSON.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A field is wrong.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/webhooks")]
async fn create_webhook(
    caller: Authorised<ManageWebhooks>,
    context: web::Data<Context>,
    web::Json(Object(body)): web::Json<Object<NewWebhook>>,
) -> ApiResult<HttpResponse> {
    let (webhook, secret) = app::webhooks::create(&context, &caller, &body.url, &body.events).await?;
    let location = format!("/v1/webhooks/{}", webhook.id);
    Ok(HttpResponse::Created()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(IssuedWebhook::new(webhook, &secret)))
}

/// The webhooks, newest first, without their secrets.
#[utoipa::path(
    tag = "webhooks",
    params(PageQuery),
    responses((status = 200, description = "A page.", body = List<WebhookView>)),
    security(("bearer" = []))
)]
#[get("/v1/webhooks")]
async fn list_webhooks(
    caller: Authorised<ManageWebhooks>,
    context: web::Data<Context>,
    page: web::Query<PageQuery>,
) -> ApiResult<web::Json<List<WebhookView>>> {
    let found = app::webhooks::list(&context, &caller, page.cursor.as_deref(), page.limit()).await?;
    let items = found.items.into_iter().map(WebhookView::from).collect();
    Ok(web::Json(List { items, next: found.next.map(String::from) }))
}

/// A webhook, without its secret.
#[utoipa::path(
    tag = "webhooks",
    params(("webhook" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The webhook.", body = WebhookView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/webhooks/{webhook}")]
async fn get_webhook(
    caller: Authorised<ManageWebhooks>,
    context: web::Data<Context>,
    webhook: web::Path<String>,
) -> ApiResult<web::Json<WebhookView>> {
    Ok(web::Json(app::webhooks::get(&context, &caller, &webhook).await?.into()))
}

/// Forgets a webhook and everything it was or would have been told.
#[utoipa::path(
    tag = "webhooks",
    params(("webhook" = String, Path, description = "Its id.")),
    responses(
        (status = 204, description = "Forgotten."),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[delete("/v1/webhooks/{webhook}")]
async fn delete_webhook(
    caller: Authorised<ManageWebhooks>,
    context: web::Data<Context>,
    webhook: web::Path<String>,
) -> ApiResult<HttpResponse> {
    app::webhooks::delete(&context, &caller, &webhook).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Sends the event `webhook.test`.
#[utoipa::path(
    tag = "webhooks",
    params(("webhook" = String, Path, description = "Its id.")),
    responses(
        (status = 202, description = "It will be sent; the delivery tells how that goes.", body = DeliveryView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It is disabled.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/webhooks/{webhook}/test")]
async fn test_webhook(
    caller: Authorised<ManageWebhooks>,
    context: web::Data<Context>,
    webhook: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let delivery = app::webhooks::test(&context, &caller, &webhook).await?;
    Ok(HttpResponse::Accepted().json(DeliveryView::try_from(delivery)?))
}

/// What a webhook was told and will be told, newest first.
#[utoipa::path(
    tag = "webhooks",
    params(("webhook" = String, Path, description = "Its id."), PageQuery),
    responses(
        (status = 200, description = "A page.", body = List<DeliveryView>),
        (status = 404, description = "There is no such webhook.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/webhooks/{webhook}/deliveries")]
async fn list_deliveries(
    caller: Authorised<ManageWebhooks>,
    context: web::Data<Context>,
    webhook: web::Path<String>,
    page: web::Query<PageQuery>,
) -> ApiResult<web::Json<List<DeliveryView>>> {
    let (cursor, limit) = (page.cursor.as_deref(), page.limit());
    let found = app::webhooks::deliveries(&context, &caller, &webhook, cursor, limit).await?;
    let items = found.items.into_iter().map(DeliveryView::try_from).collect::<ApiResult<_>>()?;
    Ok(web::Json(List { items, next: found.next.map(String::from) }))
}

/// Sends a delivery once more, with all its retries.
#[utoipa::path(
    tag = "webhooks",
    params(
        ("webhook" = String, Path, description = "The webhook's id."),
        ("delivery" = String, Path, description = "The delivery's id.")
    ),
    responses(
        (status = 202, description = "It will be sent.", body = DeliveryView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The webhook is disabled.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/webhooks/{webhook}/deliveries/{delivery}/retry")]
async fn retry_delivery(
    caller: Authorised<ManageWebhooks>,
    context: web::Data<Context>,
    path: web::Path<(String, String)>,
) -> ApiResult<HttpResponse> {
    let (webhook, delivery) = path.into_inner();
    let delivery = app::webhooks::redeliver(&context, &caller, &webhook, &delivery).await?;
    Ok(HttpResponse::Accepted().json(DeliveryView::try_from(delivery)?))
}
