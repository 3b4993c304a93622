//! A job's tasks over its chosen nodes: how many CPUs each gives.
//! Source: slurm-semantics 6.5 (last paragraph), 6.9.

use crate::ids::GresId;
use crate::select::geometry::Geometry;
use crate::select::pick::Offer;
use crate::select::shape::Shape;

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
    // Who says a range of nodes and no tasks has not said them either, though they are counted for the fewest nodes.
    let counted = |tasks: u32| geometry.lays_out_said && shape.tasks == tasks.saturating_mul(shape.min_nodes);
    if let Some(tasks) = shape.tasks_per_node.filter(|&tasks| geometry.lays_out_by_node || counted(tasks)) {
        return tasks.saturating_mul(nodes).saturating_mul(shape.cpus_per_task.max(1));
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
/// its cores have threads for. Source: behaviour of dist_tasks of 22.05.8; `docs/FACTS.md`, facts 50. O(nodes × sizes that they differ in).
pub(super) fn tasks_over_nodes(geometry: &Geometry, shape: &Shape, chosen: &[Offer]) -> Vec<u32> {
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
    let threads = |offer: &Offer| geometry.cpus_per_core[offer.node.index()].max(1);
    for (cpus, offer) in cpus.iter_mut().zip(chosen) {
        // A node's first task has what CPUs there are.
        place((cpus, offer), (1, &mut left), of_task, true);
    }
    // Begun cores are filled.
    for (cpus, offer) in cpus.iter_mut().zip(chosen) {
        let begun = *cpus % threads(offer);
        place((cpus, offer), (begun / of_task, &mut left), of_task, false);
    }
    if shape.one_task_a_node.is_some() {
        return cpus;
    }
    let of_round = |offer: &Offer| (threads(offer) / of_task).max(1);
    // Tasks that find all their CPUs nowhere have what is left, node by node.
    let mut squeezed = false;
    loop {
        if !squeezed {
            place_whole_rounds((&mut cpus, chosen), &mut left, of_task, of_round);
        }
        let mut placed = false;
        for (cpus, offer) in cpus.iter_mut().zip(chosen) {
            placed |= place((cpus, offer), (of_round(offer), &mut left), of_task, squeezed);
        }
        if left == 0 {
            return cpus;
        }
        squeezed |= !placed;
    }
}

/// Places up to so many of the tasks left on a node, as far as it has all their CPUs or they are squeezed in; whether it placed some.
fn place((cpus, offer): (&mut u32, &Offer), (tasks, left): (u32, &mut u32), of_task: u32, squeezed: bool) -> bool {
    let room = if squeezed { u32::MAX } else { (offer.cpus - *cpus) / of_task };
    let placed = tasks.min(*left).min(room);
    *cpus = cpus.saturating_add(placed.saturating_mul(of_task)).min(offer.cpus);
    *left -= placed;
    placed > 0
}

/// As many rounds at once as every node that has room can take in full. O(nodes).
fn place_whole_rounds(
    (cpus, chosen): (&mut [u32], &[Offer]),
    left: &mut u32,
    of_task: u32,
    of_round: impl Fn(&Offer) -> u32,
) {
    let room = |cpus: u32, offer: &Offer| (offer.cpus - cpus) / of_task;
    let (mut rounds, mut tasks) = (u32::MAX, 0_u64);
    for (&cpus, offer) in cpus.iter().zip(chosen).filter(|&(&cpus, offer)| room(cpus, offer) > 0) {
        rounds = rounds.min(room(cpus, offer) / of_round(offer));
        tasks += u64::from(of_round(offer));
    }
    let whole = u64::from(*left).checked_div(tasks).map_or(0, |most| most.min(u64::from(rounds)) as u32);
    if whole == 0 {
        return;
    }
    for (cpus, offer) in cpus.iter_mut().zip(chosen) {
        if room(*cpus, offer) > 0 {
            *cpus += whole * of_round(offer) * of_task;
        }
    }
    *left -= whole * tasks as u32;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::{place, place_whole_rounds};
    use crate::ids::NodeId;
    use crate::select::pick::Offer;

    /// Tasks of two CPUs over every triple of small nodes, with rounds of one task or of two.
    #[test]
    fn rounds_taken_at_once_are_those_taken_one_by_one() {
        let offer =
            |node: usize, cpus: u32| Offer { node: NodeId::new(node), cpus, weight: 1, idle: (0, 1), kept: 1, gres: 0 };
        let of_task = 2;
        for case in 0..12_u32.pow(3) {
            let chosen: Vec<Offer> = (0..3).map(|node| offer(node, case / 12_u32.pow(node as u32) % 12)).collect();
            let of_round = |offer: &Offer| 1 + u32::from(offer.node.index() == 1);
            let all = |at_once: bool, tasks: u32| {
                let (mut cpus, mut left) = (vec![0; 3], tasks);
                loop {
                    if at_once {
                        place_whole_rounds((&mut cpus, &chosen), &mut left, of_task, of_round);
                    }
                    let mut placed = false;
                    for (cpus, offer) in cpus.iter_mut().zip(&chosen) {
                        placed |= place((cpus, offer), (of_round(offer), &mut left), of_task, false);
                    }
                    if !placed {
                        return (cpus, left);
                    }
                }
            };
            for tasks in 0..20 {
                assert_eq!(all(true, tasks), all(false, tasks), "{tasks} tasks on {chosen:?}");
            }
        }
    }
}
