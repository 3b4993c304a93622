//! The store's promises, each on both databases.

mod migrating;
mod objects;
mod resources;
mod retention;
mod studies;
mod tasks;
mod tls;

/// Runs each promise (an async function of a [`crate::fixtures::Database`]) on SQLite and on PostgreSQL.
macro_rules! on_both_databases {
    ($($promise:ident,)+) => {
        $(mod $promise {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                super::$promise(crate::fixtures::Database::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                super::$promise(crate::fixtures::Database::postgres().await).await;
            }
        })+
    };
}

pub(crate) use on_both_databases;
