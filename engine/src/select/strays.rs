//! select/linear's test of when a job could run, with what its failing tries leave behind.
//!
//! Among nodes of unlike size it takes the largest, again and again. When those on offer are used up it goes on with the
//! others, which count nothing, until it has as many as the job may have; the try fails. The next one, after one more job
//! has been released, looks anew at the nodes between the first and the last that the plan leaves; beyond them it finds
//! those of the failed try, and takes them for free. So the answer may name nodes that are planned, in use, or down. Source:
//! observed on 22.05.8 (FIDELITY, facts 27).

use crate::ids::{JobId, NodeId};
use crate::node_set::NodeSet;
use crate::select::allocation::Allocation;
use crate::select::free::Free;
use crate::select::pick::{self, needs_large_nodes};
use crate::select::remaining::Remaining;
use crate::select::shape::{Shape, Strategy};
use crate::select::{Selector, usable};
use crate::simulation::running::Running;

/// It fits once everybody is gone whom the job may preempt.
pub(crate) const AT_ONCE: i64 = i64::MIN;

impl Shape {
    /// Whether a failing try may leave nodes behind: see [`crate::select::strays`]. O(tested nodes).
    pub(super) fn may_stray(&self, cpus: impl Fn(NodeId) -> u32) -> bool {
        let mut sizes = self.tested.iter().map(cpus);
        let Some(first) = sizes.next() else { return false };
        let (least, most) = sizes.fold((first, first), |(least, most), size| (least.min(size), most.max(size)));
        let plain = self.required.is_empty() && self.alternatives.is_empty() && self.counted.is_empty();
        let beyond_smallest = self.min_cpus > least.saturating_mul(self.wanted_nodes.max(self.min_nodes));
        plain
            && self.strategy == Strategy::Consecutive
            && least < most
            && beyond_smallest
            && self.max_nodes > self.min_nodes
    }
}

impl Selector {
    /// As [`crate::select::will_run::earliest_start`], for a shape that strays; the request did not fit into what is free `now`. Where the job
    /// may preempt others, what is free without them is tried next, which [`AT_ONCE`] tells of. `future` is equal to that, or else to what is
    /// free. The chosen nodes are idle in `future` afterwards.
    /// O(running jobs × (their nodes + 1) + tries × nodes): a try is made where something has changed since the last.
    pub(crate) fn earliest_start_straying<'a>(
        &mut self,
        future: &mut Free,
        (now, without): (&Free, Option<&Free>),
        (shape, user): (&Shape, u32),
        usable: &NodeSet,
        running: &[Running],
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) -> Option<i64> {
        let mut strays = Vec::new();
        self.offer_with(now, (shape, user), usable, &strays);
        if self.offers.len() >= shape.min_nodes as usize {
            self.leave_behind(shape, usable, &mut strays);
        }
        if let Some(without) = without
            && self.offer_with(without, (shape, user), usable, &strays) >= shape.min_nodes as usize
        {
            if pick::choose(shape, &self.offers, true, &mut self.scratch, &mut self.chosen) {
                return Some(AT_ONCE);
            }
            self.leave_behind(shape, usable, &mut strays);
        }
        let mut changed = !strays.is_empty();
        for (position, job) in running.iter().enumerate() {
            let Some(held) = allocation(job.job) else { continue };
            future.give_back(&self.geometry, held);
            changed |= held.shares.iter().any(|share| usable.contains(share.node));
            if !changed {
                continue;
            }
            let fresh = self.offer_with(future, (shape, user), usable, &strays);
            changed = false;
            if fresh < shape.min_nodes as usize {
                continue;
            }
            if pick::choose(shape, &self.offers, true, &mut self.scratch, &mut self.chosen) {
                let later = running[position + 1..].iter().filter_map(|job| allocation(job.job));
                self.release_chosen(future, later);
                return Some(job.end);
            }
            let before = strays.len();
            self.leave_behind(shape, usable, &mut strays);
            changed = strays.len() != before;
        }
        None
    }

    /// Offers what is free on usable nodes, and the strays as if idle. Says how many are offered rightly. O(nodes).
    fn offer_with(&mut self, free: &Free, (shape, user): (&Shape, u32), usable: &NodeSet, strays: &[NodeId]) -> usize {
        self.offers.clear();
        self.near.clear();
        self.far.clear();
        let level = shape.shared_by.saturating_sub(1).max(1);
        let shared = free.shared.any().then(|| self.view_at_level(free, (shape, level), user, usable));
        let (state, admitted) = shared.as_ref().map_or((free, usable), |(view, _, admitted)| (&**view, admitted));
        for node in admitted.iter_common(&state.open) {
            let cpus = usable::usable_cpus(&self.geometry, state, shape, user, node);
            if cpus > 0 {
                self.offer(state, shape, node, cpus);
            }
        }
        if let Some((view, ..)) = shared {
            self.view = Some(view);
        }
        let fresh = self.offers.len();
        for &node in strays {
            self.offer(free, shape, node, self.geometry.cpus[node.index()]);
        }
        self.offers.sort_unstable_by_key(|offer| offer.node);
        fresh
    }

    /// Adds what a failed try on what was offered leaves behind: the last nodes of all first. O(nodes).
    fn leave_behind(&self, shape: &Shape, usable: &NodeSet, strays: &mut Vec<NodeId>) {
        if !needs_large_nodes(&self.offers, &Remaining::of(shape)) {
            return;
        }
        let (Some(first), Some(last)) = (usable.iter().next(), usable.iter().last()) else { return };
        let more = (shape.max_nodes as usize).saturating_sub(self.offers.len());
        let all = (0..self.geometry.cpus.len()).rev().map(NodeId::new);
        let others = all.filter(|node| self.offers.binary_search_by_key(node, |offer| offer.node).is_err());
        strays.extend(others.take(more).filter(|&node| node < first || node > last));
    }

    /// Whoever still holds a chosen node is gone from `future`. O(jobs × chosen nodes).
    fn release_chosen<'a>(&self, future: &mut Free, later: impl Iterator<Item = &'a Allocation>) {
        for held in later {
            let is_chosen = |node| self.chosen.binary_search_by_key(&node, |offer| offer.node).is_ok();
            if held.shares.iter().any(|share| is_chosen(share.node)) {
                future.give_back(&self.geometry, held);
            }
        }
    }
}
