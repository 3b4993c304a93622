//! Sites: a tenant's clusters.

use diesel::prelude::*;

use crate::connection::{Store, execute, first, load};
use crate::error::StoreError;
use crate::ids::{SiteId, TenantId};
use crate::page::{Page, clamp};
use crate::schema::sites;
use crate::time::UnixMillis;

/// A site's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = sites)]
pub struct Site {
    /// Its id.
    pub id: SiteId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What people call it.
    pub name: String,
    /// Who made it: a token's or a claim's subject.
    pub created_by: String,
    /// When.
    pub created_at: UnixMillis,
}

impl Store {
    /// Stores a site; its tenant must exist.
    pub async fn create_site(&self, site: &Site) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let inserted = execute!(&mut conn, diesel::insert_into(sites::table).values(site));
        conn.finish(inserted.map(|_| ()).map_err(StoreError::from)).await
    }

    /// A tenant's site.
    pub async fn site(&self, tenant: &TenantId, id: &SiteId) -> Result<Option<Site>, StoreError> {
        let mut conn = self.read().await?;
        let query = sites::table.filter(sites::tenant.eq(tenant)).filter(sites::id.eq(id));
        Ok(first!(&mut conn, query.select(Site::as_select()))?)
    }

    /// A tenant's sites, newest first, older than `before`.
    pub async fn list_sites(
        &self,
        tenant: &TenantId,
        before: Option<&SiteId>,
        limit: i64,
    ) -> Result<Page<Site, SiteId>, StoreError> {
        let mut conn = self.read().await?;
        let rows = load!(&mut conn, {
            let mut query = sites::table.filter(sites::tenant.eq(tenant)).into_boxed();
            if let Some(before) = before {
                query = query.filter(sites::id.lt(before));
            }
            query.order(sites::id.desc()).limit(clamp(limit) + 1).select(Site::as_select())
        })?;
        Ok(Page::new(rows, limit, |site: &Site| site.id.clone()))
    }
}
