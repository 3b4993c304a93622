//! What the main scheduler makes of one record: limits, licences, reservations and the nodes that the cycle has left, in slurmctld's order.
//! Source: slurm-semantics 1.4, 1.5; job_scheduler.c and node_scheduler.c of 22.05.8, `_schedule`, `select_nodes`.

use crate::ablation::{Rule, is_off};
use crate::node_set::NodeSet;
use crate::outcome::{PendingReason, StartedBy};
use crate::preempt::make_room::Room;
use crate::sched::queue::Record;
use crate::select::shape::Shape;
use crate::simulation::reservations::{Candidate, Opening};
use crate::simulation::{Controller, seconds};

use super::busy::{busy, fail, keep_named, limited, wait_for_nodes};
use super::of_reservations::{may_hold, reservation_never_serves};
use super::{MainScratch, Tried, is_component, stamp};

/// Tries one record; `prefers` is the one of its preferred features. The cost of a selection.
pub(super) fn consider(
    controller: &mut Controller<'_>,
    scratch: &mut MainScratch,
    record: Record,
    reservation: Option<usize>,
    prefers: bool,
) -> Tried {
    let id = record.job;
    if is_component(controller, id) {
        return Tried::Blocks;
    }
    if !controller.record_is_open(record) || (record.kind.peculiar && controller.cancels_late(id)) {
        return Tried::Passes;
    }
    let partition = &controller.scenario.cluster.partitions[record.partition.index()];
    let is_limited = !controller.limits_allow_test(id, record.partition);
    if is_limited && (controller.noted_limit(id) || is_off(Rule::LimitsPassBy)) {
        // A limit is its reason already: it is passed over before anything else is looked at.
        return if is_off(Rule::LimitsPassBy) { Tried::Blocks } else { Tried::Passes };
    }
    if !is_limited {
        controller.note_limit(id, false);
    }
    let named = &controller.scenario.workload.requests[record.request.index()].required_nodes;
    if controller.still_lacks(id, named, &scratch.available) {
        return Tried::Passes;
    }
    controller.note_lack(id, false);
    let shapes = if prefers { controller.take_preferred(id) } else { controller.take_shapes_of(id) };
    let shape = &shapes[record.place as usize];
    if !is_limited {
        controller.wait_for_a_leaf(id, shape);
    }
    let mut looked_at = false;
    let too_small = controller
        .bound_nodes(reservation)
        .is_some_and(|nodes| nodes.intersection_len(&partition.nodes) < shape.min_nodes as usize);
    let tried = if prefers && !shape.feasible {
        Tried::Passes
    } else if scratch.available.intersection_len(&partition.nodes) < shape.min_nodes as usize {
        stamp(controller, scratch);
        Tried::Blocks
    } else if !controller.licenses_free_for(record) {
        stamp(controller, scratch);
        if controller.scenario.policy.backfill.licenses { Tried::Ends } else { Tried::Passes }
    } else if is_limited {
        // The limit comes to be its reason: only now.
        controller.note_limit(id, true);
        limited(controller, scratch, record, reservation, (&shape.required, shape.min_nodes))
    } else if controller.partition_denies(id, record.partition) {
        // Found last of all, noted as a change each time, and no reason to block.
        stamp(controller, scratch);
        keep_named(scratch, (&shape.required, shape.min_nodes));
        Tried::Passes
    } else if shape.over_limit {
        // Nodes are not looked at, nor weighed.
        limited(controller, scratch, record, reservation, (&shape.required, shape.min_nodes))
    } else if shape.max_nodes < shape.min_nodes {
        // The partition asks for more nodes than it may have: it is passed over each time, and never held (node_scheduler.c of 22.05.8,
        // `get_node_cnts`: ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE; rec w2221).
        keep_named(scratch, (&shape.required, shape.min_nodes));
        Tried::Passes
    } else if shape.unlayable {
        looked_at = true;
        controller.hold_for_good(id, PendingReason::JobHeldAdmin);
        fail(controller, scratch, record, reservation, (&shape.required, shape.min_nodes))
    } else if !shape.feasible
        && !prefers
        && (shape.first_part_fails
            || controller.lacks_named(id, (record.partition, reservation), shape, &scratch.available))
    {
        looked_at = true;
        scratch.left.copy_from(&scratch.available);
        scratch.left.intersect(&shape.tested);
        scratch.possible.copy_from(&scratch.left);
        scratch.possible.intersect(&shape.eligible);
        busy(controller, scratch, record, reservation, (shape, prefers))
    } else if !shape.feasible
        && !prefers
        && shape.is_looked_at()
        && controller.limits.active
        && !controller.limits_allow_counts(
            id,
            record.partition,
            &controller.busy_counts(id, record.partition, shape, None),
        )
    {
        // It can never run here, but a limit wins over that, too (node_scheduler.c of 22.05.8, `select_nodes`; rec az-gpu4).
        looked_at = true;
        limited(controller, scratch, record, reservation, (&shape.required, shape.min_nodes))
    } else if !shape.feasible && !prefers && first_parts_are_busy(controller, scratch, (record, reservation), shape) {
        looked_at = true;
        wait_for_nodes(controller, scratch, record, reservation, (shape, prefers))
    } else if !shape.feasible && !prefers {
        // It can never run here; one of several partitions is passed over (rec h-share).
        // Nodes that have what it asks for are looked at before that is found (rec m-pre/a2).
        looked_at = shape.is_looked_at();
        // While a reservation takes nodes from it, it waits for the reservation (node_scheduler.c of 22.05.8, `_pick_best_nodes`; rec s-core).
        if may_hold(controller, reservation) && !controller.any_reservation_takes(id, record.partition, reservation) {
            controller.hold_never_runnable(id, too_small);
        }
        keep_named(scratch, (&shape.required, shape.min_nodes));
        Tried::Passes
    } else {
        looked_at = true;
        scratch.left.copy_from(&scratch.available);
        scratch.left.intersect(&shape.tested);
        let now = seconds(controller.now);
        let end = now + controller.live.get(id).map_or(0, |live| live.limit_seconds);
        let licenses = &controller.scenario.workload.requests[record.request.index()].licenses;
        let (partition, required, whole) = (record.partition, &shape.required[..], shape.whole_nodes);
        let candidate = Candidate { own: reservation, partition, required, whole, licenses, begin: now, end };
        let opening = if controller.reservations.any() {
            controller.narrow_to_reservations(candidate, &mut scratch.left, &mut scratch.turns_at)
        } else {
            Opening::Open { overlaps: false }
        };
        // Others take all that its own reservation has (node_scheduler.c of 22.05.8, `_build_node_list`: "All reserved"; rec ax-arr).
        let taken = matches!(opening, Opening::Open { .. }) && controller.own_reservation_is_taken(id, reservation);
        let is_open = matches!(opening, Opening::Open { .. }) && !taken;
        let fails_for_good = matches!(opening, Opening::Open { .. })
            && reservation_never_serves(controller, scratch, (record, shape), candidate, (too_small, prefers, taken));
        if fails_for_good {
            let looked_at = controller.looks_at_nodes(id, reservation, shape);
            if prefers {
                controller.put_preferred(id, shapes);
            } else {
                controller.put_shapes_of(id, shapes);
            }
            if looked_at {
                controller.tested_in(id, record.partition);
            }
            return Tried::Passes;
        }
        let user = controller.scenario.workload.jobs[id.index()].user.0;
        scratch.possible.copy_from(&scratch.left);
        scratch.possible.intersect(&shape.eligible);
        scratch.candidates.copy_from(&scratch.possible);
        scratch.candidates.subtract(&controller.completing);
        controller.add_named(shape, user, &scratch.possible, &mut scratch.candidates);
        controller.keep_listed_idle(shape, &mut scratch.candidates);
        // A job of a reservation looks at its nodes only, and at none before it begins (node_scheduler.c of 22.05.8, `_build_node_list`;
        // rec ax-site).
        if reservation.is_none() || is_open {
            let bound = controller.bound_nodes(reservation).cloned();
            controller.weigh_nodes(id, (record.partition, reservation), shape, bound.as_ref());
        }
        let asked = controller.asked_in_test(id, shape);
        controller.selector.take_overdrawn();
        let by_feature = is_open && controller.makes_room_by_feature(shape);
        let (fits, mut room) = match by_feature {
            true => controller.fits_by_feature(id, record.partition, (shape, asked), &scratch.candidates),
            false if is_open => {
                (controller.selector.fits(&controller.free, asked, user, &scratch.candidates), Room::None)
            }
            false => (false, Room::None),
        };
        let is_held = controller.selector.take_overdrawn();
        if is_open && reservation.is_some() {
            let chosen = controller.selector.chosen.len() as u32;
            controller.counted_nodes(id, record.partition, if fits { chosen } else { shape.alone.nodes });
        }
        if is_open && !fits && controller.linear_sizes_vary() && (shape.size_varies || shape.size_grows) {
            // Its test whether the job could ever run counts, too: on the nodes left to the cycle where enough of those are idle, else
            // on all (node_scheduler.c of 22.05.8, `_pick_best_nodes`; rec ar-lin).
            let enough = scratch.candidates.intersection_len(&controller.free.idle) >= shape.min_nodes as usize;
            let of_left = enough && controller.selector.could_fit(&controller.empty, shape, user, &scratch.possible);
            let charged = match of_left {
                true => controller.selector.charged_cpus(&controller.empty, shape),
                false => shape.charged_alone,
            };
            controller.size_becomes(id, charged);
        }
        if is_open && !fits && room == Room::None && (shape.size_varies || shape.size_grows) {
            // Tasks are laid out, and their CPUs counted, before the memory of all CPUs is asked for; so are those of parts.
            controller.size_becomes(id, controller.selector.charged_in_vain);
        }
        if is_open && !fits && !is_held && !by_feature && controller.preempt.is_some() {
            room = controller.make_room(id, record.partition, shape, &scratch.candidates);
        }
        if taken || matches!(opening, Opening::Closed(_) | Opening::NotUsable) {
            if let Some(nodes) = controller.bound_nodes(reservation) {
                scratch.available.subtract(nodes);
            }
            keep_named(scratch, (&shape.required, shape.min_nodes));
            Tried::Passes
        } else if is_held {
            controller.hold_for_good(id, PendingReason::JobHeldAdmin);
            fail(controller, scratch, record, reservation, (&shape.required, shape.min_nodes))
        } else if fits {
            let allocation = controller.selector.allocate(&controller.free, shape);
            let billing = controller.billing(record.partition, &allocation);
            let counts = controller.allocated_counts(id, &allocation, billing);
            if controller.limits_allow_counts(id, record.partition, &counts) {
                controller.start(record, allocation, StartedBy::Main);
                Tried::Started
            } else {
                if shape.size_varies || shape.size_grows {
                    controller.size_becomes(id, controller.selector.charged_cpus(&controller.free, shape));
                }
                limited(controller, scratch, record, reservation, (&shape.required, shape.min_nodes))
            }
        } else {
            match room {
                Room::None => busy(controller, scratch, record, reservation, (shape, prefers)),
                Room::Limited(_) => {
                    limited(controller, scratch, record, reservation, (&shape.required, shape.min_nodes))
                }
                // Room that is being made is not there yet: the job is treated as any other that does not fit.
                Room::Made | Room::Unneeded => {
                    wait_for_nodes(controller, scratch, record, reservation, (shape, prefers))
                }
            }
        }
    };
    looked_at &= reservation.is_none() || controller.looks_at_nodes(id, reservation, shape);
    if looked_at {
        controller.selector.weights.see(&shape.tested);
    }
    if prefers {
        controller.put_preferred(id, shapes);
    } else {
        controller.put_shapes_of(id, shapes);
    }
    if looked_at {
        let was_whole = controller.has_become_whole(id);
        controller.tested_in(id, record.partition);
        if !was_whole && controller.has_become_whole(id) && controller.live.is_pending(id) {
            controller.await_first_test(id);
        }
    }
    tried
}

