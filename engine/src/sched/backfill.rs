//! Backfill: start lower-priority jobs early when that delays nobody ahead of them.
//!
//! - Models: sched/backfill of Slurm 22.05 (slurm-semantics 3): conservative, node-granular plans for every tested job
//!   in priority order, rebuilt in each cycle, limited by depth, window, table size and virtual time.
//! - Cost: O(records tested × (slots × words + running jobs + groups × candidates)).
//!
//! # Invariants
//! 1. A job starts only on nodes that no earlier record's plan needs before the job's limit ends.
//! 2. Within a cycle, a later record never moves an earlier record's plan.

mod ahead;
mod alternatives;
mod blocked;
mod bounds;
mod candidates;
mod cost;
mod counts;
mod cycle;
mod deadlocks;
mod ends;
pub(crate) mod estimate;
mod exclusive_users;
mod first_tests;
mod foresee;
mod grid;
pub(crate) mod hetjob_order;
pub(crate) mod hetjobs;
mod idle;
mod in_vain;
mod marks;
mod parts;
mod place;
mod reach;
mod record;
mod reserved;
mod running;
mod start_now;

use std::collections::BTreeSet;

use crate::ablation::{Rule, is_off};
use crate::ids::{JobId, NodeId, PartitionId, QosId};
use crate::node_set::NodeSet;
use crate::policy::{BackfillPolicy, SlurmVersion};
use crate::select::outlook::Outlook;
use crate::simulation::{Controller, seconds};

use super::queue::Record;
use super::timeline::Timeline;
use super::turns::{Turn, Turns};
use super::walk::Walk;
use bounds::Bounds;
use candidates::Candidates;
use cost::CycleCost;
use counts::Counts;
use cycle::{Cycle, Exit, Next};
use ends::{Ends, note_overdue};
use exclusive_users::LastEnds;
use grid::Grid;
use idle::{IdleCycle, repeat_idle};
use in_vain::TriedInVain;
use place::place;
use running::LicensePlan;

/// The backfill scheduler: its plan and working memory, and the cycle in progress if it sleeps in a yield.
#[derive(Debug)]
pub(crate) struct Backfill {
    timeline: Timeline,
    bounds: Bounds,
    usable: NodeSet,
    base: NodeSet,
    chosen: NodeSet,
    last_try: LastTry,
    tried_in_vain: TriedInVain,
    outlook: Outlook,
    /// Times of tests that were left out while a record whose size varies was tried [s].
    unasked: Vec<i64>,
    /// Nodes that plans of this cycle hold; after it, those of them that carry the PLANNED flag.
    planned: NodeSet,
    /// Whether the last cycle set or cleared such flags when it ended.
    marked: bool,
    /// Nodes that came free while the cycle slept: it starts and plans nobody there (`bf_ignore_node_bitmap` of 22.05.8).
    freed: NodeSet,
    /// Where the cycle stands in the queue.
    walk: Walk,
    turns: Turns,
    cycle: Option<Cycle>,
    /// Expected ends of running jobs as this cycle sees them.
    ends: Ends,
    last_ends: LastEnds,
    /// The limit of the record that is tried, where it is tested with a shorter one [s].
    whole_limit: Option<i64>,
    /// The limit [s] with which the cycle came to the record whose tasks it tests one after the other, once one of `--time-min` has started.
    row_limit: Option<i64>,
    counts: Counts,
    /// The array, and the partition, of whose tasks the cycle tests another next.
    row: Option<(u64, PartitionId)>,
    /// Licences in the plan.
    licenses: LicensePlan,
    /// With `assoc_limit_stop`: until when [s] a QOS holds back all that come after the job that its group limit kept from starting.
    qos_held: Vec<(QosId, i64)>,
    /// How many of these the record that the cycle is at knows of: it reads them once, before the first of several tasks of an array
    /// (backfill.c of 22.05.8, `_attempt_backfill`, before `next_task`; rec av-pre).
    qos_held_known: usize,
    /// When the plan in the making would first look different if only time went by [s].
    valid_until: i64,
    /// The last record of the cycle that was stamped as changed, as far as is known: how many it had passed before.
    stamped: Option<u32>,
    candidates: Candidates,
    /// Jobs that became eligible while the cycle slept: it does not come to them.
    newcomers: BTreeSet<JobId>,
    /// Whether the last cycle was one that sleeps.
    slept: bool,
    idle: Option<IdleCycle>,
}

/// What the last test of a record that is tried has shown: on the same nodes the next one answers alike.
#[derive(Debug, Default)]
struct LastTry {
    nodes: NodeSet,
    /// The bound under it [s]; `i64::MIN` if there was none, and no test then either.
    bound: i64,
    /// The record could not start on these nodes before this time [s].
    not_before: i64,
}

