//! One store over two databases. A query is written once; [`load!`], [`first!`] and [`execute!`] compile it for both.
//!
//! Reads take a connection from [`Store::read`]. Writes take a transaction from [`Store::begin`] and end it with
//! [`Conn::finish`]; a transaction that is dropped midway (a client went away) closes its connection, which rolls it back.

mod blocking;
pub(crate) mod tls;

use std::sync::Arc;

use blocking::Blocking;
use diesel::{ConnectionError, ConnectionResult, SqliteConnection};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, bb8};
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_async::{
    AnsiTransactionManager, AsyncConnection, AsyncPgConnection, SimpleAsyncConnection, TransactionManager,
};
use futures::FutureExt;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::audit::{self, AuditEntry};
use crate::database_url::DatabaseUrl;
use crate::error::StoreError;
use crate::time::Clock;

pub(crate) type SqliteAsync = SyncConnectionWrapper<SqliteConnection, Blocking>;

/// How long a request waits for a free connection.
const POOL_TIMEOUT_SECONDS: u64 = 10;
/// How long SQLite waits for another process's write.
const SQLITE_BUSY_MS: u32 = 20_000;
const SQLITE_CONNECTIONS: u32 = 4;

/// The database. Cheap to clone; all clones share one pool.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
    /// Written with the next transaction; see [`Store::audited`].
    entry: Option<Arc<AuditEntry>>,
    pub(crate) clock: Arc<Clock>,
}

#[derive(Clone)]
enum Pool {
    Postgres(bb8::Pool<AsyncPgConnection>),
    /// SQLite has one writer at a time. Writers of this process queue fairly at the mutex instead of polling the file's lock.
    Sqlite(bb8::Pool<SqliteAsync>, Arc<Mutex<()>>),
}

/// A connection, inside a transaction if it came from [`Store::begin`].
#[allow(clippy::large_enum_variant, reason = "a few live at a time, on the stack of one call")]
pub(crate) enum Conn {
    Postgres(bb8::PooledConnection<'static, AsyncPgConnection>, Option<Arc<AuditEntry>>),
    Sqlite(
        bb8::PooledConnection<'static, SqliteAsync>,
        Option<Arc<AuditEntry>>,
        #[allow(dead_code, reason = "held, not read")] Option<OwnedMutexGuard<()>>,
    ),
}

/// Runs a query, gives all rows.
macro_rules! load {
    ($conn:expr, $query:expr) => {
        match $conn {
            crate::connection::Conn::Postgres(conn, _) => diesel_async::RunQueryDsl::load($query, conn).await,
            crate::connection::Conn::Sqlite(conn, ..) => diesel_async::RunQueryDsl::load($query, conn).await,
        }
    };
}

/// Runs a query, gives the first row if there is one.
macro_rules! first {
    ($conn:expr, $query:expr) => {
        diesel::OptionalExtension::optional(match $conn {
            crate::connection::Conn::Postgres(conn, _) => diesel_async::RunQueryDsl::get_result($query, conn).await,
            crate::connection::Conn::Sqlite(conn, ..) => diesel_async::RunQueryDsl::get_result($query, conn).await,
        })
    };
}

/// Runs a statement, gives the number of rows it touched.
macro_rules! execute {
    ($conn:expr, $query:expr) => {
        match $conn {
            crate::connection::Conn::Postgres(conn, _) => diesel_async::RunQueryDsl::execute($query, conn).await,
            crate::connection::Conn::Sqlite(conn, ..) => diesel_async::RunQueryDsl::execute($query, conn).await,
        }
    };
}

pub(crate) use {execute, first, load};

impl Store {
    /// Opens the database; makes the folder and file of a SQLite database that does not exist. Does not migrate
    /// (see [`crate::migrations`]). `max_connections` bounds the pool of PostgreSQL connections.
    pub async fn connect(url: &DatabaseUrl, max_connections: u32) -> Result<Self, StoreError> {
        let timeout = std::time::Duration::from_secs(POOL_TIMEOUT_SECONDS);
        let pool = match url {
            DatabaseUrl::Postgres(url) => {
                let target = tls::Target::of(url)?;
                let mut config = ManagerConfig::default();
                config.custom_setup = Box::new(move |_| {
                    let target = target.clone();
                    async move { target.connect().await }.boxed()
                });
                let manager = AsyncDieselConnectionManager::<AsyncPgConnection>::new_with_config(url.as_str(), config);
                let builder = bb8::Pool::builder().max_size(max_connections.max(1)).connection_timeout(timeout);
                Pool::Postgres(
                    builder.build(manager).await.map_err(|error| StoreError::Unreachable(error.to_string()))?,
                )
            }
            DatabaseUrl::Sqlite(path) => {
                url.create_folder()?;
                let mut config = ManagerConfig::default();
                config.custom_setup = Box::new(|path| open_sqlite(path.to_owned()).boxed());
                let path = path.to_string_lossy();
                let manager = AsyncDieselConnectionManager::<SqliteAsync>::new_with_config(path.as_ref(), config);
                let builder = bb8::Pool::builder().max_size(SQLITE_CONNECTIONS).connection_timeout(timeout);
                let pool = builder.build(manager).await.map_err(|error| StoreError::Unreachable(error.to_string()))?;
                Pool::Sqlite(pool, Arc::new(Mutex::new(())))
            }
        };
        Ok(Self { pool, entry: None, clock: Arc::default() })
    }

