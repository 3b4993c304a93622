//! Claims, leases, fences, and what follows from results.

use foresite_jobs_queue::plan_tasks;
use foresite_store::StoreError;
use foresite_store::objects::ObjectHash;
use foresite_store::state::{StudyState, TaskKind, TaskState};
use foresite_store::studies::EngineMatch;
use foresite_store::tasks::{Completion, Failure, GiveBack, NewTask, Renewal, TaskRef};

use super::on_both_databases;
use crate::fixtures::{Database, create, create_with, results, tenant};

on_both_databases! {
    a_task_is_claimed_once,
    a_stale_attempt_is_fenced,
    a_renewed_lease_is_not_taken,
    the_last_result_makes_one_summarize_task,
    a_study_succeeds_with_its_summary,
    wrong_results_are_refused_whole,
    a_failing_task_is_tried_again_and_then_fails_its_study,
    a_fatal_failure_fails_the_study_at_once,
    a_hand_back_does_not_count,
    lost_workers_count_apart_from_failures_up_to_twenty,
    tasks_of_dead_workers_are_found,
    a_newer_engine_begins_a_study_anew_and_fences_the_older_one,
    queued_tasks_are_found_in_pages,
    a_waiting_study_knows_its_position,
}

async fn a_task_is_claimed_once(db: Database) {
    let (study, tasks) = create(&db.store, 1, 1).await;
    let mut claims = tokio::task::JoinSet::new();
    for number in 0..20 {
        let (store, task) = (db.store.clone(), tasks[0].clone());
        claims.spawn(async move { store.claim_task(&task, &format!("w{number}"), 9_000, 2_000).await.unwrap() });
    }
    let claimed: Vec<_> = claims.join_all().await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].task.state, TaskState::Running);
    assert_eq!(claimed[0].study.state, StudyState::Running);
    assert_eq!(claimed[0].study.id, study.id);
    let next = TaskRef { attempt: 2, ..tasks[0].clone() };
    assert_eq!(db.store.claim_task(&next, "w", 9_000, 2_000).await.unwrap(), None);
}

async fn a_stale_attempt_is_fenced(db: Database) {
    let (study, tasks) = create(&db.store, 1, 1).await;
    db.store.claim_task(&tasks[0], "old", 5_000, 2_000).await.unwrap().unwrap();
    let GiveBack::Requeued(second) = db.store.take_back(&tasks[0], 5_001).await.unwrap() else { panic!("expired") };
    assert_eq!(second.attempt, 2);
    db.store.claim_task(&second, "new", 9_000, 5_002).await.unwrap().unwrap();

    assert_eq!(db.store.renew_lease(&tasks[0], "old", 9_999).await.unwrap(), Renewal::Lost);
    let late = db.store.complete_replications(&tasks[0], "old", &results(0, 1), 6_000).await.unwrap();
    assert_eq!(late, Completion::Fenced);
    let failed = Failure::Retry("late".to_owned());
    assert_eq!(db.store.give_back(&tasks[0], "old", &failed, 6_000).await.unwrap(), GiveBack::Fenced);
    // Nor may the old worker write with the new attempt's number.
    let late = db.store.complete_replications(&second, "old", &results(0, 1), 6_000).await.unwrap();
    assert_eq!(late, Completion::Fenced);

    let stored = db.store.complete_replications(&second, "new", &results(0, 1), 7_000).await.unwrap();
    assert!(matches!(stored, Completion::Stored { next: Some(_) }));
    assert_eq!(db.store.study_replications(&study.id).await.unwrap().len(), 1);
    let twice = db.store.complete_replications(&second, "new", &results(0, 1), 7_001).await.unwrap();
    assert_eq!(twice, Completion::Fenced);
}

async fn a_renewed_lease_is_not_taken(db: Database) {
    let (_, tasks) = create(&db.store, 1, 1).await;
    db.store.claim_task(&tasks[0], "w", 5_000, 2_000).await.unwrap().unwrap();
    assert_eq!(db.store.renew_lease(&tasks[0], "w", 8_000).await.unwrap(), Renewal::Held);
    assert_eq!(db.store.take_back(&tasks[0], 6_000).await.unwrap(), GiveBack::Fenced);
    assert!(matches!(db.store.take_back(&tasks[0], 8_001).await.unwrap(), GiveBack::Requeued(_)));
}

