//! Tenants, tokens, sites, configurations, traces, audit.

use foresite_store::audit::{AuditEntry, AuditFilter};
use foresite_store::configs::{Config, ConfigOutcome};
use foresite_store::files::{StoredCompact, StoredFile};
use foresite_store::files_to_json;
use foresite_store::ids::{AuditId, ConfigId, SiteId, TenantId, TokenId, TraceId, UploadId, WebhookId};
use foresite_store::objects::ObjectHash;
use foresite_store::quotas::Full;
use foresite_store::sites::Site;
use foresite_store::state::Role;
use foresite_store::tokens::ApiToken;
use foresite_store::traces::{Trace, TraceOutcome};
use foresite_store::uploads::Upload;
use foresite_store::webhooks::{Webhook, WebhookEvent};

use super::on_both_databases;
use crate::fixtures::{Database, postgres, tenant};

on_both_databases! {
    tokens_are_found_by_hash_until_revoked,
    lists_come_in_pages_newest_first,
    files_of_a_site_are_kept_and_forgotten,
    of_all_that_is_stored_at_once_no_more_fits_than_is_allowed,
    equal_traces_that_are_stored_at_once_are_one,
    the_compact_form_of_a_trace_is_kept_and_used,
    tenants_take_turns_at_being_told,
    strangers_find_nothing,
    the_audit_log_grows,
    a_change_and_its_line_are_written_together,
    only_retention_shortens_the_audit_log,
}

fn token(name: &str) -> ApiToken {
    ApiToken {
        id: TokenId::new(),
        tenant: tenant(),
        name: name.to_owned(),
        hash: format!("hash of {name}"),
        role: Role::Operator,
        scopes: String::new(),
        created_at: 1,
        expires_at: Some(1_000_000),
        last_used_at: None,
        revoked_at: None,
    }
}

fn site(name: &str) -> Site {
    Site { id: SiteId::new(), tenant: tenant(), name: name.to_owned(), created_by: "me".to_owned(), created_at: 1 }
}

async fn tokens_are_found_by_hash_until_revoked(db: Database) {
    let mine = token("a");
    db.store.create_token(&mine).await.unwrap();
    let found = db.store.token_by_hash("hash of a").await.unwrap().unwrap();
    assert_eq!(found, mine);
    assert!(found.is_valid(999_999) && !found.is_valid(1_000_000));
    assert_eq!(db.store.token_by_hash("hash of b").await.unwrap(), None);

    db.store.touch_token(&found, 100_000).await.unwrap();
    let used = db.store.token_by_hash("hash of a").await.unwrap().unwrap();
    assert_eq!(used.last_used_at, Some(100_000));
    db.store.touch_token(&used, 100_001).await.unwrap();
    assert_eq!(db.store.token_by_hash("hash of a").await.unwrap().unwrap().last_used_at, Some(100_000));

    assert!(db.store.revoke_token(&tenant(), &mine.id, 5).await.unwrap());
    assert!(db.store.revoke_token(&tenant(), &mine.id, 6).await.unwrap());
    assert!(!db.store.revoke_token(&tenant(), &TokenId::new(), 6).await.unwrap());
    let revoked = db.store.list_tokens(&tenant()).await.unwrap();
    assert_eq!(revoked[0].revoked_at, Some(5));
    assert!(!revoked[0].is_valid(10));
}

