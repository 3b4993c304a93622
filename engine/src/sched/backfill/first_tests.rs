//! Jobs that are charged more than they ask for, and the same on all their nodes, count as that once a cycle has tested them. (Where
//! the nodes of a plan decide, the plan says it: [`super::place`].)
//!
//! Taken to be tested are those that a cycle comes to at its begin, by caps, limits and licences: so no cycle has to be gone through for it.

use crate::simulation::Controller;

use super::Backfill;
use super::counts::Counts;
use crate::sched::walk::Scout;

/// Before a cycle's first record. O(1) where no such job waits, else O(queue) at most: it ends at the last of them.
pub(super) fn note(controller: &mut Controller<'_>, backfill: &Backfill) {
    let mut untested = std::mem::take(&mut controller.untested);
    let waits = |id| controller.live.get(id).is_some_and(|live| live.phase.waits());
    untested.retain(|&id| waits(id) && controller.charged_cpus(id).is_none());
    let most = controller.scenario.policy.backfill.max_job_test;
    let (mut scout, mut counts, mut tested) = (Scout::default(), Counts::default(), 0);
    while !untested.is_empty() && tested < most {
        let Some(record) = backfill.walk.scout(controller, &mut scout) else { break };
        let (id, partition) = (record.job, record.partition);
        let comes_to_it = controller.live.is_pending(id)
            && controller.limits_allow_test(id, partition)
            && controller.partition_allows(id, partition)
            && counts.admit(controller, record)
            && controller.licenses_free(id);
        if !comes_to_it {
            continue;
        }
        tested += 1;
        if untested.contains(&id) && controller.charged_cpus(id).is_none() {
            let shape = controller.known_shape(record.request, record.place as usize);
            controller.size_becomes(id, shape.and_then(|shape| shape.charged_alone));
        }
        if controller.charged_cpus(id).is_some() {
            untested.remove(&id);
        }
    }
    controller.untested = untested;
}
