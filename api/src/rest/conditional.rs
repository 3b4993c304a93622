//! Conditional requests (RFC 9110, sections 8.8.3 and 13.1.2): every answer to a reader has an `ETag`, and who names it in
//! `If-None-Match` is not sent the same again. A tag is the handler's, or the body's SHA-256; streams without one have none.

use actix_web::Error;
use actix_web::HttpResponse;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY};
use actix_web::middleware::Next;
use sha2::{Digest, Sha256};

/// Wraps every route.
pub(super) async fn conditional(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let is_read = request.method().is_safe();
    let known: Vec<HeaderValue> = request.headers().get_all(IF_NONE_MATCH).cloned().collect();
    let response = next.call(request).await?.map_into_boxed_body();
    if !is_read || response.status() != StatusCode::OK || is_never_kept(response.headers()) {
        return Ok(response);
    }
    let response = tagged(response);
    let is_known = response.headers().get(ETAG).is_some_and(|tag| known.iter().any(|known| names(known, tag)));
    Ok(if is_known { not_modified(response) } else { response })
}

fn is_never_kept(headers: &HeaderMap) -> bool {
    headers.get(CACHE_CONTROL).is_some_and(|value| value.as_bytes() == b"no-store")
}

fn tagged(response: ServiceResponse) -> ServiceResponse {
    if response.headers().contains_key(ETAG) {
        return response;
    }
    let (request, response) = response.into_parts();
    let (mut head, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(bytes) => {
            // Half of the hash: nobody forges what they are sent themselves.
            let tag: String = Sha256::digest(&bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            if let Ok(value) = HeaderValue::from_str(&format!("\"{tag}\"")) {
                head.headers_mut().insert(ETAG, value);
            }
            BoxBody::new(bytes)
        }
        Err(stream) => stream,
    };
    ServiceResponse::new(request, head.set_body(body))
}

/// Whether a value of `If-None-Match` names a tag: by weak comparison, in a list, or by `*`.
fn names(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(known), Ok(tag)) = (known.to_str(), tag.to_str()) else { return false };
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.trim() == "*" || known.split(',').any(|one| strong(one) == strong(tag))
}

fn not_modified(response: ServiceResponse) -> ServiceResponse {
    let mut answer = HttpResponse::NotModified();
    for name in [ETAG, VARY, CACHE_CONTROL] {
        if let Some(value) = response.headers().get(&name) {
            answer.insert_header((name, value.clone()));
        }
    }
    let answer = answer.finish();
    ServiceResponse::new(response.into_parts().0, answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_weakly_in_lists_and_by_the_star() {
        let tag = HeaderValue::from_static("\"a\"");
        for known in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "\"b\",W/\"a\"", "*", " * "] {
            assert!(names(&HeaderValue::from_static(known), &tag), "{known}");
        }
        for known in ["\"b\"", "a", "", "\"a\"b"] {
            assert!(!names(&HeaderValue::from_static(known), &tag), "{known}");
        }
    }
}
