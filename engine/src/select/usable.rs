//! How many CPUs of one node a request could use: the per-node test of select/cons_tres and select/linear.
//! Source: slurm-semantics 6.4, 6.5 (observed on 22.05.8).

use crate::ids::NodeId;
use crate::policy::ConsumableUnit;
use crate::select::capped::cores_within_cap;
use crate::select::free::Free;
use crate::select::geometry::Geometry;
use crate::select::shape::{MemoryNeed, Shape};

/// CPUs that `shape` could use on `node`, 0 if the node cannot serve it. O(sockets + GRES of the shape).
#[inline]
pub(crate) fn usable_cpus(geometry: &Geometry, free: &Free, shape: &Shape, user: u32, node: NodeId) -> u32 {
    let (index, unit) = (node.index(), shape.unit);
    if !free.admits(node, user, shape.exclusive_user) {
        return 0;
    }
    if shape.tasks_per_socket.is_some() && !shape.eligible.contains(node) {
        // Its sockets are too small for their tasks; backfill looks at nodes that only could have what is asked for.
        return 0;
    }
    for &(gres, count) in shape.gres.iter().chain(&shape.gres_least) {
        let units = free.units(geometry, shape, node, gres);
        let short = geometry.gpus[gres.index()] && shape.gpus_within(free.memory[index]) < count;
        if units < count || short {
            return 0;
        }
    }
    if shape.whole_nodes {
        return whole_node(geometry, free, shape, index);
    }
    if shape.exclusive_partition && free.jobs[index] > 0 {
        // Planned with parts of nodes, but idle ones.
        return 0;
    }
    let cpus_per_core = geometry.cpus_per_core[index];
    let usable_threads = shape.usable_threads(cpus_per_core);
    let mut cpus = 0;
    // The least is looked for among all free CPUs, whatever limits leave of them to its tasks (docs/FACTS.md, facts 50).
    let mut free_cpus = 0;
    let mut sockets = 0;
    let capped = if shape.cons_res { cores_within_cap(geometry, free, shape, node) } else { None };
    for (position, socket) in geometry.sockets(node).enumerate() {
        let cores = free.cores[socket];
        let broken = !free.serves(geometry, shape, socket) || !free.may_bind(geometry, shape, socket);
        let cores = capped.as_ref().map_or(cores, |capped| capped[position]);
        if cores == 0 || broken || cores < shape.cores_per_socket {
            continue;
        }
        sockets += 1;
        let socket_cpus = cores * usable_threads;
        free_cpus += socket_cpus;
        cpus += shape.within_tasks_of_socket(socket_cpus, usable_threads);
    }
    if sockets < shape.sockets_per_node || free_cpus < shape.min_cpus_per_node {
        return 0;
    }
    if shape.leaves_odd_threads(usable_threads) {
        cpus = shape.cpus_counted(cpus / usable_threads, usable_threads);
    }
    let within_tasks_of_node = |cpus: u32| match shape.tasks_a_node_counts() {
        Some(tasks) => cpus.min(tasks.saturating_mul(shape.cpus_per_task)),
        None => cpus,
    };
    let mut cut_by_cap = false;
    if let Some((cap, most)) = shape.max_cpus_per_node {
        let used = match geometry.counts_others && !free.has_had_jobs(shape.partition) {
            true => used_by_anybody(geometry, free, node) * cpus_per_core,
            false => free.capped_cpus[index * geometry.capped_partitions.len() + cap as usize],
        };
        let takes_whole = shape.asks_for_user && geometry.user_takes_whole;
        if takes_whole && free.node_cores[index] * cpus_per_core + used > most {
            return 0;
        }
        let left = most.saturating_sub(used);
        if !shape.cons_res && cpus > left {
            // Who counts by tasks counts them before the cap, which may leave a part of one (`_allocate_sc` of 24.05.8; rec c152-24-05).
            if shape.counts_tasks_by_node {
                cpus = shape.that_count(within_tasks_of_node(cpus), usable_threads);
            }
            (cpus, cut_by_cap) = (cpus.min(left), shape.counts_tasks_by_node);
        }
    }
    if cpus < shape.room_of_one {
        return 0;
    }
    cpus = match shape.memory {
        MemoryNeed::NotConsumed(mb) if mb > geometry.memory[index] => 0,
        MemoryNeed::NotConsumed(_) => cpus,
        MemoryNeed::PerNode(mb) if mb > free.memory[index] => 0,
        MemoryNeed::PerNode(_) => cpus,
        MemoryNeed::PerUnit(mb, least) if mb.saturating_mul(u64::from(least)) > free.memory[index] => 0,
        MemoryNeed::PerUnit(..) => cpus,
        MemoryNeed::Whole if free.memory[index] < geometry.memory[index] => 0,
        MemoryNeed::Whole => cpus,
        // No node is looked at without memory for the fewest CPUs (`_verify_node_state`; rec ar-cpu).
        MemoryNeed::PerCpu(mb) if mb.saturating_mul(u64::from(shape.min_cpus_per_node)) > free.memory[index] => 0,
        MemoryNeed::PerCpu(mb) => {
            if unit == ConsumableUnit::Socket {
                of_sockets_with_memory(geometry, free, shape, node, (cpus, mb))
            } else {
                // CR_CPU charges single CPUs.
                let used = shape.used_threads(cpus_per_core);
                let (threads, charged) = if unit == ConsumableUnit::Cpu { (1, 1) } else { (usable_threads, used) };
                if shape.leaves_odd_threads(usable_threads) && mb > 0 {
                    // Cores are dropped, each with all its threads, until the CPUs counted fit.
                    let beyond = u64::from(cpus).saturating_sub(free.memory[index] / mb) as u32;
                    cpus.saturating_sub(beyond.next_multiple_of(threads))
                } else {
                    limited_by_memory(cpus, mb, free.memory[index], threads, charged)
                }
            }
        }
    };
    // With memory by the CPU, only the CPUs of whole tasks count.
    if !cut_by_cap || matches!(shape.memory, MemoryNeed::PerCpu(_)) {
        cpus = shape.that_count(within_tasks_of_node(cpus), usable_threads);
    }
    if cpus < shape.room_for_tasks { 0 } else { cpus }
}

