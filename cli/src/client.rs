//! The service as a client sees it: typed calls over HTTP. Each is tried again while the service is away, and does no harm when it
//! is made twice: a site is looked for before it is made, equal traces are one, a study has its key. Only a configuration that was
//! stored although the answer was lost is stored once more: it is listed twice, and counts twice in what the tenant stores.
//! Written by hand on the server's own view types, since these are the contract: a generated client would repeat them.

use std::time::Duration;

use anyhow::Context;
use foresite_api::rest::problem::Problem;
use foresite_api::rest::views::List;
use foresite_api::rest::views::config::ConfigView;
use foresite_api::rest::views::site::{NewSite, SiteView};
use foresite_api::rest::views::study::StudyView;
use foresite_api::rest::views::trace::TraceView;
use foresite_formats::diagnostic::{Diagnostic, Severity};
use foresite_formats::file_set::FileSet;
use reqwest::header::{LOCATION, RETRY_AFTER};
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};

use crate::patience::{Failed, Patience};

/// Sites on a page when one is looked for.
const PAGE: &str = "200";
/// A service whose machine is gone says nothing any more: what it does not confirm for so long has failed. An answer itself may
/// take long, since uploads are read before they are answered.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a question may take that is answered from the database.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A service and a token for it.
pub(crate) struct Client {
    http: reqwest::Client,
    server: String,
    token: SecretString,
    patience: Patience,
}

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The service found the input wrong.
    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
    /// Anything else.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl ClientError {
    /// The faults that the service listed.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let Self::Refused(problem) = self else { return Vec::new() };
        let listed = problem.errors.iter().map(|error| Diagnostic {
            severity: Severity::Error,
            file: error.file.clone().unwrap_or_default(),
            line: error.line,
            field: error.pointer.clone().or_else(|| error.field.clone()),
            message: error.message.clone(),
            cure: error.cure.clone(),
        });
        listed.collect()
    }
}

type Result<T> = std::result::Result<T, ClientError>;
/// Of one try.
type Try<T> = std::result::Result<T, Failed>;

impl Client {
    /// A client of the service at `server` (`http://…` or `https://…`).
    pub(crate) fn new(server: &str, token: SecretString, patience: Patience) -> anyhow::Result<Self> {
        let mut builder = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .tcp_keepalive(KEEP_ALIVE)
            .tcp_keepalive_interval(KEEP_ALIVE)
            .tcp_keepalive_retries(3);
        if server.starts_with("http://") {
            // No TLS, so no need for the machine to have root certificates.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().context("cannot make an HTTP client")?;
        Ok(Self { http, server: server.trim_end_matches('/').to_owned(), token, patience })
    }

    /// The address of a page or route.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server)
    }

    /// The site of that name, made if there is none.
    pub(crate) async fn site(&self, name: &str) -> Result<SiteView> {
        self.patience.insist(async || self.find_or_make_site(name).await).await
    }

    /// Uploads a configuration, one part per file.
    pub(crate) async fn config(&self, site: &str, files: &FileSet) -> Result<ConfigView> {
        let upload = async || {
            let mut form = Form::new();
            for name in files.names() {
                let bytes = files.get(name).unwrap_or_default().to_vec();
                form = form.part("file", Part::bytes(bytes).file_name(name.to_owned()));
            }
            self.json(self.http.post(self.url(&format!("/v1/sites/{site}/configs"))).multipart(form)).await
        };
        self.patience.insist(upload).await
    }

    /// Uploads a trace as it is; `bytes` are asked for again when it must be sent again.
    pub(crate) async fn trace(
        &self,
        site: &str,
        name: &str,
        timezone: Option<&str>,
        bytes: impl AsyncFn() -> anyhow::Result<Body>,
    ) -> Result<TraceView> {
        let upload = async || {
            let mut request = self.http.post(self.url(&format!("/v1/sites/{site}/traces"))).query(&[("name", name)]);
            if let Some(timezone) = timezone {
                request = request.query(&[("timezone", timezone)]);
            }
            self.json(request.header("content-type", "application/octet-stream").body(bytes().await?)).await
        };
        self.patience.insist(upload).await
    }

