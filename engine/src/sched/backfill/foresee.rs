//! When a record could start on what the plan leaves to it. Source: slurm-semantics 3.4.

use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::Selector;
use crate::select::predict::Asked;
use crate::select::shape::{Shape, Strategy};
use crate::select::strays::AT_ONCE;
use crate::select::will_run::{WillRunPolicy, earliest_start, n_ended, release_ended};
use crate::simulation::running::Running;
use crate::simulation::{Controller, seconds};

use super::ends::expected;
use super::exclusive_users::tested_for;
use super::{Backfill, alternatives, parts};
use crate::sched::queue::Record;

/// A bound [s] under what [`will_run`] would say; see [`crate::select::ready`].
pub(super) fn bound(controller: &mut Controller<'_>, backfill: &Backfill, record: Record, shape: &Shape) -> i64 {
    if controller.preempt.is_some() || is_by_definition(controller, shape) {
        return i64::MIN;
    }
    let live = &controller.live;
    controller.ready.bound(
        &controller.selector,
        &controller.node_jobs,
        (&controller.free, &mut controller.future),
        (record.request, record.place as usize, shape),
        &backfill.usable,
        |job| live.get(job).map(|live| &live.allocation),
    )
}

/// A bound [s] under what [`will_run`] would say at any try of the record that cannot be met before `bound` [s], to pass over those
/// before `later` [s]. O(words) at the record's first.
pub(super) fn outlook(
    controller: &Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    (bound, later): (i64, i64),
) -> i64 {
    let running = (backfill.ends.in_order(&controller.running), controller.node_ranges.as_slice());
    let policy = policy(controller);
    let outlook = &mut backfill.outlook;
    if outlook.is_new() {
        outlook.sure.become_common([&backfill.base, backfill.timeline.untouched(), &shape.tested]);
        for &node in &controller.scenario.workload.requests[record.request.index()].excluded_nodes {
            outlook.sure.remove(node);
        }
        outlook.begin(policy, running, &backfill.base);
    }
    outlook.not_before(policy, running, (bound, later))
}

/// Whether tests may not be left out: what they leave behind is read.
pub(super) fn is_by_definition(controller: &Controller<'_>, shape: &Shape) -> bool {
    controller.by_definition()
        || shape.strays
        || shape.tasks_to_place.is_some()
        || (shape.leaf_wait.is_some() && controller.scenario.policy.backfill.busy_nodes)
        || shape.by_default.is_some()
        || (shape.size_varies && (shape.alternatives.len() > 1 || !shape.counted.is_empty()))
        || (controller.selector.gpus_stay
            && (controller.selector.favours(shape) || shape.strategy == Strategy::LeastLoaded))
}

/// What a test found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreseen {
    /// When the job could start [s].
    pub(super) start: i64,
    /// The nodes are chosen out of what will be free then, not of what is free now.
    pub(super) is_future: bool,
    /// CPUs that the last of several tests has left in the job, where that is not what its nodes say.
    pub(super) of_last_test: Option<Option<u32>>,
}

impl Foreseen {
    fn at(start: i64, is_future: bool) -> Self {
        Self { start, is_future, of_last_test: None }
    }
}

/// Whether tests depend on when the try begins, and on when the next one does: with 24.11 and later they look at what will be free at
/// the try's time before anything else, and release nobody who ends after the next one (`will_run_data` of 24.11.0). Bounds under
/// them that are of nodes alone hold all the same. With select/linear not reproduced.
pub(super) fn looks_at_tries(controller: &Controller<'_>) -> bool {
    let policy = &controller.scenario.policy;
    policy.version >= SlurmVersion::V24_11 && !policy.select.linear
}

/// The earliest expected start on `backfill.usable`, which is not before `bound`; nodes are left in the selector. If it is
/// after `useless_after`, where another try will be made, it may be given too early, but still after that, and without nodes. `tried`
/// are the times of this try and the next [s].
pub(super) fn will_run(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    (bound, useless_after): (i64, Option<i64>),
    tried: (i64, Option<i64>),
    test_only: bool,
) -> Option<Foreseen> {
    weigh_for_test(controller, &backfill.usable, tried.0 <= seconds(controller.now));
    if !shape.alternatives.is_empty() {
        return alternatives::one_by_one(controller, backfill, record, shape, (bound, useless_after), tried, test_only);
    }
    by_all(controller, backfill, record, shape, (bound, useless_after), tried, test_only)
}

