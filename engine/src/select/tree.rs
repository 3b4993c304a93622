//! Selection on a switch tree (topology/tree): as few leaf switches as possible, close to each other.
//! Source: slurm-semantics 6.8. Cost: O(offers + leaves² × height) a job.

use crate::cluster::Cluster;
use crate::ids::NodeId;
use crate::select::pick::Offer;

/// The switch tree, ready for selection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// The leaf of each node; `u32::MAX` for a node on no switch.
    leaf_of: Vec<u32>,
    /// The way up from each switch: itself, its parent, … the top.
    lineage: Vec<Vec<usize>>,
}

/// What is free below a switch.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    cpus: i64,
    nodes: i64,
}

impl Tree {
    /// Reads the cluster's switches.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let mut leaf_of = vec![u32::MAX; cluster.nodes.len()];
        for (index, switch) in cluster.switches.iter().enumerate().filter(|(_, switch)| switch.level == 0) {
            for node in switch.nodes.iter() {
                leaf_of[node.index()] = index as u32;
            }
        }
        let up = |index: usize| {
            let parent = |&at: &usize| cluster.switches[at].parent;
            // A cycle cannot be longer than the number of switches.
            std::iter::successors(Some(index), parent).take(cluster.switches.len()).collect()
        };
        Self { leaf_of, lineage: (0..cluster.switches.len()).map(up).collect() }
    }

    /// The leaf of a node.
    pub(crate) fn leaf(&self, node: NodeId) -> Option<usize> {
        self.leaf_of.get(node.index()).copied().filter(|&leaf| leaf != u32::MAX).map(|leaf| leaf as usize)
    }

    /// Hops between two leaves: up to the nearest common switch.
    fn distance(&self, a: usize, b: usize) -> usize {
        let above = &self.lineage[b];
        self.lineage[a].iter().position(|switch| above.contains(switch)).unwrap_or(self.lineage[a].len())
    }

    /// The order in which leaves are used. `wanted` nodes and CPUs are still needed; `used` leaves are in already.
    /// Returns the next leaf among those with offers left.
    pub(crate) fn next_leaf(
        &self,
        offers: &[Offer],
        taken: &[bool],
        used: &[usize],
        nodes: i64,
        cpus: i64,
    ) -> Option<usize> {
        let mut below = vec![Below::default(); self.lineage.len()];
        let mut leaves: Vec<usize> = Vec::new();
        for (offer, taken) in offers.iter().zip(taken) {
            let Some(leaf) = self.leaf(offer.node).filter(|_| !taken) else { continue };
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
            for &switch in &self.lineage[leaf] {
                below[switch].cpus += i64::from(offer.cpus);
                below[switch].nodes += 1;
            }
        }
        leaves.sort_unstable();
        let enough = |switch: usize| below[switch].cpus >= cpus && below[switch].nodes >= nodes;
        leaves.into_iter().min_by_key(|&leaf| {
            let distance: usize = used.iter().map(|&other| self.distance(leaf, other)).sum();
            // The lowest switch above the leaf that alone suffices, then the tightest, then the leaf with more nodes.
            let height = self.lineage[leaf].iter().position(|&switch| enough(switch)).unwrap_or(usize::MAX);
            let tightness = self.lineage[leaf].get(height).map_or(0, |&switch| below[switch].nodes);
            (distance, height, tightness, -below[leaf].nodes, leaf)
        })
    }
}