/// Cores of a node that nobody can get, those kept for the system among them (cons_tres/job_test.c of 24.11.5, `_allocate_sc` without a
/// `part_core_map`). O(sockets).
fn used_by_anybody(geometry: &Geometry, free: &Free, node: NodeId) -> u32 {
    let kept: u32 = geometry.kept_cores[geometry.sockets(node)].iter().sum();
    kept + geometry.cores[node.index()].saturating_sub(free.node_cores[node.index()])
}

/// A node for a job that takes it whole: nothing of it may be in use, and no cap on the partition's CPUs be lower than what of it serves.
/// The job is charged all of it, but of cores whose threads it does not use it has only those that it does.
fn whole_node(geometry: &Geometry, free: &Free, shape: &Shape, index: usize) -> u32 {
    let (mut cpus, mut serve) = (shape.cpus_of_whole(geometry, index), geometry.cpus[index]);
    if shape.unit == ConsumableUnit::Socket && !geometry.kept_cores.is_empty() {
        // It is charged all of it, but tested with the sockets that serve (rec c1017), against the cap, too (rec c1417).
        let serving = geometry.sockets(NodeId::new(index)).filter(|&socket| free.serves(geometry, shape, socket));
        let cores: u32 = serving.map(|socket| geometry.socket_cores[socket]).sum();
        serve = serve.min(cores * geometry.cpus_per_core[index].max(1));
        cpus = cpus.min(serve);
    }
    // 24.11 counts what the system keeps as used until then (cons_helpers.c of 24.11.5, `_allocate_sc`).
    let counted = match geometry.counts_others && !free.has_had_jobs(shape.partition) {
        true => geometry.all_cpus[index],
        false => serve,
    };
    let capped = shape.max_cpus_per_node.is_some_and(|(_, most)| counted > most);
    if free.jobs[index] > 0 || cpus < shape.room_per_node || capped {
        return 0;
    }
    // Tasks of one CPU that have cores to themselves are tested with as many cores as there is memory for all threads of; that of the whole
    // node is asked for only of who starts (cons_tres/job_test.c of 22.05.8, `can_job_run_on_node`, `common_job_test`; rec bb-gpuo).
    let by_core = shape.tasks_per_core == Some(1) && shape.cpus_per_task == 1 && shape.tasks_per_socket.is_none();
    if let MemoryNeed::PerCpu(mb) = shape.memory
        && by_core
        && mb > 0
        && !shape.cons_res
        && shape.unit != ConsumableUnit::Cpu
    {
        let threads = u64::from(geometry.cpus_per_core[index].max(1));
        let fitting = u32::try_from(free.memory[index] / mb.saturating_mul(threads)).unwrap_or(u32::MAX);
        let enough = mb.saturating_mul(u64::from(cpus)) <= free.memory[index];
        let left = cpus.min(fitting);
        return if enough && left >= shape.room_for_tasks { left } else { 0 };
    }
    let enough_memory = match shape.memory {
        MemoryNeed::NotConsumed(mb) => mb <= geometry.memory[index],
        MemoryNeed::PerNode(mb) => mb <= free.memory[index],
        MemoryNeed::PerUnit(mb, least) => mb.saturating_mul(u64::from(least)) <= free.memory[index],
        // --mem-per-cpu is charged for every CPU of the node, but asked of those that the tasks of its sockets need (rec j-het2).
        MemoryNeed::PerCpu(mb) if shape.tasks_per_socket.is_some() => {
            mb.saturating_mul(u64::from(cpus)) <= free.memory[index]
        }
        MemoryNeed::PerCpu(mb) => {
            mb.saturating_mul(u64::from(shape.charged_of_whole(geometry, index))) <= free.memory[index]
        }
        MemoryNeed::Whole => free.memory[index] == geometry.memory[index],
    };
    // With memory by the CPU only CPUs of whole tasks count (cons_tres/job_test.c of 22.05.8, `can_job_run_on_node`; rec ar-qos1).
    let beyond = shape.beyond_whole_tasks(cpus, shape.usable_threads(geometry.cpus_per_core[index]));
    if enough_memory && cpus - beyond >= shape.room_for_tasks { cpus - beyond } else { 0 }
}

