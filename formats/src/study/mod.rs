//! A study made ready: every file read once, the baseline and each scenario lowered to engine values, checked.
//!
//! Pure: files come as a [`FileSet`], time and memory are the caller's to measure. Reading order: [`Study`], [`prepare`],
//! `apply` (changes), `controllers` (separate ones), [`replicate`], [`run`].

use std::sync::Arc;

use foresite_engine::scenario::Scenario;

use crate::comparison::{Caveat, Plan};
use crate::hostlist::NodeNames;
use crate::study_document::StudyDocument;
use crate::summary_file::Horizon;

mod apply;
mod assign;
mod caveats;
mod controllers;
mod fits;
mod happenings;
mod idle;
mod inputs;
mod prepare;
mod recorded;
mod replicate;
mod run;
mod settled;
mod window;
mod workload;

#[cfg(test)]
mod tests;

pub use inputs::TRACE_NAME;
pub use prepare::{Machine, compact_trace, read_site, read_trace};
pub use replicate::{Replicated, replication_seed};
pub use run::compare;

use controllers::Split;
use recorded::Recorded;
use workload::Edits;

/// A study ready to be simulated. Scenario 0 is the baseline.
#[derive(Clone, Debug)]
pub struct Study {
    document: StudyDocument,
    scenarios: Vec<Prepared>,
    plan: Plan,
    /// What the trace says became of the baseline's jobs.
    recorded: Option<Arc<Recorded>>,
}

/// One scenario ready to be simulated.
#[derive(Clone, Debug)]
struct Prepared {
    name: String,
    /// The whole site under the scenario's changes, with the simulated jobs.
    site: Arc<Scenario>,
    names: NodeNames,
    /// Several controllers in place of one.
    split: Option<Arc<Split>>,
    /// Changes to the jobs, made anew for each replication.
    edits: Option<Arc<Edits>>,
    horizon: Horizon,
}

impl Study {
    /// The document it was made from.
    pub fn document(&self) -> &StudyDocument {
        &self.document
    }

    /// How many scenarios there are, the baseline included.
    pub fn n_scenarios(&self) -> usize {
        self.scenarios.len()
    }

    /// The name of a scenario; `baseline` is number 0.
    pub fn scenario_name(&self, scenario: usize) -> Option<&str> {
        self.scenarios.get(scenario).map(|prepared| prepared.name.as_str())
    }

    /// The number of the scenario of that name.
    pub fn scenario_named(&self, name: &str) -> Option<usize> {
        self.scenarios.iter().position(|prepared| prepared.name == name)
    }

    /// Replications of each scenario.
    pub fn replications(&self) -> u32 {
        self.document.replications
    }

    /// How many jobs a replication simulates.
    pub fn n_jobs(&self) -> usize {
        self.scenarios.first().map_or(0, |prepared| prepared.site.workload.jobs.len())
    }

    /// What the comparison will say besides its measures.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Caveats known before anything is simulated.
    pub fn caveats(&self) -> &[Caveat] {
        &self.plan.caveats
    }

    /// What a scenario's schedule is measured over.
    pub fn horizon(&self, scenario: usize) -> Option<Horizon> {
        self.scenarios.get(scenario).map(|prepared| prepared.horizon)
    }

    /// The site under a scenario's changes, as one controller would have it; the workload is the simulated one, before changes to
    /// the jobs themselves.
    pub fn scenario(&self, scenario: usize) -> Option<&Arc<Scenario>> {
        self.scenarios.get(scenario).map(|prepared| &prepared.site)
    }
}
