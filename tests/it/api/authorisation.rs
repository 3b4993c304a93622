//! Every route of the OpenAPI document × every kind of caller. A new route is covered by being documented.

use foresite_api::grpc::v1::WatchStudyRequest;
use foresite_api::grpc::v1::study_service_client::StudyServiceClient;
use foresite_store::state::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::foresite::{Place, Service, expect, jwt, text_of, token};

struct Operation {
    method: Method,
    path: String,
    is_public: bool,
}

fn operations() -> Vec<Operation> {
    let document: Value = serde_json::from_str(foresite_api::openapi::json()).unwrap();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Ok(method) = Method::from_bytes(method.to_uppercase().as_bytes()) else { continue };
            if !["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
                continue;
            }
            found.push(Operation { method, path: path.clone(), is_public: operation.get("security").is_none() });
        }
    }
    found
}

/// The smallest role that may, by the rule of the house: tokens, webhooks, limits and the audit log are for admins, reading for viewers, the rest for operators.
fn role_below(operation: &Operation) -> Option<&'static str> {
    let administration = ["/v1/tokens", "/v1/audit", "/v1/webhooks"];
    let is_for_admins = administration.iter().any(|path| operation.path.starts_with(path))
        || (operation.path == "/v1/quotas" && operation.method == Method::PUT);
    match (is_for_admins, operation.method.is_safe()) {
        (true, _) => Some("operator"),
        (false, true) => None,
        (false, false) => Some("viewer"),
    }
}

/// The scope that a route needs, by the same rule.
fn scope_of(operation: &Operation) -> Scope {
    let reads = operation.method.is_safe();
    let group = operation.path.split('/').nth(2).unwrap();
    match (group, reads) {
        ("sites", true) => Scope::SitesRead,
        ("sites", false) => Scope::SitesWrite,
        ("studies", true) => Scope::StudiesRead,
        ("studies", false) => Scope::StudiesWrite,
        ("tokens", _) => Scope::TokensManage,
        ("webhooks", _) => Scope::WebhooksManage,
        ("quotas", true) => Scope::QuotasRead,
        ("quotas", false) => Scope::QuotasManage,
        ("audit", true) => Scope::AuditRead,
        _ => panic!("{}: say which scope this needs", operation.path),
    }
}

/// Things of tenant `ours`, so that a stranger is refused because of the tenant and nothing else.
struct Things {
    site: String,
    config: String,
    trace: String,
    study: String,
    token: String,
    webhook: String,
    delivery: String,
    upload: String,
}

fn things(service: &Service) -> Things {
    let admin = token("ours", "admin");
    let document = service.example_study(&admin);
    let issued = service.post(&admin, "/v1/tokens").json(&json!({"name": "n", "role": "viewer"})).send();
    let hook = json!({"url": "https://example.org/", "events": ["study.failed"]});
    let hook = expect(service.post(&admin, "/v1/webhooks").json(&hook).send().unwrap(), 201);
    let webhook = text_of(&hook["webhook"], "id");
    let delivery = expect(service.post(&admin, &format!("/v1/webhooks/{webhook}/test")).send().unwrap(), 202);
    let site = text_of(&document["site"], "site");
    let upload = service.post(&admin, &format!("/v1/sites/{site}/uploads?name=x")).header("upload-length", "9");
    let upload = text_of(&expect(upload.send().unwrap(), 201), "id");
    Things {
        upload,
        delivery: text_of(&delivery, "id"),
        webhook,
        site: text_of(&document["site"], "site"),
        config: text_of(&document["site"], "config"),
        trace: text_of(&document["trace"], "trace"),
        study: service.submit(&admin, &document),
        token: text_of(&expect(issued.unwrap(), 201)["token"], "id"),
    }
}

