//! Authentication before anything of a request's body is read. Extractors run side by side, so that without this a stranger's
//! body would be received and judged while its token is looked up.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};

use super::extract::principal;
use super::pace::pace;
use crate::auth::Principal;
use crate::context::Context;
use crate::error::ApiResult;
use crate::links::LinkQuery;

/// Lets only authenticated callers into `/v1`; what they may do there, each handler's [`crate::auth::permission::Authorised`]
/// says.
pub(super) async fn guard(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let path = routed_path(&request);
    let mut tenant = None;
    if path.starts_with("/v1/") {
        match caller(&request, &path).await {
            Ok(principal) => {
                tenant = Some(principal.tenant.clone());
                request.extensions_mut().insert(principal);
            }
            Err(error) => return Ok(request.error_response(error)),
        }
    }
    // Held until the answer is made.
    let mut held = None;
    if let Some(context) = request.app_data::<web::Data<Context>>().cloned() {
        held = (!is_streamed(&request, &path)).then(|| context.room.enter(tenant));
        request = pace(request, context.limits.body_timeout, held.clone());
    }
    let answered = next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    drop(held);
    answered
}

/// The path by which the router chooses the handler: with its escapes undone, where `request.path()` has them (`/%76%31/studies`).
fn routed_path(request: &ServiceRequest) -> String {
    request.match_info().as_str().to_owned()
}

/// Whether the body goes to a file as it comes.
fn is_streamed(request: &ServiceRequest, path: &str) -> bool {
    let route = request.resource_map().match_pattern(path).unwrap_or_default();
    route.ends_with("/traces") || route.ends_with("/uploads/{upload}")
}

/// The bearer of a token, or of a link to a figure.
async fn caller(request: &ServiceRequest, path: &str) -> ApiResult<Principal> {
    let is_link = request.method() == Method::GET && path.contains("/figures/");
    if is_link
        && let Ok(link) = web::Query::<LinkQuery>::from_query(request.query_string())
        && let Some(context) = request.app_data::<web::Data<Context>>()
    {
        let found = context.links.open(request.path(), &link, context.store.now().await? / 1000)?;
        context.quotas.admit_request(&found.tenant).await?;
        return Ok(found);
    }
    principal(request.request()).await
}
