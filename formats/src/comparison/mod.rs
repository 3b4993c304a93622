//! The comparison document: what differs between the baseline and each scenario, for whom, and how surely.
//!
//! It is built from schedules alone ([`measure`], [`Comparer`]) and holds no ids, clock times or speeds, so equal inputs give
//! equal bytes. Reading order: the types here, [`measure`], [`accumulate`], [`gates`], then the ways to show it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub mod accumulate;
pub mod alone;
pub mod fidelity;
pub mod figure;
pub mod gates;
pub mod measure;
pub mod statistics;

mod beside_record;
mod csv_table;
mod html;
mod human;
mod junit;
mod markdown;
mod names;
mod terminal;
mod unstarted;

#[cfg(test)]
mod tests;

pub use accumulate::{Comparer, Measured, Plan};
pub use alone::BaselineGroup;
pub use fidelity::Fidelity;
pub use gates::GateResult;
pub use measure::{Measures, measure};
pub use names::{Dimension, Metric, Verdict};
pub use unstarted::{Started, Unstarted};

/// The comparison of a study's scenarios with its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What was compared.
    pub inputs: Inputs,
    /// The scenarios, in the document's order.
    pub scenarios: Vec<ComparedScenario>,
    /// The baseline's own figures, where there is no scenario: overall first, then users, accounts, partitions and QOS.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub baseline: Vec<BaselineGroup>,
    /// The baseline beside the record, where the trace tells when jobs started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fidelity: Option<Fidelity>,
    /// What to bear in mind when reading the numbers.
    pub caveats: Vec<Caveat>,
    /// Each gate's result for each scenario.
    pub gates: Vec<GateResult>,
}

/// Everything that the numbers are a function of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// The study's name.
    pub name: String,
    /// SHA-256 of each configuration file, by its role or its place beside slurm.conf.
    pub configuration: BTreeMap<String, String>,
    /// SHA-256 of the trace as it was handed over.
    pub trace: String,
    /// SHA-256 of the study document without the places of its files.
    pub document: String,
    /// The engine's version.
    pub engine_version: String,
    /// The seed of every random stream.
    pub seed: u64,
    /// Replications of the baseline and of each scenario.
    pub replications: u32,
    /// The counted window [Unix s, half open]; absent where all jobs count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<(i64, i64)>,
}

/// One scenario beside the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedScenario {
    /// Its name in the document.
    pub name: String,
    /// Overall first, then users, accounts, partitions and QOS, each by name.
    pub groups: Vec<Group>,
    /// How jobs were shared out, where the scenario has several controllers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub controllers: Option<Controllers>,
    /// Jobs that never start, where the baseline starts some of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unstarted: Option<Unstarted>,
}

/// How jobs were shared out among separate controllers, over the simulated jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controllers {
    /// The controllers, by name.
    pub names: Vec<String>,
    /// Jobs that fit several controllers.
    pub either: u64,
    /// Jobs that fit none.
    pub too_large: u64,
    /// Those of them that were refused.
    pub rejected: u64,
    /// Those of them that were cut to a controller.
    pub cut: u64,
}

/// The jobs of one user, account, partition or QOS, or all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What the jobs have in common.
    pub by: Dimension,
    /// Its name; empty for all jobs.
    pub key: String,
    /// Counted jobs of a replication.
    pub jobs: u64,
    /// What became of them, over all replications.
    pub started: Started,
    /// The metrics, by name.
    pub metrics: BTreeMap<Metric, Change>,
}

/// One metric of one group: means over replications, and their paired difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// In the baseline; absent where no job has it.
    pub baseline: Option<f64>,
    /// In the scenario.
    pub scenario: Option<f64>,
    /// Scenario less baseline.
    pub difference: Option<f64>,
    /// Difference over baseline; absent where the baseline is 0.
    pub relative: Option<f64>,
    /// 95 % interval of the difference (Student's t over replications); absent below two replications.
    pub interval: Option<(f64, f64)>,
    /// The word for it.
    pub verdict: Verdict,
}

/// Something to bear in mind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Caveat {
    /// The scenario it is about; absent: all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scenario: Option<String>,
    /// A whole sentence.
    pub text: String,
}

impl Comparison {
    /// The document as indented JSON with a final line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map(|text| text + "\n").unwrap_or_default()
    }

    /// One CSV row per scenario, group and metric.
    pub fn to_csv(&self) -> String {
        csv_table::write(self)
    }

    /// A summary for a pull request.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// The gates as JUnit XML.
    pub fn to_junit(&self) -> String {
        junit::write(self)
    }

    /// An aligned table for a terminal.
    pub fn to_terminal(&self) -> String {
        terminal::write(self)
    }

    /// A page that needs no other file.
    pub fn to_html(&self) -> String {
        html::write(self)
    }

    /// Whether any gate was breached.
    pub fn is_breached(&self) -> bool {
        self.gates.iter().any(GateResult::is_breached)
    }
}

impl ComparedScenario {
    /// The group of all jobs.
    pub fn overall(&self) -> Option<&Group> {
        self.groups.iter().find(|group| group.by == Dimension::Overall)
    }

    /// The groups of a dimension, by name.
    pub fn by(&self, dimension: Dimension) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(move |group| group.by == dimension)
    }
}
