//! `/docs`: the OpenAPI document as a page, without scripts.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use maud::{Markup, html};
use utoipa::openapi::path::{Operation, PathItem};

use super::layout::page;
use crate::error::Code;
use crate::openapi;

/// The page.
pub(super) async fn page_of_routes() -> HttpResponse {
    let document = openapi::document();
    let body = html! {
        h1 { "Foresite API " (document.info.version) }
        p { "The whole contract: " a href="/openapi.json" { "/openapi.json" } " (OpenAPI 3.1). Send " code { "Authorization: Bearer TOKEN" } "." }
        @for (path, item) in &document.paths.paths {
            @for (method, operation) in operations(item) { (route(path, method, operation)) }
        }
        h2 { "Error codes" }
        table {
            tr { th { "Code" } th { "HTTP" } th { "gRPC" } th { "Title" } }
            @for code in Code::ALL {
                tr { td { code { (code.as_str()) } } td { (code.http_status()) } td { (format!("{:?}", code.grpc_code())) } td { (code.title()) } }
            }
        }
    };
    page(StatusCode::OK, "API", None, &body)
}

fn operations(item: &PathItem) -> Vec<(&'static str, &Operation)> {
    let all = [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?))).collect()
}

fn route(path: &str, method: &str, operation: &Operation) -> Markup {
    html! {
        h2 { code { (method) " " (path) } }
        @if let Some(summary) = &operation.summary { p { (summary) } }
        table {
            @for (status, response) in &operation.responses.responses {
                tr {
                    td { (status) }
                    td {
                        @match response {
                            utoipa::openapi::RefOr::T(response) => { (response.description) }
                            utoipa::openapi::RefOr::Ref(_) => {}
                        }
                    }
                }
            }
        }
    }
}
