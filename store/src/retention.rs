//! What may go: rows that are old, and objects that nothing points to.

use std::collections::HashSet;

use diesel::prelude::*;
use diesel::sql_types::Bool;

use crate::connection::{Store, execute, load};
use crate::error::StoreError;
use crate::files::{StoredCompact, files_from_json};
use crate::ids::{StudyId, TraceId};
use crate::objects::ObjectHash;
use crate::page::clamp;
use crate::schema::{configs, idempotency_keys, replications, studies, traces, upload_parts, uploads};
use crate::state::StudyState;
use crate::time::UnixMillis;

impl Store {
    /// Removes up to `limit` studies that ended before `before`, with their results; gives how many.
    pub async fn prune_studies(&self, before: UnixMillis, limit: i64) -> Result<usize, StoreError> {
        let mut conn = self.begin().await?;
        let result = async {
            let ended: Vec<_> = StudyState::ALL.iter().copied().filter(|state| state.is_final()).collect();
            let old = studies::table.filter(studies::state.eq_any(ended)).filter(studies::finished_at.lt(before));
            let ids: Vec<StudyId> =
                load!(&mut conn, old.order(studies::id.asc()).limit(clamp(limit)).select(studies::id))?;
            Ok(execute!(&mut conn, diesel::delete(studies::table.filter(studies::id.eq_any(ids))))?)
        }
        .await;
        conn.finish(result).await
    }

    /// Removes up to `limit` traces that were stored before `before` and that no study reads; gives how many.
    pub async fn prune_traces(&self, before: UnixMillis, limit: i64) -> Result<usize, StoreError> {
        // A hash is hexadecimal: nothing of it means anything to LIKE.
        const UNREAD: &str = "NOT EXISTS (SELECT 1 FROM studies WHERE studies.tenant = traces.tenant \
            AND studies.inputs LIKE '%' || traces.object || '%')";
        let mut conn = self.begin().await?;
        let result = async {
            let old = traces::table.filter(traces::created_at.lt(before)).filter(diesel::dsl::sql::<Bool>(UNREAD));
            let ids: Vec<TraceId> =
                load!(&mut conn, old.order(traces::id.asc()).limit(clamp(limit)).select(traces::id))?;
            Ok(execute!(&mut conn, diesel::delete(traces::table.filter(traces::id.eq_any(ids))))?)
        }
        .await;
        conn.finish(result).await
    }

    /// Forgets idempotency keys made before `before`; gives how many.
    pub async fn prune_idempotency_keys(&self, before: UnixMillis) -> Result<usize, StoreError> {
        let mut conn = self.begin().await?;
        let old = idempotency_keys::table.filter(idempotency_keys::created_at.lt(before));
        let deleted = execute!(&mut conn, diesel::delete(old));
        conn.finish(deleted.map_err(StoreError::from)).await
    }

    /// Forgets uploads that nothing was added to since `before`; gives how many.
    pub async fn prune_uploads(&self, before: UnixMillis) -> Result<usize, StoreError> {
        let mut conn = self.begin().await?;
        let deleted = execute!(&mut conn, diesel::delete(uploads::table.filter(uploads::updated_at.lt(before))));
        conn.finish(deleted.map_err(StoreError::from)).await
    }

    /// Every object that a row made at or after `since` points to; 0 for all rows. O(rows) time, 32 bytes or so a hash.
    pub async fn referenced_objects(&self, since: UnixMillis) -> Result<HashSet<ObjectHash>, StoreError> {
        let mut conn = self.read().await?;
        let mut found: HashSet<ObjectHash> = HashSet::new();
        let recent = traces::table.filter(traces::created_at.ge(since));
        let of_traces: Vec<(ObjectHash, Option<String>)> =
            load!(&mut conn, recent.select((traces::object, traces::compact_trace)))?;
        for (object, compact) in of_traces {
            found.insert(object);
            found.extend(compact_object("traces.compact_trace", compact)?);
        }
        let of_replications: Vec<ObjectHash> = load!(
            &mut conn,
            replications::table.filter(replications::created_at.ge(since)).select(replications::schedule_object)
        )?;
        found.extend(of_replications);
        let pieces = upload_parts::table.inner_join(uploads::table).filter(uploads::updated_at.ge(since));
        let of_uploads: Vec<ObjectHash> = load!(&mut conn, pieces.select(upload_parts::object))?;
        found.extend(of_uploads);
        let of_configs: Vec<String> =
            load!(&mut conn, configs::table.filter(configs::created_at.ge(since)).select(configs::files))?;
        for files in of_configs {
            found.extend(files_from_json("configs.files", &files)?.into_iter().map(|file| file.object));
        }
        let recent = studies::table.filter(studies::created_at.ge(since).or(studies::finished_at.ge(since)));
        let of_studies: Vec<(String, Option<ObjectHash>, Option<String>)> =
            load!(&mut conn, recent.select((studies::inputs, studies::comparison_object, studies::compact_trace)))?;
        for (inputs, comparison, compact) in of_studies {
            found.extend(compact_object("studies.compact_trace", compact)?);
            found.extend(files_from_json("studies.inputs", &inputs)?.into_iter().map(|file| file.object));
            found.extend(comparison);
        }
        Ok(found)
    }
}

fn compact_object(column: &'static str, text: Option<String>) -> Result<Option<ObjectHash>, StoreError> {
    Ok(text.map(|text| StoredCompact::from_json(column, &text)).transpose()?.map(|compact| compact.object))
}
