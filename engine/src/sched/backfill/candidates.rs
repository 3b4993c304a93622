//! Whether anything that a cycle has not come to yet could still start. If not, the rest of the cycle decides nothing.
//! (A plan is made anew in every cycle, and nothing but the cycle itself reads it, unless `Controller::sizes_vary`.)
//!
//! A candidate is a record whose request fits into what is free now, on nodes that the plan so far leaves to it, and
//! which no cap, limit or licence holds back. All of these only shrink while a cycle goes on, so a record that is no
//! candidate once is none until the cycle ends. `simulate_every_cycle` does without, and must decide the same.

use crate::ids::RequestId;
use crate::job::JobPart;
use crate::node_set::NodeSet;
use crate::select::free::ANY_USER;
use crate::simulation::{Controller, seconds};

use super::counts::Counts;
use super::{Backfill, Cycle};
use crate::sched::queue::{Cursor, Record};

/// The search for the next record that could start, ahead of the cycle.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// This cycle may stop early.
    active: bool,
    /// How far the search has come.
    scout: Cursor,
    /// The caps as the scout's records will have used them up.
    counts: Counts,
    /// The next candidate, if the search has found one that the cycle has not come to.
    witness: Option<Record>,
    /// Records planned since the witness was last looked at, and how many may be.
    planned_since: u32,
    patience: u32,
    /// What is known of each request, by its id.
    requests: Vec<Verdict>,
    /// Counts the evaluations of all waiting requests.
    evaluation: u64,
    usable: NodeSet,
    /// The latest time at which this cycle could decide anything [s].
    latest: i64,
}

/// Whether a request fits into what is free, plans ignored.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    evaluation: u64,
    fits: bool,
}

/// Prepares the search. O(waiting requests × nodes freed since the last cycle), more for requests that fit.
pub(super) fn begin(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle) {
    let candidates = &mut backfill.candidates;
    // Preemption makes room where none is free; a plan of a component is read by its siblings, in the next cycle too; and a
    // plan may say how large the job is.
    let plans_are_read = controller.preempt.is_some() || controller.components_wait() || controller.sizes_vary;
    candidates.active = !(controller.every_cycle || plans_are_read)
        && cycle.weight == 0
        // What happens in a sleep meets the plan as far as it was made.
        && !cycle.yields;
    if !candidates.active {
        return;
    }
    // The clock stands still in a cycle that takes no time.
    candidates.latest = seconds(controller.now + (cycle.cost.of_records(cycle.length) / 1000) as i64);
    candidates.scout = Cursor::default();
    candidates.witness = None;
    candidates.counts = Counts::default();
    candidates.requests.resize(controller.scenario.workload.requests.len(), Verdict::default());
    evaluate(controller, &mut backfill.candidates);
}

/// Says for every waiting request whether it fits.
fn evaluate(controller: &mut Controller<'_>, candidates: &mut Candidates) {
    let previous = candidates.evaluation;
    candidates.evaluation += 1;
    let mut queue = std::mem::take(&mut controller.queue);
    for &request in queue.waiting_requests() {
        let verdict = candidates.requests[request.index()];
        // What did not fit then can fit only through what was given back since.
        let only_freed = previous > 0 && verdict.evaluation == previous && !verdict.fits;
        let fits = fits(controller, request, only_freed);
        candidates.requests[request.index()] = Verdict { evaluation: candidates.evaluation, fits };
    }
    controller.queue = queue;
    controller.free.freed.clear();
}

/// Whether a request fits in one of its partitions, plans ignored.
fn fits(controller: &mut Controller<'_>, request: RequestId, only_freed: bool) -> bool {
    let shapes = controller.take_shapes(request);
    let fits = shapes.iter().any(|shape| {
        let (free, selector) = (&controller.free, &controller.selector);
        if only_freed && shape.max_nodes == 1 {
            // One of the freed nodes alone must do.
            return free.freed.intersects(&shape.eligible)
                && free.freed.iter_common(&shape.eligible).any(|node| selector.may_serve(free, shape, ANY_USER, node));
        }
        (!only_freed || free.freed.intersects(&shape.eligible))
            && selector.may_fit(free, shape, ANY_USER, &shape.eligible)
    });
    controller.put_shapes(request, shapes);
    fits
}