    /// Sends a study document; all tries have the same key, so that they are one study.
    pub(crate) async fn study(&self, document: &str) -> Result<StudyView> {
        let key = uuid::Uuid::new_v4().to_string();
        let send = async || {
            let request = self.http.post(self.url("/v1/studies")).header("idempotency-key", &key);
            self.json(request.header("content-type", "application/json").body(document.to_owned())).await
        };
        self.patience.insist(send).await
    }

    /// Where a study stands.
    pub(crate) async fn status(&self, study: &str) -> Result<StudyView> {
        let path = format!("/v1/studies/{study}");
        self.patience.insist(async || self.json(self.get(&path)).await).await
    }

    /// The comparison document, byte for byte.
    pub(crate) async fn comparison(&self, study: &str) -> Result<Vec<u8>> {
        let path = format!("/v1/studies/{study}/comparison");
        // It may be large, and the line slow.
        let request = || self.http.get(self.url(&path)).header("accept", "application/json");
        self.patience.insist(async || self.bytes(request()).await).await
    }

    async fn find_or_make_site(&self, name: &str) -> Try<SiteView> {
        let mut cursor: Option<String> = None;
        loop {
            let mut request = self.get("/v1/sites").query(&[("limit", PAGE)]);
            if let Some(cursor) = &cursor {
                request = request.query(&[("cursor", cursor)]);
            }
            let page: List<SiteView> = self.json(request).await?;
            if let Some(site) = page.items.into_iter().find(|site| site.name == name) {
                return Ok(site);
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        self.json(self.http.post(self.url("/v1/sites")).json(&NewSite { name: name.to_owned() })).await
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(self.url(path)).timeout(READ_TIMEOUT)
    }

    async fn json<T: serde::de::DeserializeOwned>(&self, request: RequestBuilder) -> Try<T> {
        let bytes = self.bytes(request).await?;
        Ok(serde_json::from_slice(&bytes).context("the service's answer is not what this version expects")?)
    }

    async fn bytes(&self, request: RequestBuilder) -> Try<Vec<u8>> {
        let response = self.send(request).await?;
        Ok(response.bytes().await.map_err(|error| self.broken(error))?.to_vec())
    }

    async fn send(&self, request: RequestBuilder) -> Try<Response> {
        let response = request.bearer_auth(self.token.expose_secret()).send().await;
        let response = response.map_err(|error| self.broken(error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            return Err(anyhow::anyhow!("{} sends us to {to}; give that as --server", self.server).into());
        }
        let is_passing =
            status.is_server_error() || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = response.text().await.map_err(|error| self.broken(error))?;
        let error = self.refusal(status, &body);
        Err(if is_passing { Failed::Later(error, wait.map(Duration::from_secs)) } else { Failed::Final(error) })
    }

    /// No answer, or not a whole one; only a request that cannot be made at all is not worth another try.
    fn broken(&self, error: reqwest::Error) -> Failed {
        let is_final = error.is_builder() || error.is_redirect();
        let error = ClientError::from(anyhow::Error::new(error).context(format!("cannot reach {}", self.server)));
        if is_final { Failed::Final(error) } else { Failed::Later(error, None) }
    }

    fn refusal(&self, status: StatusCode, body: &str) -> ClientError {
        let Ok(problem) = serde_json::from_str::<Problem>(body) else {
            return anyhow::anyhow!("{} answered {status}; is it a Foresite service?", self.server).into();
        };
        let is_input = matches!(
            status,
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE
        );
        if is_input {
            return ClientError::Refused(Box::new(problem));
        }
        anyhow::anyhow!("{}: {} (trace id {})", problem.title, problem.detail, problem.trace_id).into()
    }
}