/// Every cycle up to this one counts its tests; later one in so many, for all of them: the others stop planning when
/// nothing more can start.
const COUNTED: u64 = 256;

impl Backfill {
    /// Working memory for a cluster.
    pub(crate) fn new(n_nodes: usize) -> Self {
        Self {
            timeline: Timeline::default(),
            bounds: Bounds::default(),
            usable: NodeSet::empty(n_nodes),
            base: NodeSet::empty(n_nodes),
            chosen: NodeSet::empty(n_nodes),
            last_try: LastTry::default(),
            tried_in_vain: TriedInVain::default(),
            outlook: Outlook::default(),
            unasked: Vec::new(),
            planned: NodeSet::empty(n_nodes),
            marked: false,
            freed: NodeSet::empty(n_nodes),
            walk: Walk::default(),
            turns: Turns::default(),
            cycle: None,
            ends: Ends::default(),
            last_ends: LastEnds::default(),
            whole_limit: None,
            row_limit: None,
            counts: Counts::default(),
            row: None,
            licenses: LicensePlan::default(),
            qos_held: Vec::new(),
            qos_held_known: 0,
            valid_until: i64::MAX,
            stamped: None,
            candidates: Candidates::default(),
            newcomers: BTreeSet::new(),
            slept: false,
            idle: None,
        }
    }

    /// Whether a cycle sleeps in a yield.
    pub(crate) fn in_progress(&self) -> bool {
        self.cycle.is_some()
    }

    /// Nobody completes on a node any more, or it has come back.
    pub(crate) fn note_freed(&mut self, node: NodeId) {
        if self.in_progress() {
            self.freed.insert(node);
        }
    }

    /// A job became eligible.
    pub(crate) fn note_newcomer(&mut self, job: JobId) {
        if self.in_progress() {
            self.newcomers.insert(job);
        }
    }
}

/// Runs a due cycle, or goes on with the one that yielded.
pub(crate) fn cycle(controller: &mut Controller<'_>) {
    let mut backfill = std::mem::replace(&mut controller.backfill, Backfill::new(0));
    let cycle = match backfill.cycle.take() {
        Some(cycle) => resume(controller, &mut backfill, cycle),
        None if controller.someone_completes() => {
            controller.timers.backfill_waits(controller.now);
            None
        }
        None if controller.timers.backfill_due(controller.now) => {
            match controller.timers.cause(controller.now) {
                Some((true, false)) => controller.counters.backfill_unexplained += 1,
                Some((false, true)) => controller.counters.backfill_foregone += 1,
                _ => {}
            }
            controller.stamp_new_reasons();
            controller.discover_eligible();
            controller.learn_ages();
            if repeat_idle(controller, &backfill) {
                None
            } else {
                let mut cycle = begin(controller, &mut backfill);
                draw(controller, &mut backfill, &mut cycle);
                Some(cycle)
            }
        }
        None => None,
    };
    if let Some(cycle) = cycle {
        go_on(controller, &mut backfill, cycle);
    }
    controller.backfill = backfill;
}

/// Of how many cycles the next one is the counted sample. O(1).
fn weight(controller: &Controller<'_>) -> u64 {
    match controller.counters.backfill_cycles {
        first if first < COUNTED => 1,
        later if later.is_multiple_of(COUNTED) => COUNTED,
        _ => 0,
    }
}

/// Builds the table and the queue.
fn begin(controller: &mut Controller<'_>, backfill: &mut Backfill) -> Cycle {
    backfill.idle = None;
    backfill.stamped = None;
    backfill.freed.clear();
    backfill.last_ends.forget();
    backfill.valid_until = i64::MAX;
    if !backfill.planned.is_empty() || backfill.slept {
        // Clearing PLANNED flags changes node records, which keeps cycles coming.
        backfill.planned.clear();
        controller.timers.changed(controller.now);
    }
    let policy = &controller.scenario.policy.backfill;
    let now = seconds(controller.now);
    let live = &controller.live;
    controller.queue.tidy(|record| live.is_pending(record.job));
    let grid = Grid::of(controller);
    let window = window_seconds(policy);
    hetjob_order::order(controller);
    backfill.walk.begin(controller);
    backfill.turns = Turns::default();
    backfill.timeline.reset(grid.floor(now), grid.floor(now + window), &controller.up, grid.resolution);
    backfill.bounds.begin();
    backfill.tried_in_vain.plan += 1;
    backfill.outlook.begin_cycle();
    backfill.counts = Counts::default();
    backfill.row = None;
    backfill.newcomers.clear();
    backfill.qos_held.clear();
    backfill.qos_held_known = 0;
    note_overdue(controller, backfill);
    running::enter(controller, backfill);
    let must_plan = first_tests::note(controller, backfill);
    let weight = weight(controller);
    let waiting = controller.queue.len();
    let cost = CycleCost::of_next(controller);
    let length = (waiting as u64).min(u64::from(policy.max_job_test)) as u32;
    controller.counters.backfill_cycles += 1;
    controller.counters.queue_length_max = controller.counters.queue_length_max.max(waiting as u64);
    let cycle = Cycle {
        begin_ms: controller.now,
        resumed_ms: controller.now,
        passed: 0,
        length,
        tested: 0,
        depth: 0,
        started: 0,
        weight,
        exhausted: false,
        again: None,
        ended_by: None,
        cost,
        yields: cost.yields(length),
        changes_before_sleep: 0,
        weights: controller.selector.weights.version(),
        sizes: controller.sizes_version,
        reasons: controller.reasons_version,
        held: false,
    };
    hetjobs::begin(controller);
    if cycle.yields
        && policy.continue_after_yield
        && controller.timers.priority_at <= ahead::latest_end(controller, &cycle)
    {
        // A step will give the queue another order while the cycle sleeps.
        backfill.walk.keep_rest(controller);
    }
    candidates::begin(controller, backfill, &cycle, must_plan);
    cycle
}

