//! Scheduling weights of nodes. Source: slurm-semantics 6.2.2; `docs/FIDELITY.md`, facts 14.
//!
//! A look for a start (a submission's test, the main scheduler, backfill that starts a job) weighs the nodes that could
//! serve the job: nodes that its limited group already uses are preferred to others of the same NodeName line. The
//! weights stay in the node records until the next look at these nodes, whoever makes it, and the tests of when and
//! where that backfill makes in between go by them.

use crate::cluster::Cluster;
use crate::ids::NodeId;
use crate::node_set::NodeSet;

/// What every node weighs.
#[derive(Debug)]
pub(crate) struct Weights {
    /// `Weight`.
    configured: Vec<u32>,
    /// The NodeName line of each node.
    records: Vec<u32>,
    in_force: Vec<u64>,
    /// Nodes of each NodeName line: those that could serve, and those of them that are preferred.
    counted: Vec<(u32, u32)>,
    version: u64,
}

impl Weights {
    /// As slurm.conf has them.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let lines = cluster.nodes.iter().map(|node| node.config_record as usize + 1).max().unwrap_or(0);
        Self {
            configured: cluster.nodes.iter().map(|node| node.weight).collect(),
            records: cluster.nodes.iter().map(|node| node.config_record).collect(),
            in_force: cluster.nodes.iter().map(|node| u64::from(node.weight)).collect(),
            counted: vec![(0, 0); lines],
            version: 0,
        }
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

    /// Counts the changes.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Weighs the nodes that could serve a job whose group already uses `preferred`: where that is a part of a NodeName
    /// line's nodes, the others weigh one more. O(nodes that could serve).
    pub(crate) fn weigh(&mut self, eligible: &NodeSet, preferred: &NodeSet) {
        self.counted.fill((0, 0));
        for node in eligible.iter() {
            let (all, of_them) = &mut self.counted[self.records[node.index()] as usize];
            *all += 1;
            *of_them += u32::from(preferred.contains(node));
        }
        for node in eligible.iter() {
            let (all, of_them) = self.counted[self.records[node.index()] as usize];
            let behind = of_them > 0 && of_them < all && !preferred.contains(node);
            let weight = u64::from(self.configured[node.index()]) + u64::from(behind);
            if std::mem::replace(&mut self.in_force[node.index()], weight) != weight {
                self.version += 1;
            }
        }
    }
}
