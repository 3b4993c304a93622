//! From chosen nodes to an allocation: tasks over nodes, cores over sockets, memory and GRES.
//! Source: slurm-semantics 6.5 (last paragraph), 6.4, 6.9.

use crate::ids::{GresId, NodeId};
use crate::policy::ConsumableUnit;
use crate::select::allocation::{Allocation, Share};
use crate::select::capped::cores_within_cap;
use crate::select::free::{ANY_USER, Free};
use crate::select::geometry::Geometry;
use crate::select::near::{NearCores, take_near, units_of_sockets, usable_cores};
use crate::select::pick::Offer;
use crate::select::shape::{GresOfJob, MemoryNeed, Shape};
use crate::select::usable::usable_cpus;

/// Lays a job out on its chosen nodes. O(nodes of the job × sockets).
pub(crate) fn lay_out(geometry: &Geometry, free: &Free, shape: &Shape, (chosen, near): (&[Offer], bool)) -> Allocation {
    let mut allocation = Allocation {
        shares: Vec::with_capacity(chosen.len()),
        socket_cores: Vec::new(),
        gres: Vec::new(),
        near: Vec::new(),
        user: ANY_USER,
        exclusive_user: shape.exclusive_user,
        exclusive_partition: shape.exclusive_partition,
        whole_nodes: shape.whole_nodes,
        partition: shape.partition.0,
        cap: shape.max_cpus_per_node.map(|(cap, _)| cap),
        seat: None,
        shares_cores: false,
        asks_to_share: shape.asks_to_share,
    };
    let mut near_cores = NearCores::default();
    let mut task_cpus = if shape.whole_nodes { Vec::new() } else { tasks_over_nodes(geometry, shape, chosen) };
    // With `--overcommit` tasks may be fewer than nodes, and those without one hold nothing (dist_tasks.c, `dist_tasks_compute_c_b`,
    // job_resources.c, `job_res_add_job` of 22.05.8; rec ay-tier).
    let with_tasks = shape.nodes_with_tasks.map_or(chosen.len(), |tasks| tasks.max(1) as usize);
    if shape.binding.is_some() {
        // Cores that its GRES are near are the job's, whatever its tasks need (dist_tasks.c of 22.05.8, `dist_tasks_gres_min_cpus`).
        for (cpus, offer) in task_cpus.iter_mut().zip(chosen) {
            let all = usable_cpus(geometry, free, shape, ANY_USER, offer.node);
            near_cores.find((geometry, free), shape, (offer.node, all), near);
            let threads = shape.usable_threads(geometry.cpus_per_core[offer.node.index()]);
            *cpus = (near_cores.least_cores * threads).min(offer.cpus).max(*cpus);
        }
    }
    task_cpus.iter_mut().skip(with_tasks).for_each(|cpus| *cpus = 0);
    let over_nodes: Vec<Vec<u32>> = shape
        .gres_of_job
        .iter()
        .map(|wanted| units_over_nodes((geometry, free), (shape, wanted), (chosen, &task_cpus)))
        .collect();
    let mut of_node = shape.gres.clone();
    let needs_gres = !shape.gres.is_empty() || (shape.whole_nodes && geometry.n_gres > 0);
    let cuts = geometry.cuts_for(shape);
    for (position, offer) in chosen.iter().enumerate() {
        let first_socket = allocation.socket_cores.len();
        let index = offer.node.index();
        let cpus_per_core = geometry.cpus_per_core[index];
        let cores = if shape.whole_nodes {
            allocation.socket_cores.extend_from_slice(&geometry.socket_cores[geometry.sockets(offer.node)]);
            geometry.cores[index]
        } else {
            let threads = shape.usable_threads(cpus_per_core);
            let cores = (task_cpus[position], threads);
            if cuts {
                let all = usable_cpus(geometry, free, shape, ANY_USER, offer.node);
                near_cores.find((geometry, free), shape, (offer.node, all), near);
            }
            let near = cuts.then_some(near_cores.cores.as_slice());
            cores_over_sockets(geometry, free, shape, (offer, near), cores, &mut allocation.socket_cores)
        };
        let cpus = match shape.unit {
            _ if shape.whole_nodes => geometry.cpus[index],
            // CR_CPU hands out cores, too, but charges no more than what is asked for.
            ConsumableUnit::Cpu => task_cpus[position].min(cores * cpus_per_core),
            _ => cores * cpus_per_core,
        };
        let memory = match shape.memory {
            _ if position >= with_tasks => 0,
            MemoryNeed::NotConsumed(_) => 0,
            // Whose memory lags a test behind (`Shape::by_default`) may be given less than it asks for.
            MemoryNeed::PerNode(mb) => mb.min(free.memory[index]),
            MemoryNeed::PerCpu(mb) => {
                // Threads that `--threads-per-core` leaves unused have none.
                let used = cpus / cpus_per_core.max(1) * shape.used_threads(cpus_per_core);
                let charged = if shape.unit == ConsumableUnit::Cpu { cpus } else { used };
                mb.saturating_mul(u64::from(charged)).min(free.memory[index])
            }
            MemoryNeed::PerUnit(mb, _) => {
                over_nodes.first().map_or(0, |units| mb.saturating_mul(u64::from(units[position])))
            }
            MemoryNeed::Whole => geometry.memory[index],
        };
        allocation.shares.push(Share { node: offer.node, cpus, memory });
        if needs_gres && position < with_tasks {
            for (wanted, units) in shape.gres_of_job.iter().zip(&over_nodes) {
                of_node
                    .iter_mut()
                    .filter(|(gres, _)| *gres == wanted.gres)
                    .for_each(|(_, count)| *count = units[position]);
            }
            for &(of_socket, _) in shape.gres_of_socket.iter().filter(|_| !shape.whole_nodes) {
                let cores = &allocation.socket_cores[first_socket..];
                let units = units_of_sockets((geometry, free), shape, of_socket, (offer.node, cores));
                of_node.iter_mut().filter(|(gres, _)| *gres == of_socket).for_each(|(_, count)| *count = units);
            }
            take_gres((geometry, free), shape, &of_node, index, &mut allocation.gres);
        } else if needs_gres {
            allocation.gres.resize(allocation.gres.len() + geometry.n_gres, 0);
        }
        if needs_gres && position < with_tasks && !geometry.near.is_empty() {
            let cores = &allocation.socket_cores[first_socket..];
            take_near((geometry, free), shape, &of_node, (offer.node, cores), &mut allocation.near);
        } else if needs_gres && !geometry.near.is_empty() {
            let units = geometry.sockets(offer.node).len() * geometry.n_gres;
            allocation.near.resize(allocation.near.len() + units, 0);
        }
        if shape.unit == ConsumableUnit::Memory && !shape.whole_nodes {
            // CR_Memory hands out memory alone: the CPUs are charged, and stay free for others. GRES are near them all the same.
            allocation.socket_cores[first_socket..].fill(0);
        }
    }
    allocation
}

