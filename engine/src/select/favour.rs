//! Nodes that tests for GPUs prefer: see [`super::weights`].

use super::shape::{MemoryNeed, Shape};
use super::{Free, GresId, NodeId, NodeSet, Selector, near, usable};

impl Selector {
    /// Whether tests of the request prefer nodes by their GPUs.
    pub(crate) fn favours(&self, shape: &Shape) -> bool {
        !self.linear && self.geometry.asks_for_gpus(shape)
    }

    /// Of nodes that weigh the same, those are preferred that have more of the GPUs asked for near usable cores: of the node
    /// last offered. The weight stays.
    pub(super) fn favour(&mut self, free: &Free, shape: &Shape, node: NodeId) {
        let gpus = near::near_gpus(&self.geometry, self.unit, free, shape, node);
        let weight = self.weights.favoured(node, gpus);
        if self.gpus_stay {
            self.weights.set(node, weight);
        }
        if let Some(offer) = self.offers.last_mut() {
            offer.weight = weight;
        }
    }

    /// Candidates that have the GRES asked for, used or not, the least memory free, and that share (select/cons_common `_verify_node_state`).
    /// O(candidates).
    pub(super) fn passing(&self, free: &Free, shape: &Shape, candidates: &NodeSet) -> usize {
        let least_cpus = shape.min_cpus_per_node.max(shape.cpus_per_task).max(shape.tasks_per_node.unwrap_or(1));
        let passes = |node: &NodeId| {
            let memory = free.memory[node.index()];
            let has_memory = match shape.memory {
                MemoryNeed::NotConsumed(_) => true,
                MemoryNeed::PerNode(mb) => mb <= memory,
                MemoryNeed::PerCpu(mb) => mb.saturating_mul(u64::from(least_cpus)) <= memory,
                MemoryNeed::PerUnit(mb, least) => mb.saturating_mul(u64::from(least)) <= memory,
                MemoryNeed::Whole => memory >= self.geometry.memory[node.index()],
            };
            has_memory && !free.reserved.contains(*node) && !(shape.whole_nodes && free.jobs[node.index()] > 0)
        };
        candidates.iter_common(&shape.eligible).filter(passes).count()
    }

    /// The test on all cores of the candidates leaves weights, too, on nodes whose free cores do not serve the job (rec h-gpu).
    /// O(candidates + those with the GRES × sockets).
    pub(super) fn favour_unused(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) {
        let mut unused = self.unused.take().unwrap_or_else(|| Box::new(free.clone()));
        for node in candidates.iter() {
            let units = &free.gres[node.index() * self.geometry.n_gres..];
            let lacks = |&(gres, count): &(GresId, u32)| units[gres.index()] < count;
            if free.reserved.contains(node) || shape.gres.iter().any(lacks) {
                continue;
            }
            unused.copy_node(&self.geometry, free, node);
            unused.no_core_is_used_on(&self.geometry, node);
            if usable::usable_cpus(&self.geometry, self.unit, &unused, shape, user, node) > 0 {
                self.favour(&unused, shape, node);
            }
        }
        self.unused = Some(unused);
    }
}
