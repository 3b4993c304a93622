//! The switch tree (topology/tree). Source: slurm-semantics 6.8; topology.conf(5).

use crate::cluster::Cluster;
use crate::ids::NodeId;
use crate::policy::{SelectPolicy, SlurmVersion};

/// The switches of a cluster, in the order of topology.conf.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// The leaf of each node; `u32::MAX` for a node on no switch.
    leaf_of: Vec<u32>,
    /// The way up from each switch: itself, its parent, … the top.
    lineage: Vec<Vec<usize>>,
    /// 0 for leaves.
    level: Vec<u32>,
    /// Whether a switch that fits must have the CPUs, too (since 23.11; before, nodes alone are counted).
    pub(super) counts_cpus: bool,
    /// Leaves are used in turn (`TopologyParam=Dragonfly`).
    pub(super) is_dragonfly: bool,
}

impl Tree {
    /// Reads the cluster's switches.
    pub(crate) fn new(cluster: &Cluster, policy: &SelectPolicy, version: SlurmVersion) -> Self {
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
        let level = cluster.switches.iter().map(|switch| switch.level).collect();
        let lineage = (0..cluster.switches.len()).map(up).collect();
        let counts_cpus = version >= SlurmVersion::V23_11;
        Self { leaf_of, lineage, level, counts_cpus, is_dragonfly: policy.topology_dragonfly }
    }

    /// How many switches there are.
    pub(super) fn len(&self) -> usize {
        self.lineage.len()
    }

    /// The leaf of a node.
    pub(crate) fn leaf(&self, node: NodeId) -> Option<usize> {
        self.leaf_of.get(node.index()).copied().filter(|&leaf| leaf != u32::MAX).map(|leaf| leaf as usize)
    }

    /// All leaves.
    pub(super) fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&switch| self.level[switch] == 0)
    }

    /// A switch and all above it, upwards.
    pub(super) fn lineage(&self, switch: usize) -> &[usize] {
        &self.lineage[switch]
    }

    /// The switch above one.
    pub(super) fn parent(&self, switch: usize) -> Option<usize> {
        self.lineage[switch].get(1).copied()
    }

    /// How many levels of switches there are below one.
    pub(super) fn level(&self, switch: usize) -> u32 {
        self.level[switch]
    }

    /// Adds every switch's distance from one, in hops; `None` is out of reach. O(switches × height²).
    pub(super) fn add_distances(&self, sums: &mut [Option<usize>], from: usize) {
        for (to, sum) in sums.iter_mut().enumerate() {
            let below = &self.lineage[from];
            let up = self.lineage[to].iter().position(|switch| below.contains(switch));
            let hops = up.and_then(|up| {
                let common = self.lineage[to].get(up)?;
                Some(up + below.iter().position(|switch| switch == common)?)
            });
            *sum = sum.zip(hops).map(|(sum, hops)| sum + hops);
        }
    }
}