/// CPUs of all tasks on so many nodes: no node has fewer than its least, nor fewer tasks than `--ntasks-per-node`.
fn cpus_wanted(geometry: &Geometry, shape: &Shape, nodes: u32) -> u32 {
    // A CPU for each task of the GPUs of so many nodes (gres_select_util.c of 22.05.8, `gres_select_util_job_min_tasks`).
    let is_gpu = |gres: GresId| geometry.gpus[gres.index()];
    let of_job = shape.gres_of_job.iter().filter(|wanted| is_gpu(wanted.gres)).map(|wanted| wanted.count).max();
    let of_node =
        shape.gres.iter().filter(|wanted| is_gpu(wanted.0)).map(|wanted| wanted.1.saturating_mul(nodes)).max();
    let gpus = of_job.or(of_node).unwrap_or(0);
    let of_gpus = shape.tasks_per_gpu.map_or(0, |tasks| tasks.saturating_mul(gpus));
    if let Some(tasks) = shape.tasks_to_place {
        return tasks.saturating_mul(shape.cpus_per_task.max(1));
    }
    let per_node = shape.min_cpus_per_node.max(shape.tasks_per_node.unwrap_or(1));
    if geometry.lays_out_said && shape.tasks_are_said && (shape.tasks >= nodes || !shape.nodes_are_said) {
        // dist_tasks.c of 24.11.5, `_get_task_count`. Who asks for more nodes than tasks has not said those: sbatch asks for no more. Nodes
        // beyond the tasks, for a partition's `MinNodes`, hold nothing (rec c111-24-11).
        return shape.tasks.saturating_mul(shape.cpus_per_task.max(1));
    }
    match shape.tasks_per_node {
        Some(tasks) if shape.cpus_per_task > 1 => tasks.saturating_mul(nodes).saturating_mul(shape.cpus_per_task),
        _ => shape.min_cpus.max(per_node.saturating_mul(nodes)).max(of_gpus),
    }
}

