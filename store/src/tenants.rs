//! Tenants come into being with their first token or upload.

use diesel::prelude::*;

use crate::connection::{Conn, Store, execute};
use crate::error::StoreError;
use crate::ids::TenantId;
use crate::schema::tenants;
use crate::time::UnixMillis;

/// Makes whoever else asks for this in a transaction wait for the end of this one, so that both count the same rows.
pub(crate) async fn one_at_a_time(conn: &mut Conn, tenant: &TenantId) -> Result<(), StoreError> {
    let mine = tenants::table.filter(tenants::id.eq(tenant));
    execute!(conn, diesel::update(mine).set(tenants::created_at.eq(tenants::created_at)))?;
    Ok(())
}

impl Store {
    /// Makes the tenant's row if there is none.
    pub async fn ensure_tenant(&self, tenant: &TenantId, now: UnixMillis) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let row = (tenants::id.eq(tenant), tenants::created_at.eq(now));
        let inserted =
            execute!(&mut conn, diesel::insert_into(tenants::table).values(row).on_conflict(tenants::id).do_nothing());
        conn.finish(inserted.map(|_| ()).map_err(StoreError::from)).await
    }
}
