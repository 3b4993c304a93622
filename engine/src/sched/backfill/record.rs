//! One record of a cycle: it is skipped, started or planned. Source: slurm-semantics 3.6 b to d.

use crate::outcome::PendingReason;
use crate::policy::SlurmVersion;
use crate::simulation::waiting::limited_array;
use crate::simulation::{Controller, seconds};

use super::super::queue::Record;
use super::super::turns::Turn;
use super::place::place;
use super::{Backfill, Cycle, Next, first_tests, hetjobs, in_vain, window_seconds};

/// Tries a record once more after a sleep.
pub(super) fn repeat(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
    record: Record,
) -> Next {
    if !controller.live.is_pending(record.job) {
        return Next::Record;
    }
    let shapes = controller.take_shapes_of_plan(record.job);
    let next = place(controller, backfill, cycle, record, &shapes.1[record.place as usize], false);
    controller.put_shapes_of_plan(record.job, shapes);
    next
}

/// One record: skip it, start it, or plan it.
pub(super) fn consider(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
    record: Record,
    turn: Turn,
) -> Next {
    let scenario = controller.scenario;
    let id = record.job;
    let in_row = is_in_row(controller, backfill, record);
    backfill.row = None;
    if !in_row {
        backfill.qos_held_known = backfill.qos_held.len();
        backfill.row_limit = None;
    }
    if record.kind.out || !controller.live.is_pending(id) {
        return Next::Record;
    }
    // An array's next task may make room as well, in the partition in which the one before did.
    if !in_row && controller.made_room_in_cycle(id) {
        return Next::Record;
    }
    // Most records are of no array: their jobs are not fetched for it.
    let array = || scenario.workload.jobs[id.index()].name.id;
    // A task that has started before has a record of its own: its array's plans do not count against it.
    let alone = !record.kind.task || controller.has_own_record(id);
    let is_of_array = record.kind.task && is_asked(controller, record);
    let of_array = is_of_array.then(|| (array(), record.partition));
    if of_array.is_some() && of_array == backfill.counts.rejected {
        if !alone {
            backfill.counts.close_array(array(), record.partition);
        }
        return Next::Record;
    }
    let planned_before = backfill.counts.planned(record.partition);
    if alone {
        backfill.counts.rejected = of_array.or(backfill.counts.rejected);
        let next = look_at(controller, backfill, cycle, (record, turn), None);
        if !controller.live.is_pending(id) || backfill.counts.planned(record.partition) > planned_before {
            backfill.counts.rejected = None;
        }
        return next;
    }
    let array = array();
    if backfill.counts.is_done_with(array, record.partition) || controller.array_may_run(id) == Some(0) {
        return Next::Record;
    }
    let planned = planned_before;
    backfill.counts.rejected = of_array.or(backfill.counts.rejected);
    let behind = id;
    let id = backfill.counts.next_task(controller, array, id);
    let record = Record { job: id, ..record };
    let next = look_at(controller, backfill, cycle, (record, turn), Some(array));
    if !controller.live.is_pending(id) {
        // The records of other partitions are now of the task that started, not of those still waiting.
        for &partition in controller.partitions(id).iter().filter(|&&partition| partition != record.partition) {
            backfill.counts.close_array(array, partition);
        }
        backfill.counts.rejected = None;
        backfill.row = Some((array, record.partition));
        return next;
    }
    let was_planned = backfill.counts.planned(record.partition) > planned;
    if was_planned {
        backfill.counts.rejected = None;
    }
    let needed = backfill.counts.tasks_behind_needed(scenario.policy.backfill.max_job_array_resv);
    let room_made = controller.room_made_in_cycle(array);
    let is_full = match controller.array_may_run(id) {
        Some(most) => backfill.counts.planned_in_row().max(room_made) >= most,
        None => {
            limited_array(&scenario.workload.jobs[id.index()]).is_some_and(|(_, most)| most > 0 && room_made >= most)
        }
    };
    if !was_planned
        || is_full
        || needed.is_none_or(|needed| needed > 1 && !controller.has_pending_tasks_behind(behind, needed))
    {
        backfill.counts.close_array(array, record.partition);
    } else {
        backfill.row = Some((array, record.partition));
    }
    next
}

/// Whether the cycle comes as far as its array with the record: lists of QOS and limits are asked before. O(depth of the tree).
fn is_asked(controller: &Controller<'_>, record: Record) -> bool {
    let (id, partition) = (record.job, record.partition);
    let limit_stop = controller.scenario.policy.main.assoc_limit_stop;
    !controller.partition_denies_qos(id, partition) && (limit_stop || controller.limits_allow_test(id, partition))
}

/// Whether the record is the next one of an array of which the cycle tests one task after the other.
pub(super) fn is_in_row(controller: &Controller<'_>, backfill: &Backfill, record: Record) -> bool {
    let id = record.job;
    backfill.row.is_some_and(|(array, partition)| {
        partition == record.partition
            && array == controller.scenario.workload.jobs[id.index()].name.id
            && !(record.kind.task && controller.has_own_record(id))
    })
}