/// CPUs left with CR_Socket when each needs `mb` MB: as many as a socket has are dropped at a time until the rest fits, however few of a
/// socket are on offer (`--ntasks-per-socket`, `MaxCPUsPerNode`); threads of one core where the job says how many it uses of those.
/// O(sockets).
fn of_sockets_with_memory(
    geometry: &Geometry,
    free: &Free,
    shape: &Shape,
    node: NodeId,
    (cpus, mb): (u32, u64),
) -> u32 {
    if mb == 0 {
        return cpus;
    }
    let threads = geometry.cpus_per_core[node.index()];
    let (step, charged) = if shape.tasks_per_core == Some(1) && shape.cpus_per_task == 1 {
        (1, threads)
    } else if shape.leaves_threads() {
        (shape.usable_threads(threads), 1)
    } else {
        let cores = geometry.sockets(node).map(|socket| geometry.whole_sockets[socket]).max().unwrap_or(1);
        (cores * threads, 1)
    };
    let fitting = free.memory[node.index()] / mb.saturating_mul(u64::from(charged)).max(1);
    let beyond = u64::from(cpus).saturating_sub(fitting) as u32;
    cpus.saturating_sub(beyond.next_multiple_of(step.max(1)))
}

/// CPUs left when each allocated CPU needs `mb` MB: whole cores are charged, so cores are dropped until they fit.
fn limited_by_memory(cpus: u32, mb: u64, free_mb: u64, usable_threads: u32, cpus_per_core: u32) -> u32 {
    if mb == 0 {
        return cpus;
    }
    let charged_per_core = mb * u64::from(cpus_per_core);
    if u64::from(cpus).saturating_mul(charged_per_core) <= free_mb {
        return cpus;
    }
    let cores_that_fit = (free_mb / charged_per_core.max(1)).min(u64::from(u32::MAX / usable_threads.max(1))) as u32;
    cpus.min(cores_that_fit.saturating_mul(usable_threads))
}