fn call(
    service: &Service,
    operation: &Operation,
    things: &Things,
    bearer: Option<&str>,
) -> reqwest::blocking::Response {
    let path = operation
        .path
        .replace("{site}", &things.site)
        .replace("{config}", &things.config)
        .replace("{trace}", &things.trace)
        .replace("{study}", &things.study)
        .replace("{upload}", &things.upload)
        .replace("{token}", &things.token)
        .replace("{webhook}", &things.webhook)
        .replace("{delivery}", &things.delivery)
        .replace("{scenario}", "baseline")
        .replace("{replication}", "0")
        .replace("{name}", "wait-by-user-1");
    assert!(!path.contains('{'), "{path}: give the new parameter a value here");
    let query = if path.ends_with("/traces") || path.ends_with("/uploads") { "?name=sacct.txt" } else { "" };
    let query = if operation.method == Method::POST { query } else { "" };
    let mut request = service.http.request(operation.method.clone(), format!("{}{path}{query}", service.url));
    if operation.method == Method::PATCH {
        request =
            request.header("content-type", "application/offset+octet-stream").header("upload-offset", "0").body("x");
    }
    if path.ends_with("/uploads") {
        request = request.header("upload-length", "1");
    }
    if operation.method == Method::POST {
        let kind = if path.ends_with("/configs") { "application/x-tar" } else { "application/json" };
        request = request.header("content-type", kind).body("{}");
    }
    if let Some(bearer) = bearer {
        request = request.bearer_auth(bearer);
    }
    request.send().unwrap()
}

/// The answer is this refusal; one to HEAD has no body to say so.
fn assert_refused(operation: &Operation, answer: reqwest::blocking::Response, status: u16, code: &str, who: &str) {
    let name = format!("{} {} {who}", operation.method, operation.path);
    if operation.method == Method::HEAD {
        assert_eq!(answer.status(), status, "{name}");
        return;
    }
    let problem = expect(answer, status);
    assert_eq!(problem["code"], code, "{name}");
    assert_eq!(text_of(&problem, "trace_id").len(), 32, "{name}");
}

/// Administrators' tokens, each narrowed to one scope.
pub(super) fn narrow_tokens(service: &Service) -> Vec<(Scope, String)> {
    let make = |scope: &Scope| {
        let wish = json!({"name": "narrow", "role": "admin", "scopes": [scope]});
        let issued = service.post(&token("ours", "admin"), "/v1/tokens").json(&wish).send().unwrap();
        (*scope, text_of(&expect(issued, 201), "secret"))
    };
    Scope::ALL.iter().map(make).collect()
}

#[test]
fn every_route_refuses_whom_it_must() {
    let place = Place::embedded();
    let service = place.serve();
    let things = things(&service);
    let (mut n_routes, mut n_cases) = (0, 0);
    let narrow = narrow_tokens(&service);
    for operation in operations() {
        if operation.is_public {
            assert!(["/healthz", "/readyz"].contains(&operation.path.as_str()), "{} is public", operation.path);
            assert_eq!(call(&service, &operation, &things, None).status(), 200, "{}", operation.path);
            continue;
        }
        n_routes += 1;
        let refusals = [
            (None, "unauthenticated"),
            (Some("not-a-token".to_owned()), "unauthenticated"),
            (Some(format!("fs_{}", "0".repeat(64))), "unauthenticated"),
            (Some(jwt("ours", "admin", 3600)), "token_expired"),
        ];
        for (bearer, code) in refusals {
            let answer = call(&service, &operation, &things, bearer.as_deref());
            assert_refused(&operation, answer, 401, code, &format!("with {bearer:?}"));
            n_cases += 1;
        }
        for (scope, secret) in narrow.iter().filter(|(scope, _)| !scope.includes(scope_of(&operation))) {
            let answer = call(&service, &operation, &things, Some(secret));
            assert_refused(&operation, answer, 403, "forbidden", &format!("with the scope {scope}"));
            n_cases += 1;
        }
        if let Some(role) = role_below(&operation) {
            let answer = call(&service, &operation, &things, Some(&token("ours", role)));
            assert_refused(&operation, answer, 403, "forbidden", &format!("as {role}"));
            n_cases += 1;
        }
        if operation.path.contains('{') {
            let answer = call(&service, &operation, &things, Some(&token("theirs", "admin")));
            assert_refused(&operation, answer, 404, "not_found", "as a stranger");
            n_cases += 1;
        }
    }
    // And no others: the smallest role that may, and a token narrowed to the one scope. Some delete things, so they come last.
    for operation in operations().iter().filter(|operation| !operation.is_public) {
        let role = match role_below(operation) {
            Some("operator") => "admin",
            Some(_) => "operator",
            None => "viewer",
        };
        let scope = scope_of(operation);
        let (_, secret) = narrow.iter().find(|(narrow, _)| *narrow == scope).unwrap();
        for (bearer, who) in
            [(token("ours", role), role.to_owned()), (secret.clone(), format!("with the scope {scope}"))]
        {
            let status = call(&service, operation, &things, Some(&bearer)).status().as_u16();
            assert!(![401, 403].contains(&status), "{} {} {who}: {status}", operation.method, operation.path);
            n_cases += 1;
        }
    }
    println!("{n_routes} routes, {n_cases} cases");
    assert!(n_routes >= 35, "{n_routes} routes");
}

