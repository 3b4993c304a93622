//! What the main scheduler does with jobs of reservations, apart from trying them.
//! Source: slurm-semantics 7.2; job_scheduler.c of 22.05.8.

use crate::ids::PartitionId;
use crate::policy::SlurmVersion;
use crate::sched::queue::Record;
use crate::sched::walk::Walk;
use crate::select::shape::Shape;
use crate::simulation::Controller;
use crate::simulation::reservations::{Candidate, Opening};

use super::busy::keep_named;
use super::consider::consider;
use super::{MainScratch, Tried};

/// Tries jobs in MAGNETIC reservations, whose records come before all others. Says how many started.
pub(super) fn draw(controller: &mut Controller<'_>, scratch: &mut MainScratch, depth: &mut u64) -> u32 {
    let mut started = 0;
    if !controller.reservations.draws() {
        return started;
    }
    let mut walk = Walk::default();
    walk.begin(controller);
    while let Some(record) = walk.next(controller) {
        for reservation in controller.drawn_by(record.job) {
            if scratch.failed_reservations.contains(&reservation) {
                continue;
            }
            *depth += 1;
            controller.draw(record.job, reservation);
            if matches!(consider(controller, scratch, record, Some(reservation), false), Tried::Started) {
                started += 1;
                break;
            }
            if !controller.live.is_pending(record.job) {
                // It is held for good.
                break;
            }
            controller.let_go(record.job);
        }
    }
    started
}

/// Whether its reservation has fewer nodes of the partition than a test has given the job, in another partition or, where it is a FLEX
/// one, outside: it is passed over uncounted (job_scheduler.c of 22.05.8, `_job_runnable_test3`; rec ay-site, h-share; not tested: ay-cpu). From
/// 24.11 on not of a FLEX one (job_scheduler.c of 24.11.0; rec c123-24-11).
pub(super) fn reservation_lacks_nodes(controller: &Controller<'_>, record: Record, own: usize) -> bool {
    let is_flex = controller.reservation(own).flags.flex;
    let elsewhere = is_flex || controller.partitions(record.job).len() > 1;
    if is_flex && controller.scenario.policy.version >= SlurmVersion::V24_11 {
        return false;
    }
    let own = controller.reserved_nodes(own);
    if own.is_empty() || !elsewhere {
        return false;
    }
    let nodes = &controller.scenario.cluster.partitions[record.partition.index()].nodes;
    own.intersection_len(nodes) < controller.nodes_counted(record.job) as usize
}

/// Blocks what its partition has outside of reservations, as a job of a FLEX reservation or one of ANY_NODES does from 24.11 on that finds no
/// nodes: jobs of other reservations are still tried, and the first that is of none takes the rest away (job_scheduler.c of 24.11.0,
/// `_get_nodes_in_reservations`). O(nodes of reservations).
pub(super) fn block_unreserved(controller: &Controller<'_>, scratch: &mut MainScratch, partition: PartitionId) {
    let mut nodes = controller.scenario.cluster.partitions[partition.index()].nodes.clone();
    for reserved in controller.reserved_anywhere() {
        nodes.subtract(reserved);
    }
    scratch.available.subtract(&nodes);
    scratch.half_blocked.push(partition);
}

/// Blocks what is left of a partition. O(partitions).
pub(super) fn block_reserved(controller: &Controller<'_>, scratch: &mut MainScratch, partition: PartitionId) {
    if let Some(at) = scratch.half_blocked.iter().position(|&other| other == partition) {
        scratch.half_blocked.swap_remove(at);
        scratch.available.subtract(&controller.scenario.cluster.partitions[partition.index()].nodes);
    }
}

/// Whether a job that could never run may be held for it: from 24.11 on none of a reservation is (job_scheduler.c of 24.11.0, `_schedule`).
pub(super) fn may_hold(controller: &Controller<'_>, reservation: Option<usize>) -> bool {
    reservation.is_none() || controller.scenario.policy.version < SlurmVersion::V24_11
}

/// Whether a job names a node that its reservation does not have, or that another one has. It is held at once, whatever limits of what it would get and though
/// others take all nodes (node_scheduler.c of 22.05.8, `_build_node_list`: "Required nodes outside of the reservation"; rec c1292).
/// O(words + reservations × words) for jobs of reservations that name nodes.
fn names_nodes_outside(
    controller: &mut Controller<'_>,
    scratch: &mut MainScratch,
    (record, shape): (Record, &Shape),
    candidate: Candidate<'_>,
    prefers: bool,
) -> bool {
    let id = record.job;
    if shape.required.is_empty() || prefers || controller.is_drawn(id) {
        return false;
    }
    let Some(mut nodes) = controller.bound_nodes(candidate.own).cloned() else { return false };
    controller.narrow_to_reservations(candidate, &mut nodes, &mut { i64::MAX });
    if shape.required.iter().all(|&node| nodes.contains(node)) {
        return false;
    }
    keep_named(scratch, (&shape.required, shape.min_nodes));
    if may_hold(controller, candidate.own) {
        controller.hold_never_runnable(id, false);
    }
    true
}

/// Whether none of the nodes that a job's reservation has of the partition would serve it, were they all free. It could never run, and is
/// held in its only partition, an array whole; where they are too few, `too_small`, of an array one task in each run is. Not for features
/// that it only prefers, nor in a reservation that it does not name: its own record comes after that. A limit that it meets wins, and as long
/// as another reservation takes nodes from it, it is busy instead (node_scheduler.c of 22.05.8, `_build_node_list`, `_pick_best_nodes`,
/// `select_nodes`; rec av-gpu, bb-arr, bb-site). Nor is it asked where others have `taken` all of them; what the job names is.
pub(super) fn reservation_never_serves(
    controller: &mut Controller<'_>,
    scratch: &mut MainScratch,
    (record, shape): (Record, &Shape),
    candidate: Candidate<'_>,
    (too_small, prefers, taken): (bool, bool, bool),
) -> bool {
    if names_nodes_outside(controller, scratch, (record, shape), candidate, prefers) {
        return true;
    }
    if taken {
        return false;
    }
    let Some(mut nodes) = controller.bound_nodes(candidate.own).cloned() else { return false };
    let id = record.job;
    let user = controller.scenario.workload.jobs[id.index()].user.0;
    let opening = controller.narrow_to_reservations(candidate, &mut nodes, &mut { i64::MAX });
    nodes.intersect(&shape.tested);
    // Whether it could ever run is asked before its switches are.
    let most_leaves = controller.selector.most_leaves.take();
    let could = !too_small && controller.selector.could_fit(&controller.empty, shape, user, &nodes);
    controller.selector.most_leaves = most_leaves;
    if could {
        return false;
    }
    keep_named(scratch, (&shape.required, shape.min_nodes));
    let is_limited = || {
        let counts = controller.busy_counts(id, record.partition, shape, None);
        controller.limits.active && !controller.limits_allow_counts(id, record.partition, &counts)
    };
    if matches!(opening, Opening::Open { overlaps: true }) {
        if let Some(nodes) = controller.bound_nodes(candidate.own) {
            scratch.available.subtract(nodes);
        }
    } else if may_hold(controller, candidate.own)
        && !prefers
        && !controller.is_drawn(id)
        && (too_small || !is_limited())
    {
        controller.hold_never_runnable(id, too_small);
    }
    true
}
