//! The service as a client sees it: typed calls over HTTP.
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
use reqwest::header::LOCATION;
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};

/// Sites on a page when one is looked for.
const PAGE: &str = "200";

/// A service and a token for it.
pub(crate) struct Client {
    http: reqwest::Client,
    server: String,
    token: SecretString,
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

impl Client {
    /// A client of the service at `server` (`http://…` or `https://…`).
    pub(crate) fn new(server: &str, token: SecretString) -> anyhow::Result<Self> {
        let mut builder = reqwest::Client::builder().connect_timeout(Duration::from_secs(10));
        if server.starts_with("http://") {
            // No TLS, so no need for the machine to have root certificates.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().context("cannot make an HTTP client")?;
        Ok(Self { http, server: server.trim_end_matches('/').to_owned(), token })
    }

    /// The address of a page or route.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server)
    }

    /// The site of that name, made if there is none.
    pub(crate) async fn site(&self, name: &str) -> Result<SiteView> {
        let mut cursor: Option<String> = None;
        loop {
            let mut request = self.http.get(self.url("/v1/sites")).query(&[("limit", PAGE)]);
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

    /// Uploads a configuration, one part per file.
    pub(crate) async fn config(&self, site: &str, files: &FileSet) -> Result<ConfigView> {
        let mut form = Form::new();
        for name in files.names() {
            let bytes = files.get(name).unwrap_or_default().to_vec();
            form = form.part("file", Part::bytes(bytes).file_name(name.to_owned()));
        }
        self.json(self.http.post(self.url(&format!("/v1/sites/{site}/configs"))).multipart(form)).await
    }

    /// Uploads a trace as it is.
    pub(crate) async fn trace(
        &self,
        site: &str,
        name: &str,
        timezone: Option<&str>,
        bytes: impl Into<Body>,
    ) -> Result<TraceView> {
        let mut request = self.http.post(self.url(&format!("/v1/sites/{site}/traces"))).query(&[("name", name)]);
        if let Some(timezone) = timezone {
            request = request.query(&[("timezone", timezone)]);
        }
        self.json(request.header("content-type", "application/octet-stream").body(bytes)).await
    }

    /// Sends a study document.
    pub(crate) async fn study(&self, document: String, idempotency_key: &str) -> Result<StudyView> {
        let request = self.http.post(self.url("/v1/studies")).header("idempotency-key", idempotency_key);
        self.json(request.header("content-type", "application/json").body(document)).await
    }

    /// Where a study stands.
    pub(crate) async fn status(&self, study: &str) -> Result<StudyView> {
        self.json(self.http.get(self.url(&format!("/v1/studies/{study}")))).await
    }

    /// The comparison document, byte for byte.
    pub(crate) async fn comparison(&self, study: &str) -> Result<Vec<u8>> {
        let request = self.http.get(self.url(&format!("/v1/studies/{study}/comparison")));
        let response = self.send(request.header("accept", "application/json")).await?;
        Ok(response.bytes().await.context("the comparison broke off")?.to_vec())
    }

    async fn json<T: serde::de::DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let response = self.send(request).await?;
        Ok(response.json().await.context("the service's answer is not what this version expects")?)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let response = request.bearer_auth(self.token.expose_secret()).send().await;
        let response = response.with_context(|| format!("cannot reach {}", self.server))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("elsewhere");
            return Err(anyhow::anyhow!("{} sends us to {to}; give that as --server", self.server).into());
        }
        let body = response.text().await.context("the answer broke off")?;
        let Ok(problem) = serde_json::from_str::<Problem>(&body) else {
            return Err(anyhow::anyhow!("{} answered {status}; is it a Foresite service?", self.server).into());
        };
        let is_input = matches!(
            status,
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE
        );
        if is_input {
            return Err(ClientError::Refused(Box::new(problem)));
        }
        Err(anyhow::anyhow!("{}: {} (trace id {})", problem.title, problem.detail, problem.trace_id).into())
    }
}
