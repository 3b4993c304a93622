//! Limits on jobs that start together, or not at all.
//! Source: Slurm's backfill.c, `_het_job_limit_check`.

use crate::ids::{JobId, PartitionId};
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether all of these jobs may run at once, each on so many nodes. O(groups that limits speak of + live jobs).
    pub(crate) fn limits_allow_together(&mut self, jobs: impl Iterator<Item = (JobId, PartitionId, u64)>) -> bool {
        if !self.limits.active {
            return true;
        }
        let before = self.limits.clone();
        let mut allowed = true;
        for (id, partition, nodes) in jobs {
            let held = self.counts_on(id, nodes);
            allowed = self.limits_allow_test(id, partition) && self.limits_allow_counts(id, partition, &held);
            if !allowed {
                break;
            }
            let limit = self.live.get(id).map_or(0, |live| live.limit_seconds) as f64 * self.usage_factor(id);
            self.for_each_group(id, partition, |used, _| used.start(&held, limit));
        }
        self.limits = before;
        allowed
    }
}
