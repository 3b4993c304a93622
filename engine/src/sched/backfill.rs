//! Backfill: start lower-priority jobs early when that delays nobody ahead of them.
//!
//! - Models: sched/backfill of Slurm 22.05 (slurm-semantics 3): conservative, node-granular plans for every tested job
//!   in priority order, rebuilt in each cycle, limited by depth, window, table size and virtual time.
//! - Left out: heterogeneous jobs are not started (they only block), advance reservations, `bf_licenses`,
//!   `bf_busy_nodes`, `bf_running_job_reserve` (docs/FIDELITY.md names each).
//! - Cost: O(records tested × (slots × words + running jobs + groups × candidates)).
//!
//! # Invariants
//! 1. A job starts only on nodes that no earlier record's plan needs before the job's limit ends.
//! 2. Within a cycle, a later record never moves an earlier record's plan.

mod counts;
mod ends;
mod idle;
mod place;

use crate::node_set::NodeSet;
use crate::simulation::{Controller, SECOND, seconds};

use super::queue::Record;
use super::timeline::Timeline;
use counts::Counts;
use ends::collect_ends;
use idle::{IdleCycle, repeat_idle};
use place::place;

/// The backfill scheduler: its plan and working memory, and the cycle in progress if it sleeps in a yield.
#[derive(Debug)]
pub(crate) struct Backfill {
    timeline: Timeline,
    usable: NodeSet,
    base: NodeSet,
    chosen: NodeSet,
    /// Nodes that plans of this cycle hold; after it, those of them that carry the PLANNED flag.
    planned: NodeSet,
    records: Vec<Record>,
    cycle: Option<Cycle>,
    /// Expected ends of running jobs as this cycle sees them, in order.
    ends: Vec<(i64, u32)>,
    counts: Counts,
    /// When the plan in the making would first look different if only time went by [s].
    valid_until: i64,
    /// Whether a record of the cycle was stamped as changed.
    stamped: bool,
    idle: Option<IdleCycle>,
}

/// A cycle between its first record and its last.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    position: usize,
    begin_ms: i64,
    resumed_ms: i64,
    tested: u32,
    depth: u64,
    started: u32,
}

/// Why a cycle ended.
enum Exit {
    EndOfQueue,
    MaxTest,
    MaxStart,
    TableSize,
    MaxTime,
    StateChanged,
}

/// What to do after a record.
enum Next {
    Record,
    End(Exit),
}

impl Backfill {
    /// Working memory for a cluster.
    pub(crate) fn new(n_nodes: usize) -> Self {
        Self {
            timeline: Timeline::default(),
            usable: NodeSet::empty(n_nodes),
            base: NodeSet::empty(n_nodes),
            chosen: NodeSet::empty(n_nodes),
            planned: NodeSet::empty(n_nodes),
            records: Vec::new(),
            cycle: None,
            ends: Vec::new(),
            counts: Counts::default(),
            valid_until: i64::MAX,
            stamped: false,
            idle: None,
        }
    }

    /// Whether a cycle sleeps in a yield.
    pub(crate) fn in_progress(&self) -> bool {
        self.cycle.is_some()
    }
}

/// Runs a due cycle, or goes on with the one that yielded.
pub(crate) fn cycle(controller: &mut Controller<'_>) {
    let mut backfill = std::mem::replace(&mut controller.backfill, Backfill::new(0));
    let cycle = match backfill.cycle.take() {
        Some(cycle) => resume(controller, &mut backfill, cycle),
        None if controller.timers.backfill_due(controller.now) => {
            controller.discover_eligible();
            if repeat_idle(controller, &backfill) { None } else { Some(begin(controller, &mut backfill)) }
        }
        None => None,
    };
    if let Some(cycle) = cycle {
        go_on(controller, &mut backfill, cycle);
    }
    controller.backfill = backfill;
}

/// Builds the table and the queue.
fn begin(controller: &mut Controller<'_>, backfill: &mut Backfill) -> Cycle {
    backfill.idle = None;
    backfill.stamped = false;
    backfill.valid_until = i64::MAX;
    if !backfill.planned.is_empty() {
        // Clearing PLANNED flags changes node records, which keeps cycles coming.
        backfill.planned.clear();
        controller.timers.changed(controller.now);
    }
    let policy = &controller.scenario.policy.backfill;
    let now = seconds(controller.now);
    let live = &controller.live;
    backfill.records.clear();
    backfill.records.extend_from_slice(controller.queue.sorted(|record| live.is_pending(record.job)));
    controller.order_by_preemption(&mut backfill.records);
    let resolution = i64::from(policy.resolution.max(1));
    let floor = |time: i64| time.div_euclid(resolution) * resolution;
    let window = i64::from(policy.window) * 60;
    backfill.timeline.reset(floor(now), floor(now + window), &controller.up, resolution);
    backfill.counts = Counts::default();
    collect_ends(controller, backfill);
    controller.counters.backfill_cycles += 1;
    controller.counters.queue_length_max = controller.counters.queue_length_max.max(backfill.records.len() as u64);
    Cycle { position: 0, begin_ms: controller.now, resumed_ms: controller.now, tested: 0, depth: 0, started: 0 }
}

/// After a yield: the cycle ends if anything changed, unless `bf_continue`.
fn resume(controller: &mut Controller<'_>, backfill: &mut Backfill, mut cycle: Cycle) -> Option<Cycle> {
    let asleep_from = cycle.resumed_ms;
    let policy = &controller.scenario.policy.backfill;
    if !policy.continue_after_yield && controller.timers.changed_since(asleep_from) {
        finish(controller, backfill, &cycle, Exit::StateChanged);
        return None;
    }
    cycle.resumed_ms = controller.now;
    collect_ends(controller, backfill);
    Some(cycle)
}

