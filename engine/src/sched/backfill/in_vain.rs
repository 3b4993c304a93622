//! Records that a cycle has tried in vain, so that the like behind them need not be tried: users submit batches of like jobs, and many wait for
//! what comes free beyond the window.
//!
//! A record that is not planned and cannot start leaves the plan as it was. Until somebody else changes it, a record that asks the same in the
//! same partition, for the same user, association, QOS and time, is answered alike. A cycle that is gone through as it is defined
//! ([`Controller::every_cycle`]) tries them all.

use crate::sched::queue::Record;
use crate::simulation::{Controller, seconds};

use super::{Backfill, Cycle, first_tests, record};

/// What a try asks, and what of the state could change its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    partition: u16,
    whom: (u32, u32, u32),
    limit: i64,
    now: i64,
    plan: u64,
    state: u64,
    weights: u64,
}

/// What a record leaves behind that is tried in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traces {
    /// It came as far as a test.
    pub(super) tested: bool,
    /// It got a time of start, if no plan.
    pub(super) starts: bool,
}

/// The last such record of a request.
#[derive(Clone, Copy, Debug)]
struct InVain {
    asked: Asked,
    traces: Traces,
    /// It counts as tested.
    counted: u32,
    /// It was stamped as changed.
    stamped: bool,
    /// As how many CPUs the like count once they are tested,
    grown: Option<u32>,
    /// and since its last test, if that says.
    size: Option<u32>,
}

/// What has been tried in vain, by request.
#[derive(Debug, Default)]
pub(super) struct TriedInVain {
    of_request: Vec<Option<InVain>>,
    /// What the try in progress leaves behind, once it is known to be in vain.
    pub(super) traces: Option<Traces>,
    /// A test of it has told how large the job is.
    pub(super) sized: bool,
    /// Counts what may have changed the plan.
    pub(super) plan: u64,
}

/// A try, before it is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    asked: Asked,
    tested: u32,
}

/// What the record's try would ask; `None` where more than that could matter. O(1).
pub(super) fn before(
    controller: &Controller<'_>,
    backfill: &Backfill,
    cycle: &Cycle,
    record: Record,
    test_only: bool,
) -> Option<Before> {
    let may_be_like_another = record.kind.stays && !record.kind.task && !test_only;
    let heeds_others = controller.every_cycle()
        || controller.hetjobs.is_some()
        || controller.reservations.any()
        || !backfill.qos_held.is_empty();
    if !may_be_like_another || heeds_others {
        return None;
    }
    let job = &controller.scenario.workload.jobs[record.job.index()];
    let asked = Asked {
        partition: record.place,
        whom: (job.user.0, job.association.0, job.qos.0),
        limit: controller.asked_seconds(record.job),
        now: seconds(controller.now),
        plan: backfill.tried_in_vain.plan,
        state: controller.version,
        weights: controller.selector.weights.version(),
    };
    Some(Before { asked, tested: cycle.tested })
}

/// Leaves behind what the try would, and says whether that is known. O(1).
pub(super) fn repeat(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
    record: Record,
    before: Before,
) -> bool {
    let known = backfill.tried_in_vain.of_request.get(record.request.index()).copied().flatten();
    let Some(InVain { traces, counted, stamped, grown, size, .. }) = known.filter(|known| known.asked == before.asked)
    else {
        return false;
    };
    cycle.tested += counted;
    if traces.tested {
        first_tests::test_as(controller, record.job, grown);
    }
    controller.size_becomes(record.job, size);
    if stamped {
        record::stamp(controller, backfill, cycle);
    }
    if traces.starts {
        backfill.counts.note_start_time(&controller.scenario.policy.backfill, record.job);
    }
    true
}

/// Keeps what the try has left behind, if it was in vain and would be again. O(1), amortised.
pub(super) fn keep(
    controller: &Controller<'_>,
    backfill: &mut Backfill,
    cycle: &Cycle,
    record: Record,
    (before, grown): (Before, Option<u32>),
) {
    let tried = &mut backfill.tried_in_vain;
    let (state, weights) = (controller.version, controller.selector.weights.version());
    let Some(traces) =
        tried.traces.filter(|_| before.asked == Asked { plan: tried.plan, state, weights, ..before.asked })
    else {
        return;
    };
    let stamped = backfill.stamped == Some(cycle.passed);
    let at = record.request.index();
    if tried.of_request.len() <= at {
        tried.of_request.resize(at + 1, None);
    }
    let counted = cycle.tested - before.tested;
    let size = controller.charged_cpus(record.job).filter(|_| tried.sized);
    tried.of_request[at] = Some(InVain { asked: before.asked, traces, counted, stamped, grown, size });
}