/// CPUs of each node: a task on every node first, then round and round until all are placed, in each round as many on a node as
/// its cores have threads for. Source: behaviour of dist_tasks of 22.05.8; `docs/FACTS.md`, facts 50. O(CPUs of the job).
fn tasks_over_nodes(geometry: &Geometry, shape: &Shape, chosen: &[Offer]) -> Vec<u32> {
    let offered: u32 = chosen.iter().map(|offer| offer.cpus).sum();
    let wanted = match shape.overcommitted {
        Some(tasks) => tasks.min(offered).max(1),
        None => cpus_wanted(geometry, shape, chosen.len() as u32),
    };
    if offered == 0 || (offered <= wanted && shape.cpus_per_task <= 1 && shape.one_task_a_node.is_none()) {
        return chosen.iter().map(|offer| offer.cpus).collect();
    }
    let of_task = shape.cpus_per_task.max(1);
    let mut cpus = vec![0; chosen.len()];
    let mut left = match shape.one_task_a_node {
        Some(tasks) => tasks.min(offered),
        None if shape.overcommitted.is_some() => wanted,
        None => (wanted / of_task).max(1),
    };
    if let Some(plane) = shape.plane {
        planes_over_nodes((left, plane), of_task, chosen, &mut cpus);
        return cpus;
    }
    if shape.cons_res {
        one_by_one(left, of_task, chosen, &mut cpus);
        return cpus;
    }
    // Places up to so many tasks on a node; says whether it placed some.
    let mut place = |cpus: &mut u32, offer: &Offer, tasks: u32, squeezed: bool| {
        let room = if squeezed { u32::MAX } else { (offer.cpus - *cpus) / of_task };
        let placed = tasks.min(left).min(room);
        *cpus = cpus.saturating_add(placed.saturating_mul(of_task)).min(offer.cpus);
        left -= placed;
        (placed > 0, left)
    };
    let threads = |offer: &Offer| geometry.cpus_per_core[offer.node.index()].max(1);
    for (cpus, offer) in cpus.iter_mut().zip(chosen) {
        // A node's first task has what CPUs there are.
        place(cpus, offer, 1, true);
    }
    // Begun cores are filled.
    for (cpus, offer) in cpus.iter_mut().zip(chosen) {
        let begun = *cpus % threads(offer);
        place(cpus, offer, begun / of_task, false);
    }
    if shape.one_task_a_node.is_some() {
        return cpus;
    }
    // Tasks that find all their CPUs nowhere have what is left, node by node.
    let mut squeezed = false;
    loop {
        let (mut placed, mut left) = (false, 0);
        for (cpus, offer) in cpus.iter_mut().zip(chosen) {
            let (some, still) = place(cpus, offer, (threads(offer) / of_task).max(1), squeezed);
            (placed, left) = (placed || some, still);
        }
        if left == 0 {
            return cpus;
        }
        squeezed |= !placed;
    }
}

/// select/cons_res: a task on each node that has all its CPUs, round after round; once a round finds no node with a CPU to spare, whatever is
/// left (`dist_tasks_compute_c_b` of 22.05.8). O(CPUs of the job).
fn one_by_one(mut tasks: u32, of_task: u32, chosen: &[Offer], cpus: &mut [u32]) {
    let mut squeezed = false;
    let mut wanted = of_task;
    while tasks > 0 {
        let mut has_room = false;
        for (cpus, offer) in cpus.iter_mut().zip(chosen) {
            if tasks > 0 && (squeezed || wanted <= offer.cpus) {
                tasks -= 1;
                *cpus = cpus.saturating_add(of_task).min(offer.cpus);
                has_room |= wanted < offer.cpus;
            }
        }
        squeezed |= !has_room;
        wanted = wanted.saturating_add(of_task);
    }
}

