//! Files from disk, as far as a study or a slurm.conf refers to them, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;
use foresite_formats::slurm_conf::SlurmConf;
use foresite_formats::study_document::StudyDocument;

/// Reads every file that the document names, relative to `folder`, and what slurm.conf refers to. Missing files are faults; what
/// slurm.conf's reader needs and does not find, it reports itself.
pub(crate) fn of_document(document: &StudyDocument, folder: &Path) -> (FileSet, Vec<Diagnostic>) {
    let mut files = FileSet::default();
    let mut faults = Vec::new();
    for name in document.file_names() {
        match fs::read(folder.join(name)) {
            Ok(bytes) => files.insert(name, bytes),
            Err(error) => faults.push(unreadable(name, &error)),
        }
    }
    if let Some(slurm_conf) = &document.site.slurm_conf {
        add_neighbours(&mut files, slurm_conf, folder);
    }
    (files, faults)
}

/// A fault about a file that cannot be read.
pub(crate) fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    let cure = if error.kind() == io::ErrorKind::NotFound { "check the name" } else { "check that it can be read" };
    Diagnostic::error(name, error.to_string()).cure(cure)
}

/// Adds what slurm.conf consists of, as far as it is there.
fn add_neighbours(files: &mut FileSet, slurm_conf: &str, folder: &Path) {
    let mut looked_for = BTreeSet::new();
    // A file found may include further ones; the reader bounds how many, and how deep.
    loop {
        let mut wanted = SlurmConf::sources(files, slurm_conf).wanted;
        wanted.retain(|places| looked_for.insert(places.clone()));
        if wanted.is_empty() {
            return;
        }
        for places in wanted {
            let found = places.iter().find_map(|name| Some((name, fs::read(folder.join(name)).ok()?)));
            if let Some((name, bytes)) = found {
                files.insert(name.as_str(), bytes);
            }
        }
    }
}

/// The folder a file stands in.
pub(crate) fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// A path as a name in a [`FileSet`].
pub(crate) fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
