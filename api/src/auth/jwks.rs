//! Keys from a JWKS URL, cached and rotated. An outage of that server leaves the last keys in force; it never opens the door.

use std::sync::{Mutex as Brief, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::{Mutex, RwLock};

use crate::error::{ApiError, ApiResult};

/// The shortest time between two questions, so that tokens with invented key ids cannot make us flood the server.
const MIN_INTERVAL: Duration = Duration::from_secs(10);
/// How long the server may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer read.
const MAX_BYTES: usize = 1 << 20;

/// The cached keys of one URL.
pub(super) struct Jwks {
    url: String,
    refresh: Duration,
    client: reqwest::Client,
    /// `None` until the server has answered for the first time.
    keys: RwLock<Option<Vec<VerifyingKey>>>,
    /// When the server was asked last.
    asked: Brief<Option<Instant>>,
    /// Held while it is asked. Only those wait for it who have no key yet: a server that hangs keeps nobody out whose key is known.
    asking: Mutex<()>,
}

struct VerifyingKey {
    kid: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Jwks {
    pub(super) fn new(url: String, refresh: Duration) -> ApiResult<Self> {
        let mut builder = reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none());
        if url.starts_with("http://") {
            // No TLS, so no need for the machine to have root certificates.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(ApiError::internal)?;
        Ok(Self { url, refresh, client, keys: RwLock::default(), asked: Brief::default(), asking: Mutex::default() })
    }

    /// The key for a token. Asks the server when the keys are stale or the key id is unknown.
    ///
    /// # Errors
    /// 503 while the server has never answered: nobody can tell then whether the token is good.
    pub(super) async fn key(&self, algorithm: Algorithm, kid: Option<&str>) -> ApiResult<Option<DecodingKey>> {
        if !self.may_ask_after(self.refresh)
            && let Some(key) = self.find(algorithm, kid).await
        {
            return Ok(Some(key));
        }
        self.fetch().await;
        if self.keys.read().await.is_none() {
            return Err(ApiError::unavailable("the JWKS server has not answered yet"));
        }
        Ok(self.find(algorithm, kid).await)
    }

    async fn find(&self, algorithm: Algorithm, kid: Option<&str>) -> Option<DecodingKey> {
        let keys = self.keys.read().await;
        let mut fitting = keys.iter().flatten().filter(|key| key.algorithm == algorithm);
        match kid {
            Some(kid) => fitting.find(|key| key.kid.as_deref() == Some(kid)).map(|key| key.key.clone()),
            // Without a key id only an unambiguous key will do.
            None => fitting.next().filter(|_| fitting.next().is_none()).map(|key| key.key.clone()),
        }
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server was asked so long ago, or never.
    fn may_ask_after(&self, interval: Duration) -> bool {
        self.asked().is_none_or(|asked| asked.elapsed() >= interval)
    }

    /// So that a test need not wait.
    #[cfg(test)]
    pub(super) fn forget_when_asked(&self) {
        *self.asked() = Instant::now().checked_sub(MIN_INTERVAL);
    }

    async fn fetch(&self) {
        let _turn = self.asking.lock().await;
        // Somebody else has asked while we waited.
        if !self.may_ask_after(MIN_INTERVAL.min(self.refresh)) {
            return;
        }
        // Noted before asking: a failing server is asked again only after the interval, and others go on with the keys they know.
        *self.asked() = Some(Instant::now());
        match self.download().await {
            Ok(keys) => *self.keys.write().await = Some(keys),
            Err(reason) => {
                tracing::warn!(jwks.url = %self.url, reason, "JWKS not fetched; the last keys stay in force")
            }
        }
    }

    async fn download(&self) -> Result<Vec<VerifyingKey>, String> {
        let response = self.client.get(&self.url).send().await.and_then(reqwest::Response::error_for_status);
        let mut response = response.map_err(|error| error.without_url().to_string())?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| error.without_url().to_string())? {
            if body.len() + chunk.len() > MAX_BYTES {
                return Err(format!("the answer has more than {MAX_BYTES} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        let set: JwkSet = serde_json::from_slice(&body).map_err(|error| format!("no JWKS: {error}"))?;
        Ok(set.keys.iter().filter_map(verifying_key).collect())
    }
}

/// A key we can use; the kind of key decides the algorithm, and an `alg` that says otherwise disqualifies it.
fn verifying_key(jwk: &Jwk) -> Option<VerifyingKey> {
    if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
        return None;
    }
    let (algorithm, named) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
        }
        // Shared secrets have no place in a public document.
        _ => return None,
    };
    if jwk.common.key_algorithm.is_some_and(|alg| alg != named) {
        return None;
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    Some(VerifyingKey { kid: jwk.common.key_id.clone(), algorithm, key })
}
