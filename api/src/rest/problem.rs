//! Problem documents (RFC 9457): the one shape of every answer that is not a success.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use foresite_formats::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{ApiError, Code};

/// The media type of problem documents.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// What went wrong and what to do about it (RFC 9457).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// A URI of the kind of problem.
    #[serde(rename = "type")]
    #[schema(example = "urn:foresite:problem:invalid_study")]
    pub kind: String,
    /// A short sentence, the same for every occurrence of the code.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// This occurrence.
    pub detail: String,
    /// The stable code; `/docs` lists all.
    #[schema(example = "invalid_study")]
    pub code: String,
    /// The id under which the operator finds the request.
    pub trace_id: String,
    /// Every fault of refused input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

/// One fault at one place of the input.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FieldProblem {
    /// JSON pointer into the request's document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The file as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based line of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The parameter or column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cure: String,
}

impl From<&Diagnostic> for FieldProblem {
    fn from(diagnostic: &Diagnostic) -> Self {
        let is_pointer = diagnostic.field.as_ref().is_some_and(|field| field.starts_with('/'));
        let (pointer, field) = match is_pointer {
            true => (diagnostic.field.clone(), None),
            false => (None, diagnostic.field.clone()),
        };
        Self {
            pointer,
            file: Some(diagnostic.file.clone()).filter(|file| !file.is_empty()),
            line: diagnostic.line,
            field,
            message: diagnostic.message.clone(),
            cure: diagnostic.cure.clone(),
        }
    }
}

impl Problem {
    /// The document of an error.
    pub fn new(error: &ApiError, trace_id: &str) -> Self {
        Self {
            kind: format!("urn:foresite:problem:{}", error.code().as_str()),
            title: error.code().title().to_owned(),
            status: error.code().http_status(),
            detail: error.detail().to_owned(),
            code: error.code().as_str().to_owned(),
            trace_id: trace_id.to_owned(),
            errors: error.diagnostics().iter().map(FieldProblem::from).collect(),
        }
    }

    /// The answer.
    pub fn response(error: &ApiError, trace_id: &str) -> HttpResponse {
        let status = StatusCode::from_u16(error.code().http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut builder = HttpResponse::build(status);
        if status == StatusCode::UNAUTHORIZED {
            builder.insert_header(("www-authenticate", "Bearer"));
        }
        if let Some(seconds) = error.retry_after_seconds() {
            builder.insert_header(("retry-after", seconds.to_string()));
        }
        let body = serde_json::to_string(&Self::new(error, trace_id)).unwrap_or_default();
        builder.content_type(PROBLEM_JSON).body(body)
    }
}

/// What actix-web itself refused (no such route, a body too large), in our terms.
pub(super) fn from_status(status: StatusCode, words: &str) -> ApiError {
    let code = match status.as_u16() {
        401 => Code::Unauthenticated,
        403 => Code::Forbidden,
        404 => Code::NotFound,
        405 => Code::MethodNotAllowed,
        406 => Code::NotAcceptable,
        408 => Code::RequestTimeout,
        413 => Code::PayloadTooLarge,
        415 => Code::UnsupportedMediaType,
        429 => Code::RateLimited,
        500..=599 => return ApiError::internal(words.to_owned()),
        _ => Code::InvalidRequest,
    };
    let detail = if words.is_empty() { code.title() } else { words };
    ApiError::new(code, detail)
}
