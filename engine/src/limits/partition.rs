//! Partition limits as they are checked while a job waits, and at its submission. Source: slurm-semantics 5.2.

use std::collections::BTreeSet;

use crate::cluster::{Partition, PartitionState};
use crate::ids::{JobId, PartitionId, RequestId};
use crate::job::Request;
use crate::policy::EnforcePartLimits;
use crate::scenario::Scenario;
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether backfill tests the job in the partition: state, limits, `UsageThreshold` of the job's QOS, and whether that QOS may use it.
    /// O(lists of the partition).
    pub(crate) fn partition_allows(&self, id: JobId, partition: PartitionId) -> bool {
        self.partition_is_open(id, partition) && !self.partition_denies_qos(id, partition)
    }

    /// Whether a queue is built with the job's record: state, limits, and `UsageThreshold` of the job's QOS. O(lists of the partition).
    pub(crate) fn partition_is_open(&self, id: JobId, partition: PartitionId) -> bool {
        self.partition_is_up(partition) && self.partition_limits_allow(id, partition) && !self.below_usage_threshold(id)
    }

    /// Whether the partition would start the job for nobody of its QOS or its account, though queues are built with it: without
    /// `EnforcePartLimits` slurmctld looks at its lists only in `select_nodes`, and backfill, before a test, at that of QOS (22.05.8; rec ar-sock).
    /// O(lists of the partition).
    pub(crate) fn partition_denies(&self, id: JobId, partition: PartitionId) -> bool {
        self.partition_denies_qos(id, partition) || self.partition_denies_account(id, partition)
    }

    /// The same of its account alone.
    pub(crate) fn partition_denies_account(&self, id: JobId, partition: PartitionId) -> bool {
        let partition = &self.scenario.cluster.partitions[partition.index()];
        let account =
            || &self.scenario.associations.rows[self.scenario.workload.jobs[id.index()].association.index()].account;
        !is_listed(&partition.allow_accounts, &partition.deny_accounts, account)
    }

    /// The same of its QOS alone.
    pub(crate) fn partition_denies_qos(&self, id: JobId, partition: PartitionId) -> bool {
        let partition = &self.scenario.cluster.partitions[partition.index()];
        let qos = || &self.scenario.qos[self.scenario.workload.jobs[id.index()].qos.index()].name;
        !is_listed(&partition.allow_qos, &partition.deny_qos, qos)
    }

    /// Whether jobs that wait in the partition may start.
    pub(crate) fn partition_is_up(&self, partition: PartitionId) -> bool {
        let state = self.scenario.cluster.partitions[partition.index()].state;
        matches!(state, PartitionState::Up | PartitionState::Drain)
    }

    /// Whether the job's QOS has a `UsageThreshold` (flag `EnforceUsageThreshold`) above its fair-share factor.
    fn below_usage_threshold(&self, id: JobId) -> bool {
        let job = &self.scenario.workload.jobs[id.index()];
        let qos = &self.scenario.qos[job.qos.index()];
        qos.enforce_usage_threshold
            && qos.usage_threshold.is_some_and(|least| self.fair_share.factors[job.association.index()] < least)
    }

    /// Whether the job is within the partition's limits: times and node counts, and accounts and QOS where `EnforcePartLimits` is set
    /// (`_part_access_check` of 22.05.8). O(lists of the partition).
    /// Every cycle asks it of every record: of the job only that is read which the partition limits.
    pub(crate) fn partition_limits_allow(&self, id: JobId, partition: PartitionId) -> bool {
        let request_id = || self.scenario.workload.jobs[id.index()].request;
        if !self.too_small.is_empty() && self.too_small.contains(&(request_id(), partition)) {
            return false;
        }
        let limits = &self.scenario.cluster.partitions[partition.index()];
        let job = || &self.scenario.workload.jobs[id.index()];
        let request = || &self.scenario.workload.requests[job().request.index()];
        let qos = || &self.scenario.qos[job().qos.index()];
        let limit = || self.live.get(id).map_or(0, |live| live.limit_seconds);
        limits.max_time.is_none_or(|most| limit() <= i64::from(most) * 60 || qos().partition_time_limit)
            && limits.max_nodes.is_none_or(|most| most_nodes(request()) <= most || qos().partition_max_nodes)
            && (limits.min_nodes <= 1 || request().min_nodes.max(1) >= limits.min_nodes || qos().partition_min_nodes)
            && (self.scenario.policy.enforce.partition_limits == EnforcePartLimits::No
                || !self.partition_denies(id, partition))
    }

    /// Whether a new job's nodes are looked for in the partition: accounts, QOS and node counts, not times (`select_nodes` of 22.05.8,
    /// before `_get_req_features`); with `EnforcePartLimits=ANY` only where it is within all limits. O(lists of the partition).
    pub(crate) fn admits_to_nodes(&self, id: JobId, partition: PartitionId) -> bool {
        if self.scenario.policy.enforce.partition_limits == EnforcePartLimits::Any {
            return self.partition_limits_allow(id, partition);
        }
        let limits = &self.scenario.cluster.partitions[partition.index()];
        let job = &self.scenario.workload.jobs[id.index()];
        let request = &self.scenario.workload.requests[job.request.index()];
        let qos = &self.scenario.qos[job.qos.index()];
        let least = if qos.partition_min_nodes { 1 } else { limits.min_nodes }.max(request.min_nodes);
        let most_here = limits.max_nodes.unwrap_or(u32::MAX);
        let most = match request.max_nodes {
            Some(most) if qos.partition_max_nodes => most,
            Some(most) => most.min(most_here),
            None => most_here,
        };
        least <= most && !self.partition_denies(id, partition)
    }
}

/// Requests in partitions that have fewer CPUs, by `MaxCPUsPerNode` too, or fewer nodes than they ask for: they wait there for ever, untested
/// (`_part_access_check` of 22.05.8; rec i-gpu). O(partitions × nodes + requests × their partitions).
pub(crate) fn too_small(scenario: &Scenario) -> BTreeSet<(RequestId, PartitionId)> {
    let cluster = &scenario.cluster;
    let size = |partition: &Partition| {
        let nodes = partition.nodes.len() as u64;
        let of_nodes: u64 = partition.nodes.iter().map(|node| u64::from(cluster.nodes[node.index()].all_cpus())).sum();
        let by_node = partition.max_cpus_per_node.map_or(u64::MAX, |most| u64::from(most) * nodes);
        (nodes, of_nodes.min(by_node))
    };
    let sizes: Vec<_> = cluster.partitions.iter().map(size).collect();
    let is_too_small = |request: &Request, id: PartitionId| {
        let (nodes, cpus) = sizes[id.index()];
        u64::from(request.min_cpus) > cpus || u64::from(request.min_nodes) > nodes
    };
    let requests = scenario.workload.requests.iter().enumerate();
    let each = requests.flat_map(|(index, request)| request.partitions.iter().map(move |&id| (index, request, id)));
    each.filter(|&(_, request, id)| is_too_small(request, id))
        .map(|(index, _, id)| (RequestId::new(index), id))
        .collect()
}

/// The most nodes that a request may get, as it says; the fewest where it does not.
fn most_nodes(request: &Request) -> u32 {
    request.max_nodes.unwrap_or(request.min_nodes)
}

/// Whether a name is allowed; where nothing is allowed by name, all but those denied are.
fn is_listed<'a, T: PartialEq + 'a>(allowed: &[T], denied: &[T], name: impl Fn() -> &'a T) -> bool {
    match allowed {
        [] => denied.is_empty() || !denied.contains(name()),
        _ => allowed.contains(name()),
    }
}
