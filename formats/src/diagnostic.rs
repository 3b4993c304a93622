//! What a reader has to say about its input: every fault, assumption and unmodelled thing, with file, line, field and cure.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a [`Diagnostic`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The input is wrong: nothing is simulated.
    Error,
    /// Probably a slip; read as Slurm would read it.
    Warning,
    /// Understood, but the simulator does not model it.
    NotModelled,
    /// Not said by the input; what was taken instead is named.
    Assumed,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::NotModelled => "not modelled",
            Self::Assumed => "assumed",
        })
    }
}

/// One remark about one place of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// The file as the user named it.
    pub file: String,
    /// 1-based line, where one can be named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// The parameter, column or JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field: Option<String>,
    /// What is wrong, missing or assumed: a clause without final stop.
    pub message: String,
    /// What to do about it; empty if nothing need be done.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub cure: String,
}

impl Diagnostic {
    /// A diagnostic about a whole file; narrow it with [`Self::at`] and [`Self::field`].
    pub fn new(severity: Severity, file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity, file: file.into(), line: None, field: None, message: message.into(), cure: String::new() }
    }

    /// An error about a file.
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, file, message)
    }

    /// Names the line.
    #[must_use]
    pub fn at(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Names the field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Names the cure.
    #[must_use]
    pub fn cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = cure.into();
        self
    }

    /// Whether it stops the work.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Whether any of them stops the work.
pub fn any_error(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// Remarks of one file that are kept; the rest is only counted.
const REMARKS_MAX: usize = 1000;

/// Keeps the first remarks about a file and says how many there were, errors before all others. O(n).
pub(crate) fn bounded(mut diagnostics: Vec<Diagnostic>, file: &str) -> Vec<Diagnostic> {
    if diagnostics.len() > REMARKS_MAX {
        diagnostics.sort_by_key(|diagnostic| diagnostic.severity);
        let (severity, left) = (diagnostics[REMARKS_MAX].severity, diagnostics.len() - REMARKS_MAX);
        diagnostics.truncate(REMARKS_MAX);
        let rest = Diagnostic::new(severity, file, format!("{left} more remarks like these are not shown"));
        diagnostics.push(rest.cure("is this the right kind of file?"));
    }
    diagnostics
}

/// `slurm.conf:12: error: SchedulerType: … (cure)`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}: ", self.severity)?;
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)?;
        if !self.cure.is_empty() {
            write!(f, "; {}", self.cure)?;
        }
        Ok(())
    }
}
