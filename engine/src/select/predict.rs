//! The will-run test of [`crate::select::will_run`], with the work left out that cannot change its answer: groups are
//! gone through without releasing anything until enough nodes could be ready, and then only on those nodes.

use crate::ids::JobId;
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::free::{Allocation, Free};
use crate::select::ready::{NodeJobs, ReadyTimes};
use crate::select::shape::Shape;
use crate::select::will_run::{Groups, WillRunPolicy, start_of};
use crate::select::{Selector, usable};
use crate::simulation::running::Running;

impl Selector {
    /// As [`crate::select::will_run::earliest_start`], given when the nodes are ready and a bound that follows from it.
    /// A start after `later` is of no use: then a bound above it is returned, and no nodes. No running job may be overdue. O(running jobs looked at + nodes ready by the answer).
    #[expect(clippy::too_many_arguments, reason = "the test reads the controller's state and owns none of it")]
    pub(crate) fn predict<'a>(
        &mut self,
        policy: WillRunPolicy,
        (free, future): (&Free, &mut Free),
        (jobs, ready, bound): (&NodeJobs, &ReadyTimes, i64),
        (shape, user): (&Shape, u32),
        usable: &NodeSet,
        running: &[Running],
        allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
        (now, later): (i64, Option<i64>),
    ) -> Option<i64> {
        self.by_weight = false;
        let binds = self.geometry.binds_for(shape);
        let favours = self.favours(shape);
        let mut groups = Groups::new(running, policy);
        let mut last = (i64::MIN, JobId(0));
        let mut ripe = std::mem::take(&mut self.ripe);
        let mut found = None;
        while let Some(tested) = groups.next(|job| {
            let takes = job.holds_any(usable, allocation);
            if takes {
                last = (job.end, job.job);
            }
            takes
        }) {
            if !tested || last.0 < bound {
                continue;
            }
            if later.is_some_and(|later| last.0 > later) && policy.version < SlurmVersion::V25_05 {
                found = Some(last.0);
                break;
            }
            ready.narrow_to(last.0, usable, &mut ripe);
            self.offers.clear();
            self.near.clear();
            for node in ripe.iter() {
                let ready = ready.node(node);
                let known = (ready.time < last.0 || ready.time == i64::MIN)
                    && ready.next_end > last.0
                    && !(shape.exclusive_user || binds || favours)
                    && free.exclusive_user_jobs[node.index()] == 0;
                let cpus = if known {
                    ready.cpus
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