/// From 23.11 on a test weighs its nodes anew; from 24.11 on completing ones count as such only in what is free now.
pub(super) fn weigh_for_test(controller: &mut Controller<'_>, usable: &NodeSet, is_of_now: bool) {
    let version = controller.scenario.policy.version;
    if version >= SlurmVersion::V23_11 {
        let heeds_completing = is_of_now || version < SlurmVersion::V24_11;
        controller.selector.weights.weigh_for_test(usable, heeds_completing.then_some(&controller.completing));
    }
}

/// The same, whatever of several features the nodes have.
pub(super) fn by_all(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    (bound, useless_after): (i64, Option<i64>),
    tried: (i64, Option<i64>),
    test_only: bool,
) -> Option<Foreseen> {
    let now = seconds(controller.now);
    if looks_at_tries(controller) {
        return match shape.counted.is_empty() {
            true => at_try(controller, backfill, record, shape, bound, tried, test_only),
            false => parts::one_after_another(controller, backfill, record, shape, bound, tried, test_only),
        };
    }
    if !shape.counted.is_empty() {
        return by_parts(controller, backfill, record, shape, test_only);
    }
    let start = without_try(controller, backfill, record, shape, (bound, useless_after), (test_only, false))?;
    Some(Foreseen::at(start, start > now))
}

/// The same for a constraint that counts nodes (`a*2&b*3`): each part is asked for by itself, on what those before it leave and with all of the
/// job's CPUs, and then the nodes that it wants besides; if need be without those whom the job may preempt. It starts with the latest of
/// the parts, whenever those besides are free; that a part has no start matters only if these have none either (backfill.c of 22.05.8,
/// `_try_sched`; rec at-qos, av-core). Where there is no start the tests that found one have
/// left their CPUs in the job all the same (rec bc-topo).
/// Tests are by definition.
/// O(parts × running jobs × their nodes).
fn by_parts(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    test_only: bool,
) -> Option<Foreseen> {
    let now = seconds(controller.now);
    let user = tested_for(controller, record);
    let policy = policy(controller);
    let busy_nodes = controller.scenario.policy.backfill.busy_nodes;
    if let Some(preemption) = &mut controller.preempt {
        preemption.in_plan = false;
    }
    let victims = controller.without_victims(record.job, record.partition, &backfill.usable);
    let preemption = controller.preempt.take_if(|_| victims.is_some());
    let of_preemption = || match controller.preempt {
        Some(_) => controller.preemptable(record.job, record.partition),
        None => Vec::new(),
    };
    let mut gone = victims.unwrap_or_else(of_preemption);
    gone.sort_unstable();
    let live = &controller.live;
    let running = backfill.ends.in_order(&controller.running);
    let stays = |running: &Running| gone.binary_search(&running.job).is_err();
    let running: Vec<Running> = running.jobs.iter().copied().filter(stays).collect();
    let without = preemption.as_ref().map(|preemption| &preemption.free);
    let mut makes_room = false;
    let allocation = |job| live.get(job).map(|live| &live.allocation);
    let (selector, free, future) = (&mut controller.selector, &mut controller.free, &mut controller.future);
    let mut one = shape.clone();
    one.counted.clear();
    one.as_many = false;
    let mut left = backfill.usable.clone();
    let mut chosen = Vec::new();
    // The latest end of a limit that anything waits for, and of those that the parts wait for; none before now.
    let (mut latest, mut of_parts, mut fits) = (i64::MIN, None, true);
    // Each test sets the job's CPUs: what counts against limits, and for the job's size, is what the last part was to get (rec av-core).
    let mut of_last_test = None;
    let mut ask = |selector: &mut Selector, one: &Shape, usable: &NodeSet| {
        if selector.fits_in_plan(free, one, user, usable) {
            of_last_test = Some(selector.charged_cpus(free, one));
            return Some(i64::MIN);
        }
        if let Some(without) = without
            && selector.fits_in_plan(without, one, user, usable)
        {
            makes_room = true;
            of_last_test = Some(selector.charged_cpus(without, one));
            return Some(i64::MIN);
        }
        if test_only {
            return None;
        }
        match without {
            Some(without) => future.copy_from(without),
            None => free.restore(&selector.geometry, future),
        }
        selector.prefer_nodes_in_use(free, &controller.completing, busy_nodes);
        let found = earliest_start(selector, policy, future, (one, user), usable, (&running, None), allocation);
        selector.prefer_no_nodes();
        if found.is_some() {
            of_last_test = Some(selector.charged_cpus(future, one));
        }
        found
    };
    for (nodes, count) in &shape.counted {
        (one.min_nodes, one.wanted_nodes, one.spread) = (*count, *count, *count);
        let mut usable = left.clone();
        usable.intersect(nodes);
        let found = if usable.has(*count as usize) { ask(selector, &one, &usable) } else { None };
        let Some(end) = found else {
            fits = false;
            break;
        };
        (latest, of_parts) = (latest.max(end), of_parts.max(Some(end)));
        selector.chosen.iter().for_each(|offer| left.remove(offer.node));
        chosen.extend_from_slice(&selector.chosen);
    }
    let n_found = chosen.len() as u32;
    if n_found < shape.wanted_nodes {
        one.min_nodes = shape.min_nodes.saturating_sub(n_found);
        one.wanted_nodes = shape.wanted_nodes - n_found;
        one.max_nodes = shape.max_nodes.saturating_sub(n_found);
        one.spread = one.min_nodes;
        let found = ask(selector, &one, &left);
        fits = found.is_some();
        if let Some(end) = found {
            latest = latest.max(end);
            chosen.extend_from_slice(&selector.chosen);
        }
    }
    chosen.sort_unstable_by_key(|offer| offer.node);
    selector.chosen = chosen;
    // As all of them find it.
    match without {
        Some(without) => future.copy_from(without),
        None => free.restore(&selector.geometry, future),
    }
    for held in running.iter().take_while(|job| job.end <= latest).filter_map(|job| allocation(job.job)) {
        future.give_back(&selector.geometry, held);
    }
    if let Some(mut preemption) = preemption {
        preemption.in_plan = makes_room;
        controller.preempt = Some(preemption);
    }
    let Some(of_parts) = of_parts.filter(|_| fits) else {
        if shape.size_varies {
            controller.size_becomes(record.job, of_last_test.flatten());
        }
        return None;
    };
    let start = if of_parts == i64::MIN { now } else { expected(controller, of_parts) };
    Some(Foreseen { start, is_future: latest > i64::MIN, of_last_test })
}

