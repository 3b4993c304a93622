//! Cores near generic resources: a node offers a job that asks for some just the cores it needs; where gres.conf binds units to
//! sockets (`Cores=`), those of the sockets that have them, as far as there are enough.
//! Source: behaviour of select/cons_tres of 22.05.8; `docs/FACTS.md`, facts 19.

use crate::ids::{GresId, NodeId};
use crate::policy::ConsumableUnit;
use crate::select::free::Free;
use crate::select::geometry::Geometry;
use crate::select::shape::{GresOfJob, Shape};

/// Units that a job could use on a socket.
pub(crate) fn usable_cores(geometry: &Geometry, free: &Free, shape: &Shape, socket: usize) -> u32 {
    let cores = free.cores[socket];
    let serves = free.serves(geometry, shape, socket) && free.may_bind(geometry, shape, socket);
    if !serves || cores < shape.cores_per_socket { 0 } else { cores }
}

impl Geometry {
    /// Whether a node's units of a GRES are bound to its sockets.
    pub(crate) fn binds(&self, node: NodeId, gres: GresId) -> bool {
        !self.near.is_empty() && self.sockets(node).any(|socket| self.near[socket * self.n_gres + gres.index()] > 0)
    }

    /// Whether a request asks for GPUs.
    pub(crate) fn asks_for_gpus(&self, shape: &Shape) -> bool {
        shape.gres.iter().any(|(gres, _)| self.gpus[gres.index()])
    }

    /// Whether what a node offers a request is cut to what it needs near the GRES it asks for.
    pub(crate) fn cuts_for(&self, shape: &Shape) -> bool {
        (self.cuts_to_gres || !self.near.is_empty()) && !shape.gres.is_empty()
    }
}

impl Free {
    /// Free units of a GRES that are near a socket.
    fn near(&self, geometry: &Geometry, socket: usize, gres: GresId) -> u32 {
        if self.near.is_empty() { 0 } else { self.near[socket * geometry.n_gres + gres.index()] }
    }

    /// Free units of a GRES that are near no socket of the node.
    pub(super) fn near_none(&self, geometry: &Geometry, node: NodeId, gres: GresId) -> u32 {
        let bound: u32 = geometry.sockets(node).map(|socket| self.near(geometry, socket, gres)).sum();
        self.gres[node.index() * geometry.n_gres + gres.index()].saturating_sub(bound)
    }

    /// Whether `--gres-flags=enforce-binding` leaves a job the cores of a socket: not where it has too few of what comes with each, nor where others
    /// have more of what the whole job counts and are enough (gres_sched.c of 22.05.8, `_build_sock_gres_by_topo`). O(1), else O(sockets).
    #[inline]
    pub(crate) fn may_bind(&self, geometry: &Geometry, shape: &Shape, socket: usize) -> bool {
        let Some(binding) = &shape.binding else { return true };
        let lacks = |&(gres, count): &(GresId, u32)| self.near(geometry, socket, gres) < count;
        if binding.of_socket.iter().any(lacks) {
            return false;
        }
        let node = geometry.socket_begin.partition_point(|&begin| begin as usize <= socket).saturating_sub(1);
        let passed_over = |&gres: &GresId| {
            let rank = |socket: usize| (self.near(geometry, socket, gres), socket);
            let gives = |&other: &usize| self.cores[other] > 0 && rank(other).0 > 0;
            let better = geometry.sockets(NodeId::new(node)).filter(gives).filter(|&other| rank(other) > rank(socket));
            gives(&socket) && better.count() >= binding.most_sockets as usize
        };
        !binding.of_job.iter().any(passed_over)
    }

