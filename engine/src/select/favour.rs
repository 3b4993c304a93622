//! Nodes that tests for GPUs prefer: see [`super::weights`].

use std::borrow::Cow;

use super::shape::{MemoryNeed, Shape};
use super::{Free, GresId, NodeId, NodeSet, Selector, near, usable};

/// The fewest CPUs whose memory a node must have to be looked at.
fn least_cpus(shape: &Shape) -> u32 {
    shape.min_cpus_per_node.max(shape.cpus_per_task).max(shape.tasks_per_node.unwrap_or(1))
}

impl Selector {
    /// Whether tests of the request prefer nodes by their GPUs.
    pub(crate) fn favours(&self, shape: &Shape) -> bool {
        !self.linear && !self.cons_res && self.geometry.asks_for_gpus(shape)
    }

    /// Of nodes that weigh the same, those are preferred that have more of the GPUs asked for near usable cores: of the node
    /// last offered. The weight stays.
    pub(super) fn favour(&mut self, free: &Free, shape: &Shape, node: NodeId) {
        let gpus = near::near_gpus(&self.geometry, free, shape, node);
        let weight = self.weights.favoured(node, gpus);
        if self.gpus_stay {
            self.weights.set(node, weight);
        }
        if let Some(offer) = self.offers.last_mut().filter(|offer| offer.node == node) {
            offer.weight = weight;
        }
    }

    /// Candidates that have the GRES asked for, used or not, the least memory free, and that share (select/cons_common `_verify_node_state`).
    /// O(candidates).
    pub(super) fn passing(&self, free: &Free, shape: &Shape, candidates: &NodeSet) -> usize {
        let least_cpus = least_cpus(shape);
        let passes = |node: &NodeId| {
            let memory = free.memory[node.index()];
            let has_memory = match shape.memory {
                MemoryNeed::NotConsumed(_) => true,
                MemoryNeed::PerNode(mb) => mb <= memory,
                MemoryNeed::PerCpu(mb) => mb.saturating_mul(u64::from(least_cpus)) <= memory,
                MemoryNeed::PerUnit(mb, least) => mb.saturating_mul(u64::from(least)) <= memory,
                MemoryNeed::Whole => memory >= self.geometry.memory[node.index()],
            };
            has_memory && !free.reserved.contains(*node) && !(shape.whole_nodes && self.is_busy(free, shape, *node))
        };
        candidates.iter_common(&shape.eligible).filter(passes).count()
    }

    /// Whether a node is passed over for a job of whole nodes before its cores are looked at: in a plan for a job that says `--exclusive` only
    /// where units of any GRES are in use (select/cons_common of 22.05.8, `_verify_node_state`; rec as-gpu). O(GRES).
    fn is_busy(&self, free: &Free, shape: &Shape, node: NodeId) -> bool {
        let units = node.index() * self.geometry.n_gres..(node.index() + 1) * self.geometry.n_gres;
        let by_gres = self.in_plan && !shape.exclusive_partition;
        free.jobs[node.index()] > 0 && !(by_gres && free.gres[units.clone()] == self.geometry.gres[units])
    }

    /// The test on all cores of the candidates leaves weights, too, on nodes whose free cores do not serve the job (rec h-gpu).
    /// O(candidates + those with the GRES × sockets).
    pub(super) fn favour_unused(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) {
        let asked = &*self.as_weighed(shape);
        let mut unused = self.unused.take().unwrap_or_else(|| Box::new(free.clone()));
        for node in candidates.iter() {
            let units = &free.gres[node.index() * self.geometry.n_gres..];
            let lacks = |&(gres, count): &(GresId, u32)| units[gres.index()] < count;
            if free.reserved.contains(node) || shape.gres.iter().any(lacks) {
                continue;
            }
            unused.copy_node(&self.geometry, free, node);
            unused.no_core_is_used_on(&self.geometry, node);
            if shape.whole_nodes && !self.is_busy(free, shape, node) {
                unused.jobs[node.index()] = 0;
            }
            if usable::usable_cpus(&self.geometry, &unused, asked, user, node) > 0 {
                self.favour(&unused, shape, node);
            }
        }
        self.unused = Some(unused);
    }

    /// What a node must have to be weighed: weights are written before the memory of all CPUs is asked for, so a whole node keeps one, too, that
    /// never has as much (cons_tres/job_test.c of 22.05.8, `can_job_run_on_node`; rec as-gpu). O(1), else O(shape).
    pub(super) fn as_weighed<'s>(&self, shape: &'s Shape) -> Cow<'s, Shape> {
        let MemoryNeed::PerCpu(mb) = shape.memory else { return Cow::Borrowed(shape) };
        let mut asked = shape.clone();
        asked.memory = MemoryNeed::PerNode(mb.saturating_mul(u64::from(least_cpus(shape))));
        Cow::Owned(asked)
    }
}
