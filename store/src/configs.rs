//! Configurations: versions of a site's slurm.conf and its neighbours. Never changed, only added.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute, first, load};
use crate::error::StoreError;
use crate::files::{StoredFile, files_from_json};
use crate::ids::{ConfigId, SiteId, TenantId};
use crate::objects::ObjectHash;
use crate::page::{Page, clamp};
use crate::quotas::{Full, admit_bytes};
use crate::schema::configs;
use crate::time::UnixMillis;

/// A configuration's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = configs)]
pub struct Config {
    /// Its id.
    pub id: ConfigId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The site it describes.
    pub site: SiteId,
    /// SHA-256 of `files`: equal for equal configurations.
    pub object: ObjectHash,
    /// Its files, as [`crate::files_to_json`] writes them; read them with [`Config::stored_files`].
    pub files: String,
    /// What the reader said about it: a JSON array of diagnostics.
    pub diagnostics: String,
    /// Who uploaded it.
    pub created_by: String,
    /// When.
    pub created_at: UnixMillis,
    /// Size of its files in bytes; 0 for those stored before sizes were kept.
    pub bytes: i64,
}

/// What [`Store::create_config`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigOutcome {
    /// The configuration exists now.
    Created,
    /// The site's newest one has these very files, and the reader said the same about them: nothing was done.
    Same(Box<Config>),
    /// The tenant has no room for it: nothing was done.
    Full(Full),
}

async fn newest_config(conn: &mut Conn, site: &SiteId) -> Result<Option<Config>, StoreError> {
    let query = configs::table.filter(configs::site.eq(site)).order(configs::id.desc());
    Ok(first!(conn, query.select(Config::as_select()))?)
}

impl Config {
    /// Its files.
    pub fn stored_files(&self) -> Result<Vec<StoredFile>, StoreError> {
        files_from_json("configs.files", &self.files)
    }
}

impl Store {
    /// Stores a configuration if it is another than the site's newest and the tenant has room for it under `limit` bytes; its
    /// site must exist and its files be objects already.
    pub async fn create_config(&self, config: &Config, limit: Option<i64>) -> Result<ConfigOutcome, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let full = admit_bytes(&mut conn, &config.tenant, config.bytes, None, limit).await?;
            let is_same =
                |newest: &Config| (&newest.object, &newest.diagnostics) == (&config.object, &config.diagnostics);
            match (newest_config(&mut conn, &config.site).await?.filter(is_same), full) {
                (Some(same), _) => return Ok(ConfigOutcome::Same(Box::new(same))),
                (None, Some(full)) => return Ok(ConfigOutcome::Full(full)),
                (None, None) => {}
            }
            execute!(&mut conn, diesel::insert_into(configs::table).values(config))?;
            Ok(ConfigOutcome::Created)
        }
        .await;
        if !matches!(result, Ok(ConfigOutcome::Created)) {
            conn.unaudited();
        }
        conn.finish(result).await
    }

    /// A tenant's configuration of a site.
    pub async fn config(&self, tenant: &TenantId, site: &SiteId, id: &ConfigId) -> Result<Option<Config>, StoreError> {
        let mut conn = self.read().await?;
        let query = configs::table.filter(configs::tenant.eq(tenant)).filter(configs::site.eq(site));
        Ok(first!(&mut conn, query.filter(configs::id.eq(id)).select(Config::as_select()))?)
    }

    /// A site's configurations, newest first, older than `before`.
    pub async fn list_configs(
        &self,
        tenant: &TenantId,
        site: &SiteId,
        before: Option<&ConfigId>,
        limit: i64,
    ) -> Result<Page<Config, ConfigId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let query = configs::table.filter(configs::tenant.eq(tenant)).filter(configs::site.eq(site));
            let mut query = query.into_boxed();
            if let Some(before) = before {
                query = query.filter(configs::id.lt(before));
            }
            query.order(configs::id.desc()).limit(clamp(limit) + 1).select(Config::as_select())
        })?;
        Ok(Page::new(rows, limit, |config: &Config| config.id.clone()))
    }

    /// Forgets a configuration (its objects stay until nothing points to them); `false` if there is none.
    /// Studies keep their own list of files and are not touched.
    pub async fn delete_config(&self, tenant: &TenantId, site: &SiteId, id: &ConfigId) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let row = configs::table.filter(configs::tenant.eq(tenant)).filter(configs::site.eq(site));
        let deleted = execute!(&mut conn, diesel::delete(row.filter(configs::id.eq(id))));
        conn.finish_if_changed(deleted.map(|rows| rows > 0).map_err(StoreError::from)).await
    }
}