    /// Free units of a GRES on a node; with `--gres-flags=enforce-binding` those near sockets without usable cores are none
    /// (gres_select_filter.c of 22.05.8, `gres_select_filter_remove_unusable`). O(1), else O(sockets).
    #[inline]
    pub(crate) fn units(&self, geometry: &Geometry, shape: &Shape, node: NodeId, gres: GresId) -> u32 {
        let all = self.gres[node.index() * geometry.n_gres + gres.index()];
        if shape.binding.is_none() {
            return all;
        }
        let far = geometry.sockets(node).filter(|&socket| usable_cores(geometry, self, shape, socket) == 0);
        all.saturating_sub(far.map(|socket| self.near(geometry, socket, gres)).sum())
    }
}

/// CPUs that a node offers near GRES, and for how many units of what the whole job counts they are.
pub(crate) type Cut = (u32, u32);

/// What a node offers a request near the GRES that it would get.
#[derive(Debug, Default)]
pub(crate) struct NearCores {
    /// Units of each socket.
    pub(crate) cores: Vec<u32>,
    /// CPUs of all.
    pub(crate) cpus: u32,
    /// For how many units of the GRES that is counted for the whole job it has CPUs.
    pub(crate) units: u32,
    /// Cores that the job gets at least, whatever its tasks need.
    pub(crate) least_cores: u32,
    /// CPUs of all when the node is looked at once more: those taken off with cores count again, as far as tasks do not bound them
    /// (gres_select_filter.c of 22.05.8, `gres_select_filter_sock_core`, as `_eval_nodes_lln` calls it; rec az-gpu1).
    pub(crate) once_more: u32,
    /// Units of all; CPUs of one.
    total: u32,
    cpus_per_core: u32,
}

impl NearCores {
    /// Leaves a unit of the socket out.
    fn remove(&mut self, socket: usize) {
        self.cores[socket] -= 1;
        self.total -= 1;
        if self.total * self.cpus_per_core < self.cpus {
            self.cpus = self.cpus.saturating_sub(self.cpus_per_core);
        }
    }

