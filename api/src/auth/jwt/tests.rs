#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{EncodingKey, Header, encode};
use secrecy::SecretString;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn settings() -> AuthConfig {
    AuthConfig {
        issuer: Some("https://issuer".to_owned()),
        audience: Some("foresite".to_owned()),
        tenant_claim: "tenant".to_owned(),
        role_claim: "role".to_owned(),
        jwks_url: None,
        jwks_refresh: Duration::from_secs(300),
        hs256_secret: None,
    }
}

fn with_secret() -> JwtVerifier {
    JwtVerifier::new(&AuthConfig { hs256_secret: Some(SecretString::from(SECRET)), ..settings() }).unwrap()
}

fn now() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64
}

fn claims() -> Value {
    json!({"iss": "https://issuer", "aud": "foresite", "sub": "ann", "tenant": "t", "role": "operator", "exp": now() + 600})
}

fn with(key: &str, value: Value) -> Value {
    let mut claims = claims();
    match value {
        Value::Null => claims.as_object_mut().unwrap().remove(key),
        value => claims.as_object_mut().unwrap().insert(key.to_owned(), value),
    };
    claims
}

fn hs256(claims: &Value) -> String {
    encode(&Header::default(), claims, &EncodingKey::from_secret(SECRET.as_bytes())).unwrap()
}

#[tokio::test]
async fn a_good_token_names_its_caller() {
    let principal = with_secret().verify(&hs256(&claims())).await.unwrap();
    assert_eq!((principal.tenant.as_str(), principal.actor.as_str(), principal.role), ("t", "ann", Role::Operator));
}

#[tokio::test]
async fn the_greatest_of_several_roles_counts() {
    let token = hs256(&with("role", json!(["viewer", "admin", "somebody-elses"])));
    assert_eq!(with_secret().verify(&token).await.unwrap().role, Role::Admin);
}

#[tokio::test]
async fn every_wrong_claim_is_refused_with_its_name() {
    let cases = [
        ("exp", json!(now() - 600), "exp"),
        ("exp", Value::Null, "exp"),
        ("nbf", json!(now() + 600), "nbf"),
        ("iss", json!("https://other"), "iss"),
        ("iss", Value::Null, "iss"),
        ("aud", json!("other"), "aud"),
        ("aud", Value::Null, "aud"),
        ("tenant", Value::Null, "tenant"),
        ("tenant", json!("a b"), "tenant"),
        ("sub", json!("ann\0"), "sub"),
        ("sub", json!("token:nightly"), "sub"),
        ("sub", json!("cli"), "sub"),
        ("role", json!("root"), "role"),
        ("role", Value::Null, "role"),
    ];
    for (claim, value, word) in cases {
        let error = with_secret().verify(&hs256(&with(claim, value.clone()))).await.unwrap_err();
        assert_eq!(error.code().http_status(), 401, "{claim} {value}");
        assert!(error.detail().contains(word), "{claim} {value}: {}", error.detail());
    }
}

#[tokio::test]
async fn an_expired_token_has_its_own_code() {
    let error = with_secret().verify(&hs256(&with("exp", json!(now() - 600)))).await.unwrap_err();
    assert_eq!(error.code(), Code::TokenExpired);
}

