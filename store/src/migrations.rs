//! The schema's steps (`migrations/` at the root), compiled in.

use std::collections::HashSet;

use diesel::backend::Backend;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sqlite::Sqlite;
use diesel::{Connection, SqliteConnection};
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connection::tls::Target;
use crate::connection::{Conn, Store, load};
use crate::database_url::DatabaseUrl;
use crate::error::StoreError;

const POSTGRES: EmbeddedMigrations = embed_migrations!("../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../migrations/sqlite");

/// One step and whether the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationStatus {
    /// Its folder's name, such as `0001_first`.
    pub name: String,
    /// Whether it was applied.
    pub applied: bool,
}

/// Applies every step that is missing, in order; gives their names. Running it twice, or twice at once, does no harm.
pub async fn up(url: &DatabaseUrl) -> Result<Vec<String>, StoreError> {
    with_harness(url, Job::Up).await.map(|done| done.into_iter().map(|step| step.name).collect())
}

/// Undoes the last applied step; gives its name, or nothing if there was none.
pub async fn down(url: &DatabaseUrl) -> Result<Option<String>, StoreError> {
    with_harness(url, Job::Down).await.map(|done| done.into_iter().map(|step| step.name).next())
}

/// All steps this binary knows, in order.
pub async fn status(url: &DatabaseUrl) -> Result<Vec<MigrationStatus>, StoreError> {
    with_harness(url, Job::Status).await
}

/// Whether the database answers, and has every step that this program knows.
///
/// # Errors
/// When it does not answer, or lacks a step.
pub async fn check(store: &Store) -> Result<(), StoreError> {
    #[derive(diesel::QueryableByName)]
    struct Applied {
        #[diesel(sql_type = diesel::sql_types::Text)]
        version: String,
    }
    let mut conn = store.read().await?;
    let known = match &conn {
        Conn::Postgres(..) => known::<Pg>(POSTGRES)?,
        Conn::Sqlite(..) => known::<Sqlite>(SQLITE)?,
    };
    let asked = diesel::sql_query("SELECT version FROM __diesel_schema_migrations");
    let applied: Vec<Applied> = load!(&mut conn, asked)?;
    let applied: HashSet<String> = applied.into_iter().map(|row| row.version).collect();
    match known.into_iter().find(|step| !applied.contains(step)) {
        None => Ok(()),
        Some(step) => Err(StoreError::Migration(format!("the database lacks step {step}; run `foresite migrate up`"))),
    }
}

fn known<DB: Backend>(source: EmbeddedMigrations) -> Result<Vec<String>, StoreError> {
    let steps: Result<Vec<Box<dyn Migration<DB>>>, _> = source.migrations();
    let steps = steps.map_err(|error| StoreError::Migration(error.to_string()))?;
    Ok(steps.into_iter().map(|step| step.name().version().to_string()).collect())
}

#[derive(Clone, Copy)]
enum Job {
    Up,
    Down,
    Status,
}

/// Diesel's migrations are synchronous; they run on a blocking thread.
async fn with_harness(url: &DatabaseUrl, job: Job) -> Result<Vec<MigrationStatus>, StoreError> {
    url.create_folder()?;
    let url = url.clone();
    let work = move || match url {
        DatabaseUrl::Postgres(url) => {
            let target = Target::of(&url)?;
            let conn = tokio::runtime::Handle::current().block_on(target.connect()).map_err(unreachable)?;
            let mut conn = AsyncConnectionWrapper::<AsyncPgConnection>::from(conn);
            // One migrator at a time: the lock belongs to this connection and goes with it.
            lock_postgres(&mut conn)?;
            run::<Pg, _>(&mut conn, POSTGRES, job)
        }
        DatabaseUrl::Sqlite(path) => {
            let mut conn = SqliteConnection::establish(&path.to_string_lossy()).map_err(unreachable)?;
            let pragmas = "PRAGMA busy_timeout = 20000; PRAGMA journal_mode = WAL;";
            diesel::connection::SimpleConnection::batch_execute(&mut conn, pragmas)?;
            run_exclusively(&mut conn, job)
        }
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::Migration(error.to_string()))?
}

fn lock_postgres(conn: &mut AsyncConnectionWrapper<AsyncPgConnection>) -> Result<(), StoreError> {
    // Any number will do if it is always the same: "foresite" in ASCII.
    const LOCK: i64 = 0x666f_7265_7369_7465;
    use diesel::RunQueryDsl;
    diesel::sql_query(format!("SELECT pg_advisory_lock({LOCK})")).execute(conn)?;
    Ok(())
}

/// SQLite's lock is the transaction around everything: a second migrator waits and then finds nothing to do.
fn run_exclusively(conn: &mut SqliteConnection, job: Job) -> Result<Vec<MigrationStatus>, StoreError> {
    conn.exclusive_transaction(|conn| run::<Sqlite, _>(conn, SQLITE, job))
}

fn run<DB: Backend, C: MigrationHarness<DB>>(
    conn: &mut C,
    source: EmbeddedMigrations,
    job: Job,
) -> Result<Vec<MigrationStatus>, StoreError> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| StoreError::Migration(error.to_string());
    let mut known: Vec<Box<dyn Migration<DB>>> = source.migrations().map_err(failed)?;
    known.sort_by_key(|step| step.name().to_string());
    let applied = conn.applied_migrations().map_err(failed)?;
    let is_applied = |step: &dyn Migration<DB>| applied.contains(&step.name().version());
    let mut done = Vec::new();
    match job {
        Job::Up => {
            for step in known.iter().filter(|step| !is_applied(step.as_ref())) {
                conn.run_migration(step.as_ref()).map_err(failed)?;
                done.push(MigrationStatus { name: step.name().to_string(), applied: true });
            }
        }
        Job::Down => {
            if let Some(step) = known.iter().rev().find(|step| is_applied(step.as_ref())) {
                conn.revert_migration(step.as_ref()).map_err(failed)?;
                done.push(MigrationStatus { name: step.name().to_string(), applied: false });
            }
        }
        Job::Status => {
            for step in &known {
                done.push(MigrationStatus { name: step.name().to_string(), applied: is_applied(step.as_ref()) });
            }
        }
    }
    Ok(done)
}

fn unreachable(error: diesel::ConnectionError) -> StoreError {
    StoreError::Unreachable(error.to_string())
}
