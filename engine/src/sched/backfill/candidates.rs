//! Whether anything that a cycle has not come to yet could still start. If not, the rest of the cycle decides nothing.
//! (A plan is made anew in every cycle, and nothing but the cycle itself reads it, unless [`any_size_varies`].)
//!
//! A candidate is a record whose request fits into what is free now, on nodes that the plan so far leaves to it, and
//! which no cap, limit or licence holds back. All of these only shrink while a cycle goes on, so a record that is no
//! candidate once is none until the cycle ends. In a cycle that sleeps, running jobs end meanwhile and others start.
//! Without `bf_continue` the cycle then ends, too; with it, what is free counts with all that could become free by the time
//! the cycle comes to the record ([`super::ahead`]), and of the rest only what no such event can lift.
//! `simulate_every_cycle` does without, and must decide the same.

use crate::ids::RequestId;
use crate::node_set::{NodeSet, nodes_of};
use crate::select::free::ANY_USER;
use crate::select::gathered::{Gathered, Soon};
use crate::select::shape::Shape;
use crate::simulation::{Controller, SECOND, seconds};

use super::ahead::{self, Ahead};
use super::blocked::Blocked;
use super::counts::Counts;
use super::marks;
use super::reach::Reach;
use super::{Backfill, Cycle};
use crate::sched::queue::Record;
use crate::sched::walk::Scout;

/// The search for the next record that could start, ahead of the cycle.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// This cycle may stop early.
    active: bool,
    /// How far the search has come.
    scout: Scout,
    /// The caps as the scout's records will have used them up.
    counts: Counts,
    /// How far the cycle will be when it comes to where the search is.
    reach: Reach,
    /// The cycle sleeps in between, and goes on whatever has happened.
    goes_on: bool,
    /// What becomes free in its sleeps.
    ahead: Ahead,
    /// Where nothing starts in its sleeps.
    blocked: Blocked,
    /// Records that the search has passed.
    passed: usize,
    /// The state of which that is true.
    soon_of: u64,
    /// The next candidate, if the search has found one that the cycle has not come to.
    witness: Option<Record>,
    /// Nodes that let it start, while no plan takes one of them.
    seats: NodeSet,
    /// One was taken.
    seat_taken: bool,
    /// What is known of each request, by its id.
    requests: Vec<Verdict>,
    /// Counts the evaluations of all waiting requests.
    evaluation: u64,
    /// Counts the looks at what could become free: what is refused in one of them is refused until the next.
    era: u64,
    /// The latest time at which this cycle could decide anything [s].
    latest: i64,
}

/// Whether a request fits into what is free, plans ignored.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    evaluation: u64,
    fits: bool,
    /// The era in which a record of it could not start,
    refused_in: u64,
    /// with which limit [s],
    refused_limit: i64,
    /// in which of its partitions.
    refused_place: u16,
}

/// Prepares the search; there is none if the cycle `must_plan`. O(waiting requests × nodes freed since the last cycle), more for requests that fit.
pub(super) fn begin(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle, must_plan: bool) {
    let candidates = &mut backfill.candidates;
    // Preemption makes room where none is free; a plan of a component is read by its siblings, in the next cycle too; a
    // plan may say how large the job is; and whoever a partition's lists refuse is stamped when the cycle comes to it.
    let plans_are_read = must_plan
        || controller.preempt.is_some()
        || controller.components_wait()
        || any_size_varies(controller)
        || any_leaves_weights(controller)
        || any_strays(controller)
        || controller.queue.any_denied()
        || controller.awaits_next_time();
    candidates.active = !(controller.by_definition() || plans_are_read) && cycle.weight == 0;
    candidates.goes_on = cycle.yields && controller.scenario.policy.backfill.continue_after_yield;
    candidates.era += 1;
    candidates.passed = 0;
    candidates.ahead.forget();
    if candidates.active && candidates.goes_on {
        candidates.active = candidates.ahead.look(controller, cycle);
        candidates.soon_of = controller.version;
    } else if candidates.active && cycle.yields {
        candidates.active = !ahead::machine_may_change(controller, cycle);
    }
    if !candidates.active {
        return;
    }
    candidates.latest = seconds(match cycle.yields {
        true => ahead::latest_end(controller, cycle),
        false => controller.now + (cycle.cost.of_records(cycle.length) / 1000) as i64,
    });
    candidates.reach = Reach::default();
    candidates.scout = Scout::default();
    candidates.witness = None;
    candidates.seats.copy_from(&controller.up);
    candidates.counts = Counts::default();
    if candidates.goes_on {
        candidates.blocked.begin(controller);
    }
    candidates.requests.resize(controller.scenario.workload.requests.len(), Verdict::default());
    evaluate(controller, &mut backfill.candidates);
}