#[tokio::test]
async fn unsigned_tokens_are_refused() {
    let token = hs256(&claims());
    let payload = token.split('.').nth(1).unwrap();
    // {"alg":"none","typ":"JWT"}
    let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}.");
    assert_eq!(with_secret().verify(&unsigned).await.unwrap_err().code(), Code::Unauthenticated);
    let torn = format!("{}x", token);
    assert_eq!(with_secret().verify(&torn).await.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn hs256_is_refused_without_a_configured_secret() {
    let verifier = JwtVerifier::new(&settings()).unwrap();
    assert_eq!(verifier.verify(&hs256(&claims())).await.unwrap_err().code(), Code::Unauthenticated);
}

/// A private key and its name.
struct Signer {
    kid: &'static str,
    algorithm: Algorithm,
    key: EncodingKey,
}

fn signers() -> Vec<Signer> {
    vec![
        Signer {
            kid: "rsa",
            algorithm: Algorithm::RS256,
            key: EncodingKey::from_rsa_pem(include_bytes!("testdata/rs256.pem")).unwrap(),
        },
        Signer {
            kid: "ec",
            algorithm: Algorithm::ES256,
            key: EncodingKey::from_ec_pem(include_bytes!("testdata/es256.pem")).unwrap(),
        },
        Signer {
            kid: "ed",
            algorithm: Algorithm::EdDSA,
            key: EncodingKey::from_ed_pem(include_bytes!("testdata/eddsa.pem")).unwrap(),
        },
    ]
}

impl Signer {
    fn sign(&self) -> String {
        let header = Header { kid: Some(self.kid.to_owned()), ..Header::new(self.algorithm) };
        encode(&header, &claims(), &self.key).unwrap()
    }

    fn jwk(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        jwk.common.key_id = Some(self.kid.to_owned());
        serde_json::to_value(jwk).unwrap()
    }
}

/// Does not answer at all.
const HANGS: usize = 2;

/// Serves a JWKS; counts questions; answers 500 once `outage` is set to a positive number, and nothing at [`HANGS`].
async fn jwks_server(keys: Vec<Value>) -> (String, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    rotating_server(Arc::new(Mutex::new(keys))).await
}

/// [`jwks_server`] whose keys may change.
async fn rotating_server(keys: Arc<Mutex<Vec<Value>>>) -> (String, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let (questions, outage) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, down) = (Arc::clone(&questions), Arc::clone(&outage));
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = socket.read(&mut request).await;
            count.fetch_add(1, Ordering::SeqCst);
            let body = json!({ "keys": *keys.lock().unwrap() }).to_string();
            if down.load(Ordering::SeqCst) == HANGS {
                std::future::pending::<()>().await;
            }
            let status = if down.load(Ordering::SeqCst) > 0 { "500 Down" } else { "200 OK" };
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    (url, questions, outage)
}