/// `-m plane`: so many tasks a plane, node after node, round and round; a task has what CPUs are left on its node.
/// Source: behaviour of dist_tasks of 22.05.8; `docs/FACTS.md`, facts 61. O(nodes × rounds).
fn planes_over_nodes((mut tasks, plane): (u32, u32), of_task: u32, chosen: &[Offer], cpus: &mut [u32]) {
    loop {
        let before = tasks;
        for (cpus, offer) in cpus.iter_mut().zip(chosen) {
            let placed = plane.min(tasks).min((offer.cpus - *cpus).div_ceil(of_task));
            *cpus = cpus.saturating_add(placed.saturating_mul(of_task)).min(offer.cpus);
            tasks -= placed;
        }
        if tasks == 0 || tasks == before {
            return;
        }
    }
}

/// Takes cores of a node for `cpus` CPUs, `threads` of each: cyclically over its sockets, or (with CR_CPU always) socket by socket, the
/// tightest first. Pushes a count a socket. Source: behaviour of dist_tasks of 22.05.8; `docs/FACTS.md`, facts 11, 38.
fn cores_over_sockets(
    geometry: &Geometry,
    free: &Free,
    shape: &Shape,
    (offer, near): (&Offer, Option<&[u32]>),
    (cpus, threads): (u32, u32),
    out: &mut Vec<u32>,
) -> u32 {
    let is_block = shape.block_cores || shape.unit == ConsumableUnit::Cpu;
    // Tasks of several cores have those to themselves, but where they are counted by socket.
    let wanted = match shape.tasks_per_socket {
        Some(_) if !is_block => cpus.div_ceil(threads),
        _ => shape.cores_of(cpus, threads),
    };
    let sockets = geometry.sockets(offer.node);
    let begin = out.len();
    out.resize(begin + sockets.len(), 0);
    let capped = cores_within_cap(geometry, free, shape, offer.node);
    let usable = |socket: usize| {
        let cores = usable_cores(geometry, free, shape, socket);
        let cores = capped.as_ref().map_or(cores, |capped| cores.min(capped[socket - sockets.start]));
        near.map_or(cores, |near| cores.min(near[socket - sockets.start]))
    };
    let first = shape.counts_tasks_by_node.then(|| first_cores(shape, sockets.clone().map(usable).collect(), threads));
    let usable = |socket: usize| first.as_ref().map_or_else(|| usable(socket), |first| first[socket - sockets.start]);
    let mut left = wanted;
    let held = &mut out[begin..];
    if is_block && cpus == 0 {
        // A node beyond the tasks keeps all cores that were on offer, and is charged none (dist_tasks.c, `_block_sync_core_bitmap`; rec c119-24-11).
        held.iter_mut().zip(sockets.clone()).for_each(|(held, socket)| *held = usable(socket));
        return 0;
    }
    if is_block {
        // Cores beyond those of `--ntasks-per-socket` are not on offer.
        let most = shape.tasks_per_socket.map(|tasks| tasks.saturating_mul(shape.cpus_per_task).div_ceil(threads));
        let usable = |socket: usize| usable(socket).min(most.unwrap_or(u32::MAX));
        while let Some(best) = tightest(sockets.clone().zip(&*held).map(|(socket, held)| usable(socket) - held), wanted)
        {
            let taken = (usable(sockets.start + best) - held[best]).min(left);
            held[best] += taken;
            left -= taken;
            if left == 0 {
                break;
            }
        }
    } else {
        let mut avoided = vec![false; sockets.len()];
        if let Some(tasks) = shape.tasks_per_socket {
            let most = tasks.saturating_mul(shape.cpus_per_task);
            avoid_sockets(&mut avoided, sockets.clone().map(|socket| usable(socket) * threads), most, wanted * threads);
        } else if shape.cpus_per_task > 1 {
            // Tasks of several CPUs fill a socket with as many as have all their CPUs there, then the next.
            let odd = shape.leaves_odd_threads(threads);
            let (mut cpus, mut of_task) = (cpus, shape.cpus_per_task);
            for (held, socket) in held.iter_mut().zip(sockets.clone()) {
                let here = usable(socket) * threads;
                let mut here = here - here % shape.cpus_per_task;
                if !odd {
                    *held = here.div_ceil(threads).min(left);
                    left -= *held;
                    continue;
                }
                // The last core of each task gives it what it lacks.
                while *held < usable(socket) && here > 0 && cpus > 0 {
                    let used = of_task.min(threads);
                    of_task = if of_task <= used { shape.cpus_per_task } else { of_task - used };
                    here = if here < threads { 0 } else { here - used };
                    cpus = if cpus < threads { 0 } else { cpus - used };
                    *held += 1;
                }
            }
            if odd {
                left = cpus.div_ceil(threads);
            }
        }
        while left > 0 {
            let before = left;
            for (position, socket) in sockets.clone().enumerate() {
                if left > 0 && !avoided[position] && held[position] < usable(socket) {
                    held[position] += 1;
                    left -= 1;
                }
            }
            if left == before {
                break;
            }
        }
    }
    if shape.unit == ConsumableUnit::Socket {
        // Every socket with a task on it is charged whole, also where its cores beside a GRES would do.
        for (held, socket) in held.iter_mut().zip(sockets.clone()).filter(|(held, _)| **held > 0) {
            *held = usable_cores(geometry, free, shape, socket);
        }
    }
    // With cores of it that are kept for the system (cons_common/dist_tasks.c of 22.05.8, `_cyclic_sync_core_bitmap`; rec ax-sock).
    let held = out[begin..].iter().zip(sockets).filter(|(held, _)| **held > 0);
    let kept = |socket: usize| if shape.unit == ConsumableUnit::Socket { geometry.kept_cores[socket] } else { 0 };
    held.map(|(held, socket)| held + kept(socket)).sum()
}