    /// Finds what a node that offers `cpus` offers near its GRES; the first pass leaves out the sockets without. 0 CPUs if that is
    /// not enough. O(sockets² + cores of the node).
    pub(crate) fn find(
        &mut self,
        (geometry, free): (&Geometry, &Free),
        shape: &Shape,
        (node, cpus): (NodeId, u32),
        first_pass: bool,
    ) {
        let bound = shape.binding.is_some();
        let strict = first_pass || bound;
        let sockets = geometry.sockets(node);
        self.cores.clear();
        self.cores.extend(sockets.clone().map(|socket| usable_cores(geometry, free, shape, socket)));
        self.total = self.cores.iter().sum();
        self.cpus_per_core = geometry.cpus_per_core[node.index()].max(1);
        self.cpus = cpus;
        (self.units, self.least_cores, self.once_more) = (u32::MAX, 0, cpus);
        let all_cpus = self.total * self.cpus_per_core;
        let threads = shape.threads_per_core.unwrap_or(self.cpus_per_core).clamp(1, self.cpus_per_core);
        let per_task = shape.cpus_per_task.max(1);
        let all_tasks = shape.min_cpus / per_task;
        let room = cpus / per_task;
        let one_each = shape.gres_of_job.iter().all(|wanted| wanted.per_task.is_some());
        let (least, most) = match shape.tasks_per_node {
            Some(tasks) => (tasks, tasks),
            // So many for each socket: multiples of those of one.
            None if shape.tasks_per_socket.is_some() => {
                let tasks = shape.tasks_per_socket.unwrap_or(1).max(1);
                (tasks, tasks.saturating_mul(self.cores.len() as u32))
            }
            // So many for each core, in use or not, however many the job has: multiples of those of one.
            None if shape.tasks_per_core.is_some() => {
                let tasks = shape.tasks_per_core.unwrap_or(1).max(1);
                (tasks, tasks.saturating_mul(geometry.cores[node.index()]))
            }
            None if shape.tasks_of_gpus.is_some() => {
                (shape.tasks_of_gpus.unwrap_or(1), shape.tasks_of_gpus.unwrap_or(1))
            }
            // Without -n as many as there is room for.
            None if !shape.tasks_are_said => (1, room),
            None if shape.max_nodes == 1 => (all_tasks, all_tasks),
            // Whatever nodes a partition's `MinNodes` adds (eval_nodes.c of 24.05.8, `_select_cores`; rec t14).
            None if shape.tasks == 1 => (1, 1),
            None if one_each && shape.tasks == shape.min_nodes && shape.min_nodes == shape.max_nodes => (1, 1),
            None => (1, room),
        };
        // A core that has one task has no other (gres_select_filter.c of 22.05.8, `gres_select_filter_sock_core`).
        let of_task = if shape.tasks_per_core == Some(1) { per_task.next_multiple_of(threads) } else { per_task };
        // The least of a node (`--mincpus`, or what `MaxMemPerCPU` makes of `--mem`) is none of its tasks' (the same; rec bb-gpuo).
        let room_of = |tasks: u32| tasks * of_task;
        let (mut tasks, mut with_units) = (most.min(room), 0);
        if tasks < least || tasks == 0 {
            self.cpus = 0;
            return;
        }
        for &(gres, count) in &shape.gres {
            let needed = least.max(1).saturating_mul(per_task).div_ceil(self.cpus_per_core);
            let cpus_a_unit = if geometry.gpus[gres.index()] { shape.cpus_a_gpu } else { 0 };
            // Sockets are looked for until they have what the whole job counts, where it counts so (rec v-gpu).
            let of_job = shape.gres_of_job.iter().find(|wanted| wanted.gres == gres);
            // What its tasks make of each, where that comes out even, is kept beside it at first (from 23.11 on).
            let counts_all = of_job.filter(|wanted| first_pass && wanted.per_task.is_none() && cpus_a_unit == 0);
            let estimate = counts_all.filter(|_| geometry.estimates_cpus_a_unit && shape.tasks_are_said);
            let estimate = estimate.map_or(0, |wanted| estimated_cpus(shape.tasks, wanted.count, per_task));
            let beside = cpus_a_unit.max(estimate);
            // Counted by socket, all have to be looked at that have what each of them gets.
            let of_socket = shape.of_each_socket(gres).is_some();
            let sought = match of_job {
                _ if of_socket => u32::MAX,
                // Of whole nodes all that CPUs could go with.
                Some(_) if shape.whole_nodes => u32::MAX,
                _ => of_job.map_or(count, |wanted| wanted.count.max(count)),
            };
            let by_cpus = if shape.whole_nodes && shape.tasks_per_gpu.is_some() { 0 } else { cpus_a_unit };
            let sought = sought.min(all_cpus.checked_div(by_cpus).unwrap_or(u32::MAX));
            let anywhere = free.near_none(geometry, node, gres);
            let mut order: Vec<usize> = (0..self.cores.len()).collect();
            order.sort_by_key(|&socket| std::cmp::Reverse(self.cores[socket]));
            let mut required = vec![false; self.cores.len()];
            let (mut found, mut enough) = (anywhere, false);
            let mut units = free.units(geometry, shape, node, gres);
            for socket in order {
                let mut here = free.near(geometry, sockets.start + socket, gres);
                if strict && beside > 0 {
                    here = here.min(self.cores[socket] * self.cpus_per_core / beside);
                }
                if of_socket && anywhere + here < count {
                    here = 0;
                }
                if bound && anywhere + here == 0 && self.cores[socket] > 0 {
                    units = units.saturating_sub(free.near(geometry, sockets.start + socket, gres));
                }
                while first_pass && anywhere + here == 0 && self.total > needed && self.cores[socket] > 0 {
                    self.remove(socket);
                }
                if strict && self.cores[socket] == 0 {
                    continue;
                }
                found += here;
                required[socket] = !enough;
                enough |= anywhere == 0 && found >= sought;
            }
            if let Some(with_cpus) = self.cpus.checked_div(beside) {
                let of_job = of_job.filter(|wanted| wanted.per_task.is_none() && !shape.whole_nodes);
                let most = of_job.map_or(u32::MAX, |wanted| wanted.count);
                found = found.min(with_cpus).min(most);
            }
            if found < count {
                self.cpus = 0;
                return;
            }
            if estimate > 0 {
                let with_those = estimate.saturating_mul(found) / per_task;
                tasks = if with_those < least { least } else { tasks.min(with_those) };
            }
            // No more tasks than there are units for.
            if let Some(per_task) = of_job.and_then(|wanted| wanted.per_task) {
                tasks = tasks.min(found / per_task.max(1));
            }
            if shape.tasks_per_socket.is_some() || shape.tasks_per_core.is_some() {
                tasks -= tasks % least.max(1);
                if tasks == 0 {
                    self.cpus = 0;
                    return;
                }
            }
            if strict {
                for socket in (0..required.len()).filter(|&socket| !required[socket]) {
                    while self.cores[socket] > 0 {
                        self.remove(socket);
                    }
                }
            }
            while tasks >= least && room_of(tasks).div_ceil(threads) > self.total {
                tasks -= 1;
            }
            if tasks < least || tasks == 0 {
                self.cpus = 0;
                return;
            }
            // Those of the tasks come with CPUs, or all that the node has of those that the job counts.
            let taken =
                of_job.map_or(count, |wanted| wanted.per_task.map_or(found, |of_task| of_task.saturating_mul(tasks)));
            let cpus_of_units = taken.saturating_mul(cpus_a_unit);
            if shape.tasks_per_gpu.is_none() {
                with_units = with_units.max(cpus_of_units);
            }
            let mut wanted =
                room_of(tasks).max(with_units).div_ceil(threads).max(cpus_of_units.div_ceil(self.cpus_per_core));
            if bound {
                // A core of each socket that gives some.
                wanted = wanted.max(required.iter().filter(|&&required| required).count() as u32);
            }
            if wanted > self.total || bound && wanted * threads > self.cpus {
                self.cpus = 0;
                return;
            }
            // Whole sockets are taken from 23.02 on where those are what is consumed (rec c146-25-05).
            let keeps_all = geometry.offers_sockets_whole && shape.unit == ConsumableUnit::Socket;
            let least_left = if keeps_all { self.total } else { wanted };
            for socket in (0..required.len()).filter(|&socket| !required[socket]) {
                while self.total > least_left && self.cores[socket] > 0 {
                    self.remove(socket);
                }
            }
            // The rest goes evenly, the fullest socket first.
            while self.total > least_left {
                let held = (0..required.len()).filter(|&socket| required[socket] && self.cores[socket] > 0);
                let Some(fullest) = held.rev().max_by_key(|&socket| self.cores[socket]) else { break };
                self.remove(fullest);
            }
            units = units.min(self.cpus.checked_div(beside).unwrap_or(u32::MAX));
            if of_job.is_some() {
                self.units = self.units.min(units);
            }
            if !of_socket && of_job.is_none_or(|wanted| wanted.per_task.is_some()) && count > units {
                self.cpus = 0;
                return;
            }
            if bound {
                self.least_cores = if self.least_cores == 0 { wanted } else { self.least_cores.min(wanted) };
            }
        }
        if shape.tasks_bound_cpus {
            self.once_more = cpus.min(tasks * per_task);
        }
        self.cpus = self.cpus.min((tasks * per_task).max(with_units));
    }
}

