//! Creating, listing, cancelling and deleting studies.

use foresite_jobs_queue::plan_tasks;
use foresite_store::events::EventKind;
use foresite_store::ids::{StudyId, TenantId};
use foresite_store::state::{StudyState, TaskState};
use foresite_store::studies::{CancelOutcome, CreateOutcome, Idempotency};
use foresite_store::tasks::{Completion, GiveBack, Renewal};

use super::on_both_databases;
use crate::fixtures::{Database, create, create_with, new_study, results, tenant};

on_both_databases! {
    a_hundred_parallel_requests_with_one_key_make_one_study,
    a_key_for_another_request_is_refused,
    a_queued_study_is_cancelled_at_once,
    a_running_study_is_cancelled_when_its_tasks_have_stopped,
    a_cancelled_study_stores_no_result,
    a_final_study_stays_as_it_is,
    another_tenants_study_is_not_there,
    only_final_studies_are_deleted,
    studies_are_listed_by_state,
    events_are_numbered_without_gaps,
}

const KEY: Idempotency<'static> = Idempotency { key: "k", request_hash: "h" };

async fn a_hundred_parallel_requests_with_one_key_make_one_study(db: Database) {
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let store = db.store.clone();
        calls.spawn(
            async move { store.create_study(&new_study("same"), &plan_tasks(2, 2), Some(KEY), 1).await.unwrap() },
        );
    }
    let (mut created, mut replayed) = (Vec::new(), Vec::new());
    while let Some(outcome) = calls.join_next().await {
        match outcome.unwrap() {
            CreateOutcome::Created { study, .. } => created.push(study.id),
            CreateOutcome::Replayed(study) => replayed.push(study.id),
            CreateOutcome::Mismatch | CreateOutcome::TooManyActive(_) => panic!("the requests are equal"),
        }
    }
    assert_eq!((created.len(), replayed.len()), (1, 99));
    assert!(replayed.iter().all(|id| *id == created[0]));
    assert_eq!(db.store.list_studies(&tenant(), None, None, 10).await.unwrap().items.len(), 1);
    assert_eq!(db.store.queue_depth().await.unwrap().queued, 2);
}

async fn a_key_for_another_request_is_refused(db: Database) {
    db.store.create_study(&new_study("a"), &[], Some(KEY), 1).await.unwrap();
    let other = Idempotency { key: "k", request_hash: "other" };
    let outcome = db.store.create_study(&new_study("b"), &[], Some(other), 1).await.unwrap();
    assert_eq!(outcome, CreateOutcome::Mismatch);
    assert_eq!(db.store.list_studies(&tenant(), None, None, 10).await.unwrap().items.len(), 1);
}

async fn a_queued_study_is_cancelled_at_once(db: Database) {
    let (study, tasks) = create(&db.store, 2, 10).await;
    let CancelOutcome::Cancelled(cancelled) = db.store.cancel_study(&tenant(), &study.id, 2_000).await.unwrap() else {
        panic!("it was queued");
    };
    assert_eq!((cancelled.state, cancelled.finished_at), (StudyState::Cancelled, Some(2_000)));
    for task in &tasks {
        assert_eq!(db.store.task(&task.task).await.unwrap().unwrap().state, TaskState::Cancelled);
        assert_eq!(db.store.claim_task(task, "w", 9_000, 3_000).await.unwrap(), None);
    }
}

async fn a_running_study_is_cancelled_when_its_tasks_have_stopped(db: Database) {
    let (study, tasks) = create(&db.store, 1, 10).await;
    db.store.claim_task(&tasks[0], "w", 9_000, 2_000).await.unwrap().unwrap();
    let cancelled = db.store.cancel_study(&tenant(), &study.id, 3_000).await.unwrap();
    assert!(matches!(cancelled, CancelOutcome::Cancelled(study) if study.state == StudyState::Cancelling));
    let again = db.store.cancel_study(&tenant(), &study.id, 3_500).await.unwrap();
    assert!(matches!(again, CancelOutcome::Cancelled(study) if study.state == StudyState::Cancelling));
    assert_eq!(db.store.renew_lease(&tasks[0], "w", 9_500).await.unwrap(), Renewal::Stop);
    assert_eq!(db.store.end_cancelled(&tasks[0], "w", 4_000).await.unwrap(), GiveBack::Cancelled);
    let study = db.store.study(&tenant(), &study.id).await.unwrap().unwrap();
    assert_eq!((study.state, study.finished_at), (StudyState::Cancelled, Some(4_000)));
}

