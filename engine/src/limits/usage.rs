//! What groups use of their limits right now.

use crate::ablation::{Rule, is_off};
use std::collections::{BTreeMap, BTreeSet};

use crate::association::Limits;
use crate::cluster::Tres;
use crate::ids::{JobId, NodeId, QosId};
use crate::scenario::Scenario;

/// Counts of the trackable resources, in the dense order of [`TresIndex`].
pub(crate) type Counts = Vec<u64>;

/// What a job holds, or would hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// How much of each resource.
    pub(crate) counts: Counts,
    /// The nodes, where they are known.
    pub(crate) nodes: Vec<NodeId>,
}

/// Where each TRES stands in [`Counts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TresIndex {
    n_gres: usize,
    n_licenses: usize,
}

impl TresIndex {
    /// Where nodes stand.
    pub(crate) const NODE: usize = 2;

    /// CPUs, memory, nodes, billing, then GRES, then licences.
    pub(crate) fn of(self, tres: Tres) -> usize {
        match tres {
            Tres::Cpu => 0,
            Tres::Memory => 1,
            Tres::Node => Self::NODE,
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
    /// It is an association, not a QOS or a part of one.
    is_association: bool,
    /// Running jobs.
    pub(crate) jobs: u32,
    /// Whether a job of it ever ran.
    pub(crate) has_run: bool,
    /// Jobs in the queue or running.
    pub(crate) submitted: u32,
    /// Waiting jobs that gain age.
    pub(crate) accruing: u32,
    /// Resources held by running jobs.
    pub(crate) tres: Counts,
    /// Jobs on each node, where a limit counts the group's nodes: a node with two jobs is one node.
    pub(crate) nodes: Option<BTreeMap<NodeId, u32>>,
    /// Σ resource × remaining seconds of running jobs, as of the last step.
    pub(crate) run_seconds: Vec<f64>,
    /// Decayed resource seconds.
    pub(crate) spent: Vec<f64>,
    /// Decayed wall seconds.
    pub(crate) wall: f64,
}

/// All groups that limits speak of. Empty where nothing is limited or enforced.
#[derive(Clone, Debug)]
pub(crate) struct LimitUsage {
    /// Whether any limit exists and is enforced.
    pub(crate) active: bool,
    /// Whether one of them counts submitted jobs.
    pub(crate) counts_submissions: bool,
    /// Whether one of them counts jobs that gain age.
    pub(crate) counts_accruing: bool,
    /// Whether one of them is on minutes that were spent.
    pub(crate) counts_minutes: bool,
    /// Whether one of them is on the nodes of a group, a user or an account.
    pub(crate) counts_nodes: bool,
    /// Whether one of them, or one on a job, bounds how many nodes a job may take.
    pub(crate) caps_nodes: bool,
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
    /// Jobs counted as submitted.
    pub(crate) submitted: BTreeSet<JobId>,
    /// Jobs counted as gaining age.
    pub(crate) accruing: BTreeSet<JobId>,
    /// Eligible jobs that wait to gain age.
    pub(crate) to_accrue: BTreeSet<JobId>,
    /// Running jobs that the next time-limit scan ends.
    pub(crate) to_end: BTreeSet<JobId>,
}

impl LimitUsage {
    /// Nothing used yet.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let none = Limits::default();
        let all = || {
            let rows = scenario.associations.rows.iter().map(|row| &row.limits);
            rows.chain(scenario.qos.iter().map(|qos| &qos.limits)).filter(|limits| **limits != none)
        };
        let index = TresIndex { n_gres: scenario.cluster.gres.len(), n_licenses: scenario.cluster.licenses.len() };
        let active = !is_off(Rule::Limits) && scenario.policy.enforce.limits && all().next().is_some();
        let any = |of: fn(&Limits) -> bool| active && all().any(of);
        let group = |limits: &Limits| Used::empty(index, counts_nodes(&limits.grp_tres));
        Self {
            active,
            counts_submissions: any(Limits::count_submissions),
            counts_accruing: any(Limits::count_accruing),
            counts_minutes: any(|limits| limits.grp_wall.is_some() || !limits.grp_tres_mins.is_empty()),
            counts_nodes: any(groups_count_nodes),
            caps_nodes: any(|limits| groups_count_nodes(limits) || counts_nodes(&limits.max_tres_per_job)),
            index,
            associations: if active {
                let rows = scenario.associations.rows.iter();
                rows.map(|row| Used { is_association: true, ..group(&row.limits) }).collect()
            } else {
                Vec::new()
            },
            qos: if active { scenario.qos.iter().map(|qos| group(&qos.limits)).collect() } else { Vec::new() },
            qos_users: BTreeMap::new(),
            qos_accounts: BTreeMap::new(),
            submitted: BTreeSet::new(),
            accruing: BTreeSet::new(),
            to_accrue: BTreeSet::new(),
            to_end: BTreeSet::new(),
        }
    }

    /// What a user's jobs of a QOS use.
    pub(super) fn of_user(&mut self, qos: QosId, limits: &Limits, user: u32) -> &mut Used {
        let index = self.index;
        let counts_nodes = counts_nodes(&limits.max_tres_per_user);
        self.qos_users.entry((qos.0, user)).or_insert_with(|| Used::empty(index, counts_nodes))
    }

    /// What an account's jobs of a QOS use.
    pub(super) fn of_account(&mut self, qos: QosId, limits: &Limits, account: u32) -> &mut Used {
        let index = self.index;
        let counts_nodes = counts_nodes(&limits.max_tres_per_account);
        self.qos_accounts.entry((qos.0, account)).or_insert_with(|| Used::empty(index, counts_nodes))
    }
}

/// Whether a limit on what several jobs hold together is on nodes.
fn groups_count_nodes(limits: &Limits) -> bool {
    [&limits.grp_tres, &limits.max_tres_per_user, &limits.max_tres_per_account]
        .into_iter()
        .any(|limits| counts_nodes(limits))
}

/// Whether a limit is on nodes.
pub(super) fn counts_nodes(limits: &[(Tres, u64)]) -> bool {
    limits.iter().any(|(tres, _)| *tres == Tres::Node)
}

impl Used {
    /// A group that uses nothing.
    pub(crate) fn empty(index: TresIndex, counts_nodes: bool) -> Self {
        Self {
            is_association: false,
            jobs: 0,
            has_run: false,
            submitted: 0,
            accruing: 0,
            tres: vec![0; index.len()],
            nodes: counts_nodes.then(BTreeMap::new),
            run_seconds: vec![0.0; index.len()],
            spent: vec![0.0; index.len()],
            wall: 0.0,
        }
    }

