//! What is old goes, what is in use stays.

use std::time::{Duration, SystemTime};

use foresite_api::config::RetentionConfig;
use foresite_api::janitor::Janitor;
use foresite_jobs_queue::plan_tasks;
use foresite_store::files::{StoredCompact, StoredFile};
use foresite_store::ids::{SiteId, TraceId};
use foresite_store::objects::ObjectHash;
use foresite_store::sites::Site;
use foresite_store::studies::{Idempotency, NewStudy};
use foresite_store::traces::Trace;

use super::on_both_databases;
use crate::fixtures::{Database, local_objects, new_study, tenant};

on_both_databases! {
    old_studies_and_unread_traces_go_and_their_objects_after_them,
    idempotency_keys_are_forgotten_and_their_studies_stay,
}

const DAY_MS: i64 = 86_400_000;

fn keep() -> RetentionConfig {
    let days = |days: u64| Some(Duration::from_secs(days * 86_400));
    RetentionConfig {
        studies: days(10),
        traces: days(5),
        audit: None,
        idempotency_keys: days(30),
        deliveries: days(30),
        uploads: days(2),
        interval: Duration::from_secs(3600),
    }
}

async fn trace(db: &Database, site: &SiteId, object: ObjectHash) {
    let row = Trace {
        id: TraceId::new(),
        tenant: tenant(),
        site: site.clone(),
        name: "sacct.txt".to_owned(),
        object,
        bytes: 1,
        summary: "{}".to_owned(),
        diagnostics: "[]".to_owned(),
        created_by: "me".to_owned(),
        created_at: 0,
        timezone: None,
        compact_trace: None,
    };
    db.store.create_trace(&row, None, None).await.unwrap();
}

async fn old_studies_and_unread_traces_go_and_their_objects_after_them(db: Database) {
    let folder = local_objects();
    let objects = folder.objects.clone();
    let mut hashes = Vec::new();
    for bytes in ["read", "unread", "young", "nobody's", "compact"] {
        hashes.push(objects.put(bytes.as_bytes().to_vec()).await.unwrap().hash);
    }
    let [read, unread, young, nobodys, compact] = <[ObjectHash; 5]>::try_from(hashes).unwrap();
    let now = i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let site =
        Site { id: SiteId::new(), tenant: tenant(), name: "s".to_owned(), created_by: "me".to_owned(), created_at: 0 };
    db.store.create_site(&site).await.unwrap();
    trace(&db, &site.id, read.clone()).await;
    trace(&db, &site.id, unread.clone()).await;
    let inputs = vec![StoredFile { name: "sacct.txt".to_owned(), object: read.clone(), bytes: 4 }];
    let form = StoredCompact { file: "sacct.txt".to_owned(), object: compact.clone(), reader: "1.0.0".to_owned() };
    let study = NewStudy { inputs, compact_trace: Some(form), ..new_study("old") };
    db.store.create_study(&study, &plan_tasks(1, 1), None, now - 20 * DAY_MS).await.unwrap();
    let janitor = Janitor { store: db.store.clone(), objects: objects.clone(), keep: keep() };

    // The objects are younger than a day; the study is at work, however old.
    let first = janitor.tidy(now).await.unwrap();
    assert_eq!((first.studies, first.traces, first.objects), (0, 1, 0));

    // A day later nobody has come for three of them, and one was stored again.
    let later = now + DAY_MS + 1000;
    let old = SystemTime::now() - Duration::from_secs(20 * 3600);
    for hash in [&read, &unread, &young, &nobodys, &compact] {
        folder.set_modified(hash, old);
    }
    assert!(objects.put(b"young".to_vec()).await.unwrap().is_new, "an old object is not relied on");
    assert!(!objects.put(b"young".to_vec()).await.unwrap().is_new);
    let second = janitor.tidy(later - 3600 * 1000).await.unwrap();
    assert_eq!((second.objects, second.bytes), (2, 14));
    for used in [&read, &young, &compact] {
        assert!(objects.exists(used).await.unwrap());
    }
    assert!(!objects.exists(&unread).await.unwrap() && !objects.exists(&nobodys).await.unwrap());

    db.store.cancel_study(&tenant(), &study.id, now - 15 * DAY_MS).await.unwrap();
    let third = janitor.tidy(later + 10 * DAY_MS).await.unwrap();
    assert_eq!((third.studies, third.traces), (1, 1));
    assert!(third.objects >= 2 && !objects.exists(&read).await.unwrap() && !objects.exists(&compact).await.unwrap());
}

async fn idempotency_keys_are_forgotten_and_their_studies_stay(db: Database) {
    let key = Idempotency { key: "k", request_hash: "h" };
    db.store.create_study(&new_study("a"), &[], Some(key), 1000).await.unwrap();
    assert_eq!(db.store.prune_idempotency_keys(1000).await.unwrap(), 0);
    assert_eq!(db.store.prune_idempotency_keys(1001).await.unwrap(), 1);
    assert_eq!(db.store.list_studies(&tenant(), None, None, 10).await.unwrap().items.len(), 1);
}
