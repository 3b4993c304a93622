//! A job that could run now, started as `select_nodes` does: on nodes chosen again, within limits. Source: slurm-semantics 3.6 step 9.

use crate::ids::QosId;
use crate::node_set::NodeSet;
use crate::outcome::StartedBy;
use crate::policy::SlurmVersion;
use crate::preempt::make_room::Room;
use crate::sched::queue::Record;
use crate::select::shape::Shape;
use crate::simulation::{Controller, seconds};

use super::Backfill;

/// What came of starting a job now.
pub(super) enum Attempt {
    Started,
    /// By the group limit of a QOS, if it is one.
    Limited(Option<QosId>),
    /// Room is made for it, as limits allow.
    MakesRoom,
    /// As if it had started at second 0 ([`Room::Unneeded`]).
    AtZero,
    Busy,
}

/// Starts the job on nodes out of `backfill.usable`; selection is run again as slurmctld does.
pub(super) fn start_now(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    user: u32,
) -> Attempt {
    backfill.usable.subtract(&controller.completing);
    controller.keep_listed_idle(shape, &mut backfill.usable);
    let reservation = controller.reservation_of(record.job);
    let may_be_tested = controller.limits_allow_test(record.job, record.partition);
    // What `select_nodes` finds first of all becomes the job's reason, or is it no longer (node_scheduler.c of 22.05.8; rec au-whole).
    controller.note_limit(record.job, !may_be_tested);
    if shape.exclusive_partition && !shape.whole_nodes && controller.is_planned_in_parts(record.job) {
        if !may_be_tested {
            return Attempt::Limited(None);
        }
        // From now on it is one of whole nodes.
        controller.tested_in(record.job, record.partition);
        let shapes = controller.take_shapes_of(record.job);
        let attempt = start_now(controller, backfill, record, &shapes[record.place as usize], user);
        controller.put_shapes_of(record.job, shapes);
        return attempt;
    }
    if may_be_tested {
        controller.note_try_to_start(record.job, record.partition);
        controller.weigh_nodes(record.job, (record.partition, reservation), shape, Some(&backfill.usable));
    }
    let by_feature = may_be_tested && controller.makes_room_by_feature(shape);
    let (fits, room) = match by_feature {
        true => controller.fits_by_feature(record.job, record.partition, (shape, shape), &backfill.usable),
        false => (controller.selector.fits(&controller.free, shape, user, &backfill.usable), Room::None),
    };
    if !fits {
        if may_be_tested && room == Room::None && (shape.size_varies || shape.size_grows) {
            controller.size_becomes(record.job, controller.selector.charged_in_vain);
        }
        if !may_be_tested {
            return Attempt::Limited(None);
        }
        let room = match by_feature {
            true => room,
            false => controller.make_room(record.job, record.partition, shape, &backfill.usable),
        };
        return match room {
            // A limit that would hold it back anyway wins over busy nodes (node_scheduler.c of 22.05.8, `select_nodes`).
            Room::None if controller.limits.active => {
                let alone = shape.feasible.then_some(shape.alone);
                let counts = controller.busy_counts(record.job, record.partition, shape, alone);
                if controller.limits_allow_counts(record.job, record.partition, &counts) {
                    Attempt::Busy
                } else {
                    Attempt::Limited(controller.qos_in_the_way(record.job, record.partition, &counts))
                }
            }
            Room::None => Attempt::Busy,
            // With victims to strike a limit holds its QOS back, too (backfill.c of 22.05.8, `qos_blocking_ptr`; rec av-arr).
            Room::Limited(by) => Attempt::Limited(by),
            Room::Made => Attempt::MakesRoom,
            Room::Unneeded => Attempt::AtZero,
        };
    }
    if !controller.licenses_free(record.job) {
        return Attempt::Busy;
    }
    let allocation = controller.selector.allocate(&controller.free, shape);
    if controller.limits.active {
        let billing = controller.billing(record.partition, &allocation);
        let counts = controller.allocated_counts(record.job, &allocation, billing);
        if !may_be_tested || !controller.limits_allow_counts(record.job, record.partition, &counts) {
            let by = may_be_tested.then(|| controller.qos_in_the_way(record.job, record.partition, &counts)).flatten();
            return Attempt::Limited(by);
        }
    }
    let whole = backfill.whole_limit.map(|whole| controller.limit_within(record.partition, whole));
    if let Some(whole) = whole.filter(|_| controller.time_min_is_soft()) {
        controller.lengthen_limit(record.job, whole);
    } else if let Some(whole) = whole.filter(|_| controller.scenario.policy.version >= SlurmVersion::V25_05) {
        let now = seconds(controller.now);
        let nodes = allocation.shares.iter().map(|share| share.node);
        let nodes = NodeSet::from_nodes(controller.scenario.cluster.nodes.len(), nodes);
        let room = backfill.timeline.first_planned(&nodes, now, now + whole).map_or(whole, |begin| begin - now);
        controller.lengthen_limit(record.job, whole.min(room / 60 * 60));
    }
    controller.start(record, allocation, StartedBy::Backfill);
    Attempt::Started
}
