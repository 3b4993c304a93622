//! `foresite run`: a whole study offline.

use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::anyhow;
use clap::Args;
use foresite_formats::comparison::Comparison;
use foresite_formats::diagnostic::any_error;
use foresite_formats::study::{Replicated, Study};
use foresite_formats::study_document;

use crate::exit::Exit;
use crate::progress::Progress;
use crate::{diagnostics, files, written};

/// Simulate a study's baseline and scenarios, and compare them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    foresite run study.yaml                       the comparison on the screen\n  \
    foresite run study.yaml --out results         … and as JSON, CSV, Markdown, HTML, with every schedule\n  \
    foresite run study.yaml --gate --json         for CI: exit code 99 if a gate is breached\n\n\
    A study document:\n  \
    name: nodes not shared\n  \
    site: {slurm_conf: slurm.conf, accounts: sacctmgr.cfg}\n  \
    trace: {file: sacct.txt}\n  \
    scenarios:\n    \
    - {name: exclusive, changes: [{node_sharing: {partition: normal, mode: exclusive}}]}")]
pub(crate) struct Run {
    /// The study document (YAML or JSON); file names in it are relative to its folder.
    study: PathBuf,
    /// Write comparison.{json,csv,md}, report.html, junit.xml, figures and schedules to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 99 if a gate is breached.
    #[arg(long)]
    gate: bool,
    /// Print the comparison as JSON.
    #[arg(long)]
    json: bool,
    /// Threads; results are the same for any number. Default: one per core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl Run {
    /// Runs the study.
    pub(crate) fn execute(self) -> anyhow::Result<Exit> {
        let name = files::name_of(&self.study);
        let bytes = match fs::read(&self.study) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(diagnostics::refuse(&[files::unreadable(&name, &error)], self.json)),
        };
        let (document, mut found) = study_document::read(&name, &bytes);
        let Some(document) = document else { return Ok(diagnostics::refuse(&found, self.json)) };
        if let Some(fault) = document.needs_service(&name) {
            return Ok(diagnostics::refuse(&[fault], self.json));
        }
        let (file_set, unreadable) = files::of_document(&document, &files::folder_of(&self.study));
        found.extend(unreadable);
        if any_error(&found) {
            return Ok(diagnostics::refuse(&found, self.json));
        }
        let (study, prepared) = Study::prepare(&document, &file_set);
        found.extend(prepared);
        study_document::locate(&mut found, &name, &bytes);
        let Some(study) = study else { return Ok(diagnostics::refuse(&found, self.json)) };
        diagnostics::note(&found);
        drop(file_set);

        let comparison = self.simulate(&study)?;
        if let Some(out) = &self.out {
            written::comparison(out, &comparison)?;
        }
        print!("{}", if self.json { comparison.to_json() } else { comparison.to_terminal() });
        Ok(if self.gate && comparison.is_breached() { Exit::Breached } else { Exit::Done })
    }

    fn simulate(&self, study: &Study) -> anyhow::Result<Comparison> {
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let n_scenarios = study.n_scenarios();
        let progress = Progress::new(n_scenarios * study.replications() as usize, study.n_jobs());
        progress.say("simulating");
        let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
        let result = study.simulate_all(
            threads,
            |scenario, replication, finished, _| {
                progress.advance(replication as usize * n_scenarios + scenario, finished);
                ControlFlow::Continue(())
            },
            |scenario, replication, replicated| {
                progress.advance(replication as usize * n_scenarios + scenario, study.n_jobs());
                let written = self.out.as_ref().map_or(Ok(()), |out| {
                    write_replication(
                        out,
                        scenario,
                        study.scenario_name(scenario).unwrap_or_default(),
                        replication,
                        replicated,
                    )
                });
                match written {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        if let Ok(mut failure) = failure.lock() {
                            *failure = Some(error);
                        }
                        ControlFlow::Break(())
                    }
                }
            },
        );
        progress.clear();
        result.map_err(|interrupted| {
            let failure = failure.lock().ok().and_then(|mut failure| failure.take());
            failure.unwrap_or_else(|| anyhow!(interrupted))
        })
    }
}

fn write_replication(
    out: &Path,
    scenario: usize,
    name: &str,
    replication: u32,
    replicated: &Replicated,
) -> anyhow::Result<()> {
    let folder = out.join("schedules").join(format!("{scenario}-{}", slug(name)));
    written::schedule(&folder.join(format!("{replication}.csv")), &replicated.schedule)
}

/// A scenario's name as part of a file name.
fn slug(name: &str) -> String {
    let words: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(60).collect()
}
