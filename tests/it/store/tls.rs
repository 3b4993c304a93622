//! TLS to PostgreSQL, as `sslmode` says.

use foresite_store::{DatabaseUrl, Store, migrations};
use foresite_tests::servers::PostgresServer;

use crate::fixtures::blocking;

async fn opens(url: &str) -> Result<(), String> {
    let url = DatabaseUrl::parse(url).map_err(|error| error.to_string())?;
    migrations::up(&url).await.map_err(|error| error.to_string())?;
    let store = Store::connect(&url, 1).await.map_err(|error| error.to_string())?;
    store.ping().await.map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_servers_certificate_is_asked_for_as_the_url_says() {
    let server = blocking(|| {
        let mut server = PostgresServer::start();
        server.restart_with_tls(include_str!("testdata/server.pem"), include_str!("testdata/server.key"));
        server
    })
    .await;
    let by_number = server.create_database();
    let by_name = by_number.replace("127.0.0.1", "localhost");
    let ca = format!("{}/it/store/testdata/ca.pem", env!("CARGO_MANIFEST_DIR"));
    for (url, query, is_good) in [
        (&by_number, String::new(), true),
        (&by_number, "?sslmode=disable".to_owned(), true),
        (&by_number, "?sslmode=require".to_owned(), true),
        (&by_number, format!("?sslmode=verify-ca&sslrootcert={ca}"), true),
        (&by_number, format!("?sslmode=verify-full&sslrootcert={ca}"), false),
        (&by_name, format!("?sslmode=verify-full&sslrootcert={ca}&application_name=x"), true),
        (&by_name, "?sslmode=verify-full".to_owned(), false),
        (&by_name, "?sslmode=verify-ca".to_owned(), false),
        (&by_name, "?sslmode=strict".to_owned(), false),
        (&by_name, "?sslmode=verify-ca&sslrootcert=/nowhere".to_owned(), false),
    ] {
        let opened = opens(&format!("{url}{query}")).await;
        assert_eq!(opened.is_ok(), is_good, "{query}: {opened:?}");
    }
    // What is required is had: the server says so of the connection itself.
    let name = by_number.rsplit('/').next().unwrap().to_owned();
    let url = DatabaseUrl::parse(&format!("{by_number}?sslmode=require&application_name=tls_test")).unwrap();
    let store = Store::connect(&url, 1).await.unwrap();
    store.ping().await.unwrap();
    let asked = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'tls_test'";
    assert_eq!(blocking(move || server.psql(&name, asked)).await, "t");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_tls_is_refused_where_it_is_required() {
    let server = blocking(PostgresServer::start).await;
    let url = server.create_database();
    opens(&url).await.unwrap();
    assert!(opens(&format!("{url}?sslmode=require")).await.is_err());
}
