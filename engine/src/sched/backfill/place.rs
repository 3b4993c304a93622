//! Where and when one job could run: start it if that is now, else plan it. Source: slurm-semantics 3.4, 3.6 step 9.

use crate::ablation::{Rule, is_off};
use crate::policy::SlurmVersion;
use crate::select::shape::Shape;
use crate::simulation::{Controller, seconds};

use super::bounds::Demand;
use super::exclusive_users::{self, Left};
use super::foresee::{Foreseen, bound, is_by_definition, looks_at_tries, outlook, will_run};
use super::grid::Grid;
use super::in_vain::Traces;
use super::record::stamp;
use super::reserved::{Window, keep_reservations};
use super::running::reserve;
use super::start_now::{Attempt, start_now};
use super::{Backfill, Cycle, Exit, LastTry, Next, candidates, first_tests, hetjobs, table_size, window_seconds};
use crate::sched::queue::Record;

/// With `assoc_limit_stop`, a job at its limit is planned this much later [s].
const LIMITED_RETRY_SECONDS: i64 = 500;

/// Finds where and when the job could run; starts it if that is now, else plans it.
///
/// What the last successful test would have charged a job decides its size. Tests whose answers are of no other use are left
/// out, and made up for, the last one first, if no later test succeeds.
pub(super) fn place(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
    record: Record,
    shape: &Shape,
    test_only: bool,
) -> Next {
    let whole_limit = controller.shorten_limit(record.job);
    backfill.whole_limit = whole_limit;
    (backfill.tried_in_vain.traces, backfill.tried_in_vain.sized) = (None, false);
    let next = find_place(controller, backfill, cycle, record, shape, (test_only, true));
    if backfill.tried_in_vain.traces.is_none() {
        backfill.tried_in_vain.plan += 1;
    }
    controller.unshorten_limit(record.job, whole_limit);
    if !controller.live.is_pending(record.job) {
        backfill.row_limit = backfill.row_limit.or(whole_limit);
    } else if let Some(limit) = backfill.row_limit {
        controller.record_gets_limit(record.job, limit);
    }
    while let Some(try_from) = backfill.unasked.pop() {
        let now = seconds(controller.now);
        let end = try_from.max(now) + controller.test_seconds(record.job, record.partition);
        backfill.usable.copy_from(&backfill.base);
        backfill.timeline.narrow(&mut backfill.usable, backfill.timeline.touched(try_from, end));
        backfill.usable.intersect(&shape.tested);
        let bound = bound(controller, backfill, record, shape);
        if let Some(found) = will_run(controller, backfill, record, shape, (bound, None), (try_from, None), test_only) {
            let charged = found
                .of_last_test
                .unwrap_or_else(|| controller.selector.charged_cpus(controller.state_of_plan(found.is_future), shape));
            controller.size_becomes(record.job, charged);
            backfill.tried_in_vain.sized = true;
            break;
        }
    }
    next
}

