//! Scheduling weights of nodes. Source: slurm-semantics 6.2.2; `docs/FACTS.md`, facts 14 and 20.
//!
//! A weight is `Weight` and, below it, a byte that favours nodes with GPUs: a test for a job that asks for some writes down
//! how many of them each node that could serve has for it. A look for a start (a submission's test, the main scheduler,
//! backfill that starts a job) weighs the nodes that could serve the job anew, and prefers nodes that its limited group
//! already uses to others of the same NodeName line, and a `FLEX` reservation's nodes to all others. The weights stay in the node records until the next test or look at
//! these nodes, whoever makes it, and the tests of when and where that backfill makes in between go by them. Before the first look they weigh nothing.

use crate::cluster::Cluster;
use crate::ids::NodeId;
use crate::node_set::NodeSet;

/// The byte of a node on which no GPU is wanted.
const NO_GPU: u64 = 0xff;

/// Above the byte and below all of `Weight`: a node whose last job has not been cleaned up (cons_tres/job_test.c of 23.11.0, `_set_sched_weight`).
const COMPLETING: u64 = 1 << 8;

/// Above all of `Weight`: a node outside of the job's `FLEX` reservation (node_scheduler.c of 22.05.8, `_set_sched_weight`; rec ay-tier).
const OUTSIDE: u64 = 1 << 48;

/// What every node weighs.
#[derive(Debug)]
pub(crate) struct Weights {
    /// `Weight`.
    configured: Vec<u32>,
    /// The NodeName line of each node.
    records: Vec<u32>,
    in_force: Vec<u64>,
    /// Nodes of each NodeName line, inside and outside of a `FLEX` reservation: those that could serve, and those of them that are preferred.
    counted: Vec<[(u32, u32); 2]>,
    /// Nodes that do not weigh what slurm.conf says.
    strays: NodeSet,
    strayed: usize,
    /// Nodes that no look for a start has come to.
    unseen: NodeSet,
    /// How many they are.
    n_unseen: usize,
    /// Whether slurm.conf gives all nodes one `Weight`.
    configured_alike: bool,
    changes: u64,
}

