//! A configuration as a tar (plain, gzip, zstd): its files by name, with caps on what comes out of it.

use std::io::{self, Read};

use foresite_formats::compression;
use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;

use crate::error::{ApiError, ApiResult, Code};

/// The name that faults of the archive itself are reported under.
const ARCHIVE: &str = "archive";
/// More files than any configuration has.
pub const FILES_MAX: usize = 1000;
/// The longest name of a file [bytes]: PATH_MAX of Linux, with its closing zero.
const NAME_BYTES_MAX: usize = 4095;
/// So much of a name is shown in a fault.
const SHOWN_CHARS: usize = 200;

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
        Ok(without_common_folder(files))
    } else {
        Err(ApiError::refused(Code::InvalidConfig, faults))
    }
}

fn read_entries(bytes: &[u8], limit: u64, files: &mut FileSet, faults: &mut Vec<Diagnostic>) -> io::Result<()> {
    let mut archive = tar::Archive::new(compression::open(bytes, Some(limit))?);
    for (count, entry) in archive.entries()?.enumerate() {
        if count >= FILES_MAX {
            faults.push(too_many_files());
            return Ok(());
        }
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        let raw = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = match safe_name(&raw) {
            Ok(name) => name,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
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

/// A name with `/` and without `.` and `..`. Names are only keys, no file is ever made of one; a leading `/` stays, since slurm.conf
/// may include files by their whole path.
///
/// # Errors
/// The fault of a name that leaves the folder, or is longer than any system's.
pub(super) fn safe_name(raw: &str) -> Result<String, Diagnostic> {
    let fault = |message: String| Diagnostic::error(raw.chars().take(SHOWN_CHARS).collect::<String>(), message);
    if raw.len() > NAME_BYTES_MAX {
        let message = format!("the name has more than {NAME_BYTES_MAX} bytes");
        return Err(fault(message).cure("send the folder of slurm.conf itself"));
    }
    let parts: Vec<&str> = raw.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if raw.contains(['\0', '\\']) || parts.is_empty() || parts.contains(&"..") {
        return Err(fault("the name leaves the folder".to_owned()).cure("send relative names without '..'"));
    }
    let root = if raw.starts_with('/') { "/" } else { "" };
    Ok(format!("{root}{}", parts.join("/")))
}

/// The fault of more files than are read.
pub fn too_many_files() -> Diagnostic {
    Diagnostic::error(ARCHIVE, format!("it has more than {FILES_MAX} files")).cure("send only what slurm.conf names")
}

/// `tar -cz site` and `tar -cz -C site .` mean the same: the folders around all files are left out. O(bytes of all names).
fn without_common_folder(files: FileSet) -> FileSet {
    let folder = |name: &str, n_common: usize| name.get(..n_common)?.rfind('/').map(|at| at + 1);
    let mut names = files.names();
    let first = names.next().unwrap_or_default();
    let common = names.fold(folder(first, first.len()), |common, name| {
        let alike = first.chars().zip(name.chars()).take_while(|(one, other)| one == other);
        folder(first, common?.min(alike.map(|(letter, _)| letter.len_utf8()).sum()))
    });
    let Some(common) = common.filter(|_| !first.starts_with('/')) else { return files };
    let mut stripped = FileSet::default();
    for name in files.names() {
        if let (Some(short), Some(bytes)) = (name.get(common..), files.get(name)) {
            stripped.insert(short, bytes);
        }
    }
    stripped
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
