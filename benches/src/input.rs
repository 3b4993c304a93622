//! Inputs as users hand them over, made ready by `foresite-formats`.

use std::path::Path;
use std::{fs, io};

use anyhow::{Context, bail};
use foresite_formats::diagnostic::Diagnostic;
use foresite_formats::file_set::FileSet;
use foresite_formats::study::{Machine, Study};
use foresite_formats::study_document::{Change, ScenarioChanges, SiteSource, StudyDocument, TraceSource};
use sha2::{Digest, Sha256};

use crate::process::Stopwatch;
use crate::site::Site;

/// Files of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Input {
    /// The files by name.
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
    /// A plain machine, without slurm.conf.
    pub(crate) machine: Machine,
    /// Seconds it took to make them.
    pub(crate) made_in: f64,
}

impl Input {
    /// The files of a generated machine.
    pub(crate) fn generate(site: &Site, seed: u64) -> io::Result<Self> {
        let watch = Stopwatch::start();
        let mut trace = Vec::new();
        site.write_trace(seed, &mut trace)?;
        let topology = site.topology_conf.iter().map(|text| ("topology.conf", text.clone().into_bytes()));
        let files = vec![
            ("slurm.conf", site.slurm_conf.clone().into_bytes()),
            ("sacctmgr.cfg", site.accounts_text().into_bytes()),
        ];
        let files = files.into_iter().chain(topology).chain([("sacct.txt", trace)]).collect();
        Ok(Self { files, machine: Machine::default(), made_in: watch.read().wall })
    }

    /// What all bytes hash to, shortened.
    pub(crate) fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (name, bytes) in &self.files {
            hash.update(name.as_bytes());
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        short(hash)
    }

    /// Bytes of the trace.
    pub(crate) fn trace_bytes(&self) -> usize {
        self.files.last().map_or(0, |(_, bytes)| bytes.len())
    }

    /// Writes the files into a folder, for `foresite simulate`.
    pub(crate) fn write_to(&self, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).with_context(|| format!("cannot write {name}"))?;
        }
        Ok(())
    }

    /// Reads the files as `foresite run` does. `changes` become one scenario beside the baseline.
    pub(crate) fn read(self, changes: Vec<Change>, replications: u32, seed: u64) -> anyhow::Result<Study> {
        let has = |name: &str| self.files.iter().any(|file| file.0 == name).then(|| name.to_owned());
        let site = SiteSource { slurm_conf: has("slurm.conf"), accounts: has("sacctmgr.cfg"), ..SiteSource::default() };
        let trace = TraceSource {
            file: has("sacct.txt").or(has("trace.swf")),
            timezone: Some("UTC".to_owned()),
            ..TraceSource::default()
        };
        let mut document = StudyDocument::single("benchmark", site, trace, seed);
        document.replications = replications;
        if !changes.is_empty() {
            document.scenarios.push(ScenarioChanges { name: "changed".to_owned(), changes });
        }
        let machine = self.machine;
        let mut files = FileSet::default();
        for (name, bytes) in self.files {
            files.insert(name, bytes);
        }
        let (study, found) = Study::prepare_on(&document, &files, machine);
        match study {
            Some(study) => Ok(study),
            None => bail!("the inputs are faulty:\n{}", faults(&found)),
        }
    }
}

/// The first eight bytes of a hash.
pub(crate) fn short(hash: Sha256) -> String {
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Errors, a line each.
pub(crate) fn faults(found: &[Diagnostic]) -> String {
    found.iter().filter(|it| it.is_error()).map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