/// Whether parts of a constraint that counts nodes have none now, and come before one that could never have any here: the job waits for those
/// (node_scheduler.c of 22.05.8, `_get_req_features`, `_pick_best_nodes`; rec w2220). Other nodes than a start's are not asked for them.
/// O(parts × a test), O(1) without such a constraint.
fn first_parts_are_busy(
    controller: &mut Controller<'_>,
    scratch: &mut MainScratch,
    (record, reservation): (Record, Option<usize>),
    shape: &Shape,
) -> bool {
    let has_nodes =
        |nodes: &NodeSet, count: u32| nodes.intersection_len_up_to(&shape.tested, count as usize) >= count as usize;
    let parts = shape.counted.iter().take_while(|(nodes, count)| has_nodes(nodes, *count)).count();
    if parts == 0 || parts == shape.counted.len() {
        return false;
    }
    scratch.left.copy_from(&scratch.available);
    scratch.left.intersect(&shape.tested);
    scratch.left.subtract(&controller.completing);
    let id = record.job;
    let (partition, required, whole) = (record.partition, &shape.required[..], shape.whole_nodes);
    let begin = seconds(controller.now);
    let end = begin + controller.live.get(id).map_or(0, |live| live.limit_seconds);
    let candidate = Candidate { own: reservation, partition, required, whole, licenses: &[], begin, end };
    if controller.reservations.any()
        && !matches!(
            controller.narrow_to_reservations(candidate, &mut scratch.left, &mut scratch.turns_at),
            Opening::Open { .. }
        )
    {
        return false;
    }
    let user = controller.scenario.workload.jobs[id.index()].user.0;
    for (nodes, count) in &shape.counted[..parts] {
        scratch.candidates.copy_from(&scratch.left);
        scratch.candidates.intersect(nodes);
        if !controller.selector.fits(&controller.free, &shape.part_of_start(*count), user, &scratch.candidates) {
            return true;
        }
        for offer in &controller.selector.chosen {
            scratch.left.remove(offer.node);
        }
    }
    false
}
