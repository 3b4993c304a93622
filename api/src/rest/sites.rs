//! `/v1/sites`.

use actix_web::{HttpResponse, get, http::header, post, web};
use utoipa_actix_web::service_config::ServiceConfig;

use super::extract::Object;
use super::views::site::{NewSite, SiteView};
use super::views::{List, PageQuery};
use crate::app;
use crate::auth::permission::{Authorised, ReadSites, WriteSites};
use crate::context::Context;
use crate::error::ApiResult;
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(create_site).service(list_sites).service(get_site);
}

/// Makes a site.
#[utoipa::path(
    tag = "sites",
    request_body = NewSite,
    responses(
        (status = 201, description = "Made; Location names it.", body = SiteView),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "No JSON.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A field is wrong.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/sites")]
async fn create_site(
    caller: Authorised<WriteSites>,
    context: web::Data<Context>,
    web::Json(Object(body)): web::Json<Object<NewSite>>,
) -> ApiResult<HttpResponse> {
    let site = app::sites::create(&context, &caller, &body.name).await?;
    let location = format!("/v1/sites/{}", site.id);
    Ok(HttpResponse::Created().insert_header((header::LOCATION, location)).json(SiteView::from(site)))
}

/// The sites, newest first.
#[utoipa::path(
    tag = "sites",
    params(PageQuery),
    responses((status = 200, description = "A page.", body = List<SiteView>)),
    security(("bearer" = []))
)]
#[get("/v1/sites")]
async fn list_sites(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    page: web::Query<PageQuery>,
) -> ApiResult<web::Json<List<SiteView>>> {
    let found = app::sites::list(&context, &caller, page.cursor.as_deref(), page.limit()).await?;
    let items = found.items.into_iter().map(SiteView::from).collect();
    Ok(web::Json(List { items, next: found.next.map(String::from) }))
}

/// A site.
#[utoipa::path(
    tag = "sites",
    params(("site" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The site.", body = SiteView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/sites/{site}")]
async fn get_site(
    caller: Authorised<ReadSites>,
    context: web::Data<Context>,
    site: web::Path<String>,
) -> ApiResult<web::Json<SiteView>> {
    Ok(web::Json(app::sites::get(&context, &caller, &site).await?.into()))
}