/// Records until the end of the cycle or the next yield.
fn go_on(controller: &mut Controller<'_>, backfill: &mut Backfill, mut cycle: Cycle) {
    let scenario = controller.scenario;
    let policy = &scenario.policy.backfill;
    let cost = &scenario.policy.cost;
    let per_test_us =
        cost.backfill_test_us + cost.backfill_test_per_1000_nodes_us * scenario.cluster.nodes.len() as u64 / 1000;
    let mut busy_us: u64 = if cycle.position == 0 { cost.backfill_base_us } else { 0 };
    let max_time_ms = i64::from(policy.max_time.or(policy.interval).unwrap_or(30)) * SECOND;
    let resumed = controller.now;
    let exit = loop {
        controller.now = resumed + (busy_us / 1000) as i64;
        if cycle.position >= backfill.records.len() {
            break Exit::EndOfQueue;
        }
        if cycle.tested >= policy.max_job_test {
            break Exit::MaxTest;
        }
        if controller.now - cycle.begin_ms >= max_time_ms {
            break Exit::MaxTime;
        }
        if busy_us >= policy.yield_interval_us.max(1) {
            // The controller's work so far is done; it sleeps, and events happen.
            cycle.resumed_ms = controller.now;
            controller.timers.backfill_at = controller.now + (policy.yield_sleep_us / 1000) as i64;
            backfill.valid_until = i64::MIN;
            backfill.cycle = Some(cycle);
            return;
        }
        let record = backfill.records[cycle.position];
        cycle.position += 1;
        let tested = cycle.tested;
        let next = consider(controller, backfill, &mut cycle, record);
        busy_us += u64::from(cycle.tested - tested) * per_test_us;
        if let Next::End(exit) = next {
            break exit;
        }
    };
    let policy = &scenario.policy;
    let repeatable = matches!(exit, Exit::EndOfQueue | Exit::MaxTest)
        && cycle.started == 0
        && cycle.resumed_ms == cycle.begin_ms
        && policy.backfill.min_age_reserve == 0
        && controller.preempt.is_none()
        && policy.cost == crate::policy::CostModel::default()
        && !controller.every_cycle;
    let max_test = matches!(exit, Exit::MaxTest);
    finish(controller, backfill, &cycle, exit);
    backfill.idle = repeatable.then_some(IdleCycle {
        version: controller.version,
        valid_until: backfill.valid_until,
        stamped: backfill.stamped,
        tested: cycle.tested,
        depth: cycle.depth,
        max_test,
    });
}

/// Counts and plans the next cycle.
fn finish(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &Cycle, exit: Exit) {
    // Planned nodes that still have something free carry the PLANNED flag until the next cycle.
    let fully_allocated = |node: &crate::ids::NodeId| controller.free.node_cores[node.index()] == 0;
    let full: Vec<crate::ids::NodeId> = backfill.planned.iter().filter(fully_allocated).collect();
    for node in full {
        backfill.planned.remove(node);
    }
    if !backfill.planned.is_empty() {
        controller.timers.changed(controller.now);
    }
    let counters = &mut controller.counters;
    counters.backfill_tests += u64::from(cycle.tested);
    counters.backfill_depth += cycle.depth;
    *match exit {
        Exit::EndOfQueue => &mut counters.backfill_exit_end,
        Exit::MaxTest => &mut counters.backfill_exit_max_test,
        Exit::MaxStart => &mut counters.backfill_exit_max_start,
        Exit::TableSize => &mut counters.backfill_exit_table_size,
        Exit::MaxTime => &mut counters.backfill_exit_max_time,
        Exit::StateChanged => &mut counters.backfill_exit_state_changed,
    } += 1;
    controller.timers.backfill_ended(controller.now);
}

/// One record: skip it, start it, or plan it.
fn consider(controller: &mut Controller<'_>, backfill: &mut Backfill, cycle: &mut Cycle, record: Record) -> Next {
    let scenario = controller.scenario;
    let id = record.job;
    if !controller.live.is_pending(id)
        || super::main_cycle::is_component(controller, id)
        || controller.made_room_in_cycle(id)
    {
        return Next::Record;
    }
    let limit_stop = scenario.policy.main.assoc_limit_stop;
    if !limit_stop && !controller.limits_allow_test(id, record.partition) {
        return Next::Record;
    }
    let name = scenario.workload.jobs[id.index()].name;
    if backfill.counts.array_is_planned(name, scenario.policy.backfill.max_job_array_resv) {
        return Next::Record;
    }
    let test_only = is_test_only(controller, backfill, record);
    cycle.depth += 1;
    if !controller.partition_allows(id, record.partition)
        || !backfill.counts.admit(controller, record)
        || !controller.licenses_free(id)
    {
        return Next::Record;
    }
    let request = scenario.workload.jobs[id.index()].request;
    let position = controller.partitions(id).iter().position(|&other| other == record.partition).unwrap_or(0);
    let shapes = controller.take_shapes(request);
    let next = place(controller, backfill, cycle, record, &shapes[position], test_only);
    controller.put_shapes(request, shapes);
    next
}

/// Whether the record may only start now, never be planned.
fn is_test_only(controller: &Controller<'_>, backfill: &Backfill, record: Record) -> bool {
    let policy = &controller.scenario.policy.backfill;
    let eligible = controller.records[record.job.index()].eligible.unwrap_or(i64::MAX);
    let quota = policy.job_part_count_reserve;
    (policy.min_prio_reserve > 0 && record.priority() < policy.min_prio_reserve)
        || (policy.min_age_reserve > 0 && seconds(controller.now) - eligible < i64::from(policy.min_age_reserve))
        || (quota > 0 && backfill.counts.planned(record.partition) >= quota)
}
