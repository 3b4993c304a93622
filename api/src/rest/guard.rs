//! Authentication before anything of a request's body is read. Extractors run side by side, so that without this a stranger's
//! body would be received and judged while its token is looked up.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};

use super::extract::principal;
use super::pace::pace;
use crate::context::Context;

/// Lets only authenticated callers into `/v1`; what they may do there, each handler's [`crate::auth::permission::Authorised`]
/// says.
pub(super) async fn guard(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if request.path().starts_with("/v1/") {
        match principal(request.request()).await {
            Ok(principal) => request.extensions_mut().insert(principal),
            Err(error) => return Ok(request.error_response(error)),
        };
    }
    if let Some(context) = request.app_data::<web::Data<Context>>().cloned() {
        request = pace(request, context.limits.body_timeout);
    }
    next.call(request).await.map(ServiceResponse::map_into_boxed_body)
}
