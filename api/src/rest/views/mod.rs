//! What REST sends and takes, mapped by hand from rows: a column that changes does not change the contract.

pub mod audit;
pub mod config;
pub mod quota;
pub mod site;
pub mod study;
pub mod token;
pub mod trace;
pub mod webhook;

use foresite_formats::diagnostic::{Diagnostic, Severity};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiError, ApiResult};

/// Which page of a list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// At most this many, 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    #[serde(default, deserialize_with = "page_size")]
    pub limit: Option<i64>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

impl PageQuery {
    /// The page size asked for.
    pub fn limit(&self) -> i64 {
        self.limit.unwrap_or(50)
    }
}

/// A page's size; none that the document does not allow.
fn page_size<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    match Option::<i64>::deserialize(from)? {
        Some(limit) if !(1..=200).contains(&limit) => {
            Err(serde::de::Error::custom(format!("limit is {limit}; write 1 to 200")))
        }
        limit => Ok(limit),
    }
}

/// A page of a list, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    /// The page.
    pub items: Vec<T>,
    /// Send it as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A file's bytes; described to OpenAPI only.
#[derive(Clone, Debug, ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code, reason = "bodies are read as streams")]
pub struct FileBytes(Vec<u8>);

/// One remark about one place of the input.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DiagnosticView {
    /// How much it matters.
    #[schema(value_type = String, example = "not_modelled")]
    pub severity: Severity,
    /// The file as the user named it.
    pub file: String,
    /// 1-based line, where one can be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The parameter or column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong, missing or assumed.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cure: String,
}

impl From<Diagnostic> for DiagnosticView {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { severity, file, line, field, message, cure } = diagnostic;
        Self { severity, file, line, field, message, cure }
    }
}

/// Diagnostics as the database keeps them.
pub(crate) fn diagnostics(text: &str) -> ApiResult<Vec<DiagnosticView>> {
    let diagnostics: Vec<Diagnostic> = serde_json::from_str(text).map_err(ApiError::internal)?;
    Ok(diagnostics.into_iter().map(DiagnosticView::from).collect())
}