/// Where a node counts with the CPUs of its tasks alone, only its first cores are on offer, as many as those need (cons_tres/job_test.c of 24.11.5,
/// `_allocate_sc`; rec c102-24-11). O(sockets).
fn first_cores(shape: &Shape, mut cores: Vec<u32>, threads: u32) -> Vec<u32> {
    let all = cores.iter().sum::<u32>().saturating_mul(threads);
    let of_tasks = shape.tasks_a_node_counts().map_or(all, |tasks| tasks.saturating_mul(shape.cpus_per_task.max(1)));
    let counted = all.min(of_tasks);
    let mut left = shape.that_count(counted, threads).min(all).div_ceil(threads.max(1));
    for cores in &mut cores {
        *cores = (*cores).min(left);
        left -= *cores;
    }
    cores
}

/// The socket with the fewest free cores that are enough, else the one with the most; the first of several. `None` if all are full.
fn tightest(free: impl Iterator<Item = u32>, wanted: u32) -> Option<usize> {
    let of = |free: u32| if free >= wanted { (0, free) } else { (1, u32::MAX - free) };
    free.enumerate().filter(|&(_, free)| free > 0).min_by_key(|&(_, free)| of(free)).map(|(socket, _)| socket)
}

/// `--ntasks-per-socket`: leaves out the first sockets that are not needed, once those with more than `most` CPUs are counted with
/// so many.
fn avoid_sockets(avoided: &mut [bool], cpus: impl Iterator<Item = u32>, most: u32, wanted: u32) {
    let mut cpus: Vec<u32> = cpus.collect();
    let mut total: u32 = cpus.iter().sum();
    for cpus in cpus.iter_mut().filter(|cpus| **cpus > most) {
        if total > wanted {
            total -= *cpus - most;
            *cpus = most;
        }
    }
    for (avoided, cpus) in avoided.iter_mut().zip(cpus) {
        if total > wanted && cpus <= most && total - cpus >= wanted {
            *avoided = true;
            total -= cpus;
        }
    }
}

/// What a node could give of a GRES that is counted for the whole job: what is free, and has its memory.
pub(super) fn units_of_node(
    (geometry, free): (&Geometry, &Free),
    shape: &Shape,
    wanted: &GresOfJob,
    node: NodeId,
) -> u32 {
    let units = free.units(geometry, shape, node, wanted.gres);
    match shape.memory {
        MemoryNeed::PerUnit(mb, _) => units.min(u32::try_from(free.memory[node.index()] / mb).unwrap_or(u32::MAX)),
        _ if geometry.gpus[wanted.gres.index()] => units.min(shape.gpus_within(free.memory[node.index()])),
        _ => units,
    }
}

/// For how many units of a GRES that come with tasks a node has tasks: `DefMemPerGPU` bounds only what it counts with, unless CPUs come with
/// them, too (gres_select_filter.c of 22.05.8, `gres_select_filter_sock_core`; rec at-gpu).
pub(super) fn units_of_tasks(
    (geometry, free): (&Geometry, &Free),
    shape: &Shape,
    wanted: &GresOfJob,
    node: NodeId,
) -> u32 {
    if shape.cpus_a_gpu > 0 || matches!(shape.memory, MemoryNeed::PerUnit(..)) {
        return units_of_node((geometry, free), shape, wanted, node);
    }
    free.units(geometry, shape, node, wanted.gres)
}

