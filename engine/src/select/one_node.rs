//! Best fit over runs of consecutive nodes ([`super::pick`]) for a job of one node that fits on each node on offer by itself: told
//! in one pass, without a list of offers.

use crate::ids::NodeId;
use crate::select::Selector;
use crate::select::first_that_fits::takes_first_that_fits;
use crate::select::free::Free;
use crate::select::pick::{Offer, spread_tasks};
use crate::select::remaining::Remaining;
use crate::select::shape::{Shape, Strategy};
use crate::select::usable;

/// Consecutive nodes of one weight.
#[derive(Clone, Copy, Debug)]
struct Run {
    weight: u64,
    /// CPUs of all of its nodes.
    cpus: u32,
    /// Its last node so far.
    last: NodeId,
    /// The first of its nodes with the fewest CPUs, and these.
    tightest: (NodeId, u32),
}

/// The node to take of those that were offered, in node order.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneNode {
    needed: u32,
    /// What the job does not fit on makes its run larger all the same (select/cons_res; with select/cons_tres where memory alone is short).
    counts_all: bool,
    /// Each node is a run by itself, and the first of the lightest best.
    alone: bool,
    run: Option<Run>,
    best: Option<Run>,
}

impl OneNode {
    /// For a job of so many CPUs.
    pub(super) fn of(shape: &Shape, alone: bool) -> Self {
        Self {
            needed: shape.min_cpus,
            counts_all: shape.cons_res || shape.room_of_one > 0,
            alone,
            run: None,
            best: None,
        }
    }

    /// Adds a node; says whether the job fits there. O(1).
    #[inline]
    pub(super) fn offer(&mut self, node: NodeId, cpus: u32, weight: u64) -> bool {
        let tightest = if cpus >= self.needed { (node, cpus) } else { (node, u32::MAX) };
        match &mut self.run {
            Some(run) if run.last.0 + 1 == node.0 && run.weight == weight && !self.alone => {
                run.cpus = run.cpus.saturating_add(cpus);
                run.last = node;
                if tightest.1 < run.tightest.1 {
                    run.tightest = tightest;
                }
            }
            _ => {
                self.close();
                self.run = Some(Run { weight, cpus, last: node, tightest });
            }
        }
        self.counts_all || cpus >= self.needed
    }

    /// The lightest run is best, of these the smallest, of these the first.
    fn close(&mut self) {
        if let Some(run) = self.run.take()
            && run.tightest.1 < u32::MAX
            && self.best.is_none_or(|best| {
                run.weight < best.weight || (run.weight == best.weight && run.cpus < best.cpus && !self.alone)
            })
        {
            self.best = Some(run);
        }
    }
}

impl Selector {
    /// Whether one node is all that the job wants, and which one is told by weights and CPUs alone. O(1).
    pub(super) fn wants_one_node(&self, shape: &Shape) -> bool {
        shape.wanted_nodes == 1
            // What has too few CPUs for the job is not on offer.
            && (shape.room_for_tasks >= shape.min_cpus || (shape.cons_res && shape.max_nodes == 1) || shape.room_of_one > 0)
            && shape.spread <= 1
            && shape.strategy == Strategy::Consecutive
            && !shape.contiguous
            && shape.required.is_empty()
            && shape.gres_of_job.is_empty()
            && shape.alternatives.is_empty()
            && shape.counted.is_empty()
            && !(self.looks_at_each || self.linear || self.by_weight)
            && self.scratch.idle_last.is_empty()
            && self.most_leaves.is_none()
            && !self.geometry.cuts_for(shape)
            && !self.favours(shape)
    }

    /// Takes the best of the nodes offered; whether there was one.
    pub(super) fn choose_one(&mut self, shape: &Shape, mut offered: OneNode) -> bool {
        offered.close();
        self.chosen_near = false;
        self.chosen.clear();
        let Some(Run { weight, tightest: (node, cpus), .. }) = offered.best else { return false };
        let kept = self.geometry.kept(shape, node);
        let offer = Offer { node, cpus, weight, idle: (0, 1), kept, gres: 0 };
        self.chosen.push(Remaining::of(shape).take(shape, offer));
        spread_tasks(shape, &mut self.chosen);
        true
    }

    /// Whether the request fits on one of the candidates now; `None` if this file has no answer. O(candidates × sockets).
    pub(super) fn fits_one(
        &mut self,
        free: &Free,
        shape: &Shape,
        user: u32,
        candidates: impl Iterator<Item = NodeId>,
    ) -> Option<bool> {
        if !self.wants_one_node(shape) {
            return None;
        }
        let mut offered = OneNode::of(shape, takes_first_that_fits(shape, &self.scratch));
        for node in candidates {
            let cpus = usable::usable_cpus(&self.geometry, free, shape, user, node);
            if cpus > 0 && !offered.offer(node, cpus, self.weight_of(node)) {
                return None;
            }
        }
        Some(self.choose_one(shape, offered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PartitionId;
    use crate::job::Request;
    use crate::node_set::NodeSet;
    use crate::policy::{ConsumableUnit, SelectPolicy, SlurmVersion};

    /// Drawn nodes in use, and drawn jobs of one node, with select/cons_tres and select/cons_res.
    #[test]
    fn the_node_is_that_which_looking_at_each_would_choose() {
        const NODES: u64 = 60;
        let mut random = 5_u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        let mut told = 0;
        for round in 0..2000 {
            let mut cluster = super::super::tests::cluster(&[8; NODES as usize]);
            for line in &mut cluster.nodes {
                line.weight = (draw(40) / 39) as u32;
            }
            let select = SelectPolicy {
                linear: false,
                cons_res: round % 2 == 0,
                unit: ConsumableUnit::Core,
                ..SelectPolicy::default()
            };
            let mut request = Request::serial(PartitionId(0));
            request.max_nodes = Some(1);
            request.tasks = draw(8) as u32 + 1;
            request.min_cpus = request.tasks;
            let shape = Shape::of(&cluster, &select, PartitionId(0), &request, true);
            let mut selector = Selector::new(&cluster, &select, SlurmVersion::V22_05);
            let mut free = Free::new(&selector.geometry);
            for node in 0..NODES as usize {
                let left = draw(9) as u32;
                free.cores[node] = left;
                free.node_cores[node] = left;
                if left == 0 {
                    free.open.remove(NodeId::new(node));
                }
            }
            let all = NodeSet::from_nodes(NODES as usize, (0..NODES as usize).map(NodeId::new));
            let fits = selector.fits_in_plan(&free, &shape, 0, &all);
            let found = selector.chosen.clone();
            told += u32::from(selector.wants_one_node(&shape));
            selector.looks_at_each = true;
            assert_eq!(selector.fits_in_plan(&free, &shape, 0, &all), fits, "round {round}");
            assert_eq!(selector.chosen, found, "round {round}");
        }
        assert_eq!(told, 2000);
    }
}
