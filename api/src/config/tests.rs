#![allow(clippy::unwrap_used)]

use super::{Config, ConfigFaults};
use std::path::Path;

use secrecy::ExposeSecret;

fn read(table: &[(&str, &str)]) -> Result<Config, ConfigFaults> {
    let lookup = |name: &str| table.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Config::read(&lookup, table.iter().map(|(key, _)| (*key).to_owned()))
}

#[test]
fn without_settings_it_listens_on_loopback_and_keeps_things_in_one_folder() {
    let config = read(&[]).unwrap();
    assert_eq!(config.listen.http.to_string(), "127.0.0.1:8080");
    assert_eq!(config.listen.grpc.to_string(), "127.0.0.1:50051");
    assert_eq!(config.listen.metrics.to_string(), "127.0.0.1:9090");
    assert!(config.storage.data_dir.ends_with(Path::new(".foresite")));
    assert!(config.storage.objects_url.expose_secret().ends_with("/.foresite/objects"));
    assert!(config.storage.redis_url.is_none());
}

#[test]
fn all_faults_are_reported_at_once() {
    let faults = read(&[
        ("FORESITE_HTTP_LISTEN", "8080"),
        ("FORESITE_DATABASE_URL", "mysql://x"),
        ("FORESITE_JWT_HS256_SECRET", "short"),
    ])
    .unwrap_err();
    let variables: Vec<&str> = faults.0.iter().map(|fault| fault.variable.as_str()).collect();
    assert_eq!(
        variables,
        [
            "FORESITE_HTTP_LISTEN",
            "FORESITE_DATABASE_URL",
            "FORESITE_JWT_HS256_SECRET",
            "FORESITE_JWT_ISSUER",
            "FORESITE_JWT_AUDIENCE"
        ]
    );
}

#[test]
fn secrets_never_show() {
    let secret = "0123456789abcdef0123456789abcdef";
    let config = read(&[
        ("FORESITE_JWT_HS256_SECRET", secret),
        ("FORESITE_JWT_ISSUER", "i"),
        ("FORESITE_JWT_AUDIENCE", "a"),
        ("FORESITE_DATABASE_URL", "postgres://user:password@host/db"),
    ])
    .unwrap();
    let shown = format!("{config:?}");
    assert!(!shown.contains(secret) && !shown.contains("password"), "{shown}");
}

#[test]
fn a_misspelt_variable_is_named() {
    assert_eq!(read(&[("FORESITE_REDISURL", "redis://x")]).unwrap().unknown, ["FORESITE_REDISURL"]);
}

#[test]
fn numbers_that_would_let_nothing_through_are_refused() {
    let zeros = [
        "FORESITE_JWT_JWKS_REFRESH_SECONDS",
        "FORESITE_MAX_STUDY_BYTES",
        "FORESITE_MAX_CONFIG_BYTES",
        "FORESITE_MAX_TRACE_BYTES",
        "FORESITE_MAX_TRACE_EXPANDED_BYTES",
        "FORESITE_REQUEST_TIMEOUT_SECONDS",
        "FORESITE_BODY_TIMEOUT_SECONDS",
        "FORESITE_MAX_CONNECTIONS",
        "FORESITE_CHECK_TIMEOUT_SECONDS",
        "FORESITE_WORKER_TASKS",
        "FORESITE_TASK_MEMORY_BYTES",
        "FORESITE_TASK_TIMEOUT_SECONDS",
        "FORESITE_LEASE_SECONDS",
    ];
    let faults = read(&zeros.map(|variable| (variable, "0"))).unwrap_err();
    assert_eq!(faults.0.iter().map(|fault| fault.variable.as_str()).collect::<Vec<_>>(), zeros);
    let endless = read(&[("FORESITE_BODY_TIMEOUT_SECONDS", "18446744073709551615")]).unwrap_err();
    assert!(endless.to_string().contains("31622400"), "{endless}");
}

#[test]
fn keys_are_taken_only_from_where_nobody_can_change_them_on_their_way() {
    let with =
        |url| read(&[("FORESITE_JWT_JWKS_URL", url), ("FORESITE_JWT_ISSUER", "i"), ("FORESITE_JWT_AUDIENCE", "a")]);
    for url in ["https://idp.example.org/keys", "http://127.0.0.1:8000/keys", "http://localhost/keys", "http://[::1]/"]
    {
        assert!(with(url).is_ok(), "{url}");
    }
    for url in ["http://idp.example.org/keys", "http://localhost.example.org/", "ftp://127.0.0.1/", "keys"] {
        assert_eq!(with(url).unwrap_err().0[0].variable, "FORESITE_JWT_JWKS_URL", "{url}");
    }
}
