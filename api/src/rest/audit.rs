//! `/v1/audit`.

use actix_web::{get, web};
use utoipa_actix_web::service_config::ServiceConfig;

use super::views::List;
use super::views::audit::{AuditQuery, AuditView};
use crate::app;
use crate::auth::permission::{Authorised, ReadAudit};
use crate::context::Context;
use crate::error::ApiResult;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_audit);
}

/// Who changed what, newest first. Nobody can change or remove a line; retention removes old ones where it is set.
#[utoipa::path(
    tag = "audit",
    params(AuditQuery),
    responses((status = 200, description = "A page.", body = List<AuditView>)),
    security(("bearer" = []))
)]
#[get("/v1/audit")]
async fn list_audit(
    caller: Authorised<ReadAudit>,
    context: web::Data<Context>,
    query: web::Query<AuditQuery>,
) -> ApiResult<web::Json<List<AuditView>>> {
    let (filter, limit) = (query.filter()?, query.limit.unwrap_or(50));
    let found = app::audit::list(&context, &caller, &filter, query.cursor.as_deref(), limit).await?;
    let items = found.items.into_iter().map(AuditView::try_from).collect::<ApiResult<_>>()?;
    Ok(web::Json(List { items, next: found.next.map(String::from) }))
}
