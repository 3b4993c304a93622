//! The will-run test of [`crate::select::will_run`], with the work left out that cannot change its answer: groups are found by
//! their ends, nothing is released until enough nodes could be ready, and then only on those nodes.

use crate::ids::JobId;
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::Selector;
use crate::select::allocation::Allocation;
use crate::select::first_that_fits::takes_first_that_fits;
use crate::select::free::Free;
use crate::select::group_ends::{GroupEnds, Passed};
use crate::select::one_node::OneNode;
use crate::select::overlap::{InOrder, Overlap};
use crate::select::ready::{Moment, NodeJobs, ReadyTimes};
use crate::select::shape::{Shape, Strategy};
use crate::select::usable;
use crate::select::will_run::{WillRunPolicy, start_of};

/// With so many times fewer usable nodes than running jobs, the jobs on them are gathered; else all jobs are gone through.
const FEW_NODES: usize = 16;

/// What is asked of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// A start after this [s] is of no use: then a bound above it is returned, and no nodes.
    pub(crate) later: Option<i64>,
    /// The chosen nodes are read as they will be.
    pub(crate) lays_out: bool,
    /// The jobs that end first, so many of them, are released before the test begins.
    pub(crate) gone: usize,
    /// Nobody is released who ends after this [s].
    pub(crate) until: Option<i64>,
}