/// Whether tests of a waiting request change weights of nodes that others read. O(waiting requests).
fn any_leaves_weights(controller: &mut Controller<'_>) -> bool {
    controller.selector.gpus_stay && any_shape(controller, |controller, shape| controller.selector.favours(shape))
}

/// Whether a waiting job may hold the cycle up. O(waiting requests).
fn any_strays(controller: &mut Controller<'_>) -> bool {
    controller.scenario.policy.select.linear && any_shape(controller, |_, shape| shape.strays)
}

/// Whether the nodes that a plan names decide how large a waiting job is. O(waiting requests).
fn any_size_varies(controller: &mut Controller<'_>) -> bool {
    controller.sizes_vary && any_shape(controller, |_, shape| shape.size_varies)
}

/// Whether it is so of the shape of a waiting request. O(waiting requests).
fn any_shape(controller: &mut Controller<'_>, is_so: impl Fn(&Controller<'_>, &Shape) -> bool) -> bool {
    let mut queue = std::mem::take(&mut controller.queue);
    let any = queue.waiting_requests().iter().any(|&request| {
        controller.shape_ready(request);
        (0..).map_while(|place| controller.known_shape_of_request(request, place)).any(|shape| is_so(controller, shape))
    });
    controller.queue = queue;
    any
}

impl Candidates {
    /// Whether a request fits into what is free before the turn of the search's record, plans ignored. O(1).
    fn fits(&self, request: RequestId) -> bool {
        let verdict = self.requests[request.index()];
        verdict.fits && verdict.evaluation == self.evaluation
    }
}

/// The state has changed: finds out anew what could become free before the search's last record has its turn.
fn look_ahead(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle) {
    let until = seen_by(backfill, cycle, backfill.candidates.passed.saturating_sub(1));
    let candidates = &mut backfill.candidates;
    candidates.era += 1;
    candidates.active = candidates.ahead.look(controller, cycle);
    candidates.soon_of = controller.version;
    if candidates.active {
        // What has ended since is in no list any more, but free.
        candidates.ahead.give_back(controller, until);
        evaluate(controller, candidates);
    }
}

/// What has happened before a record with so many before it has its turn [ms]. Who came back to the queue while the cycle slept
/// may have been in it before.
fn seen_by(backfill: &Backfill, cycle: &Cycle, records: usize) -> i64 {
    ahead::seen_by(cycle, records.saturating_add(backfill.newcomers.len()))
}

/// Says for every waiting request whether it fits.
fn evaluate(controller: &mut Controller<'_>, candidates: &mut Candidates) {
    let previous = candidates.evaluation;
    candidates.evaluation += 1;
    let soon = candidates.ahead.soon();
    if let Some(soon) = soon {
        controller.free.freed.union(&soon.nodes);
    }
    let mut queue = std::mem::take(&mut controller.queue);
    for &request in queue.waiting_requests() {
        let verdict = candidates.requests[request.index()];
        // What did not fit then can fit only through what was given back since.
        let only_freed = previous > 0 && verdict.evaluation == previous && !verdict.fits;
        let fits = fits(controller, soon, request, only_freed);
        candidates.requests[request.index()] = Verdict { evaluation: candidates.evaluation, fits, ..verdict };
    }
    controller.queue = queue;
    controller.free.freed.clear();
}

/// Whether a request fits in one of its partitions, plans ignored.
fn fits(controller: &mut Controller<'_>, soon: Option<&Soon>, request: RequestId, only_freed: bool) -> bool {
    let shapes = controller.take_shapes(request);
    let (free, selector) = (&controller.free, &controller.selector);
    let fits = shapes.iter().any(|shape| {
        if only_freed && shape.max_nodes == 1 {
            // One of the freed nodes alone must do.
            let serves = |node| {
                selector.may_serve(free, shape, ANY_USER, node)
                    || soon.is_some_and(|soon| {
                        soon.nodes.contains(node) && selector.may_serve(&soon.free, shape, ANY_USER, node)
                    })
            };
            return free.freed.iter_common(&shape.eligible).any(serves);
        }
        (!only_freed || free.freed.intersects(&shape.eligible))
            && selector.may_fit((free, soon), shape, ANY_USER, &shape.eligible)
    });
    controller.put_shapes(request, shapes);
    fits
}

