//! Constraints that count nodes (`-C a*2&b*3`).

use super::Selector;
use super::free::Free;
use super::pick::Offer;
use super::shape::{Shape, Strategy};
use crate::ids::NodeId;
use crate::node_set::NodeSet;

impl Shape {
    /// What a start asks for first: so many nodes of one part, as if they were to give a CPU each. `--spread-job` does not spread a part
    /// (rec ar-gpu1).
    pub(crate) fn part_of_start(&self, count: u32) -> Self {
        let mut part = self.clone();
        part.counted.clear();
        part.required.clear();
        part.as_many = false;
        part.count_as_part(count, self.strategy);
        part
    }

    /// The same part with another count.
    fn count_as_part(&mut self, count: u32, strategy: Strategy) {
        (self.min_nodes, self.wanted_nodes, self.spread, self.min_cpus) = (count, count, count, count);
        self.strategy = if self.packs_parts && count == 1 { Strategy::SerialAtEnd } else { strategy };
    }

    /// What it asks for then: these nodes, and all else that it wants.
    pub(crate) fn with_nodes_of_parts(&self, nodes: impl Iterator<Item = NodeId>) -> Self {
        let mut left = self.clone();
        left.counted.clear();
        left.required.extend(nodes);
        left.required.sort_unstable();
        left.required.dedup();
        let least = left.required.len() as u32;
        left.min_nodes = left.min_nodes.max(least);
        left.spread = left.spread.max(least);
        left.wanted_nodes = left.wanted_nodes.max(least);
        left.min_cpus = left.min_cpus.max(least);
        left.as_many = false;
        left
    }
}

impl Selector {
    /// `a*2&b*3`: a start looks for nodes of each part as if they were to give a CPU each, and takes these first for the job
    /// (`_get_req_features` of 22.05.8; rec ar-core1); a plan asks each part, and then the remaining nodes, for all of the job's CPUs (`_try_sched`).
    pub(super) fn fits_counted(&mut self, shape: &Shape) -> bool {
        let all = std::mem::take(&mut self.offers);
        let near = std::mem::take(&mut self.near);
        let found = self.nodes_of_parts(shape, &all);
        (self.offers, self.near) = (all, near);
        let Some(found) = found else { return false };
        if self.in_plan {
            self.chosen = found;
            return true;
        }
        let left = shape.with_nodes_of_parts(found.iter().map(|offer| offer.node));
        let fits = left.wanted_nodes <= left.max_nodes && self.choose_from_offers(&left);
        if let Some(most) = self.most_leaves.filter(|_| fits) {
            self.look_at_leaves(&left, most);
        }
        fits
    }

    /// The same where cores may be shared: each part takes idle cores if there are any, whatever the next ones must share (rec w2220).
    /// O(parts × a test).
    pub(super) fn parts_fit_sharing(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        let mut found: Vec<NodeId> = Vec::new();
        for (nodes, count) in &shape.counted {
            let part = shape.part_of_start(*count);
            let mut of_part = candidates.clone();
            of_part.intersect(nodes);
            found.iter().for_each(|&node| of_part.remove(node));
            if !self.fits_sharing(free, &part, user, &of_part)
                || (shape.parts_hold_tasks && !holds_tasks(shape, &self.chosen))
            {
                self.chosen.clear();
                return false;
            }
            found.extend(self.chosen.iter().map(|offer| offer.node));
            if shape.size_varies {
                self.part_found = Some(Box::new((part, self.chosen.clone())));
            }
        }
        let left = shape.with_nodes_of_parts(found.into_iter());
        left.wanted_nodes <= left.max_nodes && self.fits_sharing(free, &left, user, candidates)
    }

    /// The nodes of all parts, and in a plan those that the job wants besides.
    fn nodes_of_parts(&mut self, shape: &Shape, all: &[Offer]) -> Option<Vec<Offer>> {
        let mut found: Vec<Offer> = Vec::new();
        let mut part = shape.part_of_start(0);
        if self.in_plan {
            (part.required, part.strategy) = (shape.required.clone(), shape.strategy);
            part.min_cpus = shape.min_cpus;
        }
        for (nodes, count) in &shape.counted {
            self.offers.clear();
            self.offers.extend(unused(all, &found).filter(|offer| nodes.contains(offer.node)));
            (part.min_nodes, part.wanted_nodes, part.spread) = (*count, *count, *count);
            if !self.in_plan {
                part.count_as_part(*count, shape.strategy);
            }
            if !self.choose_from_offers(&part) {
                return None;
            }
            if !self.in_plan && shape.parts_hold_tasks && !holds_tasks(shape, &self.chosen) {
                return None;
            }
            if let Some(most) = self.most_leaves.filter(|_| !self.in_plan) {
                self.look_at_leaves(&part, most);
                if !self.best_switch {
                    return None;
                }
            }
            if !self.in_plan && shape.size_varies {
                self.part_found = Some(Box::new((part.clone(), self.chosen.clone())));
            }
            found.extend_from_slice(&self.chosen);
        }
        let n_found = found.len() as u32;
        if self.in_plan && n_found < shape.wanted_nodes {
            self.offers.clear();
            self.offers.extend(unused(all, &found));
            part.min_nodes = shape.min_nodes.saturating_sub(n_found);
            part.wanted_nodes = shape.wanted_nodes - n_found;
            part.max_nodes = shape.max_nodes.saturating_sub(n_found);
            part.spread = part.min_nodes;
            if !self.choose_from_offers(&part) {
                return None;
            }
            found.extend_from_slice(&self.chosen);
        }
        found.sort_unstable_by_key(|offer| offer.node);
        Some(found)
    }
}

/// Whether the CPUs that the nodes of one part give (a core each, or all of whole nodes) hold all tasks of the job: from 24.11 on a part that
/// leaves tasks over has no place (dist_tasks.c of 24.11.5, `_compute_c_b_task_dist`; rec c1030-24-11). O(nodes).
pub(crate) fn holds_tasks(shape: &Shape, chosen: &[Offer]) -> bool {
    let of_task = shape.cpus_per_task.max(1);
    let room = chosen.iter().filter(|offer| offer.cpus > 0).map(|offer| (offer.cpus / of_task).max(1));
    shape.tasks <= room.fold(0, u32::saturating_add)
}

/// The offers of nodes that no part has taken. O(offers × taken).
fn unused<'o>(all: &'o [Offer], taken: &'o [Offer]) -> impl Iterator<Item = &'o Offer> {
    all.iter().filter(|offer| taken.iter().all(|taken| taken.node != offer.node))
}
