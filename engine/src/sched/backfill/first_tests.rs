//! Jobs that are charged more than they ask for, wherever they run (whole nodes that are alike, cores with threads), count as what an
//! idle machine would charge once a cycle has tested them. (Where the nodes of a plan decide, the plan says it: [`super::place`].)
//!
//! A record is tested at its first try with nodes enough (docs/FACTS.md, facts 70). Where a cycle is sure to come to that, and to have the
//! nodes, it is noted at the begin: then the cycle need not be gone through for it.

use std::collections::BTreeMap;

use crate::ids::JobId;
use crate::select::shape::Shape;
use crate::simulation::Controller;

use super::counts::Counts;
use super::record::is_test_only;
use super::{Backfill, Record, table_size};
use crate::sched::walk::Scout;

/// Before a cycle's first record; says whether only going through the cycle tells of some jobs. O(1) where no such job waits, else
/// O(queue) at most: it ends at the last of them, if caps let it come so far.
pub(super) fn note(controller: &mut Controller<'_>, backfill: &Backfill) -> bool {
    if controller.untested.is_empty() {
        return false;
    }
    let mut untested = std::mem::take(&mut controller.untested);
    let main = &controller.scenario.policy.main;
    let policy = &controller.scenario.policy.backfill;
    let mut scout = Scout::default();
    // With all tasks of arrays that it may come to, and with the first ones alone.
    let (mut counts, mut fewest) = (Counts::default(), Counts::default());
    // Records that it may test, and those among them that are sure to have nodes enough, and so to count.
    let (mut tested, mut sure) = (0, 0);
    // Tasks of each array that the cycle may come to in a partition.
    let mut tasks = BTreeMap::new();
    let mut planned = 0_u64;
    while !untested.is_empty() && sure < policy.max_job_test {
        let Some(record) = backfill.walk.scout(controller, &mut scout) else { break };
        let (id, partition) = (record.job, record.partition);
        if !controller.live.is_pending(id) {
            continue;
        }
        // The later tasks of an array are come to only if those before were planned.
        let mut is_first = true;
        if record.kind.task {
            let array = controller.scenario.workload.jobs[id.index()].name.id;
            let come_to = tasks.entry((array, partition)).or_insert(0);
            *come_to += 1;
            is_first = *come_to == 1;
            if *come_to > policy.max_job_array_resv.max(1) {
                if controller.charged_cpus(id).is_some() {
                    untested.remove(&id);
                }
                continue;
            }
        }
        let allowed = (main.assoc_limit_stop || controller.limits_allow_test(id, partition))
            && controller.record_is_allowed(record);
        let licensed = policy.licenses || controller.licenses_free_for(record);
        // Of an array only the first task is sure to count against the caps.
        let may_come = allowed && (!is_first || fewest.admit(controller, record));
        let comes_to_it = allowed && counts.admit(controller, record) && licensed;
        if !comes_to_it {
            // Licences may be given back while a cycle sleeps that goes on.
            let may_come = may_come && (licensed || policy.continue_after_yield);
            if may_come && untested.contains(&id) && controller.charged_cpus(id).is_none() {
                controller.untested = untested;
                return true;
            }
            continue;
        }
        if controller.known_shape_of_record(record).is_some_and(|shape| shape.unlayable) {
            // It is passed over, and held before long.
            continue;
        }
        tested += 1;
        let is_tried = is_tried(controller, record, planned);
        sure += u32::from(is_tried && is_first);
        if is_test_only(controller, backfill, record) {
            // What it would get later is not asked (rec g-gpu), but what it would get now. Whom a reservation keeps from starting the cycle comes to
            // as one that could start; not so whom a limit keeps.
            let is_limited = main.assoc_limit_stop && !controller.limits_allow_test(id, partition);
            if is_limited && untested.contains(&id) && controller.charged_cpus(id).is_none() {
                controller.untested = untested;
                return true;
            }
            continue;
        }
        if untested.contains(&id) && controller.charged_cpus(id).is_none() {
            if tested > policy.max_job_test || controller.is_planned_in_parts(id) {
                controller.untested = untested;
                return true;
            }
            // A plan takes two records of the table at most, the first one three.
            let has_room = backfill.timeline.records + 2 * tested < table_size(policy);
            if !(has_room && is_tried) {
                controller.untested = untested;
                return true;
            }
            let grown = controller.known_shape_of_record(record).and_then(grown);
            controller.size_becomes(id, grown);
        }
        untested.remove(&id);
        let shape = controller.known_shape_of_record(record);
        planned = planned.saturating_add(shape.map_or(u64::MAX, |shape| u64::from(shape.max_nodes)));
    }
    controller.untested = untested;
    false
}

/// Whether the record's first try has nodes enough, of which plans before may hold so many. O(words).
fn is_tried(controller: &Controller<'_>, record: Record, planned: u64) -> bool {
    let Some(shape) = controller.known_shape_of_record(record) else { return false };
    let policy = &controller.scenario.policy.backfill;
    let wanted = usize::try_from(planned.saturating_add(u64::from(shape.min_nodes))).unwrap_or(usize::MAX);
    !controller.reservations.any()
        && !policy.running_job_reserve
        && !policy.licenses
        && shape.required.is_empty()
        && !controller.any_exclusive_users
        && shape.tested.intersection_len_up_to(&controller.up, wanted) >= wanted
}

/// The cycle tests a record that may be planned. O(log jobs).
pub(super) fn test(controller: &mut Controller<'_>, job: JobId, shape: &Shape) {
    test_as(controller, job, grown(shape));
}

/// The same, given as how many CPUs a job counts that has been tested. O(log jobs).
pub(super) fn test_as(controller: &mut Controller<'_>, job: JobId, grown: Option<u32>) {
    if controller.untested.remove(&job) && controller.charged_cpus(job).is_none() {
        controller.size_becomes(job, grown);
    }
}

/// As how many CPUs a job counts that has been tested.
pub(super) fn grown(shape: &Shape) -> Option<u32> {
    shape.charged_alone.filter(|_| shape.size_grows)
}
