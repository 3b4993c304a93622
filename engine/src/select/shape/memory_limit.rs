//! What `MaxMemPerCPU` makes of a request's CPUs. Source: slurm-semantics 6.1; job_mgr.c, `_valid_pn_min_mem`.

use crate::cluster::{Cluster, MemoryDefault, Partition};
use crate::ids::PartitionId;
use crate::job::{Memory, Request};
use crate::policy::{Policy, SelectPolicy, SlurmVersion};

/// The memory that a request is held against in a partition: what it asks for, or the default; who gets all memory of a node, with that of
/// the partition's first (job_mgr.c of 22.05.8, `job_limits_check`, `_valid_pn_min_mem`; rec at-tier).
pub(super) fn held(cluster: &Cluster, select: &SelectPolicy, partition: PartitionId, memory: Memory) -> Memory {
    let partition = &cluster.partitions[partition.index()];
    let default = partition.default_memory.or(select.default_memory);
    let whole = || partition.nodes.iter().next().map_or(0, |node| cluster.nodes[node.index()].memory_mb);
    match (memory, default) {
        (Memory::Default, Some(MemoryDefault::PerNode(mb))) if mb > 0 => Memory::PerNode(mb),
        (Memory::Default, Some(MemoryDefault::PerCpu(mb))) if mb > 0 => Memory::PerCpu(mb),
        (Memory::Default | Memory::WholeNode, _) => Memory::PerNode(whole()),
        _ => memory,
    }
}

/// What the memory of a request is held against: the partition's `MaxMemPerCPU` or `MaxMemPerNode`, or the global one; nothing where its QOS asks
/// for a threshold of usage instead (job_mgr.c of 22.05.8, `job_limits_check`; rec w2185).
pub(crate) fn limit(select: &SelectPolicy, partition: &Partition, request: &Request) -> Option<MemoryDefault> {
    partition.max_memory.or(select.max_memory).filter(|_| !request.past_memory_limits)
}

/// CPUs of a node that memory asked for by the node makes, where the memory of a CPU is limited.
pub(super) fn cpus_of(
    cluster: &Cluster,
    select: &SelectPolicy,
    partition: PartitionId,
    request: &Request,
) -> Option<u32> {
    let of_partition = &cluster.partitions[partition.index()];
    match (held(cluster, select, partition, request.memory), limit(select, of_partition, request)) {
        (Memory::PerNode(asked), Some(MemoryDefault::PerCpu(most))) if most > 0 => Some(asked.div_ceil(most) as u32),
        _ => None,
    }
}

/// How many CPUs a request counts as once a scheduler has held it against a partition, where `MaxMemPerCPU` makes others of them than it asks
/// for; `None` where it does not (job_mgr.c of 22.05.8, `job_limits_check`, `_valid_pn_min_mem`; rec w2108, of memory by the node from 24.11.4 on:
/// rec t17-24-11). O(1).
pub(crate) fn counted_cpus(
    cluster: &Cluster,
    policy: &Policy,
    partition: PartitionId,
    request: &Request,
) -> Option<u32> {
    let select = &policy.select;
    let limit = limit(select, &cluster.partitions[partition.index()], request);
    match (held(cluster, select, partition, request.memory), limit) {
        (Memory::PerCpu(asked), Some(MemoryDefault::PerCpu(most))) if asked > most && most > 0 => {
            let by_node = request.min_nodes.max(1).saturating_mul(request.ntasks_per_node.unwrap_or(1));
            let tasks = if request.tasks > 0 { request.overcommitted.unwrap_or(request.tasks) } else { by_node };
            let per_task = request.cpus_per_task.max(1).saturating_mul(asked.div_ceil(most) as u32);
            Some(tasks.saturating_mul(per_task))
        }
        _ if policy.version >= SlurmVersion::V24_11 => {
            with_cpus_of_memory(cluster, select, partition, request).map(|changed| changed.min_cpus)
        }
        _ => None,
    }
}

/// As slurmctld changes a request from 24.11.4 on where its memory makes more CPUs of a node than it asks for: the CPUs come with its tasks,
/// which may get fewer than they ask for (job_mgr.c of 24.11.5, `_valid_pn_min_mem`; rec c101-24-11). `None` where nothing changes.
pub(crate) fn with_cpus_of_memory(
    cluster: &Cluster,
    select: &SelectPolicy,
    partition: PartitionId,
    request: &Request,
) -> Option<Request> {
    let least = request.min_cpus_per_node.unwrap_or(1).max(request.cpus_per_task.max(1));
    let of_memory = cpus_of(cluster, select, partition, request).filter(|&cpus| cpus > least)?;
    let mut changed = request.clone();
    changed.min_cpus = request.min_cpus.max(of_memory);
    let per_node = if let Some(tasks) = request.ntasks_per_node {
        let tasks = tasks.max(1);
        changed.cpus_per_task = of_memory.div_ceil(tasks);
        of_memory.max(changed.cpus_per_task.saturating_mul(tasks))
    } else if request.tasks > 0 {
        let nodes = request.min_nodes.max(1);
        let tasks = request.overcommitted.unwrap_or(request.tasks).max(1);
        changed.cpus_per_task = of_memory.saturating_mul(nodes).div_ceil(tasks);
        let per_node = changed.cpus_per_task.saturating_mul(tasks) / nodes;
        changed.min_cpus = per_node;
        per_node
    } else {
        changed.cpus_per_task = of_memory.max(request.cpus_per_task);
        of_memory
    };
    changed.min_cpus_per_node = Some(per_node);
    Some(changed)
}
