//! Which files a study reads, and their hashes.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::comparison::Inputs;
use crate::file_set::FileSet;
use crate::study_document::StudyDocument;
use crate::summary_file::foresite_engine_version;
use crate::trace::compact;

/// The name under which the service hands over a stored trace.
pub const TRACE_NAME: &str = "trace";

/// Files that slurm.conf's plugins read beside it.
const NEIGHBOURS: [&str; 2] = ["gres.conf", "topology.conf"];

/// Include chains longer than this are cut off; slurmctld itself would fail on them.
const INCLUDES_MAX: usize = 1000;

/// The files named by `Include` lines, as written, in order. `%c` stands for the cluster's name and is left as it is.
pub fn included_files(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .filter_map(|line| {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (word, name) = line.split_once(char::is_whitespace)?;
            word.eq_ignore_ascii_case("include").then(|| name.trim().to_owned())
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// What the comparison's numbers are a function of.
pub(super) fn inputs(document: &StudyDocument, files: &FileSet, window: Option<(i64, i64)>) -> Inputs {
    let mut configuration = BTreeMap::new();
    if let Some(slurm_conf) = &document.site.slurm_conf {
        let folder = slurm_conf.rsplit_once('/').map_or("", |(folder, _)| folder);
        for name in configuration_files(slurm_conf, files) {
            let beside = name.strip_prefix(folder).unwrap_or(&name).trim_start_matches('/').to_owned();
            let role = if name == *slurm_conf { "slurm.conf".to_owned() } else { beside };
            insert(&mut configuration, files, role, &name);
        }
    }
    let site = &document.site;
    let facts = [
        ("accounts", &site.accounts),
        ("reservations", &site.reservations),
        ("usage", &site.usage),
        ("events", &site.events),
        ("sdiag", &site.sdiag),
    ];
    for (role, name) in facts {
        if let Some(name) = name {
            insert(&mut configuration, files, role.to_owned(), name);
        }
    }
    let trace = document.trace.file.as_deref().and_then(|name| match files.compact(name) {
        Some(bytes) => compact::origin(bytes).ok().map(|origin| origin.sha256),
        None => files.get(name).map(sha256),
    });
    Inputs {
        name: document.name.clone(),
        configuration,
        trace: trace.unwrap_or_default(),
        document: sha256(document.canonical_json().as_bytes()),
        engine_version: foresite_engine_version().to_owned(),
        seed: document.seed,
        replications: document.replications,
        window,
    }
}

fn insert(configuration: &mut BTreeMap<String, String>, files: &FileSet, role: String, name: &str) {
    if let Some(bytes) = files.get(name) {
        configuration.insert(role, sha256(bytes));
    }
}

/// slurm.conf, what it includes, and its neighbours, as far as they are there.
fn configuration_files(slurm_conf: &str, files: &FileSet) -> Vec<String> {
    let mut names: Vec<String> = vec![slurm_conf.to_owned()];
    names.extend(NEIGHBOURS.iter().filter_map(|name| files.beside(slurm_conf, name)).map(|(name, _)| name));
    let mut next = 0;
    while let Some(name) = names.get(next).filter(|_| next < INCLUDES_MAX) {
        let included = files.get(name).map(included_files).unwrap_or_default();
        for file in included {
            let found = files.beside(slurm_conf, &file).map(|(name, _)| name);
            let found = found.or_else(|| files.get(&file).map(|_| file.clone()));
            names.extend(found.filter(|name| !names.contains(name)));
        }
        next += 1;
    }
    names
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
