//! Who did what, and what narrowed tokens may.

use serde_json::{Value, json};

use crate::foresite::{Place, Service, expect, text_of, token};

fn lines(service: &Service, admin: &str, query: &str) -> Vec<Value> {
    let page = expect(service.get(admin, &format!("/v1/audit{query}")).send().unwrap(), 200);
    page["items"].as_array().unwrap().clone()
}

#[test]
fn every_change_leaves_a_line_with_who_what_when_and_the_trace_id() {
    let place = Place::embedded();
    let service = place.serve();
    let admin = token("t", "admin");
    let site = service.site(&admin);
    let config = text_of(&expect(service.config(&admin, &site), 201), "id");
    let path = format!("/v1/sites/{site}/configs/{config}");
    let delete = service.http.delete(format!("{}{path}", service.url)).bearer_auth(&admin);
    let delete = delete.header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    assert_eq!(delete.send().unwrap().status(), 204);
    let issued = service.post(&admin, "/v1/tokens").json(&json!({"name": "ci", "role": "viewer"})).send().unwrap();
    let issued = text_of(&expect(issued, 201)["token"], "id");
    let revoke = service.http.delete(format!("{}/v1/tokens/{issued}", service.url)).bearer_auth(&admin);
    assert_eq!(revoke.send().unwrap().status(), 204);

    let found = lines(&service, &admin, "");
    let told: Vec<_> = found.iter().map(|line| (line["action"].as_str().unwrap(), text_of(line, "resource"))).collect();
    let wanted = [
        ("token.revoke", issued.clone()),
        ("token.create", issued),
        ("config.delete", config.clone()),
        ("config.create", config.clone()),
        ("site.create", site),
    ];
    assert_eq!(told, wanted);
    assert!(found.iter().all(|line| line["actor"] == "test" && text_of(line, "trace_id").len() == 32), "{found:?}");
    assert_eq!(found[2]["trace_id"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(lines(&service, &admin, &format!("?action=config.create&resource={config}")).len(), 1);
    assert_eq!(lines(&service, &admin, "?since=2100-01-01T00:00:00Z").len(), 0);
    assert_eq!(lines(&service, &token("other", "admin"), "").len(), 0);

    let page = expect(service.get(&admin, "/v1/audit?limit=2").send().unwrap(), 200);
    let next = text_of(&page, "next");
    assert_eq!(lines(&service, &admin, &format!("?limit=2&cursor={next}"))[0]["action"], "config.delete");
    assert_eq!(expect(service.get(&admin, "/v1/audit?since=noon").send().unwrap(), 400)["code"], "invalid_request");
}

#[test]
fn a_token_with_scopes_does_nothing_else_and_hands_out_no_more() {
    let place = Place::embedded();
    let service = place.serve();
    let make = |bearer: &str, scopes: Value| {
        let wish = json!({"name": "narrow", "role": "admin", "scopes": scopes});
        service.post(bearer, "/v1/tokens").json(&wish).send().unwrap()
    };
    let admin = token("t", "admin");
    let issued = expect(make(&admin, json!(["studies:read", "sites:write"])), 201);
    assert_eq!(issued["token"]["scopes"], json!(["sites:write", "studies:read"]));
    let narrow = text_of(&issued, "secret");
    service.site(&narrow);
    for path in ["/v1/sites", "/v1/studies"] {
        expect(service.get(&narrow, path).send().unwrap(), 200);
    }
    for path in ["/v1/tokens", "/v1/audit"] {
        assert_eq!(expect(service.get(&narrow, path).send().unwrap(), 403)["code"], "forbidden", "{path}");
    }
    let refused = service.post(&narrow, "/v1/studies").json(&json!({})).send().unwrap();
    assert!(text_of(&expect(refused, 403), "detail").contains("studies:write"));

    let manager = text_of(&expect(make(&admin, json!(["tokens:manage", "studies:read"])), 201), "secret");
    for wider in [json!([]), json!(["studies:write"])] {
        assert_eq!(expect(make(&manager, wider), 403)["code"], "forbidden");
    }
    expect(make(&manager, json!(["studies:read"])), 201);
    assert_eq!(expect(make(&admin, json!(["everything"])), 422)["code"], "invalid_field");

    let id = text_of(&issued["token"], "id");
    let used = expect(service.get(&admin, &format!("/v1/tokens/{id}")).send().unwrap(), 200);
    assert!(used["last_used_at"].is_string(), "{used}");
}

#[test]
fn the_command_line_ends_with_2_where_the_input_is_wrong() {
    let place = Place::embedded();
    for arguments in [&["token", "list", "--tenant", "a b"][..], &["work"], &["token", "create", "--scope", "all"]] {
        assert_eq!(place.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
