//! A process's folder for temporary files. It goes with the process; what a process left that was killed goes with the next one that
//! starts. A lock tells one from the other: the system gives it back however its holder ends, also where process ids mean nothing
//! (containers).

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// What every such folder is called, before a random part.
const PREFIX: &str = "foresite-scratch-";
/// Held by the folder's process.
const LOCK: &str = "lock";

/// A folder that is this process's until it is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one in `parent`, and removes those there whose processes are gone.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn enter(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent);
        // Under another name until it is locked, or somebody who starts now would take it for abandoned.
        let entering = tempfile::Builder::new().prefix("foresite-entering-").tempdir_in(parent)?;
        let lock = File::create(entering.path().join(LOCK))?;
        lock.lock()?;
        let entering = entering.keep();
        let random = entering.file_name().unwrap_or_default().to_string_lossy().replace("foresite-entering-", PREFIX);
        let folder = parent.join(random);
        fs::rename(&entering, &folder)?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where files are made.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let folder = folder.path();
        match File::open(folder.join(LOCK)).map(|lock| lock.try_lock()) {
            // Its process is gone; or it was being removed.
            Ok(Ok(())) => remove(&folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => remove(&folder),
            // Alive, or another user's.
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => {}
        }
    }
}

fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(folder = %folder.display(), %error, "temporary files stay behind");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_the_dead_left_goes_and_what_the_living_have_stays() {
        let parent = tempfile::tempdir().unwrap();
        let living = Scratch::enter(parent.path()).unwrap();
        fs::write(living.path().join("file"), "x").unwrap();
        let dead = parent.path().join(format!("{PREFIX}dead"));
        fs::create_dir_all(dead.join("task")).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        let strange = parent.path().join("something-else");
        fs::create_dir(&strange).unwrap();
        let other = Scratch::enter(parent.path()).unwrap();
        assert!(!dead.exists() && strange.exists());
        assert!(living.path().join("file").exists() && other.path().is_dir());
        let path = other.path().to_owned();
        drop(other);
        assert!(!path.exists());
    }
}
