//! The will-run test of [`crate::select::will_run`], with the work left out that cannot change its answer: groups are found by
//! their ends, nothing is released until enough nodes could be ready, and then only on those nodes.

use crate::ids::JobId;
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::Selector;
use crate::select::free::{Allocation, Free};
use crate::select::group_ends::GroupEnds;
use crate::select::ready::{NodeJobs, ReadyTimes};
use crate::select::shape::Shape;
use crate::select::usable;
use crate::select::will_run::{WillRunPolicy, start_of};
use crate::simulation::running::Running;

impl Selector {
    /// As [`crate::select::will_run::earliest_start`], given when the nodes are ready and a bound that follows from it.
    /// A start after `later` is of no use: then a bound above it is returned, and no nodes. No running job may be overdue.
    /// O(groups × words + nodes ready by the answer); nodes that offer alike are not looked at one by one.
    #[expect(clippy::too_many_arguments, reason = "the test reads the controller's state and owns none of it")]
    pub(crate) fn predict<'a>(
        &mut self,
        policy: WillRunPolicy,
        (free, future): (&Free, &mut Free),
        (jobs, ready, bound): (&NodeJobs, &mut ReadyTimes, i64),
        (shape, user): (&Shape, u32),
        usable: &NodeSet,
        running: &[Running],
        allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
        (now, later): (i64, Option<i64>),
    ) -> Option<i64> {
        self.by_weight = false;
        let binds = self.geometry.binds_for(shape);
        let favours = self.favours(shape);
        let mut groups = GroupEnds::new(running, policy);
        let mut ripe = std::mem::take(&mut self.ripe);
        let mut found = None;
        while let Some(last) = groups.next(|job| job.holds_any(usable, allocation)) {
            if last.end < bound {
                continue;
            }
            if later.is_some_and(|later| last.end > later) && policy.version < SlurmVersion::V25_05 {
                found = Some(last.end);
                break;
            }
            let last = (last.end, last.job);
            ready.narrow_to(last, usable, &mut ripe);
            self.offers.clear();
            self.near.clear();
            for node in ripe.iter() {
                let anyone = !(shape.exclusive_user || binds || favours) && free.exclusive_user_jobs[node.index()] == 0;
                let cpus = if anyone {
                    ready.cpus(self, jobs, (free, future), (shape, node), last, allocation)
                } else {
                    free.restore_node(&self.geometry, future, node);
                    jobs.release(&self.geometry, future, node, last, allocation);
                    usable::usable_cpus(&self.geometry, self.unit, future, shape, user, node)
                };
                if cpus > 0 {
                    self.offer(node, cpus);
                    if favours {
                        self.favour(future, shape, node);
                    }
                    if binds {
                        self.offer_near(future, shape, node, cpus);
                    }
                }
            }
            if self.fits_offers(shape) {
                // Who looks at what the job would hold reads the chosen nodes as they will be.
                for offer in &self.chosen {
                    free.restore_node(&self.geometry, future, offer.node);
                    jobs.release(&self.geometry, future, offer.node, last, allocation);
                }
                found = Some(start_of(self, policy, running.iter().copied(), allocation, last.0).max(now));
                break;
            }
        }
        self.ripe = ripe;
        found
    }
}
