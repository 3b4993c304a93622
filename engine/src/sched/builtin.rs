//! The agent of `sched/builtin`: every interval it works out when the first jobs of the queue could start. It starts none; what its tests
//! leave behind is how many CPUs they would be charged, which priorities and limits count from then on, and who it found eligible.
//! Source: builtin.c of 22.05.8, `builtin_agent`, `_compute_start_times`; docs/FACTS.md, facts 84.

use std::collections::BTreeSet;

use super::backfill::estimate::{ask_reservations, charged_at_earliest};
use super::walk::Walk;
use crate::ids::PartitionId;
use crate::simulation::{Controller, seconds};

/// One pass over the queue. It asks neither limits nor features nor the nodes of the partition. O(records until `max_job_test` jobs are tested ×
/// as a test of backfill) where sizes count, else O(waiting jobs that are not eligible).
pub(crate) fn estimate(controller: &mut Controller<'_>) {
    controller.timers.estimated();
    controller.discover_eligible();
    controller.learn_ages();
    if !controller.sizes_vary {
        return;
    }
    // Who may preempt others comes before them here, too (`sort_job_queue`; rec c1437).
    let mut walk = Walk::default();
    walk.begin(controller);
    let mut arrays = BTreeSet::new();
    // All share the time for which reservations are asked (`job_test_resv`).
    let mut when = seconds(controller.now);
    // It counts after it has looked, so it tests one more.
    let mut left = u64::from(controller.scenario.policy.backfill.max_job_test) + 1;
    while left > 0
        && let Some(record) = walk.next(controller)
    {
        let id = record.job;
        // A job of several partitions is left by the build of the queue in the last one, of the lowest tier, which is the only one tested.
        let tier = |partition: PartitionId| controller.scenario.cluster.partitions[partition.index()].priority_tier;
        let in_order = controller.partitions(id).iter().enumerate();
        let last = in_order.min_by_key(|&(place, &partition)| (tier(partition), std::cmp::Reverse(place)));
        let is_last = last.is_some_and(|(place, _)| place == record.place as usize);
        if !is_last || record.kind.out_of_main || !controller.record_is_open(record) {
            continue;
        }
        let is_of_array = record.kind.task && !controller.has_own_record(id);
        if is_of_array && !arrays.insert(controller.scenario.workload.jobs[id.index()].name.id) {
            continue;
        }
        left -= 1;
        let shapes = controller.take_shapes_of(id);
        let charged = match shapes.get(record.place as usize) {
            Some(shape) if shape.size_varies || shape.size_grows => {
                charged_at_earliest(controller, record, shape, &mut when)
            }
            Some(shape) => {
                ask_reservations(controller, record, shape, &mut when);
                None
            }
            None => None,
        };
        controller.put_shapes_of(id, shapes);
        controller.size_becomes(id, charged);
    }
}