/// CPUs of each unit of what the whole job counts, where tasks go evenly with units or units with tasks; 0 where they do not
/// (gres_filter.c of 23.11.0, `_estimate_cpus_per_gres`; rec c144-25-05).
fn estimated_cpus(tasks: u32, units: u32, of_task: u32) -> u32 {
    match (tasks.checked_rem(units), units.checked_rem(tasks)) {
        (Some(0), _) if tasks >= units => (tasks / units).saturating_mul(of_task),
        (_, Some(0)) if units > 0 && of_task.is_multiple_of(units / tasks) => of_task / (units / tasks),
        _ => 0,
    }
}

/// Free GPUs of the node, of the kinds that the request names. O(GRES of the shape).
pub(super) fn free_gpus(geometry: &Geometry, free: &Free, shape: &Shape, node: NodeId) -> u32 {
    let of_kind = |typed: bool| -> u32 {
        let wanted = shape
            .gres
            .iter()
            .map(|&(gres, _)| gres)
            .filter(|gres| geometry.gpus[gres.index()] && geometry.gres_total[gres.index()].is_some() == typed);
        wanted.map(|gres| free.units(geometry, shape, node, gres)).sum()
    };
    of_kind(false).max(of_kind(true)).min(shape.gpus_within(free.memory[node.index()]))
}

