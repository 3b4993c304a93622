//! The study document: the same YAML or JSON by file, REST and gRPC.
//!
//! Reading order: the types here, [`change`], [`gate`], [`units`]; then [`read`], which turns bytes into a document and lists
//! every fault at once.

use serde::{Deserialize, Serialize};

pub mod change;
pub mod gate;
pub mod reservation;
pub mod units;
pub mod workload;

mod checks;
mod expansion;
mod faults;
mod lines;
mod reading;

#[cfg(test)]
mod tests;

pub use change::Change;
pub use gate::Gate;
pub use reading::{DOCUMENT, locate, read};

use crate::diagnostic::Diagnostic;
use units::{Moment, Span};
use workload::{ScaleArrivals, Selection, WorkloadChange};

/// A study: one baseline, several scenarios, each simulated in paired replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyDocument {
    /// What the study is called, for people.
    #[serde(default)]
    pub name: String,
    /// The cluster.
    #[serde(default)]
    pub site: SiteSource,
    /// Its history.
    #[serde(default)]
    pub trace: TraceSource,
    /// Replications of the baseline and of each scenario, 1 to 1000, default 10.
    #[serde(default = "default_replications")]
    pub replications: u32,
    /// Seed of every random stream, default 1.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The what-ifs; the unchanged baseline is always simulated beside them.
    #[serde(default)]
    pub scenarios: Vec<ScenarioChanges>,
    /// Thresholds that decide the exit code of a gated run.
    #[serde(default)]
    pub gates: Vec<Gate>,
}

/// Where the site's files are: file names relative to the document, or ids at the service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteSource {
    /// slurm.conf; Include files, gres.conf and topology.conf are found beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slurm_conf: Option<String>,
    /// `sacctmgr dump`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounts: Option<String>,
    /// `scontrol show reservation -o`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservations: Option<String>,
    /// `sshare -alP`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// `sacctmgr show event -P`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<String>,
    /// `sdiag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdiag: Option<String>,
    /// At the service: the site's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// At the service: the configuration's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
}

/// Where the history is, and which part of it counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSource {
    /// A file relative to the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// At the service: the trace's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Jobs submitted in [from, to) are counted; all where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<(Moment, Moment)>,
    /// Time before the window whose jobs are simulated but not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Span>,
    /// IANA name of the zone in which the trace (and the window) writes its times; default UTC, for a stored trace
    /// the zone that was told at its upload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// One what-if: the baseline with some changes, applied in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioChanges {
    /// Unique in the study, and not `baseline`.
    pub name: String,
    /// What differs from the baseline.
    pub changes: Vec<Change>,
}

impl ScenarioChanges {
    /// The most jobs there are for one of the trace.
    fn times_at_most(&self) -> f64 {
        let of_change = |change: &Change| match change {
            Change::Workload(WorkloadChange::ScaleArrivals(ScaleArrivals { factor, jobs })) => {
                let others = if *jobs == Selection::default() { 0.0 } else { 1.0 };
                factor.max(others)
            }
            _ => 1.0,
        };
        self.changes.iter().map(of_change).product()
    }
}

/// The name of scenario 0 of every study.
pub const BASELINE: &str = "baseline";

const fn default_replications() -> u32 {
    10
}

const fn default_seed() -> u64 {
    1
}

impl StudyDocument {
    /// A document of one baseline replication on the given files, as `foresite simulate` runs it.
    pub fn single(name: impl Into<String>, site: SiteSource, trace: TraceSource, seed: u64) -> Self {
        Self { name: name.into(), site, trace, replications: 1, seed, scenarios: Vec::new(), gates: Vec::new() }
    }

    /// The document as compact JSON with its defaults written out and without the places its files came from: equal
    /// studies give equal bytes by whichever door they came.
    pub fn canonical_json(&self) -> String {
        let trace = TraceSource { file: None, trace: None, ..self.trace.clone() };
        let bare = Self { site: SiteSource::default(), trace, ..self.clone() };
        serde_json::to_string(&bare).unwrap_or_default()
    }

    /// The most jobs that all replications of all scenarios simulate together, of a trace of `jobs` jobs: a window may leave
    /// fewer, and so may a change of arrivals that is for some jobs only.
    pub fn jobs_at_most(&self, jobs: u64) -> u64 {
        let times: f64 = 1.0 + self.scenarios.iter().map(ScenarioChanges::times_at_most).sum::<f64>();
        // Beyond what a float tells exactly, a study is too large in any case.
        (jobs as f64 * f64::from(self.replications) * times).ceil() as u64
    }

    /// The fault of a document that refers to things stored at a service, where there is none; `name` is the document's file.
    pub fn needs_service(&self, name: &str) -> Option<Diagnostic> {
        let pointer = match (&self.site.site, &self.trace.trace) {
            (Some(_), _) => "/site",
            (None, Some(_)) => "/trace",
            (None, None) => return None,
        };
        let fault = Diagnostic::error(name, "ids name things stored at a service").field(pointer);
        Some(fault.cure("name files, or hand the study to `foresite submit`"))
    }

    /// Every file the document names, in the order of its fields; empty at the service.
    pub fn file_names(&self) -> Vec<&str> {
        let site = &self.site;
        [&site.slurm_conf, &site.accounts, &site.reservations, &site.usage, &site.events, &site.sdiag, &self.trace.file]
            .into_iter()
            .filter_map(|name| name.as_deref())
            .collect()
    }
}
