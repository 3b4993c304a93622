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
