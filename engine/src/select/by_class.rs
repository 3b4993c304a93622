//! Nodes by class: where a start looks at the lightest nodes first (select/linear, select/cons_res), and adds those of the next weight, or
//! NodeName line, only when they do not do. Source: node_scheduler.c of 22.05.8, `_pick_best_nodes`.

use super::Selector;
use super::free::Free;
use super::pick::{self, Offer};
use super::shape::Shape;
use crate::ids::NodeId;
use crate::node_set::NodeSet;

impl Selector {
    /// Chooses among the offers of one class after the other, and of those that are required. O(classes × as [`pick::choose`]).
    pub(super) fn choose_by_class(&mut self, shape: &Shape) -> bool {
        let lines = self.tells_lines(shape);
        let class = |node: NodeId| (self.weights.of(node), if lines { self.weights.record(node) } else { 0 });
        let set = |offer: &Offer| class(offer.node);
        let mut sets: Vec<(u64, u32)> = self.offers.iter().map(set).collect();
        let listed: Option<Vec<(u64, u32)>> = self.listed.as_ref().map(|listed| listed.iter().map(class).collect());
        sets.sort_unstable();
        sets.dedup();
        let heaviest = sets.last().copied();
        sets.into_iter().any(|last| {
            self.lighter.clear();
            let is_in = |offer: &&Offer| set(offer) <= last || shape.required.contains(&offer.node);
            self.lighter.extend(self.offers.iter().filter(is_in));
            // While there are more, they are added until there are as many nodes as the most of a range (facts 51).
            // With select/cons_res all nodes count that it may look at, whatever they offer.
            let count = listed
                .as_ref()
                .map_or(self.lighter.len(), |listed| listed.iter().filter(|&&class| class <= last).count());
            (count >= shape.wanted_nodes as usize || Some(last) == heaviest)
                && pick::choose(shape, &self.lighter, self.linear, &mut self.scratch, &mut self.chosen)
        })
    }

    /// Whether NodeName lines of one weight are classes of their own: they are added together where jobs may preempt, for a job that shares
    /// nodes, and with switches (node_scheduler.c of 22.05.8, `_pick_best_nodes`; rec at-lin). O(1).
    fn tells_lines(&self, shape: &Shape) -> bool {
        let shares = if self.linear { shape.shared_by > 1 } else { !shape.whole_nodes };
        self.lines_apart || !((self.joins_equals || shares) && shape.alternatives.is_empty())
    }

    /// With select/cons_res, where a class is looked at more than once before the next is added. O(classes × as [`Selector::fits`]).
    pub(super) fn fits_class_by_class(
        &mut self,
        free: &Free,
        shape: &Shape,
        user: u32,
        (candidates, listed): (&NodeSet, &NodeSet),
    ) -> bool {
        self.by_weight = false;
        let lines = self.tells_lines(shape);
        let class = |selector: &Self, node: NodeId| {
            (selector.weights.of(node), if lines { selector.weights.record(node) } else { 0 })
        };
        let mut classes: Vec<(u64, u32)> = listed.iter().map(|node| class(self, node)).collect();
        classes.sort_unstable();
        let Some(&heaviest) = classes.last() else { return false };
        let mut within = candidates.clone();
        for last in classes.chunk_by(|one, other| one == other).map(|alike| alike[0]) {
            let count = classes.partition_point(|&class| class <= last);
            if count < shape.wanted_nodes as usize && last != heaviest {
                continue;
            }
            within.copy_from(candidates);
            for node in candidates.iter().filter(|&node| class(self, node) > last && !shape.required.contains(&node)) {
                within.remove(node);
            }
            if self.fits_by(free, shape, user, &within) && (last == heaviest || self.has_memory(free, shape)) {
                return true;
            }
        }
        false
    }

    /// With select/cons_res: the nodes that a start adds class by class. O(candidates).
    pub(super) fn list_classes(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) {
        let mut listed = candidates.clone();
        listed.intersect(&shape.tested);
        if shape.whole_nodes && !self.joins_equals && shape.shared_by <= 1 {
            listed.intersect(&free.idle);
        }
        free.keep_admitting(&mut listed, user, shape.exclusive_user);
        self.listed = Some(listed);
    }
}
