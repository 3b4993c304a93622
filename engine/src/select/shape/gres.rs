//! The GRES of a request: which each node must have, and which the job counts over its nodes.

use crate::ablation::{Rule, is_off};
use crate::cluster::{Cluster, Partition};
use crate::ids::GresId;
use crate::job::{GresRequest, GresScope, Request};
use crate::policy::SelectPolicy;
use crate::select::shape::Binding;

/// GRES counted for the whole job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GresOfJob {
    /// Which.
    pub(crate) gres: GresId,
    /// Of all nodes together.
    pub(crate) count: u32,
    /// Fewest on a node.
    pub(crate) least: u32,
    /// They come with tasks, so many with each: then a node has as many tasks as it has units for.
    pub(crate) per_task: Option<u32>,
    /// CPUs of such a task, those of its GPUs included.
    pub(crate) task_cpus: u32,
    /// CPUs asked for with each unit that comes without a task (`--cpus-per-gpu`; not the default); 0 for none. Units go where their
    /// CPUs are then (facts 42).
    pub(crate) unit_cpus: u32,
}

/// GRES needed on each node; counts per job and task may go `over_nodes` as they come, else they are spread over the fewest nodes.
pub(super) fn per_node_gres(request: &Request, tasks: u32, min_nodes: u32, over_nodes: bool) -> Vec<(GresId, u32)> {
    request
        .gres
        .iter()
        .map(|wanted| {
            let count = match wanted.scope {
                GresScope::PerNode => wanted.count,
                GresScope::PerJob if over_nodes => wanted.count.min(1),
                GresScope::PerTask if over_nodes => wanted.count,
                GresScope::PerJob => wanted.count.div_ceil(min_nodes),
                GresScope::PerTask => wanted.count.saturating_mul(tasks).div_ceil(min_nodes),
                GresScope::PerSocket => wanted.count.saturating_mul(request.sockets_per_node.unwrap_or(1)),
            };
            (wanted.gres, count)
        })
        .filter(|&(_, count)| count > 0)
        .collect()
}

/// GRES of the tasks for which a node must have room (`--ntasks-per-socket`), where each task comes with some (rec i-gpu2).
pub(super) fn gres_of_least_tasks(request: &Request, least_tasks: u32) -> Vec<(GresId, u32)> {
    let of_task = |wanted: &&GresRequest| wanted.scope == GresScope::PerTask && least_tasks > 1 && !is_off(Rule::Gres);
    let wanted = request.gres.iter().filter(of_task);
    wanted.map(|wanted| (wanted.gres, wanted.count.saturating_mul(least_tasks))).collect()
}

/// Where one node serves a job of `--gpus` and `--cpus-per-gpu`: it gives no more CPUs than come with its free GPUs, so it must have as many as
/// make the job's CPUs, though the job takes fewer (cons_tres/gres_sched.c of 22.05.8, `gres_sched_add`; rec be-h8).
pub(super) fn gres_of_cpus(request: &Request, min_cpus: u32) -> Vec<(GresId, u32)> {
    let Some(unit) = request.cpus_per_gpu.filter(|&cpus| cpus > 0 && !is_off(Rule::Gres)) else { return Vec::new() };
    let wanted = request.gres.iter().filter(|wanted| wanted.scope == GresScope::PerJob && wanted.count > 0);
    wanted.map(|wanted| (wanted.gres, min_cpus.div_ceil(unit))).collect()
}

/// GRES that a job gets with each of its sockets: a node needs those of one (docs/FACTS.md, facts 51).
pub(super) fn gres_of_socket(request: &Request) -> Vec<(GresId, u32)> {
    let of_socket = |wanted: &&GresRequest| wanted.scope == GresScope::PerSocket && wanted.count > 0;
    let wanted = request.gres.iter().filter(of_socket).filter(|_| !is_off(Rule::Gres));
    wanted.map(|wanted| (wanted.gres, wanted.count)).collect()
}

