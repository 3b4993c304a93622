//! Partition limits as they are checked while a job waits, and at its submission. Source: slurm-semantics 5.2.

use crate::cluster::PartitionState;
use crate::ids::{JobId, PartitionId};
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether the partition lets the job run now: state, limits, and `UsageThreshold` of the job's QOS.
    /// O(lists of the partition).
    pub(crate) fn partition_allows(&self, id: JobId, partition: PartitionId) -> bool {
        let state = self.scenario.cluster.partitions[partition.index()].state;
        matches!(state, PartitionState::Up | PartitionState::Drain)
            && self.partition_limits_allow(id, partition)
            && !self.below_usage_threshold(id)
    }

    /// Whether the job's QOS has a `UsageThreshold` (flag `EnforceUsageThreshold`) above its fair-share factor.
    fn below_usage_threshold(&self, id: JobId) -> bool {
        let job = &self.scenario.workload.jobs[id.index()];
        let qos = &self.scenario.qos[job.qos.index()];
        qos.enforce_usage_threshold
            && qos.usage_threshold.is_some_and(|least| self.fair_share.factors[job.association.index()] < least)
    }

    /// Whether the job is within the partition's limits: times, node counts, accounts and QOS. O(lists of the partition).
    pub(crate) fn partition_limits_allow(&self, id: JobId, partition: PartitionId) -> bool {
        let partition = &self.scenario.cluster.partitions[partition.index()];
        let job = &self.scenario.workload.jobs[id.index()];
        let request = &self.scenario.workload.requests[job.request.index()];
        let qos = &self.scenario.qos[job.qos.index()];
        let limit = self.live.get(id).map_or(0, |live| live.limit_seconds);
        let account = &self.scenario.associations.rows[job.association.index()].account;
        let in_time = qos.partition_time_limit || partition.max_time.is_none_or(|most| limit <= i64::from(most) * 60);
        let few_enough = qos.partition_max_nodes || partition.max_nodes.is_none_or(|most| request.min_nodes <= most);
        let many_enough = qos.partition_min_nodes || request.max_nodes.is_none_or(|most| most >= partition.min_nodes);
        let account_ok = if partition.allow_accounts.is_empty() {
            !partition.deny_accounts.contains(account)
        } else {
            partition.allow_accounts.contains(account)
        };
        let qos_ok = if partition.allow_qos.is_empty() {
            !partition.deny_qos.contains(&qos.name)
        } else {
            partition.allow_qos.contains(&qos.name)
        };
        in_time && few_enough && many_enough && account_ok && qos_ok
    }
}
