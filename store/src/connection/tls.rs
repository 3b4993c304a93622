//! Connections to PostgreSQL, with TLS as `sslmode` in the URL says; the words and their meaning are libpq's
//! (<https://www.postgresql.org/docs/current/libpq-ssl.html>).
//!
//! `disable`: none. `prefer` (the default): if the server offers it, unchecked. `require`: always, unchecked. `verify-ca`: the
//! certificate must be signed by a known authority. `verify-full`: and be for the host of the URL. Authorities are those of the
//! file that `sslrootcert` names, or the system's.

use std::sync::Arc;
use std::time::Duration;

use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::NoTls;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database_url::without_password;
use crate::error::StoreError;

/// A PostgreSQL server and how to speak to it.
#[derive(Clone)]
pub(crate) struct Target {
    config: tokio_postgres::Config,
    tls: Option<MakeRustlsConnect>,
}

/// How much is asked of the server's certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    Nothing,
    Authority,
    AuthorityAndName,
}

impl Target {
    /// Reads a URL; reads the authorities if certificates are to be checked.
    pub(crate) fn of(url: &url::Url) -> Result<Self, StoreError> {
        let fault = |reason: String| StoreError::Url { url: without_password(url.as_str()), reason };
        let (mut mode, mut roots) = (None, None);
        let mut rest = Vec::new();
        for (key, value) in url.query_pairs() {
            match &*key {
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => roots = Some(value.into_owned()),
                _ => rest.push((key.into_owned(), value.into_owned())),
            }
        }
        let mut plain = url.clone();
        plain.set_query(None);
        if !rest.is_empty() {
            plain.query_pairs_mut().extend_pairs(rest);
        }
        let mut config: tokio_postgres::Config = plain.as_str().parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            fault(format!("{error}{cause}"))
        })?;
        let (ssl_mode, check) = match mode.as_deref() {
            Some("disable") => (SslMode::Disable, Check::Nothing),
            None | Some("prefer") => (SslMode::Prefer, Check::Nothing),
            Some("require") => (SslMode::Require, Check::Nothing),
            Some("verify-ca") => (SslMode::Require, Check::Authority),
            Some("verify-full") => (SslMode::Require, Check::AuthorityAndName),
            Some(other) => {
                let known = "write disable, prefer, require, verify-ca or verify-full";
                return Err(fault(format!("there is no sslmode {other:?}; {known}")));
            }
        };
        config.ssl_mode(ssl_mode);
        notice_silence(&mut config);
        let tls = match ssl_mode {
            SslMode::Disable => None,
            _ => Some(MakeRustlsConnect::new(client(check, roots.as_deref()).map_err(fault)?)),
        };
        Ok(Self { config, tls })
    }

    /// Connects.
    pub(crate) async fn connect(&self) -> ConnectionResult<AsyncPgConnection> {
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(unreachable)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(unreachable)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
        }
    }
}

/// A server or a network that is gone without a word is noticed in seconds, not in the quarter of an hour that TCP takes by itself.
/// Settings of the URL go before.
fn notice_silence(config: &mut tokio_postgres::Config) {
    const PATIENCE: Duration = Duration::from_secs(15);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_tcp_user_timeout().is_none() {
        config
            .tcp_user_timeout(PATIENCE)
            .keepalives_idle(PATIENCE)
            .keepalives_interval(PATIENCE / 3)
            .keepalives_retries(3);
    }
}

fn unreachable(error: tokio_postgres::Error) -> ConnectionError {
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    ConnectionError::BadConnection(format!("{error}{cause}"))
}

fn client(check: Check, roots: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    if check == Check::AuthorityAndName {
        return Ok(builder.with_root_certificates(authorities(roots)?).with_no_client_auth());
    }
    let authority = match check {
        Check::Authority => {
            let verifier =
                WebPkiServerVerifier::builder_with_provider(Arc::new(authorities(roots)?), Arc::clone(&provider));
            Some(verifier.build().map_err(|error| error.to_string())?)
        }
        _ => None,
    };
    let verifier = Lenient { authority, provider };
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn authorities(file: Option<&str>) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    match file.filter(|file| *file != "system") {
        Some(file) => {
            let read = CertificateDer::pem_file_iter(file).map_err(|error| format!("sslrootcert {file}: {error}"))?;
            for certificate in read {
                let certificate = certificate.map_err(|error| format!("sslrootcert {file}: {error}"))?;
                store.add(certificate).map_err(|error| format!("sslrootcert {file}: {error}"))?;
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if store.is_empty() {
        return Err("no certificate authority is known; name a file by sslrootcert".to_owned());
    }
    Ok(store)
}

/// Checks the authority at most, never the name: what `prefer`, `require` and `verify-ca` promise.
#[derive(Debug)]
struct Lenient {
    authority: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        match authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
