//! What groups use of their limits right now.

use std::collections::BTreeMap;

use crate::cluster::Tres;
use crate::scenario::Scenario;

/// Counts of the trackable resources, in the dense order of [`TresIndex`].
pub(crate) type Counts = Vec<u64>;

/// Where each TRES stands in [`Counts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TresIndex {
    n_gres: usize,
    n_licenses: usize,
}

impl TresIndex {
    /// CPUs, memory, nodes, billing, then GRES, then licences.
    pub(crate) fn of(self, tres: Tres) -> usize {
        match tres {
            Tres::Cpu => 0,
            Tres::Memory => 1,
            Tres::Node => 2,
            Tres::Billing => 3,
            Tres::Gres(gres) => 4 + gres.index(),
            Tres::License(license) => 4 + self.n_gres + license.index(),
        }
    }

    /// Length of [`Counts`].
    pub(crate) fn len(self) -> usize {
        4 + self.n_gres + self.n_licenses
    }
}

/// What one group uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    /// Running jobs.
    pub(crate) jobs: u32,
    /// Resources held by running jobs.
    pub(crate) tres: Counts,
    /// Σ resource × remaining seconds of running jobs, as of the last step.
    pub(crate) run_seconds: Vec<f64>,
    /// Decayed resource seconds.
    pub(crate) spent: Vec<f64>,
    /// Decayed wall seconds.
    pub(crate) wall: f64,
}

/// All groups that limits speak of. Empty where nothing is limited or enforced.
#[derive(Debug)]
pub(crate) struct LimitUsage {
    /// Whether any limit exists and is enforced.
    pub(crate) active: bool,
    /// Positions of TRES.
    pub(crate) index: TresIndex,
    /// By association, ancestors included.
    pub(crate) associations: Vec<Used>,
    /// By QOS.
    pub(crate) qos: Vec<Used>,
    /// By (QOS, user).
    pub(crate) qos_users: BTreeMap<(u32, u32), Used>,
    /// By (QOS, account's association).
    pub(crate) qos_accounts: BTreeMap<(u32, u32), Used>,
}

impl LimitUsage {
    /// Nothing used yet.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let none = crate::association::Limits::default();
        let limited = scenario.associations.rows.iter().any(|row| row.limits != none)
            || scenario.qos.iter().any(|qos| qos.limits != none);
        let index = TresIndex { n_gres: scenario.cluster.gres.len(), n_licenses: scenario.cluster.licenses.len() };
        let active = scenario.policy.enforce.limits && limited;
        let empty = Used::empty(index);
        Self {
            active,
            index,
            associations: vec![empty.clone(); if active { scenario.associations.rows.len() } else { 0 }],
            qos: vec![empty; if active { scenario.qos.len() } else { 0 }],
            qos_users: BTreeMap::new(),
            qos_accounts: BTreeMap::new(),
        }
    }
}

impl Used {
    /// A group that uses nothing.
    pub(crate) fn empty(index: TresIndex) -> Self {
        Self {
            jobs: 0,
            tres: vec![0; index.len()],
            run_seconds: vec![0.0; index.len()],
            spent: vec![0.0; index.len()],
            wall: 0.0,
        }
    }

    /// A job starts with these counts and this limit [s].
    pub(crate) fn start(&mut self, counts: &Counts, limit_seconds: i64) {
        self.jobs += 1;
        for (position, &count) in counts.iter().enumerate() {
            self.tres[position] += count;
            self.run_seconds[position] += count as f64 * limit_seconds as f64;
        }
    }

    /// A job ends; `left` is what remained of its limit at the last step [s].
    pub(crate) fn end(&mut self, counts: &Counts, left: i64) {
        self.jobs = self.jobs.saturating_sub(1);
        for (position, &count) in counts.iter().enumerate() {
            self.tres[position] = self.tres[position].saturating_sub(count);
            self.run_seconds[position] = (self.run_seconds[position] - count as f64 * left as f64).max(0.0);
        }
    }

    /// A slice of a running job is charged.
    pub(crate) fn charge(&mut self, counts: &Counts, slice: i64, charged_seconds: f64) {
        for (position, &count) in counts.iter().enumerate() {
            self.spent[position] += count as f64 * charged_seconds;
            self.run_seconds[position] = (self.run_seconds[position] - count as f64 * slice as f64).max(0.0);
        }
        self.wall += charged_seconds;
    }

    /// Everything spent decays.
    pub(crate) fn decay(&mut self, factor: f64) {
        for spent in &mut self.spent {
            *spent *= factor;
        }
        self.wall *= factor;
    }
}
