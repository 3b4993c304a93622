//! Keys that all replicas share.

use diesel::prelude::*;

use crate::connection::{Store, execute, first};
use crate::error::StoreError;
use crate::schema::secrets;
use crate::time::UnixMillis;

impl Store {
    /// The secret of that name; `fresh` becomes it if there is none yet. Whoever comes first decides for all.
    pub async fn shared_secret(&self, name: &str, fresh: &str, now: UnixMillis) -> Result<String, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let row = (secrets::name.eq(name), secrets::value.eq(fresh), secrets::created_at.eq(now));
            let insert = diesel::insert_into(secrets::table).values(row);
            execute!(&mut conn, insert.on_conflict(secrets::name).do_nothing())?;
            let found: Option<String> =
                first!(&mut conn, secrets::table.filter(secrets::name.eq(name)).select(secrets::value))?;
            Ok(found.ok_or(diesel::result::Error::NotFound)?)
        }
        .await;
        conn.finish(result).await
    }
}
