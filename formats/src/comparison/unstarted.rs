//! Jobs that start on one side only, or nowhere: a change that refuses jobs must not look like one that starts them sooner.

use std::collections::BTreeMap;

use foresite_engine::outcome::PendingReason;
use serde::{Deserialize, Serialize};

use super::human;
use super::statistics::rounded;

/// Of a side's started jobs, so many hundredths may not start on the other before waits are not comparable: controllers of their own
/// refuse a few jobs, and a limit that keeps more than one in twenty from starting decides what the waits of the others are.
const PERCENT_MAX: u64 = 5;

/// The word for jobs that left the queue, or were never let in, and are not PENDING at the end.
pub(super) const CANCELLED: &str = "Cancelled";

/// Jobs by where they started, summed over replications. Waits, slowdowns and response times are of `both` alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// In the baseline and in the scenario.
    pub both: u64,
    /// In the baseline only.
    pub baseline_only: u64,
    /// In the scenario only.
    pub scenario_only: u64,
    /// In neither.
    pub neither: u64,
    /// Nowhere else: the scenario's change of the workload left them out.
    #[serde(default)]
    pub left_out: u64,
}

impl Started {
    /// Takes in another replication.
    pub(super) fn add(&mut self, other: &Self) {
        self.both += other.both;
        self.baseline_only += other.baseline_only;
        self.scenario_only += other.scenario_only;
        self.neither += other.neither;
        self.left_out += other.left_out;
    }

    /// Whether nearly the same jobs started on both sides: of either side's, at most 5 % did not start on the other.
    pub fn is_comparable(&self) -> bool {
        let few = |only: u64| only * 100 <= (self.both + only) * PERCENT_MAX;
        few(self.baseline_only) && few(self.scenario_only)
    }
}

/// Jobs that never start in a scenario: means per replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unstarted {
    /// Counted jobs of a replication.
    pub jobs: u64,
    /// Those that never start.
    pub never: f64,
    /// Those of them that start in the baseline.
    pub only_here: f64,
    /// How many more than in the baseline are left for each reason, in squeue(1)'s words; `Cancelled`: they left the queue first, or
    /// fit no controller. Of all jobs, copies included.
    pub reasons: BTreeMap<String, f64>,
}

impl Unstarted {
    /// `None` where the baseline starts none of them. `reasons` are sums over replications, the scenario's less the baseline's.
    pub(super) fn of(jobs: u64, started: &Started, reasons: &BTreeMap<String, i64>, replications: u32) -> Option<Self> {
        let mean = |sum: f64| rounded(sum / f64::from(replications.max(1)), 3);
        let more = reasons.iter().filter(|(_, sum)| **sum > 0);
        (started.baseline_only > 0).then(|| Self {
            jobs,
            never: mean((started.baseline_only + started.neither) as f64),
            only_here: mean(started.baseline_only as f64),
            reasons: more.map(|(reason, sum)| (reason.clone(), mean(*sum as f64))).collect(),
        })
    }

    /// The line under the scenario's name.
    pub(super) fn words(&self) -> String {
        let head = format!(
            "{} of {} jobs never start (mean per replication), {} of them in this scenario only",
            human::count(self.never),
            self.jobs,
            human::count(self.only_here)
        );
        let reasons: Vec<String> = self
            .reasons
            .iter()
            .map(|(word, jobs)| format!("{word} {} ({})", human::count(*jobs), meaning(word)))
            .collect();
        if reasons.is_empty() { head } else { format!("{head}: {}", reasons.join(", ")) }
    }
}

fn meaning(word: &str) -> &str {
    let known = PendingReason::ALL.iter().map(|reason| reason.words()).find(|(known, _)| *known == word);
    known.map_or("they left the queue first, or fit no controller", |(_, meaning)| meaning)
}