/// Free GPUs of the node that lie near sockets with usable cores, up to what the request takes of it and, where CPUs go with them, its cores are for
/// (gres_select_filter.c of 22.05.8, `gres_select_filter_remove_unusable`).
pub(crate) fn near_gpus(geometry: &Geometry, free: &Free, shape: &Shape, node: NodeId) -> u32 {
    let of_kind = |typed: bool| -> u32 {
        let wanted = shape
            .gres
            .iter()
            .filter(|(gres, _)| geometry.gpus[gres.index()] && geometry.gres_total[gres.index()].is_some() == typed);
        let units = wanted.map(|&(gres, count)| {
            let all = free.gres[node.index() * geometry.n_gres + gres.index()];
            let mut near = all;
            if shape.of_each_socket(gres).is_some() {
                // Those of each socket that has enough, however many the job takes.
                let sockets = geometry.sockets(node).filter(|&at| usable_cores(geometry, free, shape, at) > 0);
                let enough = sockets.filter(|&socket| free.near(geometry, socket, gres) >= count);
                return count.saturating_mul(enough.count() as u32) + free.near_none(geometry, node, gres);
            }
            if !geometry.near.is_empty() {
                let far = geometry.sockets(node).filter(|&at| usable_cores(geometry, free, shape, at) == 0);
                near = all.saturating_sub(far.map(|socket| free.near(geometry, socket, gres)).sum());
            }
            let of_job = shape.gres_of_job.iter().find(|of_job| of_job.gres == gres);
            if shape.whole_nodes { near } else { of_job.map_or(count, |of_job| of_job.count).min(near) }
        });
        units.sum()
    };
    let by_cpus = if shape.whole_nodes && shape.tasks_per_gpu.is_some() { 0 } else { shape.cpus_a_gpu };
    let cores: u32 = geometry.sockets(node).map(|socket| usable_cores(geometry, free, shape, socket)).sum();
    let with_cpus = (cores * geometry.cpus_per_core[node.index()]).checked_div(by_cpus).unwrap_or(u32::MAX);
    // A request names their total, their types, or both.
    of_kind(false).max(of_kind(true)).min(shape.gpus_within(free.memory[node.index()])).min(with_cpus)
}

/// Units of a GRES that come with each socket (`--gpus-per-socket`), of the sockets that the job has cores of, and, if those are
/// fewer than `--sockets-per-node`, of others that have them free. Of a GRES that is counted alone a job gets none where these are more than
/// there are ("overallocated resources": gres_ctld.c of 22.05.8, `_job_alloc`; rec c1192). O(sockets).
pub(crate) fn units_of_sockets(
    (geometry, free): (&Geometry, &Free),
    shape: &Shape,
    gres: GresId,
    (node, cores): (NodeId, &[u32]),
) -> u32 {
    let of_one = shape.of_each_socket(gres).unwrap_or(0);
    let all = free.gres[node.index() * geometry.n_gres + gres.index()];
    let used = cores.iter().filter(|&&cores| cores > 0).count();
    if !geometry.binds(node, gres) {
        if !geometry.counted[gres.index()] {
            return of_one.saturating_mul(used as u32).min(all);
        }
        let times = if geometry.takes_cores_for_sockets { cores.iter().sum() } else { used as u32 };
        return Some(of_one.saturating_mul(times)).filter(|&units| units <= all).unwrap_or(0);
    }
    let near = |position: usize| free.near(geometry, geometry.sockets(node).start + position, gres);
    let of_used = (0..cores.len()).filter(|&position| cores[position] > 0).map(|position| near(position).min(of_one));
    let others = (0..cores.len()).filter(|&position| cores[position] == 0 && near(position) >= of_one);
    let others = others.take((shape.sockets_per_node as usize).saturating_sub(used)).count() as u32;
    let anywhere = free.near_none(geometry, node, gres).min(of_one.saturating_mul(used as u32));
    let bound: u32 = of_used.sum();
    (bound + anywhere).min(of_one.saturating_mul(used as u32)).saturating_add(of_one.saturating_mul(others)).min(all)
}