/// The same up to 24.05: whenever the try is. Where the shape is of other nodes than the record's (`elsewhere`), it is asked by definition.
/// O(as [`crate::select::predict`]).
pub(super) fn without_try(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    (bound, useless_after): (i64, Option<i64>),
    (test_only, elsewhere): (bool, bool),
) -> Option<i64> {
    let now = seconds(controller.now);
    let user = tested_for(controller, record);
    if let Some(preemption) = &mut controller.preempt {
        preemption.in_plan = false;
    }
    if let Some(unshared) = &shape.unshared
        && controller.selector.fits_now_in_plan(&controller.free, unshared, user, &backfill.usable)
    {
        // Its start may be refused all the same, since it does share.
        return Some(now);
    }
    // The first test of all goes by what the last one left in the job.
    let asked = controller.asked_in_test(record.job, shape);
    controller.takes_gpu_memory_of(record.job, record.partition);
    if bound <= now && controller.selector.fits_now_in_plan(&controller.free, asked, user, &backfill.usable) {
        return Some(now);
    }
    if controller.preempt.is_some() {
        return with_preemption(controller, backfill, record, shape, None, test_only).map(|found| found.start);
    }
    if test_only || bound == i64::MAX {
        return None;
    }
    let by_definition = elsewhere || is_by_definition(controller, shape);
    let live = &controller.live;
    let running = backfill.ends.in_order(&controller.running);
    let allocation = |job| live.get(job).map(|live| &live.allocation);
    let policy = policy(controller);
    let request = (shape, user);
    let selector = &mut controller.selector;
    let future = &mut controller.future;
    let times = controller.ready.times(record.request, record.place as usize).filter(|_| !by_definition);
    selector.prefer_nodes_in_use(
        &controller.free,
        &controller.completing,
        controller.scenario.policy.backfill.busy_nodes,
    );
    let found = match times {
        Some(times) => {
            let ready = (&controller.node_jobs, times, bound);
            let states = (&controller.free, future);
            // Limits and sizes read what the job would hold.
            let lays_out = controller.limits.active || shape.size_varies;
            let asked = Asked { later: useless_after, lays_out, gone: 0, until: None };
            let running = (running, controller.node_ranges.as_slice());
            selector.predict(policy, states, ready, request, &backfill.usable, running, allocation, asked)
        }
        _ if shape.strays => {
            controller.free.restore(&selector.geometry, future);
            let states = (&controller.free, None);
            selector.earliest_start_straying(future, states, request, &backfill.usable, &running.jobs, allocation)
        }
        _ => {
            controller.free.restore(&selector.geometry, future);
            earliest_start(selector, policy, future, request, &backfill.usable, (&running.jobs, None), allocation)
        }
    };
    controller.selector.prefer_no_nodes();
    found.map(|end| expected(controller, end))
}

