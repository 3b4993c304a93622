//! Tests on the cores that nobody uses, and where nodes could be worse than they seem on all cores, too.

use super::Selector;
use super::allocation::Allocation;
use super::free::Free;
use super::ready::{Moment, NodeJobs};
use super::shape::{Shape, Strategy};
use crate::ids::JobId;
use crate::node_set::NodeSet;

impl Selector {
    /// Whether the request fits, on cores that nobody uses. Where more nodes, or larger ones, may serve it worse it must fit on all cores of
    /// the candidates, too (docs/FACTS.md, facts 67).
    pub(super) fn fits_idle(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        if self.gpus_stay && self.favours(shape) {
            if !self.test_only && self.passing(free, shape, candidates) < shape.min_nodes as usize {
                // Too few have the GRES at all, and the memory: nodes are not looked at one by one, and no weights are left.
                self.chosen.clear();
                self.scratch.overdrew = false;
                return false;
            }
            self.favour_unused(free, shape, user, candidates);
        }
        if !self.tests_all_cores(shape) {
            return self.fits_free(free, shape, user, candidates);
        }
        if shape.alternatives.is_empty() {
            return self.fits_both_ways(free, shape, user, candidates);
        }
        // Each of several features is tested both ways before the next (rec as-arr).
        shape.alternatives.iter().any(|alternative| {
            let mut having = candidates.clone();
            having.intersect(alternative);
            self.fits_both_ways(free, shape, user, &having)
        })
    }

    /// Whether that is asked of a test: on all cores no socket serves that keeps some for the system. O(1).
    pub(crate) fn tests_all_cores(&self, shape: &Shape) -> bool {
        let worse = shape.contiguous || self.most_leaves.is_some() || self.keeps_cores || cuts_all(shape);
        worse && !self.linear
    }

    /// Whether it fits on the free cores of the candidates, and on all of their cores.
    fn fits_both_ways(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        // All cores are tried first, which a job that waits for few leaf switches keeps in mind.
        let waits = self.most_leaves.is_some();
        (!waits || self.fits_all_cores(free, shape, user, candidates))
            && self.fits_free(free, shape, user, candidates)
            && (waits || self.fits_all_cores(free, shape, user, candidates))
    }

    /// As [`Selector::fits_all_cores`] in tests of when: with the memory and GRES of the jobs up to `last` given back; `future` is left so.
    /// O(1) where nodes that are looked at are not all cut, else as that.
    pub(super) fn fits_all_cores_after<'a>(
        &mut self,
        (free, future): (&Free, &mut Free),
        jobs: &NodeJobs,
        (shape, user): (&Shape, u32),
        usable: &NodeSet,
        last: Moment,
        allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
    ) -> bool {
        if !cuts_all(shape) || self.linear {
            return true;
        }
        for node in usable.iter() {
            free.restore_node(&self.geometry, future, node);
            jobs.release(&self.geometry, future, node, last, allocation);
        }
        self.fits_all_cores(future, shape, user, usable)
    }

    /// Whether it fits if nobody used the candidates' cores. The nodes chosen stay. O(nodes) and as [`Selector::fits`].
    pub(super) fn fits_all_cores(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        let mut unused = self.unused.take().unwrap_or_else(|| Box::new(free.clone()));
        unused.copy_amounts_from(free);
        unused.no_core_is_used(&self.geometry);
        if !shape.exclusive_partition {
            // For a job of whole nodes, too (rec i-topo).
            unused.jobs.fill(0);
        }
        let found = (self.chosen.clone(), self.chosen_near);
        let fits = self.fits_free(&unused, shape, user, candidates);
        (self.chosen, self.chosen_near) = found;
        self.unused = Some(unused);
        fits
    }
}

/// Whether every node that is looked at is left with no more CPUs than the job could take of it then: what one or two may give in full, more
/// together cannot (`_eval_nodes_lln` of 22.05.8; rec bf-c151).
fn cuts_all(shape: &Shape) -> bool {
    shape.strategy == Strategy::LeastLoaded && shape.spread > 1 && !shape.whole_nodes && !shape.cons_res
}