async fn lists_come_in_pages_newest_first(db: Database) {
    for name in ["a", "b", "c", "d", "e"] {
        db.store.create_site(&site(name)).await.unwrap();
    }
    let mut names = String::new();
    let mut before = None;
    loop {
        let page = db.store.list_sites(&tenant(), before.as_ref(), 2).await.unwrap();
        names.extend(page.items.iter().map(|site| site.name.as_str()));
        names.push('|');
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(names, "ed|cb|a|");
}

fn trace(site: &Site, content: &str, bytes: i64) -> Trace {
    Trace {
        id: TraceId::new(),
        tenant: tenant(),
        site: site.id.clone(),
        name: "sacct.txt".to_owned(),
        object: ObjectHash::of(content.as_bytes()),
        bytes,
        summary: "{\"jobs\":1}".to_owned(),
        diagnostics: "[]".to_owned(),
        created_by: "me".to_owned(),
        created_at: 3,
        timezone: None,
        compact_trace: None,
    }
}

async fn of_all_that_is_stored_at_once_no_more_fits_than_is_allowed(db: Database) {
    let site = site("a");
    db.store.create_site(&site).await.unwrap();
    let upload = Upload {
        id: UploadId::new(),
        tenant: tenant(),
        site: site.id.clone(),
        name: "sacct.txt".to_owned(),
        timezone: None,
        length: 40,
        received: 0,
        trace: None,
        created_by: "me".to_owned(),
        created_at: 1,
        updated_at: 1,
    };
    assert_eq!(db.store.create_upload(&upload, Some(100)).await.unwrap(), Ok(()));
    assert_eq!(db.store.usage(&tenant()).await.unwrap().stored_bytes, 40);
    let more = Upload { id: UploadId::new(), length: 61, ..upload.clone() };
    assert_eq!(db.store.create_upload(&more, Some(100)).await.unwrap(), Err(Full { used: 40, limit: 100 }));
    let traces: Vec<Trace> = (0..8).map(|number| trace(&site, &number.to_string(), 20)).collect();
    let ends =
        futures::future::join_all(traces.iter().map(|trace| db.store.create_trace(trace, None, Some(100)))).await;
    let created = ends.iter().filter(|end| matches!(end, Ok(TraceOutcome::Created))).count();
    let full = ends.iter().filter(|end| matches!(end, Ok(TraceOutcome::Full(Full { used: 100, limit: 100 })))).count();
    assert_eq!((created, full), (3, 5), "{ends:?}");
    // What the upload was promised is its trace's.
    let whole = trace(&site, "whole", 40);
    let made = db.store.create_trace(&whole, Some(&upload.id), Some(100)).await.unwrap();
    assert_eq!(made, TraceOutcome::Created);
    db.store.end_upload(&upload.id, &whole.id, 2).await.unwrap();
    assert_eq!(db.store.usage(&tenant()).await.unwrap().stored_bytes, 100);
}

async fn equal_traces_that_are_stored_at_once_are_one(db: Database) {
    let site = site("a");
    db.store.create_site(&site).await.unwrap();
    let same: Vec<Trace> = (0..8).map(|_| trace(&site, "same", 20)).collect();
    let ends = futures::future::join_all(same.iter().map(|trace| db.store.create_trace(trace, None, None))).await;
    let found = db.store.list_traces(&tenant(), &site.id, None, 10).await.unwrap().items;
    assert_eq!(found.len(), 1, "{ends:?}");
    let others =
        ends.into_iter().filter(|end| *end.as_ref().unwrap() == TraceOutcome::Same(Box::new(found[0].clone())));
    assert_eq!(others.count(), 7);
}

async fn files_of_a_site_are_kept_and_forgotten(db: Database) {
    let site = site("a");
    db.store.create_site(&site).await.unwrap();
    let files = vec![StoredFile { name: "slurm.conf".to_owned(), object: ObjectHash::of(b"x"), bytes: 1 }];
    let config = Config {
        id: ConfigId::new(),
        tenant: tenant(),
        site: site.id.clone(),
        object: ObjectHash::of(files_to_json(&files).as_bytes()),
        files: files_to_json(&files),
        diagnostics: "[]".to_owned(),
        created_by: "me".to_owned(),
        created_at: 2,
        bytes: 3,
    };
    assert_eq!(db.store.create_config(&config, None).await.unwrap(), ConfigOutcome::Created);
    let again = Config { id: ConfigId::new(), created_at: 3, ..config.clone() };
    let same = ConfigOutcome::Same(Box::new(config.clone()));
    assert_eq!(db.store.create_config(&again, Some(1)).await.unwrap(), same);
    let found = db.store.config(&tenant(), &site.id, &config.id).await.unwrap().unwrap();
    assert_eq!(found.stored_files().unwrap(), files);
    assert_eq!(
        db.store.list_configs(&tenant(), &site.id, None, 10).await.unwrap().items,
        std::slice::from_ref(&config)
    );
    // Another, and then the first again: a version of its own.
    let other = Config { id: ConfigId::new(), object: ObjectHash::of(b"other"), ..again.clone() };
    assert!(matches!(db.store.create_config(&other, Some(1)).await.unwrap(), ConfigOutcome::Full(_)));
    assert_eq!(db.store.create_config(&other, None).await.unwrap(), ConfigOutcome::Created);
    let third = Config { id: ConfigId::new(), ..again };
    assert_eq!(db.store.create_config(&third, None).await.unwrap(), ConfigOutcome::Created);
    let read_anew = Config { id: ConfigId::new(), diagnostics: "[1]".to_owned(), ..third };
    assert_eq!(db.store.create_config(&read_anew, None).await.unwrap(), ConfigOutcome::Created);
    assert!(db.store.delete_config(&tenant(), &site.id, &config.id).await.unwrap());
    assert!(!db.store.delete_config(&tenant(), &site.id, &config.id).await.unwrap());

    let trace = trace(&site, "y", i64::MAX);
    assert_eq!(db.store.create_trace(&trace, None, None).await.unwrap(), TraceOutcome::Created);
    assert_eq!(db.store.trace(&tenant(), &site.id, &trace.id).await.unwrap(), Some(trace.clone()));
    assert_eq!(db.store.list_traces(&tenant(), &site.id, None, 10).await.unwrap().items, std::slice::from_ref(&trace));
    assert!(db.store.delete_trace(&tenant(), &site.id, &trace.id).await.unwrap());
    assert_eq!(db.store.trace(&tenant(), &site.id, &trace.id).await.unwrap(), None);
}

async fn the_compact_form_of_a_trace_is_kept_and_used(db: Database) {
    let site = site("a");
    db.store.create_site(&site).await.unwrap();
    let trace = trace(&site, "text", 4);
    db.store.create_trace(&trace, None, None).await.unwrap();
    let find = || async { db.store.trace(&tenant(), &site.id, &trace.id).await.unwrap().unwrap() };
    assert_eq!(find().await.compact_trace().unwrap(), None);
    for version in ["1.0.0", "1.1.0"] {
        let object = ObjectHash::of(version.as_bytes());
        let compact = StoredCompact { file: trace.name.clone(), object, reader: version.to_owned() };
        db.store.keep_compact_trace(&trace.id, &compact).await.unwrap();
        assert_eq!(find().await.compact_trace().unwrap(), Some(compact.clone()));
        let used = db.store.referenced_objects(0).await.unwrap();
        assert!(used.contains(&compact.object) && used.contains(&trace.object));
    }
}

async fn tenants_take_turns_at_being_told(db: Database) {
    let webhook = |tenant: &TenantId| Webhook {
        id: WebhookId::new(),
        tenant: tenant.clone(),
        url: "https://example.org/".to_owned(),
        secret: String::new(),
        events: "study.failed".to_owned(),
        created_by: "me".to_owned(),
        created_at: 1,
        disabled_at: None,
        disabled_reason: None,
    };
    let calm = TenantId::parse("calm").unwrap();
    db.store.ensure_tenant(&calm, 1).await.unwrap();
    let (many, few) = (webhook(&tenant()), webhook(&calm));
    for webhook in [&many, &few] {
        db.store.create_webhook(webhook).await.unwrap();
    }
    for at in 0..10 {
        db.store.tell_webhook(&many, WebhookEvent::StudyFailed, "{}", at).await.unwrap();
    }
    db.store.tell_webhook(&few, WebhookEvent::StudyFailed, "{}", 50).await.unwrap();
    let claimed = db.store.claim_deliveries(100, 1000, 4).await.unwrap();
    let told: Vec<_> = claimed.iter().map(|(delivery, _)| (delivery.tenant.as_str(), delivery.created_at)).collect();
    assert_eq!(told, [("default", 0), ("calm", 50), ("default", 1), ("default", 2)]);
}

async fn strangers_find_nothing(db: Database) {
    let stranger = TenantId::parse("stranger").unwrap();
    db.store.ensure_tenant(&stranger, 1).await.unwrap();
    db.store.ensure_tenant(&stranger, 2).await.unwrap();
    let site = site("a");
    db.store.create_site(&site).await.unwrap();
    db.store.create_token(&token("a")).await.unwrap();
    assert_eq!(db.store.site(&stranger, &site.id).await.unwrap(), None);
    assert!(db.store.list_sites(&stranger, None, 10).await.unwrap().items.is_empty());
    assert!(db.store.list_tokens(&stranger).await.unwrap().is_empty());
    assert!(!db.store.revoke_token(&stranger, &token("a").id, 1).await.unwrap());
}

fn entry(action: &str) -> AuditEntry {
    AuditEntry {
        id: AuditId::new(),
        tenant: tenant(),
        actor: "me".to_owned(),
        action: action.to_owned(),
        resource: "study 1".to_owned(),
        detail: "{}".to_owned(),
        at: 1,
        trace_id: None,
    }
}

async fn the_audit_log_grows(db: Database) {
    let (first, second) = (entry("study.create"), entry("study.cancel"));
    db.store.append_audit(&first).await.unwrap();
    db.store.append_audit(&second).await.unwrap();
    assert_eq!(db.store.list_audit(&tenant(), &AuditFilter::default(), None, 10).await.unwrap().items, [second, first]);
}

async fn a_change_and_its_line_are_written_together(db: Database) {
    let line = |action: &str| db.store.audited(entry(action));
    let site = site("a");
    line("site.create").create_site(&site).await.unwrap();
    // The same id again: neither the site nor the line.
    assert!(line("site.create").create_site(&site).await.is_err());
    // Nothing to change, nothing to tell.
    assert!(!line("token.revoke").revoke_token(&tenant(), &TokenId::new(), 1).await.unwrap());
    assert!(!line("trace.delete").delete_trace(&tenant(), &site.id, &TraceId::new()).await.unwrap());
    let found = db.store.list_audit(&tenant(), &AuditFilter::default(), None, 10).await.unwrap().items;
    assert_eq!(found.iter().map(|line| line.action.as_str()).collect::<Vec<_>>(), ["site.create"]);
}

async fn only_retention_shortens_the_audit_log(db: Database) {
    for at in [100, 200, 300] {
        db.store.append_audit(&AuditEntry { at, ..entry("study.create") }).await.unwrap();
    }
    let since = AuditFilter { since: Some(200), until: Some(300), ..AuditFilter::default() };
    assert_eq!(db.store.list_audit(&tenant(), &since, None, 10).await.unwrap().items.len(), 1);
    let other = AuditFilter { action: Some("study.cancel".to_owned()), ..AuditFilter::default() };
    assert!(db.store.list_audit(&tenant(), &other, None, 10).await.unwrap().items.is_empty());
    assert_eq!(db.store.prune_audit(200).await.unwrap(), 1);
    assert_eq!(db.store.prune_audit(100).await.unwrap(), 0);
    let left = db.store.list_audit(&tenant(), &AuditFilter::default(), None, 10).await.unwrap().items;
    assert_eq!(left.iter().map(|line| line.at).collect::<Vec<_>>(), [300, 200]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_refuses_changes() {
    let db = Database::postgres().await;
    db.store.append_audit(&entry("study.create")).await.unwrap();
    let name = db.url.to_string().rsplit('/').next().unwrap().to_owned();
    for statement in ["UPDATE audit SET actor = ''", "DELETE FROM audit", "TRUNCATE audit"] {
        let name = name.clone();
        let refused = tokio::task::spawn_blocking(move || {
            std::panic::catch_unwind(|| postgres().psql(&name, statement)).is_err()
        });
        assert!(refused.await.unwrap(), "{statement}");
    }
    assert_eq!(db.store.list_audit(&tenant(), &AuditFilter::default(), None, 10).await.unwrap().items.len(), 1);
}