/// GRES that go over the job's nodes as they come.
pub(super) fn gres_of_job(request: &Request, tasks: u32, (cpus_per_task, cpus_a_gpu): (u32, u32)) -> Vec<GresOfJob> {
    let of = |wanted: &GresRequest| {
        let (least, per_task) = match wanted.scope {
            GresScope::PerJob => (1, None),
            GresScope::PerTask => (wanted.count, Some(wanted.count)),
            GresScope::PerNode | GresScope::PerSocket => return None,
        };
        let task_cpus = cpus_per_task.max(cpus_a_gpu.saturating_mul(least));
        let unit_cpus = request.cpus_per_gpu.filter(|_| per_task.is_none()).unwrap_or(0);
        Some(GresOfJob { gres: wanted.gres, count: wanted.of_job(1, tasks), least, per_task, task_cpus, unit_cpus })
    };
    let counted = request.gres.iter().filter(|wanted| wanted.count > 0 && !is_off(Rule::Gres));
    counted.filter_map(of).collect()
}

/// CPUs that come with each GPU: those asked for, or the default where no CPUs per task were asked for.
pub(in crate::select) fn cpus_per_gpu(request: &Request, partition: &Partition, select: &SelectPolicy) -> Option<u32> {
    let default = || partition.default_cpus_per_gpu.or(select.default_cpus_per_gpu);
    let cpus = request.cpus_per_gpu.or_else(|| default().filter(|_| request.cpus_per_task <= 1));
    cpus.filter(|_| !select.linear && !select.cons_res)
}

/// `--gres-flags=enforce-binding`: a job of a CPU a node gets what it counts as a whole from one socket, one with `--ntasks-per-socket` from as many
/// as its tasks need (cons_common/job_test.c of 22.05.8, `_socks_per_node`; gres_sched.c, `gres_sched_create_sock_gres_list`).
pub(super) fn binding(request: &Request, cpus: u32, tasks: u32) -> Option<Binding> {
    let min_nodes = request.min_nodes.max(1);
    let of_job = |wanted: &GresRequest| matches!(wanted.scope, GresScope::PerJob | GresScope::PerTask);
    let most_sockets = match request.ntasks_per_socket {
        _ if !request.gres.iter().any(of_job) => u32::MAX,
        _ if cpus / min_nodes <= 1 => 1,
        Some(of_socket) => (tasks / min_nodes).div_ceil(of_socket.max(1)),
        None => u32::MAX,
    };
    let counted = request.gres.iter().filter(|wanted| of_job(wanted)).map(|wanted| wanted.gres);
    (request.enforces_binding && !is_off(Rule::Gres)).then(|| Binding {
        most_sockets,
        of_job: counted.collect(),
        of_socket: gres_of_socket(request),
    })
}

/// GPUs of the whole job, given those of each of its nodes.
pub(super) fn gpus_of_job(cluster: &Cluster, request: &Request, on_node: u32, (nodes, tasks): (u32, u32)) -> u32 {
    let is_gpu = |gres: &GresRequest| cluster.gres.get(gres.gres.index()).is_some_and(|kind| kind.name == "gpu");
    let of_job = |gres: &&GresRequest| matches!(gres.scope, GresScope::PerJob | GresScope::PerTask);
    let of_job = request.gres.iter().filter(|gres| is_gpu(gres)).find(of_job);
    of_job.map_or(on_node.saturating_mul(nodes), |gres| gres.of_job(nodes, tasks))
}

/// GPUs needed on a node: a request names their total, their types, or both.
pub(super) fn gpus_per_node(cluster: &Cluster, gres: &[(GresId, u32)]) -> u32 {
    let of = |typed: bool| {
        let gpus = gres.iter().filter(|(id, _)| {
            cluster.gres.get(id.index()).is_some_and(|gres| gres.name == "gpu" && gres.kind.is_some() == typed)
        });
        gpus.fold(0, |sum: u32, &(_, count)| sum.saturating_add(count))
    };
    of(false).max(of(true))
}