impl Selector {
    /// As [`crate::select::will_run::earliest_start`], given when the nodes are ready and a bound that follows from it.
    /// O(groups × words + nodes ready by the answer); nodes that offer alike are not looked at one by one.
    #[expect(clippy::too_many_arguments, reason = "the test reads the controller's state and owns none of it")]
    pub(crate) fn predict<'a>(
        &mut self,
        policy: WillRunPolicy,
        (free, future): (&Free, &mut Free),
        (jobs, ready, bound): (&NodeJobs, &mut ReadyTimes, i64),
        (shape, user): (&Shape, u32),
        usable: &NodeSet,
        (running, ranges): (&InOrder, &[(u32, u32)]),
        allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
        asked: Asked,
    ) -> Option<i64> {
        let few = !usable.has(running.jobs.len().div_ceil(FEW_NODES));
        let mut node_ends = std::mem::take(&mut self.node_ends);
        let mut held: &[Moment] = &[];
        if few {
            held = node_ends.of(jobs, usable, running.jobs.get(asked.gone).map_or(i64::MAX, |job| job.end));
            held = &held[..held.partition_point(|&(end, _)| asked.until.is_none_or(|until| end <= until))];
        }
        let mut blocks = std::mem::take(&mut self.blocks);
        let mut holding = Overlap::new(running, usable, ranges, &mut blocks).until(asked.until);
        let mut groups = GroupEnds::new(holding.jobs(), policy).without(asked.gone);
        let mut found = None;
        let useless_after = asked.later.filter(|_| policy.version < SlurmVersion::V25_05);
        let mut passed = None;
        if !few {
            match groups.skip_to(bound, useless_after, &mut holding) {
                Passed::Upon(end) => passed = Some(end),
                Passed::Late(least) => found = Some(least),
                Passed::All => {}
            }
        }
        while found.is_none() {
            if !few
                && passed.is_none()
                && let Some(later) = useless_after
                && let Some(least) = groups.all_after(later, &mut holding)
            {
                found = Some(least);
                break;
            }
            let next = passed.take().or_else(|| match few {
                true => groups.next_of(held),
                false => groups.next(&mut holding),
            });
            let Some(last) = next else { break };
            if last.0 < bound {
                continue;
            }
            if useless_after.is_some_and(|later| last.0 > later) {
                found = Some(last.0);
                break;
            }
            let states = (free, &mut *future);
            if self.fits_after(states, (jobs, &mut *ready), (shape, user), usable, last, allocation, asked.lays_out) {
                let others = running.jobs[asked.gone..].iter().copied();
                found = Some(start_of(self, policy, others, allocation, last.0));
                break;
            }
        }
        self.node_ends = node_ends;
        self.blocks = blocks;
        found
    }

    /// Whether the request fits when jobs up to `last` have been released; nodes are left in `self.chosen`, and in `future` as they will be if they are
    /// to be laid out. O(words + nodes ready by then); nodes that offer alike are not looked at one by one.
    #[expect(clippy::too_many_arguments, reason = "the test reads the controller's state and owns none of it")]
    pub(crate) fn fits_after<'a>(
        &mut self,
        (free, future): (&Free, &mut Free),
        (jobs, ready): (&NodeJobs, &mut ReadyTimes),
        (shape, user): (&Shape, u32),
        usable: &NodeSet,
        last: Moment,
        allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
        lays_out: bool,
    ) -> bool {
        (self.by_weight, self.in_plan) = (false, true);
        (self.chosen_near, self.scratch.cannot_be_laid_out) = (false, false);
        let alike = shape.alike.filter(|_| {
            jobs.none_refuses()
                && !free.any_keeps_owner()
                && self.scratch.idle_last.is_empty()
                && self.most_leaves.is_none()
        });
        let mut ripe = std::mem::take(&mut self.ripe);
        ready.narrow_to(last, usable, &mut ripe);
        // A node that is ready offers what it will ever offer.
        let by_runs = alike.and_then(|alike| self.choose_alike(shape, &ripe, alike));
        let by_one = || self.look_for_one((free, future), (jobs, ready), (shape, &ripe), last, allocation);
        let told = by_runs.or_else(by_one);
        let fits = told.unwrap_or_else(|| {
            self.look_at(&ripe, (free, future), (jobs, ready), (shape, user), last, allocation);
            self.fits_offers(shape)
        });
        self.ripe = ripe;
        let fits = fits
            && !self.scratch.cannot_be_laid_out
            && self.fits_all_cores_after((free, &mut *future), jobs, (shape, user), usable, last, allocation);
        for offer in self.chosen.iter().filter(|_| fits && lays_out) {
            free.restore_node(&self.geometry, future, offer.node);
            jobs.release(&self.geometry, future, offer.node, last, allocation);
        }
        fits
    }

    /// Whether a job of one node fits on a ready node when jobs up to `last` have been released; `None` if that takes a look at all
    /// offers together. O(nodes).
    fn look_for_one<'a>(
        &mut self,
        (free, future): (&Free, &mut Free),
        (jobs, ready): (&NodeJobs, &mut ReadyTimes),
        (shape, ripe): (&Shape, &NodeSet),
        last: Moment,
        allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
    ) -> Option<bool> {
        if shape.exclusive_user || !self.wants_one_node(shape) {
            return None;
        }
        let mut offered = OneNode::of(shape, takes_first_that_fits(shape, &self.scratch));
        let anyone = jobs.none_refuses();
        for node in ripe.iter() {
            if !anyone && free.exclusive_user_jobs[node.index()] > 0 {
                return None;
            }
            let cpus = ready.cpus(self, jobs, (free, future), (shape, node), last, allocation);
            if cpus > 0 && !offered.offer(node, cpus, self.weight_of(node)) {
                return None;
            }
        }
        Some(self.choose_one(shape, offered))
    }

    /// Puts on offer what ready nodes will offer when jobs up to `last` have been released. O(nodes).
    fn look_at<'a>(
        &mut self,
        ripe: &NodeSet,
        (free, future): (&Free, &mut Free),
        (jobs, ready): (&NodeJobs, &mut ReadyTimes),
        (shape, user): (&Shape, u32),
        last: Moment,
        allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
    ) {
        self.scratch.once_more.clear();
        self.offers.clear();
        self.near.clear();
        self.far.clear();
        let cuts = self.geometry.cuts_for(shape);
        let favours = self.favours(shape);
        let by_what_is_free =
            cuts || favours || shape.strategy == Strategy::LeastLoaded || !shape.gres_of_job.is_empty();
        let known = !(shape.exclusive_user || by_what_is_free);
        let anyone = jobs.none_refuses();
        let plain = known && self.offers_plainly(shape);
        for node in ripe.iter() {
            let cpus = if known && (anyone || free.exclusive_user_jobs[node.index()] == 0) {
                ready.cpus(self, jobs, (free, future), (shape, node), last, allocation)
            } else {
                free.restore_node(&self.geometry, future, node);
                jobs.release(&self.geometry, future, node, last, allocation);
                usable::usable_cpus(&self.geometry, future, shape, user, node)
            };
            if cpus == 0 {
                continue;
            }
            if plain {
                self.offer_plain(shape, node, cpus);
            } else {
                self.offer(future, shape, node, cpus);
                if favours {
                    self.favour(future, shape, node);
                }
                if cuts {
                    self.offer_near(future, shape, node, cpus);
                }
            }
        }
    }
}