async fn the_last_result_makes_one_summarize_task(db: Database) {
    let (study, tasks) = create(&db.store, 10, 1).await;
    let mut ends = tokio::task::JoinSet::new();
    for task in tasks {
        let store = db.store.clone();
        ends.spawn(async move {
            store.claim_task(&task, "w", 9_000, 2_000).await.unwrap().unwrap();
            store.complete_replications(&task, "w", &results(0, 1), 3_000).await.unwrap()
        });
    }
    let next: Vec<_> = ends
        .join_all()
        .await
        .into_iter()
        .filter_map(|end| match end {
            Completion::Stored { next } => next,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(next.len(), 1);
    let tasks = db.store.study_tasks(&study.id).await.unwrap();
    assert_eq!(tasks.iter().filter(|task| task.kind == TaskKind::Summarize).count(), 1);
    let study = db.store.study(&tenant(), &study.id).await.unwrap().unwrap();
    assert_eq!((study.replications_done, study.replications_total), (10, 10));
}

async fn a_study_succeeds_with_its_summary(db: Database) {
    let (study, tasks) = create(&db.store, 1, 1).await;
    db.store.claim_task(&tasks[0], "w", 9_000, 2_000).await.unwrap().unwrap();
    let stored = db.store.complete_replications(&tasks[0], "w", &results(0, 1), 3_000).await.unwrap();
    let Completion::Stored { next: Some(summarize) } = stored else { panic!("{stored:?}") };
    db.store.claim_task(&summarize, "w", 9_000, 4_000).await.unwrap().unwrap();
    let comparison = ObjectHash::of(b"comparison");
    let stored = db.store.complete_summary(&summarize, "w", &comparison, false, 5_000).await.unwrap();
    assert_eq!(stored, Completion::Stored { next: None });
    let study = db.store.study(&tenant(), &study.id).await.unwrap().unwrap();
    assert_eq!((study.state, study.finished_at), (StudyState::Succeeded, Some(5_000)));
    assert_eq!(study.comparison_object, Some(comparison));
    let stored = db.store.replication(&tenant(), &study.id, 0, 0).await.unwrap().unwrap();
    assert_eq!(stored.schedule_object, ObjectHash::of(b"schedule"));
}

async fn wrong_results_are_refused_whole(db: Database) {
    let (study, tasks) = create(&db.store, 1, 3).await;
    db.store.claim_task(&tasks[0], "w", 9_000, 2_000).await.unwrap().unwrap();
    for wrong in [results(0, 2), results(1, 4), [results(0, 3), results(0, 1)].concat()] {
        let refused = db.store.complete_replications(&tasks[0], "w", &wrong, 3_000).await;
        assert!(matches!(refused, Err(StoreError::WrongResults { .. })), "{refused:?}");
    }
    assert!(db.store.study_replications(&study.id).await.unwrap().is_empty());
    assert_eq!(db.store.renew_lease(&tasks[0], "w", 9_500).await.unwrap(), Renewal::Held);
}

async fn a_failing_task_is_tried_again_and_then_fails_its_study(db: Database) {
    let (study, tasks) = create(&db.store, 2, 1).await;
    let mut task = tasks[0].clone();
    for attempt in 1..=3 {
        db.store.claim_task(&task, "w", 9_000, 2_000).await.unwrap().unwrap();
        let failure = Failure::Retry(format!("crash {attempt}"));
        match db.store.give_back(&task, "w", &failure, 3_000).await.unwrap() {
            GiveBack::Requeued(next) => task = next,
            GiveBack::Dead => assert_eq!(attempt, 3),
            other => panic!("{other:?}"),
        }
    }
    let study = db.store.study(&tenant(), &study.id).await.unwrap().unwrap();
    assert_eq!((study.state, study.error.as_deref()), (StudyState::Failed, Some("crash 3")));
    assert_eq!(db.store.task(&task.task).await.unwrap().unwrap().state, TaskState::Failed);
    assert_eq!(db.store.task(&tasks[1].task).await.unwrap().unwrap().state, TaskState::Cancelled);
    let events = db.store.study_events(&tenant(), &study.id, 2, 10).await.unwrap();
    assert_eq!(events[0].data, r#"{"error":"crash 3","state":"failed"}"#);
}

async fn a_fatal_failure_fails_the_study_at_once(db: Database) {
    let (study, tasks) = create(&db.store, 2, 1).await;
    for task in &tasks {
        db.store.claim_task(task, "w", 9_000, 2_000).await.unwrap().unwrap();
    }
    let fatal = Failure::Fatal("slurm.conf:1: error".to_owned());
    assert_eq!(db.store.give_back(&tasks[0], "w", &fatal, 3_000).await.unwrap(), GiveBack::Dead);
    assert_eq!(db.store.study_state(&study.id).await.unwrap(), Some(StudyState::Failed));
    // The other task is told to stop, and stores nothing.
    assert_eq!(db.store.renew_lease(&tasks[1], "w", 9_500).await.unwrap(), Renewal::Stop);
    let late = db.store.complete_replications(&tasks[1], "w", &results(0, 1), 4_000).await.unwrap();
    assert_eq!(late, Completion::Cancelled);
    assert_eq!(db.store.study_state(&study.id).await.unwrap(), Some(StudyState::Failed));
}

async fn a_hand_back_does_not_count(db: Database) {
    let (_, tasks) = create(&db.store, 1, 1).await;
    let mut task = tasks[0].clone();
    for attempt in 2..=10 {
        db.store.claim_task(&task, "w", 9_000, 2_000).await.unwrap().unwrap();
        let given = db.store.give_back(&task, "w", &Failure::HandBack, 3_000).await.unwrap();
        let GiveBack::Requeued(next) = given else { panic!("{given:?}") };
        assert_eq!(next.attempt, attempt);
        task = next;
    }
    assert_eq!(db.store.task(&task.task).await.unwrap().unwrap().failures, 0);
}

async fn lost_workers_count_apart_from_failures_up_to_twenty(db: Database) {
    let (study, tasks) = create(&db.store, 1, 1).await;
    let mut task = tasks[0].clone();
    for lost in 1..=20 {
        db.store.claim_task(&task, "w", 2_500, 2_000).await.unwrap().unwrap();
        match db.store.take_back(&task, 3_000).await.unwrap() {
            GiveBack::Requeued(next) => task = next,
            GiveBack::Dead => assert_eq!(lost, 20),
            other => panic!("{other:?}"),
        }
        let row = db.store.task(&task.task).await.unwrap().unwrap();
        assert_eq!((row.losses, row.failures), (lost, 0));
        assert_eq!(row.state == TaskState::Failed, lost == 20);
    }
    let study = db.store.study(&tenant(), &study.id).await.unwrap().unwrap();
    assert_eq!(study.state, StudyState::Failed);
    assert!(study.error.as_deref().unwrap().contains("lost, 20 times"), "{:?}", study.error);
}

async fn tasks_of_dead_workers_are_found(db: Database) {
    let (_, tasks) = create(&db.store, 3, 1).await;
    db.store.claim_task(&tasks[0], "w", 5_000, 2_000).await.unwrap().unwrap();
    db.store.claim_task(&tasks[1], "w", 6_000, 2_000).await.unwrap().unwrap();
    assert!(db.store.expired_tasks(5_000, 10).await.unwrap().is_empty());
    assert_eq!(db.store.expired_tasks(5_001, 10).await.unwrap(), [tasks[0].clone()]);
    assert_eq!(db.store.expired_tasks(9_000, 10).await.unwrap(), tasks[..2]);
    let depth = db.store.queue_depth().await.unwrap();
    assert_eq!((depth.queued, depth.running, depth.oldest_queued_at), (1, 2, Some(1_000)));
}

async fn a_newer_engine_begins_a_study_anew_and_fences_the_older_one(db: Database) {
    let (study, tasks) = create(&db.store, 3, 1).await;
    let (old, new) = (study.engine_version.clone(), "99.0.0");
    for task in &tasks {
        assert_eq!(db.store.match_engine(task, &old, 2_000).await.unwrap(), EngineMatch::Same);
    }
    for task in &tasks[..2] {
        db.store.claim_task(task, "old", 9_000, 2_000).await.unwrap().unwrap();
    }
    db.store.complete_replications(&tasks[0], "old", &results(0, 1), 3_000).await.unwrap();
    let again: Vec<_> = tasks.iter().map(|task| TaskRef { attempt: 2, ..task.clone() }).collect();
    // One that another worker has, or had, says nothing: only who may claim a task asks.
    for task in &tasks[..2] {
        assert_eq!(db.store.match_engine(task, new, 4_000).await.unwrap(), EngineMatch::Same);
    }
    let begun = db.store.match_engine(&tasks[2], new, 4_000).await.unwrap();
    assert_eq!(begun, EngineMatch::BegunAnew(again.clone()));
    assert_eq!(db.store.match_engine(&again[1], new, 4_000).await.unwrap(), EngineMatch::Same);
    assert_eq!(db.store.match_engine(&again[1], &old, 4_000).await.unwrap(), EngineMatch::Newer(new.to_owned()));

    assert!(db.store.study_replications(&study.id).await.unwrap().is_empty());
    let late = db.store.complete_replications(&tasks[1], "old", &results(0, 1), 5_000).await.unwrap();
    assert_eq!(late, Completion::Fenced);
    let row = db.store.study(&tenant(), &study.id).await.unwrap().unwrap();
    assert_eq!((row.engine_version.as_str(), row.replications_done), (new, 0));

    // With all results there and the summary waiting it is the same.
    let mut summarize = None;
    for task in &again {
        db.store.claim_task(task, "new", 9_000, 6_000).await.unwrap().unwrap();
        let stored = db.store.complete_replications(task, "new", &results(0, 1), 6_000).await.unwrap();
        let Completion::Stored { next } = stored else { panic!("{stored:?}") };
        summarize = next;
    }
    let summarize = summarize.unwrap();
    let begun = db.store.match_engine(&summarize, "99.1.0", 7_000).await.unwrap();
    assert!(matches!(&begun, EngineMatch::BegunAnew(tasks) if tasks.len() == 3), "{begun:?}");
    assert!(db.store.claim_task(&summarize, "new", 9_000, 7_000).await.unwrap().is_none());
    let late = db.store.complete_summary(&summarize, "new", &ObjectHash::of(b"late"), false, 8_000).await.unwrap();
    assert_eq!(late, Completion::Fenced);
    // A study that has ended stays as it is.
    db.store.cancel_study(&tenant(), &study.id, 9_000).await.unwrap();
    let third: Vec<_> = tasks.iter().map(|task| TaskRef { attempt: 3, ..task.clone() }).collect();
    assert_eq!(db.store.match_engine(&third[0], "99.2.0", 9_000).await.unwrap(), EngineMatch::Same);
}

async fn queued_tasks_are_found_in_pages(db: Database) {
    let (_, tasks) = create(&db.store, 5, 1).await;
    assert!(db.store.queued_tasks(1_000, None, 10).await.unwrap().is_empty());
    let first = db.store.queued_tasks(1_001, None, 3).await.unwrap();
    let second = db.store.queued_tasks(1_001, Some(&first[2].task), 3).await.unwrap();
    assert_eq!([first, second].concat(), tasks);
}

async fn a_waiting_study_knows_its_position(db: Database) {
    let one = [NewTask { scenario: 0, replication_from: 0, replication_to: 1, max_failures: 1 }];
    let (first, tasks) = create_with(&db.store, "first", &plan_tasks(3, 1), 1).await;
    let (second, _) = create_with(&db.store, "second", &one, 2).await;
    assert_eq!(db.store.queue_position(&first.id).await.unwrap(), Some(0));
    assert_eq!(db.store.queue_position(&second.id).await.unwrap(), Some(3));
    db.store.claim_task(&tasks[0], "w", 9, 3).await.unwrap().unwrap();
    assert_eq!(db.store.queue_position(&second.id).await.unwrap(), Some(2));
    db.store.cancel_study(&tenant(), &second.id, 4).await.unwrap();
    assert_eq!(db.store.queue_position(&second.id).await.unwrap(), None);
}