/// The cycle has dealt with a record.
pub(super) fn passed(backfill: &mut Backfill, record: Record) {
    let candidates = &mut backfill.candidates;
    if candidates.witness == Some(record) {
        candidates.witness = None;
    }
}

/// The cycle has planned a job on the nodes chosen. O(words).
pub(super) fn planned(backfill: &mut Backfill) {
    backfill.candidates.seat_taken |= backfill.candidates.seats.intersects(&backfill.chosen);
}

/// The cycle has started a job.
pub(super) fn started(backfill: &mut Backfill) {
    backfill.candidates.seat_taken = true;
}

/// Whether nothing that is left can start, and what the cycle leaves behind is known too: whether it keeps cycles
/// coming. Amortised over a cycle, O(queue + candidates × slots × words).
pub(super) fn none_left(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle) -> bool {
    let candidates = &backfill.candidates;
    if candidates.active && candidates.goes_on && candidates.soon_of != controller.version {
        // What has started may end before the cycle does.
        look_ahead(controller, backfill, cycle);
    }
    let candidates = &backfill.candidates;
    if !candidates.active {
        return false;
    }
    if let Some(witness) = backfill.candidates.witness {
        if !std::mem::take(&mut backfill.candidates.seat_taken) || could_start(controller, backfill, witness) {
            return false;
        }
        backfill.candidates.witness = None;
    }
    !find(controller, backfill, cycle) && flags_are_known(controller, backfill, cycle)
}

/// Whether the cycle is known to be a change: it will mark nodes as PLANNED at its end, or will not, but has stamped a job in the
/// second in which it ends. Whatever the rest of the queue adds, the next cycle then comes in time. After a cycle that sleeps it
/// comes anyway. O(words).
fn flags_are_known(controller: &Controller<'_>, backfill: &Backfill, cycle: &Cycle) -> bool {
    let is_last_second = |records| cycle.cost.is_second_of_end(cycle.begin_ms, records, cycle.length);
    let marks_none = !marks::marks_full_nodes(controller) && controller.free.idle.is_empty();
    cycle.yields
        || marks::are_left(controller, &backfill.planned)
        || (backfill.stamped.is_some_and(is_last_second) && marks_none)
}

/// Goes on to the next candidate.
fn find(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle) -> bool {
    let policy = &controller.scenario.policy.backfill;
    let capped = !controller.limits.active && policy.caps_records();
    let waiting = controller.queue.len() as u64;
    let reaches_all = waiting < u64::from(policy.max_job_test) && cycle.cost.record_us == 0;
    let ends = ahead::latest_end(controller, cycle);
    loop {
        let candidates = &mut backfill.candidates;
        if !reaches_all && candidates.reach.is_exceeded(controller, cycle) {
            return false;
        }
        let Some(record) = backfill.walk.scout(controller, &mut candidates.scout) else { return false };
        candidates.passed += 1;
        let mut until = i64::MIN;
        if candidates.goes_on {
            until = seen_by(backfill, cycle, backfill.candidates.passed - 1);
            if backfill.candidates.ahead.give_back(controller, until) {
                // More could be free than when the records before were looked at.
                backfill.candidates.era += 1;
                evaluate(controller, &mut backfill.candidates);
            }
        }
        let candidates = &mut backfill.candidates;
        if !controller.live.is_pending(record.job) {
            continue;
        }
        let fits = candidates.fits(record.request);
        if !(fits || capped) && reaches_all {
            continue;
        }
        let mut waits = record.kind.alone;
        if candidates.goes_on && record.kind.alone {
            let job = || &controller.scenario.workload.jobs[record.job.index()];
            let is_kept = || job().extra.is_none() && job().cancelled_at.saturating_mul(SECOND) > ends;
            let stays = (record.kind.stays || is_kept()) && !backfill.newcomers.contains(&record.job);
            let blocker = candidates.blocked.by(record.partition, until);
            waits = stays && !(fits && blocker.is_none_or(|blocker| candidates.fits(blocker)));
            if stays
                && !fits
                && let Some(shape) = controller.known_shape_of_record(record)
            {
                candidates.blocked.note(controller, record, shape);
            }
        }
        if !reaches_all {
            candidates.reach.pass(controller, record, waits);
        }
        if capped && waits && candidates.counts.are_used_up(controller, record) {
            // So will they be when the cycle comes to it.
            continue;
        }
        if capped && waits && controller.record_is_allowed(record) {
            // The cycle counts this record before it comes to later ones.
            candidates.counts.admit(controller, record);
        } else if backfill.counts.are_used_up(controller, record) {
            continue;
        }
        if fits && could_start(controller, backfill, record) {
            let candidates = &mut backfill.candidates;
            candidates.witness = Some(record);
            candidates.seat_taken = false;
            return true;
        }
    }
}

