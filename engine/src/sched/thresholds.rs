//! Which jobs get no planned start whatever comes. Source: slurm-semantics 1.5.17d, 3.6 steps 4 and n.

use crate::ids::JobId;
use crate::sched::queue::Record;
use crate::simulation::Controller;

impl Controller<'_> {
    /// The priority below which a job neither blocks its partition nor is planned: `MinPrioThreshold` of its QOS, of the
    /// partition's, of its association or the nearest row above, where limits are enforced; else `bf_min_prio_reserve`.
    /// 0 is none. O(depth of the tree).
    pub(crate) fn reserve_threshold(&self, record: Record) -> u32 {
        let otherwise = self.scenario.policy.backfill.min_prio_reserve;
        if !self.limits.active {
            return otherwise;
        }
        self.limit_of(record.job, record.partition, |limits| limits.min_prio_threshold).unwrap_or(otherwise)
    }

    /// QOS flag `NoReserve`: backfill starts its jobs, but plans none.
    pub(crate) fn is_never_planned(&self, id: JobId) -> bool {
        self.scenario.qos[self.scenario.workload.jobs[id.index()].qos.index()].no_reserve
    }
}