/// The cycle has dealt with a record.
pub(super) fn passed(backfill: &mut Backfill, record: Record) {
    let candidates = &mut backfill.candidates;
    candidates.planned_since += 1;
    if candidates.witness == Some(record) {
        candidates.witness = None;
    }
}

/// Whether nothing that is left can start, and what the cycle leaves behind is known too: whether it keeps cycles
/// coming. Amortised over a cycle, O(queue + candidates × slots × words).
pub(super) fn none_left(controller: &mut Controller<'_>, backfill: &mut Backfill) -> bool {
    if !backfill.candidates.active {
        return false;
    }
    if let Some(witness) = backfill.candidates.witness {
        if backfill.candidates.planned_since < backfill.candidates.patience {
            return false;
        }
        backfill.candidates.planned_since = 0;
        if could_start(controller, backfill, witness) {
            // Plans between here and the witness seldom hurt it: look less and less often.
            backfill.candidates.patience *= 2;
            return false;
        }
        backfill.candidates.witness = None;
    }
    if find(controller, backfill) {
        return false;
    }
    flags_are_known(controller, backfill)
}

/// Whether the cycle's end is known to mark nodes as PLANNED, or known not to do so but to have stamped a job: whatever
/// the rest of the queue adds, the next cycle then comes, and sees the same.
fn flags_are_known(controller: &Controller<'_>, backfill: &Backfill) -> bool {
    let open = &controller.free.open;
    backfill.planned.intersects(open) || (backfill.stamped && open.is_empty())
}

/// Goes on to the next candidate.
fn find(controller: &mut Controller<'_>, backfill: &mut Backfill) -> bool {
    let capped = !controller.limits.active && controller.scenario.policy.backfill.caps_records();
    loop {
        let candidates = &mut backfill.candidates;
        let Some(record) = controller.queue.next(&mut candidates.scout) else { return false };
        let fits = candidates.requests[record.request.index()];
        let fits = fits.fits && fits.evaluation == candidates.evaluation;
        if !(fits || capped) || !controller.live.is_pending(record.job) {
            continue;
        }
        let name = controller.scenario.workload.jobs[record.job.index()].name;
        let surely_counted = matches!(name.part, JobPart::Whole)
            && controller.partitions(record.job).len() == 1
            && controller.partition_allows(record.job, record.partition);
        if capped && surely_counted {
            // The cycle counts this record before it comes to later ones.
            if !candidates.counts.admit(controller, record) {
                continue;
            }
        } else if backfill.counts.are_used_up(controller, record) {
            continue;
        }
        if fits && could_start(controller, backfill, record) {
            let candidates = &mut backfill.candidates;
            candidates.witness = Some(record);
            candidates.planned_since = 0;
            candidates.patience = 1;
            return true;
        }
    }
}

/// Whether the record fits into what is free and unplanned. Notes until when a no holds.
fn could_start(controller: &mut Controller<'_>, backfill: &mut Backfill, record: Record) -> bool {
    let id = record.job;
    if !controller.live.is_pending(id) || !controller.licenses_free(id) {
        return false;
    }
    if controller.limits.active && !controller.limits_allow_test(id, record.partition) {
        return false;
    }
    let shapes = controller.take_shapes(record.request);
    let shape = &shapes[record.place as usize];
    let now = seconds(controller.now);
    let limit = controller.plan_seconds(id);
    let candidates = &mut backfill.candidates;
    candidates.usable.copy_from(&shape.eligible);
    candidates.usable.intersect(&controller.up);
    // Whenever in this cycle the record's turn comes, it needs its nodes at least for this time.
    let slack = backfill.timeline.narrow(&mut candidates.usable, candidates.latest, now + limit);
    let user = controller.scenario.workload.jobs[id.index()].user.0;
    let could = controller.selector.may_fit(&controller.free, shape, user, &candidates.usable);
    controller.put_shapes(record.request, shapes);
    if !could {
        backfill.valid_until = backfill.valid_until.min(now.saturating_add(slack));
    }
    could
}
