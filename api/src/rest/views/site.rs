//! Sites.

use foresite_store::sites::Site;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;

/// A site to be made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSite {
    /// What people call it.
    #[schema(example = "frontera", min_length = 1, max_length = 200)]
    pub name: String,
}

/// A cluster.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SiteView {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Who made it.
    pub created_by: String,
    /// When, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl From<Site> for SiteView {
    fn from(site: Site) -> Self {
        Self { id: site.id.into(), name: site.name, created_by: site.created_by, created_at: rfc3339(site.created_at) }
    }
}