#[tokio::test]
async fn keys_of_every_kind_are_taken_from_the_jwks_and_cached() {
    let (url, questions, _) = jwks_server(signers().iter().map(Signer::jwk).collect()).await;
    let verifier = JwtVerifier::new(&AuthConfig { jwks_url: Some(url), ..settings() }).unwrap();
    for signer in signers() {
        let principal = verifier.verify(&signer.sign()).await;
        assert_eq!(principal.unwrap().actor, "ann", "{}", signer.kid);
    }
    assert_eq!(questions.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_outage_keeps_the_last_keys_and_opens_nothing() {
    let all = signers();
    let (url, _, outage) = jwks_server(vec![all[0].jwk()]).await;
    let config = AuthConfig { jwks_url: Some(url), jwks_refresh: Duration::ZERO, ..settings() };
    let verifier = JwtVerifier::new(&config).unwrap();
    verifier.verify(&all[0].sign()).await.unwrap();
    outage.store(1, Ordering::SeqCst);
    verifier.verify(&all[0].sign()).await.unwrap();
    assert_eq!(verifier.verify(&all[1].sign()).await.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_public_key_is_no_shared_secret() {
    let rsa = &signers()[0];
    let jwk = rsa.jwk();
    let (url, _, _) = jwks_server(vec![jwk.clone()]).await;
    let verifier = JwtVerifier::new(&AuthConfig { jwks_url: Some(url), ..settings() }).unwrap();
    let header = Header { kid: Some("rsa".to_owned()), ..Header::default() };
    let confused =
        encode(&header, &claims(), &EncodingKey::from_secret(jwk["n"].as_str().unwrap().as_bytes())).unwrap();
    assert_eq!(verifier.verify(&confused).await.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn rotated_keys_are_found_and_withdrawn_ones_forgotten() {
    let all = signers();
    let keys = Arc::new(Mutex::new(vec![all[0].jwk()]));
    let (url, _, _) = rotating_server(Arc::clone(&keys)).await;
    let config = AuthConfig { jwks_url: Some(url), jwks_refresh: Duration::ZERO, ..settings() };
    let verifier = JwtVerifier::new(&config).unwrap();
    verifier.verify(&all[0].sign()).await.unwrap();
    assert_eq!(verifier.verify(&all[1].sign()).await.unwrap_err().code(), Code::Unauthenticated);
    *keys.lock().unwrap() = vec![all[0].jwk(), all[1].jwk()];
    verifier.verify(&all[0].sign()).await.unwrap();
    verifier.verify(&all[1].sign()).await.unwrap();
    *keys.lock().unwrap() = vec![all[1].jwk()];
    verifier.verify(&all[1].sign()).await.unwrap();
    assert_eq!(verifier.verify(&all[0].sign()).await.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn invented_key_ids_do_not_flood_the_server() {
    let all = signers();
    let (url, questions, _) = jwks_server(vec![all[0].jwk()]).await;
    let verifier = JwtVerifier::new(&AuthConfig { jwks_url: Some(url), ..settings() }).unwrap();
    for _ in 0..20 {
        assert_eq!(verifier.verify(&all[1].sign()).await.unwrap_err().code(), Code::Unauthenticated);
    }
    assert_eq!(questions.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_server_that_hangs_keeps_nobody_out_whose_key_is_known() {
    let all = signers();
    let (url, _, outage) = jwks_server(vec![all[0].jwk()]).await;
    let verifier = JwtVerifier::new(&AuthConfig { jwks_url: Some(url), ..settings() }).unwrap();
    verifier.verify(&all[0].sign()).await.unwrap();
    // Whoever brings an unknown key's name has it looked for, and waits.
    outage.store(HANGS, Ordering::SeqCst);
    verifier.jwks.as_ref().unwrap().forget_when_asked();
    let (stranger, known) = (all[1].sign(), all[0].sign());
    let waiting = verifier.verify(&stranger);
    tokio::pin!(waiting);
    assert!(futures::poll!(&mut waiting).is_pending());
    tokio::select! {
        biased;
        refused = &mut waiting => panic!("the server answered: {refused:?}"),
        let_in = verifier.verify(&known) => assert_eq!(let_in.unwrap().actor, "ann"),
    }
}

#[tokio::test]
async fn a_server_that_never_answered_opens_nothing_and_blames_no_token() {
    let (url, _, outage) = jwks_server(vec![signers()[0].jwk()]).await;
    outage.store(1, Ordering::SeqCst);
    let config = AuthConfig { jwks_url: Some(url), jwks_refresh: Duration::ZERO, ..settings() };
    let verifier = JwtVerifier::new(&config).unwrap();
    assert_eq!(verifier.verify(&signers()[0].sign()).await.unwrap_err().code(), Code::Unavailable);
    outage.store(0, Ordering::SeqCst);
    verifier.verify(&signers()[0].sign()).await.unwrap();
}

#[tokio::test]
async fn the_key_decides_the_algorithm() {
    let [rsa, ec, _] = <[Signer; 3]>::try_from(signers()).unwrap_or_else(|_| unreachable!());
    let named = |kid: &str, mut jwk: Value| {
        jwk["kid"] = json!(kid);
        jwk
    };
    // An EC key under the RSA key's name, an RSA key that says it is for another algorithm, a shared secret in public.
    let mut other = rsa.jwk();
    other["alg"] = json!("RS512");
    let secret =
        json!({"kty": "oct", "kid": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "alg": "HS256"});
    let (url, _, _) = jwks_server(vec![named("rsa", ec.jwk()), named("other", other), secret]).await;
    let verifier = JwtVerifier::new(&AuthConfig { jwks_url: Some(url), ..settings() }).unwrap();
    let with_kid = |kid: &str, algorithm: Algorithm, key: &EncodingKey| {
        let header = Header { kid: Some(kid.to_owned()), ..Header::new(algorithm) };
        encode(&header, &claims(), key).unwrap()
    };
    let shared = EncodingKey::from_base64_secret("c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA==").unwrap();
    for token in [
        with_kid("rsa", Algorithm::RS256, &rsa.key),
        with_kid("other", Algorithm::RS256, &rsa.key),
        with_kid("rsa", Algorithm::RS512, &rsa.key),
        with_kid("oct", Algorithm::HS256, &shared),
    ] {
        assert_eq!(verifier.verify(&token).await.unwrap_err().code(), Code::Unauthenticated, "{token}");
    }
}

#[tokio::test]
async fn a_key_that_a_token_brings_along_is_not_looked_at() {
    let all = signers();
    let (url, _, _) = jwks_server(vec![all[1].jwk()]).await;
    let verifier = JwtVerifier::new(&AuthConfig { jwks_url: Some(url.clone()), ..settings() }).unwrap();
    let jwk: Jwk = serde_json::from_value(all[0].jwk()).unwrap();
    let mut header = Header::new(Algorithm::RS256);
    (header.jwk, header.jku) = (Some(jwk), Some(url));
    let token = encode(&header, &claims(), &all[0].key).unwrap();
    assert_eq!(verifier.verify(&token).await.unwrap_err().code(), Code::Unauthenticated);
}
