//! When a record could start on what the plan leaves to it. Source: slurm-semantics 3.4.

use crate::policy::SlurmVersion;
use crate::select::predict::Asked;
use crate::select::shape::Shape;
use crate::select::will_run::{WillRunPolicy, earliest_start, n_ended, release_ended};
use crate::simulation::{Controller, seconds};

use super::Backfill;
use super::ends::expected;
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
    controller.by_definition() || shape.strays || (controller.selector.gpus_stay && controller.selector.favours(shape))
}

/// What a test found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreseen {
    /// When the job could start [s].
    pub(super) start: i64,
    /// The nodes are chosen out of what will be free then, not of what is free now.
    pub(super) is_future: bool,
}

/// Whether tests depend on when the try begins, and on when the next one does: with 24.11 and later they look at what will be free at
/// the try's time before anything else, and release nobody who ends after the next one (`will_run_data` of 24.11.0). Bounds under
/// them that are of nodes alone hold all the same. With select/linear, and where jobs may preempt, not reproduced.
pub(super) fn looks_at_tries(controller: &Controller<'_>) -> bool {
    let policy = &controller.scenario.policy;
    policy.version >= SlurmVersion::V24_11 && !policy.select.linear && controller.preempt.is_none()
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
    let now = seconds(controller.now);
    if looks_at_tries(controller) {
        return at_try(controller, backfill, record, shape, bound, tried, test_only);
    }
    let start = without_try(controller, backfill, record, shape, (bound, useless_after), test_only)?;
    Some(Foreseen { start, is_future: start > now })
}

/// The same up to 24.05: whenever the try is. O(as [`crate::select::predict`]).
fn without_try(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    (bound, useless_after): (i64, Option<i64>),
    test_only: bool,
) -> Option<i64> {
    let now = seconds(controller.now);
    let user = controller.scenario.workload.jobs[record.job.index()].user.0;
    if let Some(preemption) = &mut controller.preempt {
        preemption.in_plan = false;
    }
    if let Some(unshared) = &shape.unshared
        && controller.selector.fits_in_plan(&controller.free, unshared, user, &backfill.usable)
    {
        // Its start may be refused all the same, since it does share.
        return Some(now);
    }
    if bound <= now && controller.selector.fits_in_plan(&controller.free, shape, user, &backfill.usable) {
        return Some(now);
    }
    if controller.preempt.is_some() {
        return with_preemption(controller, backfill, record, shape, test_only);
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
            selector.earliest_start_straying(future, request, &backfill.usable, &running.jobs, allocation)
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
fn at_try(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    bound: i64,
    (start, later): (i64, Option<i64>),
    test_only: bool,
) -> Option<Foreseen> {
    let now = seconds(controller.now);
    let user = controller.scenario.workload.jobs[record.job.index()].user.0;
    let usable = &backfill.usable;
    if start <= now {
        let unshared = shape.unshared.as_deref();
        if unshared.is_some_and(|shape| controller.selector.fits_in_plan(&controller.free, shape, user, usable))
            || (bound <= now && controller.selector.fits_in_plan(&controller.free, shape, user, usable))
        {
            return Some(Foreseen { start: now, is_future: false });
        }
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
    let at_once = Some(Foreseen { start: now, is_future: true });
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
    found.map(|end| Foreseen { start: expected(controller, end), is_future: true })
}

/// The same where the job may preempt others: now if that makes room, else as if its victims were gone.
fn with_preemption(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    test_only: bool,
) -> Option<i64> {
    let now = seconds(controller.now);
    let user = controller.scenario.workload.jobs[record.job.index()].user.0;
    let victims = controller.without_victims(record.job, record.partition, &backfill.usable);
    let preemption = controller.preempt.take_if(|_| victims.is_some());
    let free = preemption.as_ref().map_or(&controller.free, |preemption| &preemption.free);
    let fits = controller.selector.fits_in_plan(free, shape, user, &backfill.usable);
    let makes_room = preemption.is_some() && fits;
    let mut found = makes_room.then_some(now);
    if !makes_room && !test_only {
        // Who could be preempted anywhere in the partition is none of those whose ends part the timeline, on the job's nodes or not
        // (cons_common's job_test.c of 22.05.8, `_build_cr_job_list`; rec as-tier).
        let mut gone = victims.unwrap_or_else(|| controller.preemptable(record.job, record.partition));
        gone.sort_unstable();
        let stays = |job| gone.binary_search(&job).is_err();
        let live = &controller.live;
        let running = backfill.ends.in_order(&controller.running);
        let running: Vec<_> = running.jobs.iter().copied().filter(|running| stays(running.job)).collect();
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
        found = earliest_start(selector, policy, future, request, &backfill.usable, (&running, None), allocation);
        selector.prefer_no_nodes();
        found = found.map(|end| expected(controller, end));
    }
    if let Some(mut preemption) = preemption {
        preemption.in_plan = makes_room;
        controller.preempt = Some(preemption);
    }
    found
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