/// How many units each node gives of a GRES that is counted for the whole job: as many as its tasks need, or its CPUs where they
/// come with units; else all that it has, but for one for each node after it. What is left then the first nodes give that have it.
/// Source: rec p-gpus.
fn units_over_nodes(
    (geometry, free): (&Geometry, &Free),
    (shape, wanted): (&Shape, &GresOfJob),
    (chosen, task_cpus): (&[Offer], &[u32]),
) -> Vec<u32> {
    let by_cpus = |position: usize| {
        task_cpus.get(position).map_or(u32::MAX, |cpus| match (wanted.per_task, wanted.unit_cpus) {
            (Some(per_task), _) => (cpus / wanted.task_cpus.max(1)).saturating_mul(per_task),
            // As many as all threads of its cores have room for tasks of (`_set_job_bits1`).
            (None, 0) if shape.tasks_per_gpu.is_some() && geometry.gpus[wanted.gres.index()] => {
                let of_core = geometry.cpus_per_core[chosen[position].node.index()];
                shape.cores_of(*cpus, shape.usable_threads(of_core)) * of_core / shape.cpus_a_gpu.max(1)
            }
            (None, 0) => u32::MAX,
            (None, unit_cpus) => cpus / unit_cpus,
        })
    };
    // A single node has what its CPUs make tasks for, be they more than the job has (`_build_tasks_per_node_sock`; rec at-gpu).
    let by_core = shape.tasks_per_core.is_some() && wanted.per_task.is_some();
    let of_cpus = if by_core && chosen.len() == 1 && !task_cpus.is_empty() { by_cpus(0) } else { 0 };
    let mut left = wanted.count.max(of_cpus);
    let mut units = Vec::with_capacity(chosen.len());
    let has = |offer: &Offer| match wanted.per_task {
        Some(_) => units_of_tasks((geometry, free), shape, wanted, offer.node),
        None => units_of_node((geometry, free), shape, wanted, offer.node),
    };
    for (position, offer) in chosen.iter().enumerate() {
        let by_cpus = by_cpus(position);
        let others = wanted.least.saturating_mul((chosen.len() - 1 - position) as u32);
        // Tasks have theirs on every node; of units of the job the last nodes have one each, if there are no more.
        let least = wanted.per_task.map_or(0, |_| wanted.least);
        let taken = left.saturating_sub(others).min(by_cpus).max(least).min(has(offer));
        left = left.saturating_sub(taken);
        units.push(taken);
    }
    if wanted.per_task.is_none() {
        for (units, offer) in units.iter_mut().zip(chosen) {
            let more = has(offer).saturating_sub(*units).min(left);
            *units += more;
            left -= more;
        }
    }
    units
}

/// Appends what the job takes of a node's GRES, a count a type.
fn take_gres(
    (geometry, free): (&Geometry, &Free),
    shape: &Shape,
    wanted: &[(GresId, u32)],
    index: usize,
    out: &mut Vec<u32>,
) {
    let begin = out.len();
    let of_node = index * geometry.n_gres..(index + 1) * geometry.n_gres;
    if shape.whole_nodes {
        out.extend_from_slice(&free.gres[of_node]);
        return;
    }
    out.resize(begin + geometry.n_gres, 0);
    for &(gres, count) in wanted {
        out[begin + gres.index()] = out[begin + gres.index()].max(count);
    }
    // A typed unit is also one of its name's total; an untyped request takes the first types that are free.
    for total in 0..geometry.n_gres {
        let types: Vec<usize> = (0..geometry.n_gres).filter(|&kind| geometry.gres_total[kind] == Some(total)).collect();
        if types.is_empty() {
            continue;
        }
        let typed: u32 = types.iter().map(|&kind| out[begin + kind]).sum();
        let mut untyped = out[begin + total].saturating_sub(typed);
        out[begin + total] = out[begin + total].max(typed);
        for kind in types {
            let room = free.gres[of_node.start + kind].saturating_sub(out[begin + kind]);
            let taken = untyped.min(room);
            out[begin + kind] += taken;
            untyped -= taken;
        }
    }
}