/// One record that the cycle comes to, as far as its array goes. Of the tasks of an array only the first is asked whether limits let it
/// be tested, and whether it may be planned (docs/FACTS.md, facts 67).
fn look_at(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
    (record, turn): (Record, Turn),
    task_of: Option<u64>,
) -> Next {
    let scenario = controller.scenario;
    let id = record.job;
    let limit_stop = scenario.policy.main.assoc_limit_stop;
    let window_end = seconds(cycle.resumed_ms) + window_seconds(&scenario.policy.backfill);
    if controller.hetjobs.is_some() && !hetjobs::come_to(controller, record, window_end) {
        return Next::Record;
    }
    let before = task_of.and_then(|array| backfill.counts.task_before(array, record.partition));
    if before.is_none() && controller.partition_denies_qos(id, record.partition) {
        stamp(controller, backfill, cycle);
        return Next::Record;
    }
    if !limit_stop && before.is_none() && !controller.limits_allow_test(id, record.partition) {
        return Next::Record;
    }
    cycle.depth += 1;
    if backfill.counts.are_used_up(controller, record) {
        // Where users have thousands waiting, most records end here.
        return Next::Record;
    }
    let mut test_only = before.unwrap_or_else(|| is_test_only(controller, backfill, record));
    if let (Some(array), None) = (task_of, before) {
        backfill.counts.begin_array(array, record.partition, id, test_only);
    }
    if !controller.record_is_open(record)
        || !backfill.counts.admit(controller, record)
        || !(scenario.policy.backfill.licenses || controller.licenses_free_for(record))
        || (record.kind.peculiar && controller.cancels_late(id))
    {
        // Who was too late is gone.
        cycle.held |= !controller.live.is_pending(id);
        return Next::Record;
    }
    let by_itself = task_of.map(|array| (array, record.partition));
    let is_without = by_itself.is_some() && backfill.counts.without_preference == by_itself;
    if record.kind.peculiar && !is_without && turn != Turn::Own && controller.prefers(id) {
        // The record with preferred features: it may start now, and is never planned.
        cycle.depth += u64::from(turn == Turn::Whole);
        if let Some(hetjobs) = &mut controller.hetjobs {
            hetjobs.tested(id, true);
        }
        let shapes = controller.take_preferred(id);
        let shape = &shapes[record.place as usize];
        let next = if shape.feasible { place(controller, backfill, cycle, record, shape, true) } else { Next::Record };
        controller.put_preferred(id, shapes);
        // Components start with the features of this test before they are tested without (rec c1179).
        hetjobs::start_at_once(controller, backfill, cycle, id);
        if !controller.live.is_pending(id) || matches!(next, Next::End(_)) || turn == Turn::Preferred {
            return next;
        }
        if record.kind.task && scenario.policy.version < SlurmVersion::V23_02 {
            // An array that is rejected with them is so in its own record, too, which comes next (`reject_array_job` of backfill.c of
            // 22.05.8; rec bb-arr).
            return next;
        }
        backfill.counts.without_preference = by_itself;
        // A start that was found but could not be had stands: a limit, the window or a later one kept it (rec bb-arr).
        test_only |= backfill.counts.is_planned_elsewhere(&scenario.policy.backfill, id, None);
        // Each of the two counts against the caps (backfill.c of 22.05.8, `_job_exceeds_max_bf_param`; rec at-lin).
        if !backfill.counts.admit(controller, record) {
            return Next::Record;
        }
    }
    if let Some(hetjobs) = controller.hetjobs.as_mut().filter(|_| record.kind.peculiar) {
        hetjobs.tested(id, false);
    }
    let before = in_vain::before(controller, backfill, cycle, record, test_only);
    if before.is_some_and(|before| in_vain::repeat(controller, backfill, cycle, record, before)) {
        return Next::Record;
    }
    let shapes = controller.take_shapes_of_plan(id);
    let shape = &shapes.1[record.place as usize];
    backfill.tried_in_vain.traces = None;
    // Who asks for more nodes than its limits leave it at most is passed over, with `assoc_limit_stop` too (rec n-whole), and so is who must have more than
    // it may (backfill.c, `get_node_cnts`: "node count too high"; rec c1444): neither counts as tested.
    let next = if shape.over_limit || shape.unlayable || shape.max_nodes < shape.min_nodes {
        Next::Record
    } else {
        controller.selector.take_overdrawn();
        place(controller, backfill, cycle, record, shape, test_only)
    };
    let leaves_more = shape.strays || shape.leaf_wait.is_some() || !shape.counted.is_empty();
    let grown = first_tests::grown(shape);
    controller.put_shapes_of_plan(id, shapes);
    let overdrawn = controller.selector.take_overdrawn();
    if let Some(before) = before.filter(|_| !leaves_more && !overdrawn) {
        in_vain::keep(controller, backfill, cycle, record, (before, grown));
    }
    if overdrawn && controller.live.is_pending(id) && controller.partitions(id).len() == 1 {
        controller.hold_for_good(id, PendingReason::JobHeldAdmin);
        cycle.held = true;
    }
    hetjobs::start_at_once(controller, backfill, cycle, id);
    next
}

/// Whether the record may only start now, never be planned.
pub(super) fn is_test_only(controller: &Controller<'_>, backfill: &Backfill, record: Record) -> bool {
    let policy = &controller.scenario.policy.backfill;
    let eligible = || controller.records[record.job.index()].eligible.unwrap_or(i64::MAX);
    let quota = policy.job_part_count_reserve;
    record.priority() < controller.reserve_threshold(record)
        || (policy.min_age_reserve > 0 && seconds(controller.now) - eligible() < i64::from(policy.min_age_reserve))
        || (quota > 0 && backfill.counts.planned(record.partition) >= quota)
        || backfill.counts.is_planned_elsewhere(policy, record.job, None)
}

/// slurmctld stamps the job as changed, which keeps cycles coming every interval: a plan keeps it from its start, or a partition's lists refuse it
/// (backfill.c, `part_policy_valid_qos`, `part_policy_valid_acct` of 22.05.8). O(1).
pub(super) fn stamp(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle) {
    controller.timers.changed(controller.now);
    backfill.stamped = Some(cycle.passed);
}
