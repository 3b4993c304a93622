//! Extractors: the caller's permission, and small JSON bodies.

use std::fmt;
use std::future::{Future, ready};
use std::marker::PhantomData;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpMessage, HttpRequest, ResponseError, web};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::auth::Principal;
use crate::auth::permission::{Authorised, Permission, authorise};
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};

/// The cookie that a browser holds after signing in.
pub(super) const SESSION_COOKIE: &str = "foresite_session";

/// The body is written by the outer middleware, which knows the trace id.
impl ResponseError for ApiError {
    fn status_code(&self) -> actix_web::http::StatusCode {
        actix_web::http::StatusCode::from_u16(self.code().http_status())
            .unwrap_or(actix_web::http::StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl<P: Permission> FromRequest for Authorised<P> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = ApiResult<Self>>>>;

    fn from_request(request: &HttpRequest, _payload: &mut Payload) -> Self::Future {
        // Put there by the guard, so that this is decided before any other extractor has read a byte.
        if let Some(principal) = request.extensions().get::<Principal>() {
            return Box::pin(ready(authorise(principal.clone())));
        }
        let request = request.clone();
        Box::pin(async move { authorise(principal(&request).await?) })
    }
}

/// The caller: by bearer token, or for reading by session cookie. A cookie never changes anything, so that no other site's
/// page can act for a signed-in user.
pub(super) async fn principal(request: &HttpRequest) -> ApiResult<Principal> {
    let context = request
        .app_data::<web::Data<Context>>()
        .ok_or_else(|| ApiError::internal("the application was built without its context"))?;
    let header = match request.headers().get(AUTHORIZATION) {
        Some(value) => Some(value.to_str().map_err(|_| ApiError::new(Code::Unauthenticated, "the header is no text"))?),
        None => None,
    };
    if header.is_none()
        && request.method().is_safe()
        && let Some(cookie) = request.cookie(SESSION_COOKIE)
    {
        return admitted(context, context.auth.authenticate(cookie.value()).await?).await;
    }
    admitted(context, context.auth.authenticate_header(header).await?).await
}

/// Counts the request against the tenant's rate.
async fn admitted(context: &Context, principal: Principal) -> ApiResult<Principal> {
    context.quotas.admit_request(&principal.tenant).await?;
    Ok(principal)
}

/// A JSON object, as `web::Json<Object<T>>`: serde alone would take an array for a struct, field by field in order.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        from.deserialize_map(Fields(PhantomData)).map(Self)
    }
}
