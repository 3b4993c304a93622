//! The schema goes up and down.

use foresite_store::{Store, migrations};

use super::on_both_databases;
use crate::fixtures::{Database, create, results, tenant};

on_both_databases! {
    migrations_go_up_down_and_up_with_data,
    data_goes_down_and_up_with_the_schema,
    parallel_migrations_do_no_harm,
}

async fn migrations_go_up_down_and_up_with_data(db: Database) {
    create(&db.store, 2, 7).await;
    let n_steps = migrations::status(&db.url).await.unwrap().len();
    assert!(migrations::status(&db.url).await.unwrap().iter().all(|step| step.applied));
    assert!(migrations::up(&db.url).await.unwrap().is_empty());
    for _ in 0..n_steps {
        assert!(migrations::down(&db.url).await.unwrap().is_some());
    }
    assert_eq!(migrations::down(&db.url).await.unwrap(), None);
    assert!(migrations::status(&db.url).await.unwrap().iter().all(|step| !step.applied));
    assert_eq!(migrations::up(&db.url).await.unwrap().len(), n_steps);
    let store = Store::connect(&db.url, 2).await.unwrap();
    store.ensure_tenant(&tenant(), 0).await.unwrap();
    create(&store, 2, 7).await;
}

/// An old schema with data goes up, however old it is: studies, tasks and results are as they were.
async fn data_goes_down_and_up_with_the_schema(db: Database) {
    let (study, tasks) = create(&db.store, 2, 7).await;
    let claimed = db.store.claim_task(&tasks[0], "w", 9_000, 2_000).await.unwrap().unwrap().task;
    let done = results(claimed.replication_from, claimed.replication_to);
    db.store.complete_replications(&tasks[0], "w", &done, 3_000).await.unwrap();
    let study = db.store.study(&tenant(), &study.id).await.unwrap().unwrap();
    let rows = db.store.study_tasks(&study.id).await.unwrap();
    let results = db.store.study_replications(&study.id).await.unwrap();
    assert!(rows.len() > 1 && results.len() == done.len());
    let n_steps = migrations::status(&db.url).await.unwrap().len();
    for down in 1..n_steps {
        for _ in 0..down {
            assert!(migrations::down(&db.url).await.unwrap().is_some());
        }
        assert_eq!(migrations::up(&db.url).await.unwrap().len(), down);
        let store = Store::connect(&db.url, 2).await.unwrap();
        assert_eq!(store.study(&tenant(), &study.id).await.unwrap(), Some(study.clone()), "{down} steps");
        assert_eq!(store.study_tasks(&study.id).await.unwrap(), rows, "{down} steps");
        assert_eq!(store.study_replications(&study.id).await.unwrap(), results, "{down} steps");
    }
}

async fn parallel_migrations_do_no_harm(db: Database) {
    while migrations::down(&db.url).await.unwrap().is_some() {}
    let mut migrators = tokio::task::JoinSet::new();
    for _ in 0..5 {
        let url = db.url.clone();
        migrators.spawn(async move { migrations::up(&url).await.unwrap().len() });
    }
    let applied: usize = migrators.join_all().await.into_iter().sum();
    assert_eq!(applied, migrations::status(&db.url).await.unwrap().len());
}
