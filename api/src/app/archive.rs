//! A configuration as a tar (plain, gzip, zstd): its files by name, with caps on what comes out of it.

use std::io::{self, Read};

use foresite_formats::compression;
use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;

use crate::error::{ApiError, ApiResult, Code};

/// The name that faults of the archive itself are reported under.
const ARCHIVE: &str = "archive";
/// More files than any configuration has.
const MAX_FILES: usize = 1000;

/// Unpacks an archive. Blocking.
///
/// # Errors
/// 422 with every fault: torn, too large, unsafe names, links. 413 when it unpacks to more than `limit` bytes.
pub fn unpack(bytes: &[u8], limit: u64) -> ApiResult<FileSet> {
    let mut files = FileSet::default();
    let mut faults = Vec::new();
    if let Err(error) = read_entries(bytes, limit, &mut files, &mut faults) {
        if is_too_large(&error) {
            let detail = format!("the configuration has more than {limit} bytes after unpacking; send only its files");
            return Err(ApiError::new(Code::PayloadTooLarge, detail));
        }
        faults.push(
            Diagnostic::error(ARCHIVE, format!("it cannot be read as a tar: {error}"))
                .cure("send the folder of slurm.conf, packed by `tar -cz`"),
        );
    }
    if faults.is_empty() {
        Ok(without_common_folder(&files))
    } else {
        Err(ApiError::refused(Code::InvalidConfig, faults))
    }
}

fn read_entries(bytes: &[u8], limit: u64, files: &mut FileSet, faults: &mut Vec<Diagnostic>) -> io::Result<()> {
    let mut archive = tar::Archive::new(compression::open(bytes, Some(limit))?);
    for (count, entry) in archive.entries()?.enumerate() {
        if count >= MAX_FILES {
            faults.push(Diagnostic::error(ARCHIVE, format!("it has more than {MAX_FILES} entries")));
            return Ok(());
        }
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let raw = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let Some(name) = safe_name(&raw) else {
            faults.push(Diagnostic::error(&raw, "the name leaves the folder").cure("pack relative names without '..'"));
            continue;
        };
        if !kind.is_file() {
            faults.push(Diagnostic::error(name, "it is no plain file").cure("pack links as files: `tar -czh`"));
            continue;
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        files.insert(name, content);
    }
    Ok(())
}

/// A name with `/` and without `.` and `..`; `None` for one that leaves the folder. Names are only keys, no file is ever made of
/// one; a leading `/` stays, since slurm.conf may include files by their whole path.
pub(super) fn safe_name(raw: &str) -> Option<String> {
    if raw.contains('\0') || raw.contains('\\') {
        return None;
    }
    let parts: Vec<&str> = raw.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if raw.starts_with('/') { "/" } else { "" };
    if parts.is_empty() || parts.contains(&"..") { None } else { Some(format!("{root}{}", parts.join("/"))) }
}

/// `tar -cz site` and `tar -cz -C site .` mean the same: the folder around all files is left out.
fn without_common_folder(files: &FileSet) -> FileSet {
    let mut folders = files.names().map(|name| name.split_once('/').map(|(folder, _)| folder));
    let first = folders.next().flatten();
    let Some(folder) = first.filter(|first| !first.is_empty() && folders.all(|folder| folder == Some(first))) else {
        return files.clone();
    };
    let prefix = format!("{folder}/");
    let mut stripped = FileSet::default();
    for name in files.names() {
        if let (Some(short), Some(bytes)) = (name.strip_prefix(&prefix), files.get(name)) {
            stripped.insert(short, bytes);
        }
    }
    without_common_folder(&stripped)
}

fn is_too_large(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<compression::CompressionError>());
    match inner {
        Some(compression::CompressionError::TooLarge { .. }) => true,
        // tar wraps errors of its source.
        None => error
            .get_ref()
            .and_then(std::error::Error::source)
            .is_some_and(|source| source.downcast_ref::<io::Error>().is_some_and(is_too_large)),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests;