/// After a yield: the cycle ends if anything changed, unless `bf_continue`.
fn resume(controller: &mut Controller<'_>, backfill: &mut Backfill, mut cycle: Cycle) -> Option<Cycle> {
    let policy = &controller.scenario.policy.backfill;
    if !policy.continue_after_yield && controller.timers.changes() != cycle.changes_before_sleep {
        finish(controller, backfill, &cycle, Exit::StateChanged);
        return None;
    }
    cycle.resumed_ms = controller.now;
    backfill.tried_in_vain.plan += 1;
    note_overdue(controller, backfill);
    Some(cycle)
}

/// Records until the end of the cycle or the next yield.
fn go_on(controller: &mut Controller<'_>, backfill: &mut Backfill, mut cycle: Cycle) {
    let scenario = controller.scenario;
    let policy = &scenario.policy.backfill;
    let record_us = cycle.cost.record_us;
    // The work before the first record belongs to the first stretch.
    let mut busy_us = if cycle.resumed_ms == cycle.begin_ms { cycle.cost.of_records(0) } else { 0 };
    let resumed = controller.now;
    let mut unplanned = false;
    let exit = loop {
        controller.now = resumed + (busy_us / 1000) as i64;
        // An array's tasks are tested one after the other all the same.
        let is_deep = cycle.tested >= policy.max_job_test && !is_off(Rule::BackfillDepth);
        if is_deep && backfill.row.is_none() {
            break Exit::MaxTest;
        }
        if cycle.cost.is_over(cycle.begin_ms, controller.now) {
            break Exit::MaxTime;
        }
        // It sleeps between two records, not after the last.
        if busy_us >= policy.yield_interval_us.max(1) && (cycle.passed < cycle.length || cycle.again.is_some()) {
            // The controller's work so far is done; it sleeps, and events happen.
            if !cycle.exhausted && policy.continue_after_yield {
                backfill.walk.keep_rest(controller);
            }
            cycle.resumed_ms = controller.now;
            cycle.changes_before_sleep = controller.timers.changes();
            controller.timers.backfill_at = controller.now + cost::sleep_ms(policy.yield_sleep_us) as i64;
            backfill.valid_until = i64::MIN;
            backfill.cycle = Some(cycle);
            return;
        }
        if !cycle.exhausted && candidates::none_left(controller, backfill, &cycle) {
            (cycle.exhausted, unplanned) = (true, true);
        }
        if cycle.exhausted {
            if cycle.passed >= cycle.length || record_us == 0 {
                break cycle.ended_by.unwrap_or(Exit::EndOfQueue);
            }
        } else if let Some((record, turn)) = next_record(controller, backfill, &mut cycle) {
            if is_deep && !record::is_in_row(controller, backfill, record) {
                break Exit::MaxTest;
            }
            let next = match turn {
                None => record::repeat(controller, backfill, &mut cycle, record),
                Some(turn) => record::consider(controller, backfill, &mut cycle, record, turn),
            };
            match next {
                // The job's records are counted without their preferred features.
                Next::Record if turn == Some(Turn::Preferred) => continue,
                Next::Record => candidates::passed(backfill, record),
                // Without a cost of time, for ever is at once.
                Next::Again(_) if cycle.cost.is_free() => break Exit::MaxTime,
                Next::Again(record) => {
                    (cycle.again, cycle.yields) = (Some(record), true);
                    busy_us = busy_us.max(policy.yield_interval_us.max(1));
                    continue;
                }
                // Where records might have been left out of planning, the table's end cannot shorten the cycle.
                Next::End(exit @ Exit::TableSize) => {
                    (cycle.exhausted, cycle.ended_by) = (true, Some(exit));
                }
                Next::End(exit) => break exit,
            }
        } else {
            // Records that are gone take their time too.
            cycle.exhausted = true;
            continue;
        }
        cycle.passed += 1;
        if cycle.passed <= cycle.length {
            busy_us = busy_us.saturating_add(record_us);
        }
    };
    hetjobs::start_whole(controller, backfill, &mut cycle);
    let policy = &scenario.policy;
    let repeatable = matches!(exit, Exit::EndOfQueue | Exit::MaxTest)
        && cycle.started == 0
        && !cycle.held
        && !cycle.yields
        && policy.backfill.min_age_reserve == 0
        && controller.preempt.is_none()
        && !controller.reservations.any_licenses(controller.scenario)
        && !controller.components_wait()
        && cycle.sizes == controller.sizes_version
        && cycle.reasons == controller.reasons_version
        && cycle.weights == controller.selector.weights.version()
        && !controller.every_cycle();
    let max_test = matches!(exit, Exit::MaxTest);
    finish(controller, backfill, &cycle, exit);
    backfill.idle = repeatable.then_some(IdleCycle {
        version: controller.version,
        weights: cycle.weights,
        sizes: cycle.sizes,
        reasons: cycle.reasons,
        valid_until: backfill.valid_until,
        stamped: backfill.stamped,
        tested: cycle.tested,
        depth: cycle.depth,
        max_test,
        exhausted: unplanned,
        records: cycle.passed.min(cycle.length),
    });
}