/// The same with 24.11 and later: now if that is tried and it fits, or if it fits once those have ended who end before the try; else
/// after those who end before the next. O(as [`crate::select::predict`]).
pub(super) fn at_try(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    bound: i64,
    (start, later): (i64, Option<i64>),
    test_only: bool,
) -> Option<Foreseen> {
    let now = seconds(controller.now);
    let user = tested_for(controller, record);
    let usable = &backfill.usable;
    if start <= now {
        let unshared = shape.unshared.as_deref();
        if unshared.is_some_and(|shape| controller.selector.fits_now_in_plan(&controller.free, shape, user, usable))
            || (bound <= now && controller.selector.fits_now_in_plan(&controller.free, shape, user, usable))
        {
            return Some(Foreseen::at(now, false));
        }
        weigh_for_test(controller, &backfill.usable, false);
    }
    if controller.preempt.is_some() {
        return with_preemption(controller, backfill, record, shape, Some((start, later)), test_only);
    }
    if test_only || bound == i64::MAX {
        return None;
    }
    let by_definition = is_by_definition(controller, shape);
    let live = &controller.live;
    let running = backfill.ends.in_order(&controller.running);
    let allocation = |job| live.get(job).map(|live| &live.allocation);
    let policy = policy(controller);
    let request = (shape, user);
    let busy_nodes = controller.scenario.policy.backfill.busy_nodes;
    let (selector, future) = (&mut controller.selector, &mut controller.future);
    let times = controller.ready.times(record.request, record.place as usize).filter(|_| !by_definition);
    // As slurmctld says of who could preempt: backfill makes the try's time of it.
    let at_once = Some(Foreseen::at(now, true));
    let found = if let Some(times) = times {
        let gone = n_ended(policy, &running.jobs, start);
        let lays_out = controller.limits.active || shape.size_varies;
        let last = gone.checked_sub(1).map(|last| running.jobs[last].moment());
        let fits = bound <= start
            && match last {
                Some(last) => {
                    let (states, ready) = ((&controller.free, &mut *future), (&controller.node_jobs, &mut *times));
                    selector.fits_after(states, ready, request, usable, last, allocation, lays_out)
                }
                None => {
                    controller.free.restore(&selector.geometry, future);
                    selector.fits_in_plan(future, shape, user, usable)
                }
            };
        if fits {
            return at_once;
        }
        if later.is_some_and(|later| bound > later) {
            return None;
        }
        selector.prefer_nodes_in_use(&controller.free, &controller.completing, busy_nodes);
        let ready = (&controller.node_jobs, times, bound);
        let asked = Asked { later: None, lays_out, gone, until: later };
        let running = (running, controller.node_ranges.as_slice());
        selector.predict(policy, (&controller.free, future), ready, request, usable, running, allocation, asked)
    } else {
        controller.free.restore(&selector.geometry, future);
        let others = release_ended(selector, policy, future, usable, &running.jobs, allocation, start);
        if bound <= start && selector.fits_in_plan(future, shape, user, usable) {
            return at_once;
        }
        selector.prefer_nodes_in_use(&controller.free, &controller.completing, busy_nodes);
        earliest_start(selector, policy, future, request, usable, (others, later), allocation)
    };
    controller.selector.prefer_no_nodes();
    found.map(|end| Foreseen::at(expected(controller, end), true))
}