/// `may_pass` says that tries may be passed over by what is known of earlier records.
fn find_place(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
    record: Record,
    shape: &Shape,
    (test_only, may_pass): (bool, bool),
) -> Next {
    backfill.unasked.clear();
    backfill.last_try.bound = i64::MIN;
    backfill.outlook.forget();
    let scenario = controller.scenario;
    let policy = &scenario.policy.backfill;
    let id = record.job;
    controller.wait_for_a_leaf(id, shape);
    let now = seconds(controller.now);
    let partition = &scenario.cluster.partitions[record.partition.index()];
    let limit = controller.test_seconds(id, record.partition);
    let user = scenario.workload.jobs[id.index()].user.0;
    let grid = Grid::of(controller);
    let window_end = seconds(cycle.resumed_ms) + window_seconds(policy);
    backfill.base.copy_from(&partition.nodes);
    backfill.base.intersect(&controller.up);
    backfill.base.subtract(&backfill.freed);
    // Nodes that other users hold for themselves now are out of every plan, whenever they come free.
    let asks_who = shape.exclusive_user || !controller.node_jobs.none_refuses() || controller.free.any_keeps_owner();
    let by_try = asks_who && scenario.policy.version >= SlurmVersion::V24_11;
    let for_others =
        by_try || asks_who && controller.free.keep_admitting(&mut backfill.base, user, shape.exclusive_user);
    let for_others = for_others
        | (!by_try && shape.exclusive_user && controller.leave_completing_of_others(&mut backfill.base, user));
    // A component waits for the latest plan among its siblings, and is started with them after the queue.
    let is_component = controller.hetjobs.is_some() && crate::sched::main_cycle::is_component(controller, id);
    let others = if is_component { hetjobs::earliest(controller, id) } else { None };
    let mut try_from = others.map_or(now, |latest| latest.max(now));
    // Nobody of a QOS whose group limit kept a job from starting is tried before that job's plan, but the next tasks of its own array.
    let qos = [Some(scenario.workload.jobs[id.index()].qos), partition.qos];
    let known = backfill.qos_held.iter().take(backfill.qos_held_known);
    let held = known.filter(|(of, _)| qos.contains(&Some(*of))).map(|held| held.1);
    try_from = held.fold(try_from, i64::max);
    let looks_at_tries = looks_at_tries(controller);
    let is_tried_beyond = scenario.policy.version >= SlurmVersion::V24_11;
    // From 23.11 on nothing is tried beyond the table (backfill.c, `_attempt_backfill`).
    let ends_with_table = scenario.policy.version >= SlurmVersion::V23_11;
    let mut tested = false;
    let mut counted = false;
    let mut passed = false;
    let mut attempted = false;
    let may_pass = may_pass
        && !is_component
        && !by_try
        && !is_by_definition(controller, shape)
        && !controller.reservations.any()
        && backfill.licenses.len() == 0;
    backfill.bounds.refresh(&controller.node_jobs);
    let mut demand = Demand::of(&controller.ready, record, shape, limit);
    // Each attempt begins at a later slot, so there are at most as many as slots; the bound is a safeguard.
    let hops = backfill.timeline.slots.len() + backfill.licenses.len() + controller.reservations.len();
    // Or at the last end of a node that another user holds.
    let hops = hops + if by_try { scenario.cluster.nodes.len() } else { 0 };
    for _ in 0..=2 * hops + 8 {
        let mut reservation_ends = None;
        let reserved = controller.reservations.any();
        if reserved {
            backfill.usable.copy_from(&backfill.base);
            let window = Window { now, limit: controller.asked_seconds(id), end: backfill.timeline.end(), grid };
            match keep_reservations(controller, backfill, record, shape, &mut try_from, window) {
                Ok(ends) => reservation_ends = ends,
                Err(()) => return Next::Record,
            }
        }
        if ends_with_table && try_from > backfill.timeline.end() {
            backfill.valid_until = backfill.valid_until.min(grid.ceil(try_from) - window_seconds(policy));
            return Next::Record;
        }
        let request = &scenario.workload.requests[record.request.index()];
        let mut filtered = None;
        if by_try {
            if !reserved {
                backfill.usable.copy_from(&backfill.base);
            }
            request.excluded_nodes.iter().for_each(|&node| backfill.usable.remove(node));
            backfill.valid_until = now;
            match exclusive_users::filter(controller, backfill, shape, user, try_from.max(now)) {
                Left::Enough(later) => filtered = later,
                Left::TooFew(later) if !test_only => {
                    try_from = later;
                    continue;
                }
                Left::TooFew(_) => return Next::Record,
            }
        }
        let end = try_from.max(now) + limit;
        let slots = backfill.timeline.touched(try_from, end);
        // What a reservation keeps from the job is not waited for.
        let wanted = if reserved || by_try { &backfill.usable } else { &backfill.base };
        let later = backfill.timeline.later(slots.start, slots.end, wanted);
        // From 24.11.0 on there is another try behind the second slot beyond the job, unless that is the last.
        let beyond = || backfill.timeline.end_of_inner(slots.end + 1);
        let later = later.or_else(|| is_tried_beyond.then(beyond).flatten());
        let later = later.into_iter().chain(reservation_ends).min();
        if try_from == now {
            let slack = backfill.timeline.slack(&slots, try_from, end);
            backfill.valid_until = backfill.valid_until.min(now.saturating_add(slack));
        }
        if let (Some(demand), Some(later)) = (demand, later.filter(|_| may_pass && !test_only)) {
            let known = backfill.bounds.get(demand, try_from);
            // Each of several features is waited for by itself.
            let asks_once = !shape.fits_otherwise() && shape.alternatives.is_empty();
            let asks = !looks_at_tries && now < known && known <= later && asks_once && backfill.outlook.pays();
            let bound = if asks { outlook(controller, backfill, record, shape, (known, later)) } else { known };
            if bound > later {
                // As below, without a look at the nodes.
                if shape.size_varies && !looks_at_tries {
                    backfill.unasked.push(try_from);
                }
                backfill.valid_until = backfill.valid_until.min(bound);
                (passed, try_from) = (true, later);
                continue;
            }
        }
        if !reserved && !by_try {
            backfill.usable.copy_from(&backfill.base);
        }
        backfill.timeline.narrow(&mut backfill.usable, slots);
        let unlicensed = backfill.licenses.lacking_until(controller, record, try_from, end);
        let mut later = unlicensed.or(later).or(filtered);
        let again = later.filter(|_| !test_only);
        // `bf_max_job_test` counts who has nodes enough before its features and sizes are asked for.
        for &node in &request.excluded_nodes {
            backfill.usable.remove(node);
        }
        if !counted
            && unlicensed.is_none()
            && backfill.usable.has(shape.min_nodes as usize)
            && shape.required.iter().all(|&node| backfill.usable.contains(node))
        {
            (counted, cycle.tested) = (true, cycle.tested + 1);
        }
        backfill.usable.intersect(&shape.tested);
        if unlicensed.is_some()
            || !backfill.usable.has(shape.min_nodes as usize)
            || shape.required.iter().any(|&node| !backfill.usable.contains(node))
        {
            match again {
                Some(later) => {
                    try_from = later;
                    continue;
                }
                // Whether one of the tries passed over counts as a test is not known.
                None if passed && !tested => {
                    cycle.tested -= u32::from(counted);
                    return find_place(controller, backfill, cycle, record, shape, (test_only, false));
                }
                None => {
                    backfill.tried_in_vain.traces = (!attempted).then_some(Traces { tested, starts: false });
                    return Next::Record;
                }
            }
        }
        if !tested && !test_only {
            first_tests::test(controller, id, shape);
        }
        tested = true;
        if backfill.last_try.bound == i64::MIN || backfill.last_try.nodes != backfill.usable {
            let bound = bound(controller, backfill, record, shape);
            backfill.last_try.bound = bound;
            backfill.last_try.not_before = bound;
            backfill.last_try.nodes.copy_from(&backfill.usable);
        }
        let LastTry { bound, not_before, .. } = backfill.last_try;
        demand = demand.or_else(|| Demand::of(&controller.ready, record, shape, limit));
        // With fewer nodes it says nothing of other users' jobs.
        if let Some(demand) = demand.filter(|_| !for_others) {
            backfill.bounds.note(demand, try_from, bound);
        }
        let asks_all = is_component
            || (shape.size_varies && looks_at_tries)
            || (shape.size_varies && (is_by_definition(controller, shape) || controller.reservations.any()));
        // A last try that finds a start beyond the window plans nothing, whenever that is, or if it is never (which `bf_one_resv_per_job` tells apart).
        let is_last = again.is_none()
            && !(test_only || shape.size_varies || looks_at_tries || policy.one_resv_per_job)
            && try_from <= window_end;
        if is_last && !asks_all && not_before > window_end {
            backfill.valid_until = backfill.valid_until.min(not_before - window_seconds(policy));
            backfill.tried_in_vain.traces = (!attempted).then_some(Traces { tested, starts: false });
            return Next::Record;
        }
        let useless_after = again.or(is_last.then_some(window_end)).filter(|_| !asks_all);
        if let Some(later) = useless_after.filter(|&later| not_before > later) {
            if shape.size_varies {
                backfill.unasked.push(try_from);
            }
            // Whatever will-run says is after that: it is asked again there.
            backfill.valid_until = backfill.valid_until.min(not_before);
            try_from = later;
            continue;
        }
        let tried = (try_from, later);
        let Some(Foreseen { start: found, is_future, of_last_test: mut of_last }) =
            will_run(controller, backfill, record, shape, (bound, useless_after), tried, test_only)
        else {
            match again {
                Some(later) => {
                    try_from = later;
                    continue;
                }
                None => {
                    backfill.tried_in_vain.traces = (!attempted).then_some(Traces { tested, starts: false });
                    return Next::Record;
                }
            }
        };
        if !looks_at_tries {
            backfill.last_try.not_before = found;
        }
        if test_only {
            // It would fit now (rec w2198), though it may not start.
            first_tests::test(controller, id, shape);
        }
        if shape.size_varies && useless_after.is_some_and(|later| found > later) {
            backfill.unasked.push(try_from);
        } else if shape.size_varies {
            backfill.unasked.clear();
            let charged =
                of_last.unwrap_or_else(|| controller.selector.charged_cpus(controller.state_of_plan(is_future), shape));
            controller.size_becomes(id, charged);
            backfill.tried_in_vain.sized = true;
        }
        if found < try_from {
            stamp(controller, backfill, cycle);
        }
        let mut start = found.max(try_from);
        let mut within_limits = !controller.limits.active || scenario.policy.main.assoc_limit_stop;
        if start <= now {
            if controller.selector.chosen.iter().any(|offer| controller.completing.contains(offer.node)) {
                start = now + 1;
                later = None;
                backfill.valid_until = now;
            } else if !is_component {
                attempted = true;
                // If it does not start, the nodes found above are planned, not those where room is made.
                let found = controller.selector.chosen.clone();
                let is_of_array = record.kind.task && !controller.has_own_record(id);
                let is_denied = controller.partition_denies_account(id, record.partition)
                    && controller.limits_allow_test(id, record.partition);
                let attempt = if is_denied {
                    stamp(controller, backfill, cycle);
                    backfill.valid_until = now;
                    Attempt::Busy
                } else {
                    start_now(controller, backfill, record, shape, user)
                };
                if !matches!(attempt, Attempt::Started) {
                    controller.selector.chosen = found;
                }
                match attempt {
                    Attempt::Started => {
                        cycle.started += 1;
                        candidates::started(backfill);
                        backfill.last_ends.forget();
                        if !is_off(Rule::Plans) {
                            let end = controller.live.get(id).map_or(now, |live| live.expected_end);
                            reserve(controller, backfill, id, end);
                        }
                        if policy.max_job_start > 0 && cycle.started >= policy.max_job_start {
                            if is_of_array {
                                controller.rest_keeps_test_limit(id);
                            }
                            return Next::End(Exit::MaxStart);
                        }
                        return Next::Record;
                    }
                    Attempt::Limited(by) if scenario.policy.main.assoc_limit_stop => {
                        start = later.unwrap_or(now + LIMITED_RETRY_SECONDS);
                        if later.is_none() {
                            // That moves with time, and so does whoever it holds back.
                            backfill.valid_until = now;
                        }
                        backfill.qos_held.extend(by.map(|qos| (qos, start)));
                    }
                    Attempt::Limited(_) => return Next::Record,
                    // Limits have been asked; what they would say of the plan is the same.
                    Attempt::MakesRoom => within_limits = true,
                    // Its plan is all over: of it the table keeps the least that it can.
                    Attempt::AtZero => (within_limits, start) = (true, 0),
                    // It fits in the test but does not start: its plan goes with the time, and counts as large as the start's own tests left it
                    // (node_scheduler.c of 22.05.8, `_get_req_features`; rec au-core2).
                    Attempt::Busy => {
                        backfill.valid_until = now;
                        if shape.size_varies {
                            of_last = Some(controller.charged_cpus(id));
                        }
                    }
                }
            }
        }
        if is_component {
            // Its siblings heed this start, though it may be refused below (docs/FACTS.md, facts 67).
            hetjobs::note_start(controller, backfill, record, start);
        }
        if start > now {
            backfill.valid_until = backfill.valid_until.min(start);
        }
        if start > now && test_only {
            backfill.counts.note_start_time(policy, id);
            return Next::Record;
        }
        if let Some(later) = later
            && start > later
        {
            try_from = later;
            continue;
        }
        let begin = grid.floor(start);
        let rounds_up = scenario.policy.version >= SlurmVersion::V24_11;
        let end = if rounds_up { grid.ceil(start + limit) } else { grid.floor(start + limit) };
        // In 24.05.4 to the end of that branch a plan lasts a bf_resolution at least.
        let holds_one = scenario.policy.version == SlurmVersion::V24_05;
        let end = if holds_one { end.max(begin + grid.resolution) } else { end };
        // The window moves with time: a start beyond it comes into it, an end beyond it becomes the end of a slot.
        let window = window_seconds(policy);
        if start > window_end {
            backfill.valid_until = backfill.valid_until.min(start - window);
        } else if begin >= backfill.timeline.end() {
            backfill.valid_until = now;
        } else if end >= backfill.timeline.end() {
            backfill.valid_until = backfill.valid_until.min(end - window);
        }
        if start > window_end {
            backfill.counts.note_start_time(policy, id);
            backfill.tried_in_vain.traces = (start > now && !attempted).then_some(Traces { tested, starts: true });
            return Next::Record;
        }
        backfill.chosen.clear();
        for offer in &controller.selector.chosen {
            backfill.chosen.insert(offer.node);
        }
        let is_unlicensed = || backfill.licenses.lacking_until(controller, record, begin, end - 1).is_some();
        if start > now && (!backfill.timeline.is_free(&backfill.chosen, begin, end) || is_unlicensed()) {
            if try_from == start && scenario.policy.version >= SlurmVersion::V25_05 {
                try_from = start + grid.resolution;
                continue;
            }
            if try_from == start {
                // The same question again and again.
                return if shape.strays { Next::Again(record) } else { Next::Record };
            }
            try_from = start;
            continue;
        }
        // A plan that is not kept leaves its time of start in the job (`_attempt_backfill` of 22.05.8, what `continue`s behind the overlap test).
        if is_component && hetjobs::would_deadlock(controller, record, start) {
            backfill.counts.note_start_time(policy, id);
            return Next::Record;
        }
        if !within_limits {
            // A component has its own limit again here, whatever its `--time-min` (`_attempt_backfill` of 22.05.8 to 25.05.3; rec w2331).
            let shortened =
                backfill.whole_limit.filter(|_| is_component).and_then(|limit| controller.restore_limit(id, limit));
            let counts = controller.planned_counts(id, record.partition, shape, is_future);
            let counts = controller.with_cpus(counts, of_last.flatten());
            let is_allowed = controller.limits_allow_counts(id, record.partition, &counts);
            controller.unshorten_limit(id, shortened);
            if !is_allowed {
                backfill.counts.note_start_time(policy, id);
                return Next::Record;
            }
        }
        let quota = policy.job_part_count_reserve;
        if controller.is_never_planned(id) || (quota > 0 && backfill.counts.planned(record.partition) >= quota) {
            backfill.counts.note_start_time(policy, id);
            return Next::Record;
        }
        let array = || (scenario.workload.jobs[id.index()].name.id, record.partition);
        let task_of = (record.kind.task && !controller.has_own_record(id)).then(array);
        if test_only && backfill.counts.is_planned_elsewhere(policy, id, task_of) {
            // One that would start now, but for its siblings or limits, comes here, too, and is counted (`_attempt_backfill` of 22.05.8; rec
            // ay-mix, c1168).
            backfill.counts.note_counted(record);
            return Next::Record;
        }
        if backfill.timeline.records >= table_size(policy) {
            // Its nodes are marked all the same.
            backfill.planned.union(&backfill.chosen);
            return Next::End(Exit::TableSize);
        }
        backfill.counts.note_plan(policy, record);
        let licenses = &scenario.workload.requests[record.request.index()].licenses;
        let licensed = policy.licenses && !licenses.is_empty();
        if licensed {
            backfill.licenses.insert(licenses, begin, end);
        }
        if let Some((array, partition)) = task_of {
            backfill.counts.note_task_plan(array, partition);
        }
        if is_off(Rule::Plans) || (is_off(Rule::ConservativePlans) && !backfill.planned.is_empty()) {
            return Next::Record;
        }
        if is_off(Rule::WholeNodePlans) {
            // Only nodes that the job fills are hidden.
            let geometry = &controller.selector.geometry;
            let chosen = controller.selector.chosen.iter().map(|offer| offer.node);
            for node in chosen.filter(|node| shape.min_cpus < geometry.cpus[node.index()]) {
                backfill.chosen.remove(node);
            }
        }
        backfill.timeline.insert(&backfill.chosen, begin, end, licensed);
        candidates::planned(backfill);
        backfill.planned.union(&backfill.chosen);
        return Next::Record;
    }
    Next::Record
}