/// How many slots a plan may have.
fn table_size(policy: &BackfillPolicy) -> u32 {
    policy.node_space_size.unwrap_or(policy.max_job_test).max(2)
}

/// How far plans reach [s].
fn window_seconds(policy: &BackfillPolicy) -> i64 {
    let minutes = if is_off(Rule::BackfillWindow) { 365 * 24 * 60 } else { policy.window };
    i64::from(minutes) * 60
}

/// Counts and plans the next cycle.
fn finish(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle, exit: Exit) {
    backfill.marked = marks::mark(controller, &mut backfill.planned);
    // A cycle so long that it sleeps is taken to have changed something: what it marks depends on what it plans last.
    // One that a job holds up plans nobody else: what it marks is known.
    backfill.slept = cycle.cost.yields(cycle.length);
    if backfill.marked || backfill.slept {
        controller.timers.changed(controller.now);
    }
    let counters = &mut controller.counters;
    counters.backfill_tests += u64::from(cycle.tested) * cycle.weight;
    counters.backfill_depth += cycle.depth * cycle.weight;
    *match exit {
        Exit::EndOfQueue => &mut counters.backfill_exit_end,
        Exit::MaxTest => &mut counters.backfill_exit_max_test,
        Exit::MaxStart => &mut counters.backfill_exit_max_start,
        Exit::TableSize => &mut counters.backfill_exit_table_size,
        Exit::MaxTime => &mut counters.backfill_exit_max_time,
        Exit::StateChanged => &mut counters.backfill_exit_state_changed,
    } += cycle.weight;
    controller.timers.backfill_ended(controller.now);
    controller.vain.backfill += 1;
}

/// Tries jobs in MAGNETIC reservations: they may start now, are never planned, and count for nothing.
fn draw(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &mut Cycle) {
    if !controller.reservations.draws() {
        return;
    }
    let tested = cycle.tested;
    let mut walk = Walk::default();
    walk.begin(controller);
    while let Some(record) = walk.next(controller) {
        let id = record.job;
        for reservation in controller.drawn_by(id) {
            controller.draw(id, reservation);
            backfill.qos_held_known = backfill.qos_held.len();
            let is_denied = controller.partition_denies_qos(id, record.partition);
            if is_denied {
                record::stamp(controller, backfill, cycle);
            } else if controller.limits_allow_test(id, record.partition)
                && controller.partition_is_open(id, record.partition)
                && controller.licenses_free(id)
            {
                let shapes = controller.take_shapes_of_plan(id);
                place(controller, backfill, cycle, record, &shapes.1[record.place as usize], true);
                controller.put_shapes_of_plan(id, shapes);
            }
            if controller.live.is_running(id) {
                break;
            }
            controller.let_go(id);
        }
    }
    cycle.tested = tested;
}

/// The record to look at now, and what of its job; nothing where it is one that the cycle has not got past. From 23.11 on a job's records with
/// preferred features all come before those without (docs/FACTS.md, facts 94 a).
fn next_record(
    controller: &Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
) -> Option<(Record, Option<Turn>)> {
    if let Some(record) = cycle.again.take() {
        return Some((record, None));
    }
    let several = |record: &Record| {
        controller.scenario.policy.version >= SlurmVersion::V23_11 && !record.kind.task && !record.kind.alone
    };
    backfill.turns.next(controller, &mut backfill.walk, several).map(|(record, turn)| (record, Some(turn)))
}
