//! From chosen nodes to an allocation: cores over sockets, memory and GRES.
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
use crate::select::tasks::tasks_over_nodes;
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
        cpus_beyond_tasks: 0,
    };
    let mut near_cores = NearCores::default();
    let mut rooms = Vec::new();
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
    if geometry.lays_out_said
        && let Some(wanted) = shape.gres_of_job.first().filter(|wanted| wanted.unit_cpus > 0)
    {
        // Each node has the CPUs of all units that it could give, be they more than the job takes there (gres_filter.c of 24.11.5,
        // `min_cores_this_node`; dist_tasks.c, `dist_tasks_gres_min_cpus`; rec t5-24-11).
        for (cpus, offer) in task_cpus.iter_mut().zip(chosen) {
            let all = usable_cpus(geometry, free, shape, ANY_USER, offer.node);
            let units = units_of_node((geometry, free), shape, wanted, offer.node).min(wanted.count);
            *cpus = (units.min(all / wanted.unit_cpus) * wanted.unit_cpus).max(*cpus);
        }
    }
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
            cores_over_sockets(geometry, free, shape, (offer, near), cores, (&mut rooms, &mut allocation.socket_cores))
        };
        if cores == 0 && shape.unit == ConsumableUnit::Socket {
            // Whatever sockets it keeps of a node beyond its tasks (cons_common/job_test.c of 22.05.8, `_job_test`; rec w2107).
            let kept = geometry.sockets(offer.node).zip(&allocation.socket_cores[first_socket..]);
            let kept = kept.filter(|(_, cores)| **cores > 0).map(|(socket, _)| geometry.whole_sockets[socket]);
            allocation.cpus_beyond_tasks += kept.sum::<u32>() * cpus_per_core;
        }
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
            let (of_nodes, of_sockets) = (&mut allocation.gres, &mut allocation.near);
            let first = (of_nodes.len() - geometry.n_gres, of_sockets.len());
            take_near((geometry, free), shape, &of_node, (offer.node, cores), of_sockets);
            if !shape.whole_nodes {
                let taken = (&mut of_nodes[first.0..], &of_sockets[first.1..]);
                types_as_near((geometry, free), &of_node, offer.node, taken);
            }
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