impl Weights {
    /// As slurm.conf has them.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let lines = cluster.nodes.iter().map(|node| node.config_record as usize + 1).max().unwrap_or(0);
        Self {
            configured: cluster.nodes.iter().map(|node| node.weight).collect(),
            records: cluster.nodes.iter().map(|node| node.config_record).collect(),
            in_force: cluster.nodes.iter().map(|node| weight_of(node.weight, false)).collect(),
            counted: vec![[(0, 0); 2]; lines],
            strays: NodeSet::empty(cluster.nodes.len()),
            strayed: 0,
            unseen: NodeSet::empty(cluster.nodes.len()),
            n_unseen: 0,
            configured_alike: cluster.nodes.windows(2).all(|pair| pair[0].weight == pair[1].weight),
            changes: 0,
        }
    }

    /// The controller begins: until the first look for a start that could use them, these nodes weigh nothing (node_conf.h of 22.05.8,
    /// `sched_weight`; rec c1348). O(nodes).
    pub(crate) fn unseen(&mut self, nodes: &NodeSet) {
        nodes.iter().for_each(|node| self.set(node, 0));
        self.unseen.union(nodes);
        self.n_unseen = self.unseen.len();
    }

    /// A look for a start comes to these nodes, wherever it ends. O(1), O(nodes) while some have not been looked at.
    pub(crate) fn see(&mut self, nodes: &NodeSet) {
        if self.n_unseen == 0 {
            return;
        }
        let seen: Vec<NodeId> = nodes.iter().filter(|&node| self.unseen.contains(node)).collect();
        seen.into_iter().for_each(|node| self.set(node, weight_of(self.configured[node.index()], false)));
    }

    /// Has those that nobody has looked at weigh what slurm.conf says until they are given back to [`Weights::unseen`]; `None` if there are none.
    /// O(1), else O(nodes).
    pub(crate) fn take_unseen(&mut self) -> Option<NodeSet> {
        if self.n_unseen == 0 {
            return None;
        }
        let unseen = self.unseen.clone();
        self.see(&unseen);
        Some(unseen)
    }

    /// Whether these nodes weigh alike for sure. O(1), O(words) where any node weighs other than slurm.conf says.
    pub(crate) fn are_alike(&self, nodes: &NodeSet) -> bool {
        self.configured_alike && !self.stray_among(nodes)
    }

    /// The weight in force.
    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> u64 {
        self.in_force[node.index()]
    }

    /// The NodeName line it came from.
    #[inline]
    pub(crate) fn record(&self, node: NodeId) -> u32 {
        self.records[node.index()]
    }

    /// Equal where the weights are: 0 for those of slurm.conf, else the count of changes.
    pub(crate) fn version(&self) -> u64 {
        if self.strayed == 0 { 0 } else { self.changes + 1 }
    }

    /// Whether any of these nodes weighs other than slurm.conf says. O(1), O(words) where any node does.
    pub(crate) fn stray_among(&self, nodes: &NodeSet) -> bool {
        self.strayed > 0 && self.strays.intersects(nodes)
    }

    /// The weight of a node of which `units` GPUs are wanted.
    #[inline]
    pub(crate) fn favoured(&self, node: NodeId, units: u32) -> u64 {
        (self.of(node) & !NO_GPU) | (NO_GPU - u64::from(units.min(0xff)))
    }

    /// Weighs the nodes that could serve a job whose group already uses `preferred`: where that is a part of a NodeName
    /// line's nodes, the others weigh one more; nodes outside of `inside` weigh more than all of it. O(nodes that could serve).
    pub(crate) fn weigh(&mut self, candidates: &NodeSet, preferred: &NodeSet, inside: Option<&NodeSet>) {
        let is_outside = |node: NodeId| inside.is_some_and(|inside| !inside.contains(node));
        self.counted.fill([(0, 0); 2]);
        for node in candidates.iter() {
            let (all, of_them) = &mut self.counted[self.records[node.index()] as usize][usize::from(is_outside(node))];
            *all += 1;
            *of_them += u32::from(preferred.contains(node));
        }
        for node in candidates.iter() {
            let outside = is_outside(node);
            let (all, of_them) = self.counted[self.records[node.index()] as usize][usize::from(outside)];
            let behind = of_them > 0 && of_them < all && !preferred.contains(node);
            let above = if outside { OUTSIDE } else { 0 };
            self.set(node, weight_of(self.configured[node.index()], behind) | above);
        }
    }

    /// A test of when and where weighs its nodes anew (from 23.11 on), those of `completing` more than others of their `Weight`. O(nodes)
    /// where any weigh what slurm.conf does not say, else O(nodes of `completing`).
    pub(crate) fn weigh_for_test(&mut self, nodes: &NodeSet, completing: Option<&NodeSet>) {
        if self.strayed > 0 {
            nodes.iter().for_each(|node| self.set(node, weight_of(self.configured[node.index()], false)));
        }
        for node in completing.into_iter().flat_map(NodeSet::iter).filter(|&node| nodes.contains(node)) {
            self.set(node, weight_of(self.configured[node.index()], false) | COMPLETING);
        }
    }

    /// From now on the node weighs so much. O(1).
    pub(crate) fn set(&mut self, node: NodeId, weight: u64) {
        let before = std::mem::replace(&mut self.in_force[node.index()], weight);
        if before != weight {
            let usual = weight_of(self.configured[node.index()], false);
            self.strayed = self.strayed + usize::from(weight != usual) - usize::from(before != usual);
            if self.n_unseen > 0 && self.unseen.contains(node) {
                self.unseen.remove(node);
                self.n_unseen -= 1;
            }
            if weight == usual {
                self.strays.remove(node);
            } else {
                self.strays.insert(node);
            }
            self.changes += 1;
        }
    }
}

fn weight_of(configured: u32, behind: bool) -> u64 {
    (u64::from(configured) + u64::from(behind)) << 16 | NO_GPU
}