/// The same where the job may preempt others: now if that makes room, else as if its victims were gone. From 24.11 on tests look at the
/// `tried` times of this try and the next [s]: what makes room when it begins is as good as now (cons_tres/job_test.c of 24.11.5,
/// `_future_run_test`; rec c110-24-11).
fn with_preemption(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    tried: Option<(i64, Option<i64>)>,
    test_only: bool,
) -> Option<Foreseen> {
    let now = seconds(controller.now);
    let user = tested_for(controller, record);
    let victims = controller.without_victims(record.job, record.partition, &backfill.usable);
    let preemption = controller.preempt.take_if(|_| victims.is_some());
    let free = preemption.as_ref().map_or(&controller.free, |preemption| &preemption.free);
    // Who strays is tested in its tries' order below.
    let fits =
        !shape.strays && tried.is_none() && controller.selector.fits_in_plan(free, shape, user, &backfill.usable);
    let mut makes_room = preemption.is_some() && fits;
    let mut found = makes_room.then_some(now);
    if !makes_room && (!test_only || shape.strays || tried.is_some()) {
        // Who could be preempted anywhere in the partition is none of those whose ends part the timeline, on the job's nodes or not
        // (cons_common's job_test.c of 22.05.8, `_build_cr_job_list`; rec as-tier).
        let mut gone = victims.unwrap_or_else(|| controller.preemptable(record.job, record.partition));
        gone.sort_unstable();
        let stays = |job| gone.binary_search(&job).is_err();
        let live = &controller.live;
        let running = backfill.ends.in_order(&controller.running);
        let is_released = |running: &Running| !test_only && stays(running.job);
        let running: Vec<_> = running.jobs.iter().copied().filter(is_released).collect();
        let allocation = |job| live.get(job).map(|live| &live.allocation);
        let policy = policy(controller);
        let selector = &mut controller.selector;
        let future = &mut controller.future;
        match &preemption {
            Some(preemption) => future.copy_from(&preemption.free),
            None => controller.free.restore(&selector.geometry, future),
        }
        selector.prefer_nodes_in_use(
            &controller.free,
            &controller.completing,
            controller.scenario.policy.backfill.busy_nodes,
        );
        let request = (shape, user);
        found = if shape.strays {
            // select/linear forgets nothing between its tests, the one without whom it may preempt included (`_will_run_test`; rec at-lin).
            let without = preemption.as_ref().map_or(&controller.free, |preemption| &preemption.free);
            let states = (&controller.free, (!gone.is_empty()).then_some(without));
            selector.earliest_start_straying(future, states, request, &backfill.usable, &running, allocation)
        } else if let Some((start, later)) = tried {
            let usable = &backfill.usable;
            let others = release_ended(selector, policy, future, usable, &running, allocation, start);
            match (!test_only || !gone.is_empty()) && selector.fits_in_plan(future, shape, user, usable) {
                true => Some(AT_ONCE),
                false => earliest_start(selector, policy, future, request, usable, (others, later), allocation),
            }
        } else {
            earliest_start(selector, policy, future, request, &backfill.usable, (&running, None), allocation)
        };
        selector.prefer_no_nodes();
        let at_once = found == Some(AT_ONCE);
        makes_room = preemption.is_some() && at_once;
        found = found.map(|end| if at_once { now } else { expected(controller, end) });
    }
    if let Some(mut preemption) = preemption {
        preemption.in_plan = makes_room && tried.is_none();
        controller.preempt = Some(preemption);
    }
    found.map(|start| Foreseen::at(start, start > now || tried.is_some()))
}

/// How this controller groups the ends of running jobs.
fn policy(controller: &Controller<'_>) -> WillRunPolicy {
    let policy = &controller.scenario.policy;
    WillRunPolicy {
        linear: policy.select.linear,
        window_linear: i64::from(policy.backfill.window_linear),
        version: policy.version,
    }
}
