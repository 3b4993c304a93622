//! Limits on jobs that start together, or not at all.
//! Source: Slurm's backfill.c, `_het_job_limit_check`.

use crate::cluster::Tres;
use crate::ids::{JobId, PartitionId};
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether all of these jobs may run at once, each on so many nodes. O(groups that limits speak of + live jobs).
    pub(crate) fn limits_allow_together(&mut self, jobs: impl Iterator<Item = (JobId, PartitionId, u64)>) -> bool {
        let policy = &self.scenario.policy;
        let reckons = policy.enforce.limits && policy.priority.multifactor;
        if !self.limits.active {
            for (id, partition, nodes) in jobs.filter(|_| reckons) {
                self.reckon_billing(id, partition, nodes);
            }
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
            if reckons {
                self.reckon_billing(id, partition, nodes);
            }
            let limit = self.live.get(id).map_or(0, |live| live.limit_seconds) as f64 * self.usage_factor(id);
            self.for_each_group(id, partition, |used, _| used.start(&held, limit));
        }
        self.limits = before;
        allowed
    }

    /// The billing of a component is reckoned once, when it is asked for the first time whether it may run with the others: of what it asks
    /// for, memory included where nobody consumes it, and not of what it gets (job_mgr.c of 22.05.8, `calc_job_billable_tres`; rec c1082).
    fn reckon_billing(&mut self, id: JobId, partition: PartitionId, nodes: u64) {
        if self.live.get(id).is_none_or(|live| live.billing != 0.0) {
            return;
        }
        let held = self.counts_on(id, nodes);
        let request = &self.scenario.workload.requests[self.job(id).request.index()];
        let count = |tres| held.counts[self.limits.index.of(tres)] as f64;
        let on_nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let memory = self.memory_counted(request, on_nodes, count(Tres::Cpu));
        let billing = self.weighted_billing(partition, |tres| match tres {
            Tres::Billing | Tres::License(_) => 0.0,
            Tres::Memory => memory,
            _ => count(tres),
        });
        if let Some(live) = self.live.get_mut(id) {
            live.billing = billing;
        }
    }
}
