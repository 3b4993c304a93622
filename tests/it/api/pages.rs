//! Signing in, and what a browser sees.

use crate::foresite::{Place, token};

#[test]
fn a_token_is_exchanged_for_a_cookie_that_only_reads() {
    let place = Place::embedded();
    let service = place.serve();
    let url = |path: &str| format!("{}{path}", service.url);
    let sent_away = service.http.get(url("/")).send().unwrap();
    assert_eq!((sent_away.status().as_u16(), &sent_away.headers()["location"]), (303, &"/sign-in".parse().unwrap()));

    let wrong = service.http.post(url("/sign-in")).form(&[("token", "nonsense")]).send().unwrap();
    assert_eq!(wrong.status(), 401);

    let admin = token("t", "admin");
    let signed_in = service.http.post(url("/sign-in")).form(&[("token", &admin)]).send().unwrap();
    assert_eq!(signed_in.status(), 303);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();

    let page = service.http.get(url("/")).header("cookie", pair).send().unwrap();
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-src 'self'"), "{policy}");
    assert!(page.text().unwrap().contains("Studies"));
    let change = service.http.post(url("/v1/sites")).header("cookie", pair).json(&serde_json::json!({"name": "x"}));
    assert_eq!(change.send().unwrap().status(), 401);
}
