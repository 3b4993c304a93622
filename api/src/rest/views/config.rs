//! Configurations.

use foresite_store::configs::Config;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DiagnosticView, diagnostics};
use crate::clock::rfc3339;
use crate::error::{ApiError, ApiResult};

/// A stored configuration.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ConfigView {
    /// Its id.
    pub id: String,
    /// The site it describes.
    pub site: String,
    /// Equal for equal configurations.
    pub sha256: String,
    /// Its files, by name.
    pub files: Vec<FileView>,
    /// What the reader said: warnings, assumptions, what is not modelled.
    pub diagnostics: Vec<DiagnosticView>,
    /// Who uploaded it.
    pub created_by: String,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A file of a configuration.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FileView {
    /// Its name, relative to slurm.conf's folder.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// The files of a configuration, as a form: one part per file, whose file name is its name.
#[derive(Clone, Debug, ToSchema)]
#[allow(dead_code, reason = "describes the form to OpenAPI; the parts are read one by one")]
pub struct ConfigForm {
    /// `slurm.conf`, its Include files, `gres.conf`, `topology.conf`, `sacctmgr.cfg`, …
    #[schema(value_type = Vec<String>, format = Binary)]
    pub file: Vec<String>,
}

impl TryFrom<Config> for ConfigView {
    type Error = ApiError;

    fn try_from(config: Config) -> ApiResult<Self> {
        let files = config.stored_files()?.into_iter();
        Ok(Self {
            files: files
                .map(|file| FileView { name: file.name, sha256: file.object.into(), bytes: file.bytes })
                .collect(),
            diagnostics: diagnostics(&config.diagnostics)?,
            id: config.id.into(),
            site: config.site.into(),
            sha256: config.object.into(),
            created_by: config.created_by,
            created_at: rfc3339(config.created_at),
        })
    }
}
