//! One error for both doors: a stable code, from which HTTP status, gRPC code and title follow.
//!
//! Which is which, for users: 4xx say what to change, with file, line and field; 5xx say nothing internal, only the trace id by
//! which the operator finds the one log line that does.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use foresite_formats::diagnostic::Diagnostic;
use foresite_store::error::{StoreError, disk_is_full};

/// Declares the table of codes.
macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $code:literal, $status:literal, $grpc:ident, $title:literal;)+) => {
        /// What went wrong, as a word that never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$meta])* $name,)+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// The HTTP status.
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$name => $status,)+ }
            }

            /// The gRPC code.
            pub const fn grpc_code(self) -> tonic::Code {
                match self { $(Self::$name => tonic::Code::$grpc,)+ }
            }

            /// A short sentence that is the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }
        }
    };
}

codes! {
    /// The request cannot be read at all.
    InvalidRequest = "invalid_request", 400, InvalidArgument, "The request cannot be read";
    /// No token, or one that is not ours.
    Unauthenticated = "unauthenticated", 401, Unauthenticated, "A valid token is needed";
    /// The token was good once.
    TokenExpired = "token_expired", 401, Unauthenticated, "The token has expired";
    /// The role does not suffice.
    Forbidden = "forbidden", 403, PermissionDenied, "The token's role does not allow this";
    /// It does not exist, or belongs to another tenant.
    NotFound = "not_found", 404, NotFound, "There is no such thing";
    /// The route exists, the method does not.
    MethodNotAllowed = "method_not_allowed", 405, Unimplemented, "The method is not offered here";
    /// None of the formats asked for is offered.
    NotAcceptable = "not_acceptable", 406, InvalidArgument, "None of the accepted formats is offered";
    /// The request took too long to arrive.
    RequestTimeout = "request_timeout", 408, DeadlineExceeded, "The request took too long to arrive";
    /// The study has no comparison yet, or never will.
    StudyNotSucceeded = "study_not_succeeded", 409, FailedPrecondition, "The study has not succeeded";
    /// The study has ended or is ending.
    StudyEnded = "study_ended", 409, FailedPrecondition, "The study has already ended";
    /// The study is still at work.
    StudyActive = "study_active", 409, FailedPrecondition, "The study is still at work";
    /// Something else refers to it.
    InUse = "in_use", 409, FailedPrecondition, "It is in use";
    /// The upload ends elsewhere, or is not complete.
    UploadOffset = "upload_offset", 409, FailedPrecondition, "The upload is not where this goes on";
    /// There are as many as there may be.
    TooMany = "too_many", 409, FailedPrecondition, "There are as many as there may be";
    /// The webhook is told nothing more.
    WebhookDisabled = "webhook_disabled", 409, FailedPrecondition, "The webhook is disabled";
    /// There is one of that name.
    AlreadyExists = "already_exists", 409, AlreadyExists, "There is one of that name";
    /// More bytes than allowed.
    PayloadTooLarge = "payload_too_large", 413, ResourceExhausted, "The body is too large";
    /// Not a type that is read here.
    UnsupportedMediaType = "unsupported_media_type", 415, InvalidArgument, "The content type is not read here";
    /// The tenant may store no more.
    StorageFull = "storage_full", 413, ResourceExhausted, "The tenant may store no more";
    /// The study would simulate more than the tenant may.
    StudyTooLarge = "study_too_large", 413, ResourceExhausted, "The study is larger than the tenant may run";
    /// Requests or uploads come too fast.
    RateLimited = "rate_limited", 429, ResourceExhausted, "Too many requests; try again later";
    /// As many studies are at work as the tenant may have.
    TooManyStudies = "too_many_studies", 429, ResourceExhausted, "Too many studies are at work; try again later";
    /// The configuration has errors.
    InvalidConfig = "invalid_config", 422, InvalidArgument, "The configuration has errors; nothing was stored";
    /// The trace has errors.
    InvalidTrace = "invalid_trace", 422, InvalidArgument, "The trace has errors; nothing was stored";
    /// The study document has errors.
    InvalidStudy = "invalid_study", 422, InvalidArgument, "The study has errors; nothing was stored";
    /// A field of a small document is wrong.
    InvalidField = "invalid_field", 422, InvalidArgument, "A field is wrong; nothing was stored";
    /// The same Idempotency-Key with another document.
    IdempotencyKeyReused = "idempotency_key_reused", 422, FailedPrecondition, "The Idempotency-Key belongs to another request";
    /// A fault of ours.
    Internal = "internal", 500, Internal, "Something failed on our side";
    /// Database, objects or queue cannot be reached.
    Unavailable = "unavailable", 503, Unavailable, "The service cannot answer now; try again later";
}

