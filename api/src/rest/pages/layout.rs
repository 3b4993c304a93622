//! What every page has.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use maud::{DOCTYPE, Markup, html};

/// The stylesheet.
pub(super) async fn stylesheet() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/css; charset=utf-8")
        .insert_header(("cache-control", "max-age=3600"))
        .body(include_str!("foresite.css"))
}

/// A page; `refresh` reloads it after so many seconds.
pub(super) fn page(status: StatusCode, title: &str, refresh: Option<u32>, body: &Markup) -> HttpResponse {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if let Some(seconds) = refresh { meta http-equiv="refresh" content=(seconds); }
                title { (title) " – Foresite" }
                link rel="stylesheet" href="/assets/foresite.css";
            }
            body {
                header {
                    a href="/" { strong { "Foresite" } }
                    a href="/docs" { "API" }
                    form method="post" action="/sign-out" { button { "Sign out" } }
                }
                main { (body) }
            }
        }
    };
    HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header(("cache-control", "no-store"))
        .body(markup.into_string())
}
