//! `FORESITE_DATABASE_URL`: which database.

use std::path::PathBuf;

use crate::error::StoreError;

/// Where the rows are.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// `postgres://user:password@host/database`.
    Postgres(url::Url),
    /// `sqlite://path` (relative) or `sqlite:///path` (absolute).
    Sqlite(PathBuf),
}

impl DatabaseUrl {
    /// Reads a URL.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let fault = |reason: String| StoreError::Url { url: without_password(text), reason };
        if let Some(path) = text.strip_prefix("sqlite://") {
            if path.is_empty() || path.contains('?') {
                return Err(fault("write sqlite://PATH, for example sqlite://.foresite/foresite.db".to_owned()));
            }
            return Ok(Self::Sqlite(PathBuf::from(path)));
        }
        let url =
            url::Url::parse(text).map_err(|error| fault(format!("{error}; write sqlite://PATH or postgres://…")))?;
        match url.scheme() {
            "postgres" | "postgresql" => Ok(Self::Postgres(url)),
            other => Err(fault(format!("unknown scheme {other:?}; write sqlite://PATH or postgres://…"))),
        }
    }

    /// Makes the folder of a SQLite file.
    pub(crate) fn create_folder(&self) -> Result<(), StoreError> {
        if let Self::Sqlite(path) = self
            && let Some(folder) = path.parent()
            && !folder.as_os_str().is_empty()
        {
            std::fs::create_dir_all(folder)?;
        }
        Ok(())
    }
}

/// Never shows the password: fit for logs.
impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Postgres(url) => f.write_str(&without_password(url.as_str())),
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
        }
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// A URL fit for logs: any password is replaced by `***`.
pub(crate) fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(authority_end);
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{scheme}://{user}:***@{host}{tail}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn urls_choose_the_database() {
        assert_eq!(DatabaseUrl::parse("sqlite://a/b.db").unwrap(), DatabaseUrl::Sqlite("a/b.db".into()));
        assert_eq!(DatabaseUrl::parse("sqlite:///a/b.db").unwrap(), DatabaseUrl::Sqlite("/a/b.db".into()));
        assert!(matches!(DatabaseUrl::parse("postgres://u:p@h/d").unwrap(), DatabaseUrl::Postgres(_)));
    }

    #[test]
    fn a_fault_names_the_cure_and_hides_the_password() {
        let fault = DatabaseUrl::parse("mysql://u:secret@h/d").unwrap_err().to_string();
        assert!(fault.contains("postgres://") && !fault.contains("secret"), "{fault}");
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(DatabaseUrl::parse("postgres://u:secret@h/d").unwrap().to_string(), "postgres://u:***@h/d");
    }
}