async fn a_cancelled_study_stores_no_result(db: Database) {
    let (study, tasks) = create(&db.store, 1, 1).await;
    db.store.claim_task(&tasks[0], "w", 9_000, 2_000).await.unwrap().unwrap();
    db.store.cancel_study(&tenant(), &study.id, 3_000).await.unwrap();
    let completion = db.store.complete_replications(&tasks[0], "w", &results(0, 1), 4_000).await.unwrap();
    assert_eq!(completion, Completion::Cancelled);
    assert!(db.store.study_replications(&study.id).await.unwrap().is_empty());
    assert_eq!(db.store.study_state(&study.id).await.unwrap(), Some(StudyState::Cancelled));
}

async fn a_final_study_stays_as_it_is(db: Database) {
    let (study, _) = create(&db.store, 1, 1).await;
    db.store.cancel_study(&tenant(), &study.id, 2_000).await.unwrap();
    let again = db.store.cancel_study(&tenant(), &study.id, 3_000).await.unwrap();
    assert!(matches!(again, CancelOutcome::AlreadyFinal(study) if study.finished_at == Some(2_000)));
}

async fn another_tenants_study_is_not_there(db: Database) {
    let (study, _) = create(&db.store, 1, 1).await;
    let stranger = TenantId::parse("stranger").unwrap();
    assert_eq!(db.store.study(&stranger, &study.id).await.unwrap(), None);
    assert_eq!(db.store.cancel_study(&stranger, &study.id, 1).await.unwrap(), CancelOutcome::NotFound);
    assert_eq!(db.store.cancel_study(&tenant(), &StudyId::new(), 1).await.unwrap(), CancelOutcome::NotFound);
    assert!(db.store.study_events(&stranger, &study.id, 0, 10).await.unwrap().is_empty());
    assert!(!db.store.delete_study(&stranger, &study.id).await.unwrap());
    assert_eq!(db.store.study_state(&study.id).await.unwrap(), Some(StudyState::Queued));
}

async fn only_final_studies_are_deleted(db: Database) {
    db.store.create_study(&new_study("a"), &plan_tasks(1, 1), Some(KEY), 1).await.unwrap();
    let study = db.store.list_studies(&tenant(), None, None, 1).await.unwrap().items.remove(0);
    assert!(!db.store.delete_study(&tenant(), &study.id).await.unwrap());
    db.store.cancel_study(&tenant(), &study.id, 2).await.unwrap();
    assert!(db.store.delete_study(&tenant(), &study.id).await.unwrap());
    assert_eq!(db.store.study(&tenant(), &study.id).await.unwrap(), None);
    assert!(db.store.study_tasks(&study.id).await.unwrap().is_empty());
    // The key went with its study, so it can be used again.
    let again = db.store.create_study(&new_study("a"), &[], Some(KEY), 3).await.unwrap();
    assert!(matches!(again, CreateOutcome::Created { .. }));
}

async fn studies_are_listed_by_state(db: Database) {
    let (first, _) = create_with(&db.store, "first", &plan_tasks(1, 1), 1).await;
    let (second, _) = create_with(&db.store, "second", &plan_tasks(1, 1), 2).await;
    db.store.cancel_study(&tenant(), &first.id, 3).await.unwrap();
    let queued = db.store.list_studies(&tenant(), Some(StudyState::Queued), None, 10).await.unwrap();
    assert_eq!(queued.items.iter().map(|study| &study.id).collect::<Vec<_>>(), [&second.id]);
    let mut counts = db.store.count_studies().await.unwrap();
    counts.sort();
    assert_eq!(counts, [(StudyState::Queued, 1), (StudyState::Cancelled, 1)]);
}

async fn events_are_numbered_without_gaps(db: Database) {
    let (study, tasks) = create(&db.store, 2, 1).await;
    for task in &tasks {
        db.store.claim_task(task, "w", 9_000, 2_000).await.unwrap().unwrap();
        db.store.complete_replications(task, "w", &results(0, 1), 3_000).await.unwrap();
    }
    let events = db.store.study_events(&tenant(), &study.id, 0, 100).await.unwrap();
    let told: Vec<_> = events.iter().map(|event| (event.seq, event.kind, event.data.as_str())).collect();
    assert_eq!(
        told,
        [
            (1, EventKind::State, r#"{"state":"queued"}"#),
            (2, EventKind::State, r#"{"state":"running"}"#),
            (3, EventKind::Progress, r#"{"done":1,"total":2}"#),
            (4, EventKind::Progress, r#"{"done":2,"total":2}"#),
        ]
    );
    assert_eq!(db.store.study_events(&tenant(), &study.id, 3, 100).await.unwrap(), events[3..]);
}
