//! The OpenAPI 3.1 document, collected from the very routes that are served. Committed as `openapi/foresite.json`.

use std::collections::HashMap;
use std::sync::LazyLock;

use actix_web::App;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, Content, InfoBuilder, License, OpenApi, OpenApiBuilder, Ref, ResponseBuilder};
use utoipa_actix_web::AppExt;

use crate::rest;
use crate::rest::problem::PROBLEM_JSON;

static JSON: LazyLock<String> = LazyLock::new(|| {
    // Serialising plain structures cannot fail.
    document().to_pretty_json().map(|text| text + "\n").unwrap_or_default()
});

/// The document as indented JSON with a final line end.
pub fn json() -> &'static str {
    &JSON
}

/// The methods of a path of the document, as an `Allow` header lists them; `None` for a path that is not in it.
pub(crate) fn methods(path: &str) -> Option<&'static str> {
    static METHODS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
        let listed = |item: &PathItem| {
            let all = [
                ("GET", &item.get),
                ("HEAD", &item.head),
                ("POST", &item.post),
                ("PUT", &item.put),
                ("PATCH", &item.patch),
                ("DELETE", &item.delete),
            ];
            let names: Vec<&str> = all.iter().filter(|(_, it)| it.is_some()).map(|(name, _)| *name).collect();
            names.join(", ")
        };
        document().paths.paths.iter().map(|(path, item)| (path.clone(), listed(item))).collect()
    });
    METHODS.get(path).map(String::as_str)
}

/// The document.
pub fn document() -> OpenApi {
    let (_, mut collected) = App::new().into_utoipa_app().openapi(base()).configure(rest::routes).split_for_parts();
    for (path, item) in &mut collected.paths.paths {
        // Events are told as they come, and never the same twice.
        if let Some(get) = &mut item.get
            && !path.ends_with("/events")
        {
            let same = ResponseBuilder::new().description("It is what If-None-Match names by its ETag.");
            get.responses.responses.entry("304".to_owned()).or_insert_with(|| same.build().into());
        }
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        operations.into_iter().flatten().for_each(|operation| add_common_refusals(operation, true));
        // An answer to HEAD has no body.
        item.head.iter_mut().for_each(|operation| add_common_refusals(operation, false));
    }
    collected
}

/// What any guarded route may answer, said once.
fn add_common_refusals(operation: &mut Operation, has_body: bool) {
    if operation.security.is_none() {
        return;
    }
    let refusals = [
        ("400", "The request cannot be read."),
        ("401", "A valid token is needed."),
        ("403", "The token's role does not allow this."),
        ("429", "The tenant's rate is used up; Retry-After says how long to wait."),
        ("500", "Something failed on our side; the operator finds it by the trace id."),
        ("503", "The database or the objects cannot be reached; try again later."),
    ];
    for (status, description) in refusals {
        let mut response = ResponseBuilder::new().description(description);
        if has_body {
            response = response.content(PROBLEM_JSON, Content::new(Some(Ref::from_schema_name("Problem"))));
        }
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| response.build().into());
    }
}

fn base() -> OpenApi {
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".to_owned());
    let info = InfoBuilder::new()
        .title("Foresite")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "What would our waits and our utilisation be, if …? Upload a site's files, post a study, read the comparison. \
             Every refusal is a problem document (RFC 9457) with a stable `code`.",
        ))
        .license(Some(license))
        .build();
    let mut components = Components::new();
    let mut bearer = Http::new(HttpAuthScheme::Bearer);
    bearer.description = Some("An API token (`fs_…`) or a JSON web token.".to_owned());
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}