/// A file that is not what it was sent as can have a fault in every word; an answer tells no more than this many.
const FAULTS_MAX: usize = 1000;

/// A request that was not answered as asked.
pub struct ApiError {
    code: Code,
    detail: String,
    diagnostics: Vec<Diagnostic>,
    source: Option<Box<dyn StdError + Send + Sync>>,
    retry_after: Option<Duration>,
}

/// What use cases return.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// An error with the words a user sees.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), diagnostics: Vec::new(), source: None, retry_after: None }
    }

    /// Refused input, with every fault, up to [`FAULTS_MAX`]; the detail counts all.
    pub fn refused(code: Code, diagnostics: Vec<Diagnostic>) -> Self {
        let mut errors: Vec<Diagnostic> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
        let detail = match errors.as_slice() {
            [] => code.title().to_owned(),
            [only] => described(only),
            [first, ..] => format!("{} errors, the first: {}", errors.len(), described(first)),
        };
        errors.truncate(FAULTS_MAX);
        Self { code, detail, diagnostics: errors, source: None, retry_after: None }
    }

    /// One wrong field of a small document; `pointer` is a JSON pointer.
    pub fn field(pointer: &str, message: impl Into<String>, cure: impl Into<String>) -> Self {
        Self::refused(Code::InvalidField, vec![Diagnostic::error("", message).field(pointer).cure(cure)])
    }

    /// A fault of ours; the source is logged and never shown.
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            code: Code::Internal,
            detail: "the operator finds the reason in the log, by the trace id".to_owned(),
            diagnostics: Vec::new(),
            source: Some(source.into()),
            retry_after: None,
        }
    }

    /// Something we depend on is away; the source is logged and never shown.
    pub fn unavailable(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            code: Code::Unavailable,
            detail: "nothing was changed".to_owned(),
            diagnostics: Vec::new(),
            source: Some(source.into()),
            retry_after: None,
        }
    }

    /// A local file failed; a full disk is no reason to give up.
    pub fn file(error: std::io::Error) -> Self {
        if disk_is_full(&error) { Self::unavailable(error) } else { Self::internal(error) }
    }

    /// "There is no {what} {id}".
    pub fn not_found(what: &str, id: &str) -> Self {
        let shown: String = id.chars().take(100).collect();
        Self::new(Code::NotFound, format!("there is no {what} {shown}"))
    }

    /// Not now: again after `wait`.
    pub fn later(code: Code, detail: impl Into<String>, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..Self::new(code, detail) }
    }

    /// After how many seconds the same request may be answered, where that can be told.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        const AWAY_SECONDS: u64 = 5;
        let known = self.retry_after.map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        known.or((self.code == Code::Unavailable).then_some(AWAY_SECONDS))
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The words for this occurrence.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Every fault of refused input.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Writes the one log line of a fault of ours; says nothing about users' mistakes.
    pub fn log(&self, trace_id: &str) {
        if self.code.http_status() < 500 {
            return;
        }
        let mut reason = String::new();
        let mut source: Option<&(dyn StdError + 'static)> = self.source.as_ref().map(|source| &**source as _);
        while let Some(error) = source {
            if !reason.is_empty() {
                reason.push_str(": ");
            }
            reason.push_str(&error.to_string());
            source = error.source();
        }
        tracing::error!(trace.id = trace_id, error.code = self.code.as_str(), error.reason = %reason, "request failed");
    }
}

/// A fault in one line; faults of small documents have no file.
fn described(fault: &Diagnostic) -> String {
    if !fault.file.is_empty() {
        return fault.to_string();
    }
    let field = fault.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
    let cure = if fault.cure.is_empty() { String::new() } else { format!("; {}", fault.cure) };
    format!("{field}{}{cure}", fault.message)
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiError")
            .field("code", &self.code)
            .field("detail", &self.detail)
            .field("diagnostics", &self.diagnostics)
            .field("source", &self.source)
            .finish()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.title(), self.detail)
    }
}

impl StdError for ApiError {}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        if error.is_temporary() { Self::unavailable(error) } else { Self::internal(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_snake_case_words() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code:?}");
            assert!(code.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        }
    }

    #[test]
    fn a_fault_of_ours_says_nothing_internal() {
        let error = ApiError::internal("password of the database");
        assert!(!error.to_string().contains("password"));
    }

    #[test]
    fn refused_input_lists_errors_only() {
        use foresite_formats::diagnostic::{Diagnostic, Severity};
        let warning = Diagnostic::new(Severity::Warning, "a", "b");
        let error = ApiError::refused(Code::InvalidConfig, vec![warning, Diagnostic::error("slurm.conf", "bad").at(3)]);
        assert_eq!(error.diagnostics().len(), 1);
        assert_eq!(error.detail(), "slurm.conf:3: error: bad");
    }
}