/// Takes cores of a node for `cpus` CPUs, `threads` of each: cyclically over its sockets, or (with CR_CPU always) socket by socket, the
/// tightest first. Pushes a count a socket; `rooms` is for work. Source: behaviour of dist_tasks of 22.05.8; `docs/FACTS.md`, facts 11, 38.
fn cores_over_sockets(
    geometry: &Geometry,
    free: &Free,
    shape: &Shape,
    (offer, near): (&Offer, Option<&[u32]>),
    (cpus, threads): (u32, u32),
    (rooms, out): (&mut Vec<u32>, &mut Vec<u32>),
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
    rooms.clear();
    rooms.extend(sockets.clone().enumerate().map(|(position, socket)| {
        let cores = usable_cores(geometry, free, shape, socket);
        let cores = capped.as_ref().map_or(cores, |capped| cores.min(capped[position]));
        near.map_or(cores, |near| cores.min(near[position]))
    }));
    if shape.counts_tasks_by_node {
        leave_first_cores(shape, rooms, threads);
    }
    let mut left = wanted;
    let held = &mut out[begin..];
    if is_block && cpus == 0 {
        // A node beyond the tasks keeps all cores that were on offer, and is charged none (dist_tasks.c, `_block_sync_core_bitmap`; rec c119-24-11).
        held.copy_from_slice(rooms);
        return 0;
    }
    if is_block {
        // Cores beyond those of `--ntasks-per-socket` are not on offer.
        if let Some(tasks) = shape.tasks_per_socket {
            let most = tasks.saturating_mul(shape.cpus_per_task).div_ceil(threads);
            rooms.iter_mut().for_each(|room| *room = most.min(*room));
        }
        while let Some(best) = tightest(rooms.iter().zip(&*held).map(|(room, held)| room - held), wanted) {
            let taken = (rooms[best] - held[best]).min(left);
            held[best] += taken;
            left -= taken;
            if left == 0 {
                break;
            }
        }
    } else {
        if let Some(tasks) = shape.tasks_per_socket {
            avoid_sockets(rooms, threads, tasks.saturating_mul(shape.cpus_per_task), wanted * threads);
        } else if shape.cpus_per_task > 1 {
            // Tasks of several CPUs fill a socket with as many as have all their CPUs there, then the next.
            let odd = shape.leaves_odd_threads(threads);
            let (mut cpus, mut of_task) = (cpus, shape.cpus_per_task);
            for (held, &room) in held.iter_mut().zip(&*rooms) {
                let here = room * threads;
                let mut here = here - here % shape.cpus_per_task;
                if !odd {
                    *held = here.div_ceil(threads).min(left);
                    left -= *held;
                    continue;
                }
                // The last core of each task gives it what it lacks.
                while *held < room && here > 0 && cpus > 0 {
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
        round_and_round(held, rooms, left);
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

/// Takes so many cores one by one, socket after socket, as long as they have any. O(sockets²).
fn round_and_round(held: &mut [u32], rooms: &[u32], mut left: u32) {
    loop {
        let open = held.iter().zip(rooms).filter(|(held, room)| held < room);
        let (n_open, least) = open.fold((0, u32::MAX), |(n, least), (held, room)| (n + 1, least.min(room - held)));
        if n_open == 0 || left == 0 {
            return;
        }
        let rounds = (left / n_open).min(least);
        for (held, _) in held.iter_mut().zip(rooms).filter(|(held, room)| **held < **room) {
            // The last ones go to the first sockets.
            let taken = rounds.max(1).min(left);
            *held += taken;
            left -= taken;
        }
    }
}

/// Where a node counts with the CPUs of its tasks alone, only its first cores are on offer, as many as those need (cons_tres/job_test.c of 24.11.5,
/// `_allocate_sc`; rec c102-24-11). O(sockets).
fn leave_first_cores(shape: &Shape, cores: &mut [u32], threads: u32) {
    let all = cores.iter().sum::<u32>().saturating_mul(threads);
    let of_tasks = shape.tasks_a_node_counts().map_or(all, |tasks| tasks.saturating_mul(shape.cpus_per_task.max(1)));
    let counted = all.min(of_tasks);
    let counted = shape.that_count(counted, threads).min(all);
    // Tasks with cores to themselves leave threads of the last one (`_count_used_cpus`; rec c1077-24).
    let mut left = match shape.gpus_count_threads {
        true => counted.div_ceil(threads.max(1)),
        false => shape.cores_of(counted, threads.max(1)),
    };
    for cores in cores {
        *cores = (*cores).min(left);
        left -= *cores;
    }
}

/// The socket with the fewest free cores that are enough, else the one with the most; the first of several. `None` if all are full.
fn tightest(free: impl Iterator<Item = u32>, wanted: u32) -> Option<usize> {
    let of = |free: u32| if free >= wanted { (0, free) } else { (1, u32::MAX - free) };
    free.enumerate().filter(|&(_, free)| free > 0).min_by_key(|&(_, free)| of(free)).map(|(socket, _)| socket)
}

/// `--ntasks-per-socket`: leaves no room on the first sockets that are not needed, once those with more than `most` CPUs are counted with
/// so many. O(sockets).
fn avoid_sockets(rooms: &mut [u32], threads: u32, most: u32, wanted: u32) {
    let mut cpus: Vec<u32> = rooms.iter().map(|room| room * threads).collect();
    let mut total: u32 = cpus.iter().sum();
    for cpus in cpus.iter_mut().filter(|cpus| **cpus > most) {
        if total > wanted {
            total -= *cpus - most;
            *cpus = most;
        }
    }
    for (room, cpus) in rooms.iter_mut().zip(cpus) {
        if total > wanted && cpus <= most && total - cpus >= wanted {
            *room = 0;
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

/// Units asked for without a type are of the types that come from the sockets they are taken near; those near none are of the first types that
/// are free (recorded, t11: one CPU with `--gpus=2` of one and two GPUs on two sockets has the two). O(types × sockets).
fn types_as_near(
    (geometry, free): (&Geometry, &Free),
    wanted: &[(GresId, u32)],
    node: NodeId,
    (of_node, of_sockets): (&mut [u32], &[u32]),
) {
    let n_gres = geometry.n_gres;
    for &(gres, _) in wanted.iter().filter(|(gres, _)| geometry.binds(node, *gres)) {
        let is_type = |kind: &usize| geometry.gres_total[*kind] == Some(gres.index());
        if wanted.iter().any(|(other, _)| is_type(&other.index())) {
            continue;
        }
        let near = |kind: usize| of_sockets.iter().skip(kind).step_by(n_gres).sum::<u32>();
        let mut rest = of_node[gres.index()].saturating_sub(near(gres.index()));
        for kind in (0..n_gres).filter(is_type) {
            let anywhere = rest.min(free.near_none(geometry, node, GresId::new(kind)));
            of_node[kind] = near(kind) + anywhere;
            rest -= anywhere;
        }
    }
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
