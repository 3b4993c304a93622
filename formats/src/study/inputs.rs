//! Which files a study reads, and their hashes.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::comparison::Inputs;
use crate::file_set::FileSet;
use crate::slurm_conf::SlurmConf;
use crate::study_document::StudyDocument;
use crate::summary_file::foresite_engine_version;
use crate::trace::compact;

/// The name under which the service hands over a stored trace.
pub const TRACE_NAME: &str = "trace";

/// What the comparison's numbers are a function of.
pub(super) fn inputs(document: &StudyDocument, files: &FileSet, window: Option<(i64, i64)>) -> Inputs {
    let mut configuration = BTreeMap::new();
    if let Some(slurm_conf) = &document.site.slurm_conf {
        let folder = slurm_conf.rsplit_once('/').map_or("", |(folder, _)| folder);
        for name in SlurmConf::sources(files, slurm_conf).found {
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

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