/// Appends where the units of a node come from that a job with these cores gets, socket by socket, a count a type: one of
/// each socket that the job has cores of, unless the whole job counts them, then more of these, then others (facts 19, 59).
pub(crate) fn take_near(
    (geometry, free): (&Geometry, &Free),
    shape: &Shape,
    wanted: &[(GresId, u32)],
    (node, cores): (NodeId, &[u32]),
    out: &mut Vec<u32>,
) {
    let (begin, n_gres) = (out.len(), geometry.n_gres);
    let sockets = geometry.sockets(node);
    if shape.whole_nodes {
        out.extend_from_slice(&free.near[sockets.start * n_gres..sockets.end * n_gres]);
        return;
    }
    out.resize(begin + sockets.len() * n_gres, 0);
    for &(gres, count) in wanted {
        if !geometry.binds(node, gres) {
            continue;
        }
        let by_job = |of_job: &GresOfJob| of_job.gres == gres && of_job.per_task.is_none();
        let counted_by_job = shape.gres_of_job.iter().any(by_job);
        let gives = |socket: usize| shape.binding.is_none() || free.cores[socket] > 0;
        // Of a GRES that is asked for in two ways (`--gpus-per-task`, `--gpus-per-socket`) the greater count is taken, not the sum.
        let counted: Vec<u32> = out[begin + gres.index()..].iter().step_by(n_gres).copied().collect();
        let room =
            |(socket, taken)| if gives(socket) { free.near(geometry, socket, gres).saturating_sub(taken) } else { 0 };
        let room: Vec<u32> = sockets.clone().zip(counted.iter().copied()).map(room).collect();
        let mut anywhere = free.near_none(geometry, node, gres);
        let mut taken = vec![0; room.len()];
        let mut left = count.saturating_sub(counted.iter().sum());
        let mut take = |at_most: u32, wanted: &dyn Fn(usize) -> bool| {
            let from_anywhere = at_most.min(left).min(anywhere);
            (left, anywhere) = (left - from_anywhere, anywhere - from_anywhere);
            for socket in (0..room.len()).filter(|&socket| wanted(socket)) {
                let units = at_most.min(left).min(room[socket] - taken[socket]);
                taken[socket] += units;
                left -= units;
            }
        };
        if !counted_by_job {
            take(shape.of_each_socket(gres).unwrap_or(1), &|socket| cores[socket] > 0);
        }
        take(u32::MAX, &|socket| cores[socket] > 0);
        take(u32::MAX, &|_| true);
        for (position, (&units, socket)) in taken.iter().zip(sockets.clone()).enumerate() {
            let here = begin + position * n_gres;
            out[here + gres.index()] += units;
            // A typed unit is also one of its name's total; an untyped one is of the first types that are free here.
            if let Some(total) = geometry.gres_total[gres.index()] {
                out[here + total] += units;
                continue;
            }
            let mut untyped = units;
            for kind in (0..n_gres).filter(|&kind| geometry.gres_total[kind] == Some(gres.index())) {
                let of_kind = untyped.min(free.near[socket * n_gres + kind].saturating_sub(out[here + kind]));
                out[here + kind] += of_kind;
                untyped -= of_kind;
            }
        }
    }
}
