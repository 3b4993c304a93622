//! Signing in: a token is exchanged for a cookie that scripts cannot read, other sites cannot send, and that only reads.
//! The cookie carries the token itself, so that a revoked or expired token ends the session at once, on every replica.

use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::StatusCode;
use actix_web::http::header::{HOST, LOCATION, ORIGIN};
use actix_web::{HttpRequest, HttpResponse, web};
use maud::html;
use serde::Deserialize;
use url::Url;

use super::layout::page;
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::rest::extract::SESSION_COOKIE;
use crate::trace_id;

/// How long a browser stays signed in.
const SESSION: Duration = Duration::hours(12);
/// A JSON web token may be long; a cookie may not.
const TOKEN_MAX_BYTES: usize = 4000;

#[derive(Deserialize)]
pub(super) struct SignIn {
    token: String,
}

/// The form.
pub(super) async fn form() -> HttpResponse {
    show(StatusCode::OK, None)
}

fn show(status: StatusCode, fault: Option<&str>) -> HttpResponse {
    let body = html! {
        h1 { "Sign in" }
        @if let Some(fault) = fault { p.error { (fault) } }
        form method="post" action="/sign-in" {
            p { label for="token" { "API token or JSON web token" } }
            p { input type="password" id="token" name="token" autocomplete="off" required autofocus; }
            p { button { "Sign in" } }
        }
        p.muted { "`foresite token create` makes a token next to the database; `foresite demo` prints one." }
    };
    page(status, "Sign in", None, &body)
}

/// Exchanges a token for a cookie. Another site's form must not sign anybody in as somebody else.
pub(super) async fn exchange(
    context: web::Data<Context>,
    request: HttpRequest,
    body: web::Form<SignIn>,
) -> ApiResult<HttpResponse> {
    if !is_own_form(&request, &context.public_url) {
        return Ok(show(StatusCode::FORBIDDEN, Some("The form came from another site; sign in here.")));
    }
    let token = body.token.trim();
    if token.len() > TOKEN_MAX_BYTES {
        return Ok(show(StatusCode::UNAUTHORIZED, Some("The token is too long for a cookie.")));
    }
    match context.auth.authenticate(token).await {
        Ok(_) => {
            let cookie = session(&context, token.to_owned(), SESSION);
            Ok(HttpResponse::SeeOther().cookie(cookie).insert_header((LOCATION, "/")).finish())
        }
        Err(error) if error.code().http_status() == 401 => Ok(show(StatusCode::UNAUTHORIZED, Some(error.detail()))),
        Err(error) => Err(error),
    }
}

/// Forgets the cookie.
pub(super) async fn end(context: web::Data<Context>) -> HttpResponse {
    let cookie = session(&context, String::new(), Duration::ZERO);
    HttpResponse::SeeOther().cookie(cookie).insert_header((LOCATION, "/sign-in")).finish()
}

fn session(context: &Context, token: String, age: Duration) -> Cookie<'static> {
    Cookie::build(SESSION_COOKIE, token)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(context.secure_cookies)
        .max_age(age)
        .finish()
}

/// Whether a form was sent by a page of ours. Every browser names where a POST comes from; what names nothing is no browser, and
/// keeps no cookie for anybody.
fn is_own_form(request: &HttpRequest, public_url: &str) -> bool {
    let Some(origin) = request.headers().get(ORIGIN) else { return true };
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    // A proxy may have put another host there. Browsers write an origin in one way: small letters, no path, no usual port.
    let ours = Url::parse(public_url).map(|url| url.origin().ascii_serialization());
    let is_ours =
        |origin: &str| ours.as_deref() == Ok(origin) || origin.split_once("://").map(|(_, host)| host) == host;
    origin.to_str().is_ok_and(is_ours)
}

/// Sends people who are not signed in to the form; other refusals become pages.
pub(super) fn refused(error: ApiError) -> HttpResponse {
    match error.code() {
        Code::Unauthenticated | Code::TokenExpired => {
            HttpResponse::SeeOther().insert_header((LOCATION, "/sign-in")).finish()
        }
        code => {
            error.log(&trace_id::current().unwrap_or_default());
            let status = StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let body = html! { h1 { (code.title()) } p.error { (error.detail()) } };
            page(status, code.title(), None, &body)
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn a_form_comes_from_this_service_or_from_no_page() {
        let sent = |origin: &str| {
            let request = TestRequest::post().insert_header((ORIGIN, origin)).insert_header((HOST, "inner:8080"));
            is_own_form(&request.to_http_request(), "https://Foresite.Example.org:443/at")
        };
        assert!(sent("https://foresite.example.org"));
        assert!(sent("http://inner:8080"));
        assert!(!sent("https://foresite.example.org.evil.org"));
        assert!(!sent("http://foresite.example.org"));
        assert!(!sent("null"));
        assert!(is_own_form(&TestRequest::post().to_http_request(), "https://foresite.example.org"));
    }
}
