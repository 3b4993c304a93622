//! The schema goes up and down.

use foresite_store::{Store, migrations};

use super::on_both_databases;
use crate::fixtures::{Database, create, tenant};

on_both_databases! {
    migrations_go_up_down_and_up_with_data,
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
