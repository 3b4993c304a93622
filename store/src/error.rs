//! What can go wrong between us and the database or the objects.

/// An error of the store. None leaves anything half-written: every write is one transaction or one rename.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The URL names no database or object store we know.
    #[error("{url:?} is not understood: {reason}")]
    Url {
        /// The URL, without its password.
        url: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The database cannot be reached; try again later.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// A query failed.
    #[error("a database query failed")]
    Query(#[from] diesel::result::Error),
    /// A migration failed.
    #[error("a migration failed: {0}")]
    Migration(String),
    /// A stored text is not what its column promises (written by a newer version, or by hand).
    #[error("column {column} holds {value:?}, which this version cannot read")]
    Corrupt {
        /// Table and column.
        column: &'static str,
        /// The stored text.
        value: String,
    },
    /// A worker reported other replications than its task's: a fault of ours, nothing was stored.
    #[error("the results are not those of task {task}")]
    WrongResults {
        /// The task.
        task: crate::ids::TaskId,
    },
    /// There is no object of that hash.
    #[error("object {0} does not exist")]
    NoSuchObject(crate::objects::ObjectHash),
    /// The object is larger than the caller allows.
    #[error("the object has more than {limit} bytes")]
    TooLarge {
        /// The caller's limit in bytes.
        limit: u64,
    },
    /// The objects are another deployment's.
    #[error(
        "the objects belong to deployment {owner}, this database to {deployment}: FORESITE_DATABASE_URL or FORESITE_OBJECTS_URL is \
         another's; a new database needs a bucket, prefix or folder of its own. If this one takes the place of the other for good, \
         remove {mark} there"
    )]
    ForeignObjects {
        /// Whose they are.
        owner: String,
        /// Who asks.
        deployment: String,
        /// Where they say so, in the bucket or folder.
        mark: String,
    },
    /// The object store failed.
    #[error("the object store failed")]
    Objects(#[from] object_store::Error),
    /// Local files failed.
    #[error("a local file failed")]
    Io(#[from] std::io::Error),
}

impl StoreError {
    /// Whether the same call may succeed later (the server is away, a disk is full), so that a caller answers 503 rather than 500.
    pub fn is_temporary(&self) -> bool {
        use diesel::result::{DatabaseErrorKind as Kind, Error};
        match self {
            Self::Unreachable(_) | Self::Objects(_) => true,
            Self::Io(error) => disk_is_full(error),
            Self::Query(Error::DatabaseError(Kind::Unknown, information)) => {
                TEMPORARY.iter().any(|start| information.message().starts_with(start))
            }
            Self::Query(Error::DatabaseError(kind, _)) => {
                matches!(kind, Kind::ClosedConnection | Kind::UnableToSendCommand | Kind::SerializationFailure)
            }
            Self::Query(Error::BrokenTransactionManager) => true,
            _ => false,
        }
    }
}

/// Whether a file could not be written for want of room: that passes.
pub fn disk_is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

/// How messages begin for which diesel has no kind: PostgreSQL restarts or chose us in a deadlock; SQLite's file is in use; the
/// disk of either is full.
const TEMPORARY: [&str; 9] = [
    "terminating connection",
    "the database system is",
    "sorry, too many clients",
    "remaining connection slots",
    "deadlock detected",
    "database is locked",
    "database or disk is full",
    "could not extend file",
    "could not write",
];
