//! Figures for pages that cannot send a token.

use serde_json::json;

use crate::foresite::{Place, expect, text_of, token};

#[test]
fn a_link_opens_one_figure_until_it_expires() {
    let place = Place::embedded();
    let service = place.serve();
    let operator = token("t", "operator");
    let mut document = service.example_study(&operator);
    document["replications"] = json!(2);
    let study = service.submit(&operator, &document);
    let path = format!("/v1/studies/{study}/figures/wait-by-user-1.svg/links");
    let make = |bearer: &str, life: i64| {
        service.post(bearer, &path).json(&json!({"expires_in_seconds": life})).send().unwrap()
    };
    service.await_success(&operator, &study);
    assert_eq!(expect(make(&token("t", "viewer"), 60), 403)["code"], "forbidden");
    assert_eq!(expect(make(&token("other", "operator"), 60), 404)["code"], "not_found");
    assert_eq!(expect(make(&operator, 400 * 86_400), 422)["errors"][0]["pointer"], "/expires_in_seconds");
    let url = text_of(&expect(make(&operator, 60), 201), "url");
    assert!(url.starts_with(&service.url), "{url}");
    let svg = service.http.get(&url).send().unwrap();
    assert_eq!((svg.status().as_u16(), &svg.headers()["content-type"]), (200, &"image/svg+xml".parse().unwrap()));

    for wrong in [
        url.replace("tenant=t", "tenant=other"),
        url.replace("wait-by-user-1", "wait-by-account-1"),
        url.replace(&study, "00000000-0000-7000-8000-000000000000"),
        url.replace("figures/wait-by-user-1.svg", "report"),
        url.replace("signature=", "signature=0"),
    ] {
        assert_eq!(service.http.get(&wrong).send().unwrap().status(), 401, "{wrong}");
    }
    assert_eq!(service.http.post(&url).send().unwrap().status(), 401);
    let short = text_of(&expect(make(&operator, 1), 201), "url");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!(expect(service.http.get(&short).send().unwrap(), 401)["code"], "token_expired");
    // Every replica, and the same one after a restart, knows the key.
    drop(service);
    let again = place.serve();
    let (_, query) = url.split_once("/v1/").unwrap();
    assert_eq!(again.http.get(format!("{}/v1/{query}", again.url)).send().unwrap().status(), 200);
}
