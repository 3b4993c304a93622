//! Traces that come in pieces. A piece is an object; where the next one begins moves by compare-and-set, so that of two clients that
//! send the same piece one is told to look again.

use diesel::prelude::*;

use crate::connection::{Store, execute, first, load};
use crate::error::StoreError;
use crate::ids::{SiteId, TenantId, TraceId, UploadId};
use crate::objects::ObjectHash;
use crate::quotas::{Full, admit_bytes};
use crate::schema::{upload_parts, uploads};
use crate::time::UnixMillis;

/// An upload's row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = uploads)]
pub struct Upload {
    /// Its id.
    pub id: UploadId,
    /// Whose it is.
    pub tenant: TenantId,
    /// To which site the trace will belong.
    pub site: SiteId,
    /// The trace's file name.
    pub name: String,
    /// The trace's time zone.
    pub timezone: Option<String>,
    /// How many bytes there will be.
    pub length: i64,
    /// How many there are.
    pub received: i64,
    /// The trace that was made of it.
    pub trace: Option<TraceId>,
    /// Who began it.
    pub created_by: String,
    /// When.
    pub created_at: UnixMillis,
    /// When the last piece came.
    pub updated_at: UnixMillis,
}

/// A piece.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = upload_parts)]
pub struct UploadPart {
    /// Of which upload.
    pub upload: UploadId,
    /// Where it begins.
    pub start: i64,
    /// How many bytes it has.
    pub bytes: i64,
    /// Its bytes.
    pub object: ObjectHash,
}

impl Store {
    /// Stores an upload that has nothing yet if the tenant has room for its length under `limit` bytes; its site must exist.
    pub async fn create_upload(&self, upload: &Upload, limit: Option<i64>) -> Result<Result<(), Full>, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            if let Some(full) = admit_bytes(&mut conn, &upload.tenant, upload.length, None, limit).await? {
                conn.unaudited();
                return Ok(Err(full));
            }
            execute!(&mut conn, diesel::insert_into(uploads::table).values(upload))?;
            Ok(Ok(()))
        }
        .await;
        conn.finish(result).await
    }

    /// A tenant's upload to a site.
    pub async fn upload(&self, tenant: &TenantId, site: &SiteId, id: &UploadId) -> Result<Option<Upload>, StoreError> {
        let mut conn = self.read().await?;
        let query = uploads::table.filter(uploads::tenant.eq(tenant)).filter(uploads::site.eq(site));
        Ok(first!(&mut conn, query.filter(uploads::id.eq(id)).select(Upload::as_select()))?)
    }

    /// Adds a piece, if the upload still ends where it begins; `false` otherwise.
    pub async fn add_part(&self, part: &UploadPart, now: UnixMillis) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let here = uploads::table.filter(uploads::id.eq(&part.upload)).filter(uploads::received.eq(part.start));
            let set = (uploads::received.eq(part.start + part.bytes), uploads::updated_at.eq(now));
            if execute!(&mut conn, diesel::update(here).set(set))? == 0 {
                return Ok(false);
            }
            execute!(&mut conn, diesel::insert_into(upload_parts::table).values(part))?;
            Ok(true)
        }
        .await;
        conn.finish_if_changed(result).await
    }

    /// The pieces, in order.
    pub async fn upload_parts(&self, id: &UploadId) -> Result<Vec<UploadPart>, StoreError> {
        let mut conn = self.read().await?;
        let query = upload_parts::table.filter(upload_parts::upload.eq(id)).order(upload_parts::start.asc());
        Ok(load!(&mut conn, query.select(UploadPart::as_select()))?)
    }

    /// Notes the trace that was made of an upload, whose pieces are no longer needed.
    pub async fn end_upload(&self, id: &UploadId, trace: &TraceId, now: UnixMillis) -> Result<(), StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let set = (uploads::trace.eq(trace), uploads::updated_at.eq(now));
            execute!(&mut conn, diesel::update(uploads::table.filter(uploads::id.eq(id))).set(set))?;
            execute!(&mut conn, diesel::delete(upload_parts::table.filter(upload_parts::upload.eq(id))))?;
            Ok(())
        }
        .await;
        conn.finish(result).await
    }

    /// Forgets an upload; `false` if there is none.
    pub async fn delete_upload(&self, tenant: &TenantId, site: &SiteId, id: &UploadId) -> Result<bool, StoreError> {
        let mut conn = self.begin().await?;
        let row = uploads::table.filter(uploads::tenant.eq(tenant)).filter(uploads::site.eq(site));
        let deleted = execute!(&mut conn, diesel::delete(row.filter(uploads::id.eq(id))));
        conn.finish_if_changed(deleted.map(|rows| rows > 0).map_err(StoreError::from)).await
    }
}
