//! Jobs that are charged more than they ask for, wherever they run (whole nodes that are alike, cores with threads), count as what an
//! idle machine would charge once a cycle has tested them. (Where the nodes of a plan decide, the plan says it: [`super::place`].)
//!
//! Taken to be tested are those that a cycle comes to at its begin, by caps, limits and licences: so no cycle has to be gone through for it.

use std::collections::BTreeMap;

use crate::simulation::Controller;

use super::Backfill;
use super::counts::Counts;
use super::record::is_test_only;
use crate::sched::walk::Scout;

/// Before a cycle's first record. O(1) where no such job waits, else O(queue) at most: it ends at the last of them, if caps let it
/// come so far.
pub(super) fn note(controller: &mut Controller<'_>, backfill: &Backfill) {
    if controller.untested.is_empty() {
        return;
    }
    let mut untested = std::mem::take(&mut controller.untested);
    let main = &controller.scenario.policy.main;
    let policy = &controller.scenario.policy.backfill;
    let (mut scout, mut counts, mut tested) = (Scout::default(), Counts::default(), 0);
    // Tasks of each array that the cycle may come to in a partition.
    let mut tasks = BTreeMap::new();
    while !untested.is_empty() && tested < policy.max_job_test {
        let Some(record) = backfill.walk.scout(controller, &mut scout) else { break };
        let (id, partition) = (record.job, record.partition);
        if !controller.live.is_pending(id) {
            continue;
        }
        if record.kind.task {
            let array = controller.scenario.workload.jobs[id.index()].name.id;
            let come_to = tasks.entry((array, partition)).or_insert(0);
            *come_to += 1;
            if *come_to > policy.max_job_array_resv.max(1) {
                if controller.charged_cpus(id).is_some() {
                    untested.remove(&id);
                }
                continue;
            }
        }
        let comes_to_it = (main.assoc_limit_stop || controller.limits_allow_test(id, partition))
            && controller.partition_allows(id, partition)
            && counts.admit(controller, record)
            && (policy.licenses || controller.licenses_free(id));
        if !comes_to_it {
            continue;
        }
        tested += 1;
        if is_test_only(controller, backfill, record) {
            // What it would get later is not asked (rec g-gpu).
            continue;
        }
        if untested.remove(&id) && controller.charged_cpus(id).is_none() {
            let shape = controller.known_shape(record.request, record.place as usize);
            let charged = shape.filter(|shape| shape.size_grows).and_then(|shape| shape.charged_alone);
            controller.size_becomes(id, charged);
        }
    }
    controller.untested = untested;
}