/// Whether the record fits into what is free and unplanned. Notes until when a no holds.
/// O(words with free nodes × slots), or O(1): where a record could not start, another of the request that runs as long cannot
/// either, in this partition and until what could become free is looked at anew. All that it could get has only shrunk.
fn could_start(controller: &mut Controller<'_>, backfill: &mut Backfill, record: Record) -> bool {
    let id = record.job;
    let limit = controller.test_seconds(id, record.partition);
    let candidates = &backfill.candidates;
    let known = candidates.requests[record.request.index()];
    if known.refused_in == candidates.era && known.refused_place == record.place && limit >= known.refused_limit {
        return false;
    }
    let licensed = backfill.candidates.goes_on || controller.licenses_free_for(record);
    if !controller.live.is_pending(id) || !licensed {
        return false;
    }
    if controller.limits.active {
        let whole_limit = controller.shorten_limit(id);
        let allowed = controller.limits_allow_test(id, record.partition);
        controller.unshorten_limit(id, whole_limit);
        // A start that is tried notes a limit that is not noted yet, so the cycle must come to it.
        if !allowed && controller.noted_limit(id) {
            return false;
        }
    }
    let shapes = controller.take_shapes(record.request);
    let could = shape_could_start(controller, backfill, record, &shapes[record.place as usize], limit);
    controller.put_shapes(record.request, shapes);
    let candidates = &mut backfill.candidates;
    if !could {
        let now = seconds(controller.now);
        let touched = backfill.timeline.touched(candidates.latest, now + limit);
        let slack = backfill.timeline.slack(&touched, candidates.latest, now + limit);
        backfill.valid_until = backfill.valid_until.min(now.saturating_add(slack));
        let known = &mut candidates.requests[record.request.index()];
        (known.refused_in, known.refused_limit, known.refused_place) = (candidates.era, limit, record.place);
    }
    could
}

/// Whether a shape fits into what is free, and what could become free in the cycle's sleeps, where nothing is planned for as
/// long as it runs. The nodes that show it become the candidates' seats.
fn shape_could_start(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    limit: i64,
) -> bool {
    let candidates = &mut backfill.candidates;
    candidates.seats.clear();
    // Whenever in this cycle the record's turn comes, it needs its nodes at least for this time.
    let touched = backfill.timeline.touched(candidates.latest, seconds(controller.now) + limit);
    let factors = backfill.timeline.factors(touched);
    let soon = candidates.ahead.soon();
    let (live, selector) = (&controller.live, &controller.selector);
    let states = (&controller.free, &mut controller.future);
    let request = (record.request, record.place as usize, shape);
    let allocation = |job| live.get(job).map(|live| &live.allocation);
    let ready = controller.ready.refresh(selector, &controller.node_jobs, states, request, allocation);
    let mut gathered = Gathered::default();
    (0..controller.up.n_words()).any(|word| {
        let offering = ready.now.word(word) | soon.map_or(0, |soon| soon.nodes.word(word));
        let mut unplanned = offering & shape.eligible.word(word) & controller.up.word(word);
        if unplanned == 0 {
            return false;
        }
        for nodes in factors.clone() {
            unplanned &= nodes.word(word);
            if unplanned == 0 {
                return false;
            }
        }
        nodes_of(word, unplanned).any(|node| {
            candidates.seats.insert(node);
            let cpus = match soon.filter(|soon| soon.nodes.contains(node)) {
                Some(soon) => selector.usable_cpus(&soon.free, shape, ANY_USER, node),
                None => ready.cpus_now(node),
            };
            gathered.add(cpus);
            gathered.may_suffice(shape)
        })
    })
}