#[test]
fn a_stranger_is_refused_before_the_body_is_judged_however_the_path_is_written() {
    let place = Place::embedded();
    let service = place.serve();
    let stranger = format!("fs_{}", "0".repeat(64));
    for path in ["/v1/sites", "/%76%31/sites", "/v%31/sites"] {
        let answer = service.post(&stranger, path).header("content-type", "application/json").body("{").send().unwrap();
        assert_eq!(expect(answer, 401)["code"], "unauthenticated", "{path}");
    }
    let operator = token("ours", "operator");
    let made = service.post(&operator, "/%76%31/sites").json(&json!({"name": "x"})).send().unwrap();
    expect(made, 201);
}

#[test]
fn a_revoked_token_ends_its_streams() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("ours", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = json!(500);
    let study = service.submit(&operator, &document);
    let wish = json!({"name": "n", "role": "viewer"});
    let issued = expect(service.post(&token("ours", "admin"), "/v1/tokens").json(&wish).send().unwrap(), 201);
    let (secret, id) = (text_of(&issued, "secret"), text_of(&issued["token"], "id"));
    let events = service.get(&secret, &format!("/v1/studies/{study}/events")).send().unwrap();
    assert_eq!(events.status(), 200);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut watched = runtime.block_on(async {
        let mut client = StudyServiceClient::connect(service.grpc.clone()).await.unwrap();
        let mut request = tonic::Request::new(WatchStudyRequest { id: study.clone(), after_event: 0 });
        request.metadata_mut().insert("authorization", format!("Bearer {secret}").parse().unwrap());
        client.watch(request).await.unwrap().into_inner()
    });
    let revoke = service.http.delete(format!("{}/v1/tokens/{id}", service.url));
    assert_eq!(revoke.bearer_auth(token("ours", "admin")).send().unwrap().status(), 204);
    // Within a minute, which is how long this client waits for a body.
    let told = events.text().unwrap();
    assert!(told.contains("event: ") && !told.contains("succeeded"), "{told}");
    let refused = runtime.block_on(async {
        loop {
            match watched.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream ended as if the study had"),
                Err(refused) => return refused,
            }
        }
    });
    assert_eq!(refused.code(), tonic::Code::Unauthenticated, "{refused}");
    expect(service.post(&operator, &format!("/v1/studies/{study}/cancel")).send().unwrap(), 200);
}

#[test]
fn a_revoked_or_expired_api_token_opens_nothing() {
    let place = Place::embedded();
    let service = place.serve();
    let secret = place.must(&["token", "create", "--role", "admin"]).trim().to_owned();
    let listed = expect(service.get(&secret, "/v1/tokens").send().unwrap(), 200);
    assert!(!listed.to_string().contains(&secret), "the list shows a secret");
    let id = text_of(&listed["items"][0], "id");
    place.must(&["token", "revoke", &id]);
    assert_eq!(expect(service.get(&secret, "/v1/sites").send().unwrap(), 401)["code"], "unauthenticated");
}