    pub(crate) fn with_entry(&self, entry: AuditEntry) -> Self {
        Self { entry: Some(Arc::new(entry)), ..self.clone() }
    }

    /// Asks the database for a sign of life.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let mut conn = self.read().await?;
        execute!(&mut conn, diesel::sql_query("SELECT 1"))?;
        Ok(())
    }

    /// A connection for reading.
    pub(crate) async fn read(&self) -> Result<Conn, StoreError> {
        self.connection(None).await
    }

    /// A transaction for writing; end it with [`Conn::finish`].
    pub(crate) async fn begin(&self) -> Result<Conn, StoreError> {
        let turn = match &self.pool {
            Pool::Postgres(_) => None,
            Pool::Sqlite(_, writer) => Some(Arc::clone(writer).lock_owned().await),
        };
        let mut conn = self.connection(turn).await?;
        match &mut conn {
            Conn::Postgres(conn, _) => AnsiTransactionManager::begin_transaction(&mut **conn).await?,
            // Immediate: takes the write lock now, so that no later statement can fail for having read an old state.
            Conn::Sqlite(conn, ..) => begin_immediate(conn).await?,
        }
        Ok(conn)
    }

    async fn connection(&self, turn: Option<OwnedMutexGuard<()>>) -> Result<Conn, StoreError> {
        let unreachable = |error: bb8::RunError| StoreError::Unreachable(error.to_string());
        Ok(match &self.pool {
            Pool::Postgres(pool) => Conn::Postgres(pool.get_owned().await.map_err(unreachable)?, self.entry.clone()),
            Pool::Sqlite(pool, _) => {
                Conn::Sqlite(pool.get_owned().await.map_err(unreachable)?, self.entry.clone(), turn)
            }
        })
    }
}

impl Conn {
    /// Nothing was changed, so that the audit log has nothing to tell.
    pub(crate) fn unaudited(&mut self) {
        match self {
            Self::Postgres(_, entry) | Self::Sqlite(_, entry, _) => *entry = None,
        }
    }

    /// Rolls back.
    pub(crate) async fn undo(mut self) -> Result<(), StoreError> {
        match &mut self {
            Self::Postgres(conn, _) => rollback(&mut **conn).await,
            Self::Sqlite(conn, ..) => rollback(&mut **conn).await,
        }
    }

    /// [`Conn::finish`] for work that says whether it changed anything.
    pub(crate) async fn finish_if_changed(mut self, result: Result<bool, StoreError>) -> Result<bool, StoreError> {
        if !matches!(result, Ok(true)) {
            self.unaudited();
        }
        self.finish(result).await
    }

    /// Commits if the work went well, with its line in the audit log, else rolls back; gives the work's result.
    pub(crate) async fn finish<T>(mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        let entry = match &mut self {
            Self::Postgres(_, entry) | Self::Sqlite(_, entry, _) => entry.take(),
        };
        let result = match (result, entry) {
            (Ok(value), Some(entry)) => audit::append(&mut self, &entry).await.map(|()| value),
            (result, _) => result,
        };
        match result {
            Ok(value) => {
                match &mut self {
                    Self::Postgres(conn, _) => commit(&mut **conn).await?,
                    Self::Sqlite(conn, ..) => commit(&mut **conn).await?,
                }
                Ok(value)
            }
            Err(error) => {
                let rolled_back = match &mut self {
                    Self::Postgres(conn, _) => rollback(&mut **conn).await,
                    Self::Sqlite(conn, ..) => rollback(&mut **conn).await,
                };
                if let Err(rollback_error) = rolled_back {
                    tracing::warn!(error = %rollback_error, "rollback failed, the connection is dropped");
                }
                Err(error)
            }
        }
    }
}

async fn begin_immediate(conn: &mut SqliteAsync) -> Result<(), StoreError> {
    let begin = |conn: &mut SqliteConnection| {
        diesel::connection::AnsiTransactionManager::begin_transaction_sql(conn, "BEGIN IMMEDIATE")
    };
    Ok(conn.spawn_blocking(begin).await?)
}

async fn commit<C: AsyncConnection>(conn: &mut C) -> Result<(), StoreError> {
    Ok(C::TransactionManager::commit_transaction(conn).await?)
}

async fn rollback<C: AsyncConnection>(conn: &mut C) -> Result<(), StoreError> {
    Ok(C::TransactionManager::rollback_transaction(conn).await?)
}

/// WAL lets readers go on while one writes; full synchronisation keeps what was acknowledged over a power cut; foreign keys are off in SQLite unless asked for.
async fn open_sqlite(path: String) -> ConnectionResult<SqliteAsync> {
    let mut conn = SqliteAsync::establish(&path).await?;
    let pragmas = format!(
        "PRAGMA busy_timeout = {SQLITE_BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
    );
    conn.batch_execute(&pragmas).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.pool {
            Pool::Postgres(_) => "Store(postgres)",
            Pool::Sqlite(..) => "Store(sqlite)",
        })
    }
}
