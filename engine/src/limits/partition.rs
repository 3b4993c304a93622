//! Partition limits as they are checked while a job waits, and at its submission. Source: slurm-semantics 5.2.

use std::collections::{BTreeMap, BTreeSet};

use crate::ablation::{Rule, is_off};
use crate::cluster::{MemoryDefault, OverSubscribe, Partition, PartitionState};
use crate::ids::{JobId, PartitionId, RequestId};
use crate::job::{Memory, Request, Sharing};
use crate::policy::{EnforcePartLimits, SlurmVersion};
use crate::scenario::Scenario;
use crate::sched::queue::Record;
use crate::select::shape::memory_limit;
use crate::simulation::Controller;

impl Controller<'_> {
    /// Whether a queue is built with the job's record: state, limits, and `UsageThreshold` of the job's QOS. O(lists of the partition).
    pub(crate) fn partition_is_open(&self, id: JobId, partition: PartitionId) -> bool {
        self.partition_is_up(partition) && self.queue_limits_allow(id, partition) && !self.below_usage_threshold(id)
    }

    /// Whether backfill tests the record: state, limits, `UsageThreshold` of the job's QOS, and whether that QOS may use the partition.
    /// O(lists of the partition).
    pub(crate) fn record_is_allowed(&self, record: Record) -> bool {
        self.record_is_open(record) && !self.partition_denies_qos(record.job, record.partition)
    }

    /// As [`Self::partition_is_open`], for a record of the queue: what was asked when its job came is not asked again, so that mostly the
    /// job itself need not be fetched.
    pub(crate) fn record_is_open(&self, record: Record) -> bool {
        let (id, partition) = (record.job, record.partition);
        let is_open = !record.kind.out
            && self.partition_is_up(partition)
            && (self.over_memory.is_empty() || self.queue_limits_allow(id, partition))
            && !(self.thresholds_hold && self.below_usage_threshold(id));
        // Tasks of an array whose requests differ stand in the queue as the first.
        debug_assert!(
            record.request != self.job(id).request || is_open == self.partition_is_open(id, partition),
            "job {id:?}"
        );
        is_open
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

    /// Whether the job's QOS has a `UsageThreshold` (flag `EnforceUsageThreshold`) above its fair-share factor. One that is not set is
    /// INFINITE to slurmctld (`as_mysql_qos.c`): the flag alone holds every job (rec ax-share). Where fair-share has a weight, it is the weighted factor
    /// that is compared, so that a threshold of a usual size holds nobody (job_mgr.c of 22.05.8, `job_limits_check`, which reads what
    /// `_get_priority_internal` left in `priority_fs`; the same in 25.11; rec x1); without one it is the classic formula's factor (rec x2, x3).
    fn below_usage_threshold(&self, id: JobId) -> bool {
        let job = &self.scenario.workload.jobs[id.index()];
        let qos = &self.scenario.qos[job.qos.index()];
        let policy = &self.scenario.policy.priority;
        let factor = || match policy.weight_fairshare {
            0 if policy.multifactor => self.fair_share.unweighted(job.association, policy),
            weight if policy.multifactor => self.fair_share.factors[job.association.index()] * f64::from(weight),
            _ => self.fair_share.factors[job.association.index()],
        };
        qos.enforce_usage_threshold && qos.usage_threshold.is_none_or(|least| factor() < least)
    }

    /// Whether the job is within the partition's limits: times, node counts and memory, and accounts and QOS where `EnforcePartLimits` is set
    /// (`_part_access_check` of 22.05.8). O(lists of the partition).
    /// Every cycle asks it of every record: of the job only that is read which the partition limits.
    pub(crate) fn partition_limits_allow(&self, id: JobId, partition: PartitionId) -> bool {
        self.partition_limits_allow_for(id, partition, || self.live.get(id).map_or(0, |live| live.limit_seconds))
    }

    /// The same as backfill asks it, of the least that `--time-min` says (`job_limits_check` of 22.05.8, `check_min_time`; rec w2032).
    pub(crate) fn queue_limits_allow(&self, id: JobId, partition: PartitionId) -> bool {
        self.partition_limits_allow_for(id, partition, || self.least_seconds(id))
    }

    fn partition_limits_allow_for(&self, id: JobId, partition: PartitionId, limit: impl Fn() -> i64) -> bool {
        let request_id = || self.scenario.workload.jobs[id.index()].request;
        if !self.too_small.is_empty() && self.too_small.contains(&(request_id(), partition)) {
            return false;
        }
        if !self.over_memory.is_empty()
            && let Some(over) = self.over_memory.get(&(request_id(), partition))
            && (*over == OverMemory::Always || self.has_become_whole(id))
        {
            return false;
        }
        let limits = &self.scenario.cluster.partitions[partition.index()];
        let job = || &self.scenario.workload.jobs[id.index()];
        let request = || &self.scenario.workload.requests[job().request.index()];
        let qos = || &self.scenario.qos[job().qos.index()];
        limits.max_time.is_none_or(|most| limit() <= i64::from(most) * 60 || qos().partition_time_limit)
            && limits.max_nodes.is_none_or(|most| {
                self.most_nodes_said(request()).is_none_or(|said| said <= most) || qos().partition_max_nodes
            })
            && (limits.min_nodes <= 1 || request().min_nodes.max(1) >= limits.min_nodes || qos().partition_min_nodes)
            && (self.scenario.policy.enforce.partition_limits == EnforcePartLimits::No
                || !self.partition_denies(id, partition))
    }

    /// The most nodes that a request may get, as it says: who but names nodes does not (rec w2243). From 26.05 on who says tasks and no nodes has said as many
    /// (job_mgr.c of 26.05.3, `JOB_IMPLICIT_MAX_NODES`; rec w2138-26-05). O(1).
    fn most_nodes_said(&self, request: &Request) -> Option<u32> {
        let by_tasks = self.scenario.policy.version >= SlurmVersion::V26_05 && request.tasks > 0;
        let of_tasks = by_tasks.then_some(request.tasks.max(request.min_nodes));
        request.max_nodes.or(of_tasks)
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

/// When a request asks for more memory than `MaxMemPerNode` leaves it in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverMemory {
    Always,
    /// Only as one of whole nodes, which it may become.
    WhenWhole,
}

/// Requests in partitions whose `MaxMemPerNode` is below what they ask for: they wait there for ever (`_valid_pn_min_mem` of 22.05.8, in
/// `job_limits_check`; rec at-site). Memory per CPU is taken times the CPUs of a whole node, the partition's first one, or times those of
/// the tasks that a node is sure to get. O(requests × their partitions).
pub(crate) fn over_memory(scenario: &Scenario) -> BTreeMap<(RequestId, PartitionId), OverMemory> {
    let (cluster, select) = (&scenario.cluster, &scenario.policy.select);
    let over = |request: &Request, id: PartitionId| {
        let partition = &cluster.partitions[id.index()];
        let limit = memory_limit::limit(select, partition, request).filter(|_| !is_off(Rule::Memory));
        let Some(MemoryDefault::PerNode(most)) = limit else { return None };
        let first = partition.nodes.iter().next().map(|node| &cluster.nodes[node.index()]);
        let (of_node, per_cpu) = match request.memory {
            Memory::PerNode(mb) => (Some(mb), 0),
            Memory::PerCpu(mb) => (None, mb),
            Memory::WholeNode => (None, 0),
            Memory::Default | Memory::PerGpu(_) => match partition.default_memory.or(select.default_memory) {
                Some(MemoryDefault::PerNode(mb)) => (Some(mb), 0),
                Some(MemoryDefault::PerCpu(mb)) => (None, mb),
                None => (None, 0),
            },
        };
        let needs = |whole: bool| match (of_node.filter(|&mb| mb > 0), per_cpu) {
            (Some(mb), _) => mb,
            (None, 0) => first.map_or(0, |node| node.memory_mb),
            (None, mb) if whole => mb.saturating_mul(first.map_or(0, |node| u64::from(node.all_cpus()))),
            (None, mb) => mb.saturating_mul(u64::from(sure_cpus_per_node(request, cluster.nodes.len() as u32))),
        };
        let is_whole = select.linear
            || partition.over_subscribe == OverSubscribe::Exclusive
            || request.sharing == Sharing::Exclusive;
        match (needs(is_whole) > most, needs(true) > most) {
            _ if most == 0 => None,
            (true, _) => Some(OverMemory::Always),
            (false, true) => Some(OverMemory::WhenWhole),
            (false, false) => None,
        }
    };
    let requests = scenario.workload.requests.iter().enumerate();
    let each = requests.flat_map(|(index, request)| request.partitions.iter().map(move |&id| (index, request, id)));
    each.filter_map(|(index, request, id)| Some(((RequestId::new(index), id), over(request, id)?))).collect()
}

/// CPUs of the tasks that some node gets, whichever nodes those are. `--spread-job` makes the most nodes those of the cluster, or as many as
/// tasks.
fn sure_cpus_per_node(request: &Request, n_nodes: u32) -> u32 {
    let per_node = request.ntasks_per_node.unwrap_or(1).max(1);
    let tasks = if request.tasks > 0 { request.tasks } else { request.min_nodes.saturating_mul(per_node) };
    let of_spread = request.spread.then_some(n_nodes.min(tasks));
    let spread = request.max_nodes.or(of_spread).filter(|&most| most > 0).map_or(1, |most| tasks.div_ceil(most));
    let cpus = per_node.max(spread).saturating_mul(request.cpus_per_task.max(1));
    cpus.max(request.min_cpus_per_node.unwrap_or(1))
}

/// Whether a name is allowed; where nothing is allowed by name, all but those denied are.
fn is_listed<'a, T: PartialEq + 'a>(allowed: &[T], denied: &[T], name: impl Fn() -> &'a T) -> bool {
    match allowed {
        [] => denied.is_empty() || !denied.contains(name()),
        _ => allowed.contains(name()),
    }
}