    /// What the job would add to what the group holds of a resource. O(nodes of the job × log nodes of the group).
    pub(crate) fn more(&self, held: &Held, at: usize) -> u64 {
        match &self.nodes {
            Some(nodes) if at == TresIndex::NODE => {
                let known = held.nodes.iter().filter(|node| nodes.contains_key(node)).count();
                held.counts[at].saturating_sub(known as u64)
            }
            _ => held.counts[at],
        }
    }

    /// A job starts with these counts and this limit [s], times `UsageFactor`.
    pub(crate) fn start(&mut self, held: &Held, limit_seconds: f64) {
        self.jobs += 1;
        self.has_run = true;
        for (position, &count) in held.counts.iter().enumerate() {
            // As long as its nodes are not known, a component's add up for a QOS (acct_policy.c of 22.05.8, `_qos_adjust_limit_usage`; rec c1062),
            // and count for nothing in an association (`_adjust_limit_usage`; rec c1076).
            if position != TresIndex::NODE || !self.is_association || !held.nodes.is_empty() {
                self.tres[position] += count;
            }
            self.run_seconds[position] += count as f64 * limit_seconds;
        }
        if let Some(nodes) = self.nodes.as_mut().filter(|_| !held.nodes.is_empty()) {
            for &node in &held.nodes {
                *nodes.entry(node).or_insert(0) += 1;
            }
            self.tres[TresIndex::NODE] = nodes.len() as u64;
        }
    }

    /// A job ends; `left` is what remained of its limit [s], times `UsageFactor`.
    pub(crate) fn end(&mut self, held: &Held, left: f64) {
        self.jobs = self.jobs.saturating_sub(1);
        for (position, &count) in held.counts.iter().enumerate() {
            self.tres[position] = self.tres[position].saturating_sub(count);
            self.run_seconds[position] = (self.run_seconds[position] - count as f64 * left).max(0.0);
        }
        if let Some(nodes) = &mut self.nodes {
            for node in &held.nodes {
                match nodes.get_mut(node) {
                    Some(jobs) if *jobs > 1 => *jobs -= 1,
                    _ => drop(nodes.remove(node)),
                }
            }
            self.tres[TresIndex::NODE] = nodes.len() as u64;
        }
    }

    /// A slice of a running job is charged [s], times `UsageFactor`, up to its limit; `charged_seconds` is all of it, decayed, too.
    pub(crate) fn charge(&mut self, held: &Held, slice: f64, charged_seconds: f64) {
        for (position, &count) in held.counts.iter().enumerate() {
            self.spent[position] += count as f64 * charged_seconds;
            self.run_seconds[position] = (self.run_seconds[position] - count as f64 * slice).max(0.0);
        }
        self.wall += charged_seconds;
    }

    /// Everything spent decays; 0 forgets it.
    pub(crate) fn decay(&mut self, factor: f64) {
        for spent in &mut self.spent {
            *spent *= factor;
        }
        self.wall *= factor;
    }
}
