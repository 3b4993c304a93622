//! Files from disk, as far as a study or a slurm.conf refers to them, and no others.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;
use foresite_formats::study::included_files;
use foresite_formats::study_document::StudyDocument;

/// Read beside slurm.conf where they are there.
const NEIGHBOURS: [&str; 2] = ["gres.conf", "topology.conf"];

/// More files than this are not read for one configuration.
const FILES_MAX: usize = 1000;

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

fn add_neighbours(files: &mut FileSet, slurm_conf: &str, folder: &Path) {
    let mut wanted: Vec<String> = NEIGHBOURS.iter().map(|name| beside(slurm_conf, name)).collect();
    let mut looked_into = vec![slurm_conf.to_owned()];
    let mut next = 0;
    while let Some(name) = looked_into.get(next).cloned().filter(|_| next < FILES_MAX) {
        let includes = files.get(&name).map(included_files).unwrap_or_default();
        for include in includes {
            // Slurm resolves a relative Include against the folder of slurm.conf.
            let place = if include.starts_with('/') { include } else { beside(slurm_conf, &include) };
            if !looked_into.contains(&place) {
                read_if_there(files, &place, folder);
                looked_into.push(place);
            }
        }
        next += 1;
    }
    wanted.retain(|name| files.get(name).is_none());
    for name in wanted {
        read_if_there(files, &name, folder);
    }
}

fn read_if_there(files: &mut FileSet, name: &str, folder: &Path) {
    if let Ok(bytes) = fs::read(folder.join(name)) {
        files.insert(name, bytes);
    }
}

fn beside(file: &str, name: &str) -> String {
    file.rsplit_once('/').map_or_else(|| name.to_owned(), |(folder, _)| format!("{folder}/{name}"))
}

/// The folder a file stands in.
pub(crate) fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// A path as a name in a [`FileSet`].
pub(crate) fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
