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

use crate::ids::PartitionId;
use crate::node_set::NodeSet;
use crate::outcome::StartedBy;
use crate::policy::SlurmVersion;
use crate::select::shape::Shape;
use crate::select::will_run::{RunningJob, WillRunPolicy, earliest_start};
use crate::simulation::{Controller, SECOND, seconds};

use super::queue::Record;
use super::timeline::Timeline;

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

/// A cycle that started nothing. While nothing changes and its plan stays valid, the next one will do the same.
///
/// Proof: a cycle's decisions depend on the state (its version is compared) and on the time through these comparisons
/// only: which slots a record's first try spans, whether a planned start has come, whether a running job is overdue,
/// and where the window ends. [`Backfill::valid_until`] is the least time at which one of them turns.
#[derive(Clone, Copy, Debug)]
struct IdleCycle {
    version: u64,
    valid_until: i64,
    stamped: bool,
    tested: u32,
    depth: u64,
    max_test: bool,
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

/// Records counted against the per-cycle caps. Dense vectors: no hashing per record.
#[derive(Debug, Default)]
struct Counts {
    user: Vec<u32>,
    partition: Vec<u32>,
    association: Vec<u32>,
    user_partition: Vec<u32>,
    planned_in_partition: Vec<u32>,
    array: std::collections::BTreeMap<u64, u32>,
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

/// What came of starting a job now.
enum Attempt {
    Started,
    Limited,
    Busy,
}

/// With `assoc_limit_stop`, a job at its limit is planned this much later [s].
const LIMITED_RETRY_SECONDS: i64 = 500;

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

/// If nothing has changed since a cycle that started nothing, accounts for its repetition without repeating it.
fn repeat_idle(controller: &mut Controller<'_>, backfill: &Backfill) -> bool {
    let Some(idle) = backfill.idle else { return false };
    if idle.version != controller.version || seconds(controller.now) >= idle.valid_until {
        return false;
    }
    let counters = &mut controller.counters;
    counters.backfill_cycles += 1;
    counters.backfill_tests += u64::from(idle.tested);
    counters.backfill_depth += idle.depth;
    if idle.max_test {
        counters.backfill_exit_max_test += 1;
    } else {
        counters.backfill_exit_end += 1;
    }
    if idle.stamped || !backfill.planned.is_empty() {
        controller.timers.changed(controller.now);
    }
    controller.timers.backfill_ended(controller.now);
    true
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

/// Expected ends of running jobs; overdue jobs are expected to be killed. O(running).
/// Source: slurm-semantics 3.5.
fn collect_ends(controller: &Controller<'_>, backfill: &mut Backfill) {
    let now = seconds(controller.now);
    let policy = &controller.scenario.policy;
    backfill.ends.clear();
    for &(end, job) in &controller.running {
        let live = controller.live.get(crate::ids::JobId(job));
        let over = live.and_then(|live| controller.scenario.cluster.partitions[live.partition.index()].over_time_limit);
        let expected = if end > now {
            backfill.valid_until = backfill.valid_until.min(end);
            end
        } else {
            // An overdue job's end moves with time.
            backfill.valid_until = now;
            match over.or(policy.over_time_limit) {
                Some(minutes) => (end + i64::from(policy.kill_wait) + i64::from(minutes) * 60).max(now + 1),
                None => now + live.map_or(60, |live| live.limit_seconds),
            }
        };
        backfill.ends.push((expected, job));
    }
    // Only overdue jobs are out of order.
    backfill.ends.sort_by_key(|&(end, _)| end);
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
    if !controller.live.is_pending(id) || super::main_cycle::is_component(controller, id) {
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

impl Counts {
    fn planned(&self, partition: PartitionId) -> u32 {
        self.planned_in_partition.get(partition.index()).copied().unwrap_or(0)
    }

    fn bump(counts: &mut Vec<u32>, index: usize) -> u32 {
        if counts.len() <= index {
            counts.resize(index + 1, 0);
        }
        counts[index] += 1;
        counts[index]
    }

    /// Counts the record against the caps; false if one was reached.
    fn admit(&mut self, controller: &Controller<'_>, record: Record) -> bool {
        let scenario = controller.scenario;
        let policy = &scenario.policy.backfill;
        let job = &scenario.workload.jobs[record.job.index()];
        let at = |counts: &[u32], index: usize| counts.get(index).copied().unwrap_or(0);
        let user = job.user.index();
        let partition = record.partition.index();
        let pair = user * scenario.cluster.partitions.len() + partition;
        let reached = (policy.max_job_part > 0 && at(&self.partition, partition) >= policy.max_job_part)
            || (policy.max_job_assoc > 0 && at(&self.association, job.association.index()) >= policy.max_job_assoc)
            || (policy.max_job_assoc == 0 && policy.max_job_user > 0 && at(&self.user, user) >= policy.max_job_user)
            || (policy.max_job_user_part > 0 && at(&self.user_partition, pair) >= policy.max_job_user_part);
        if reached {
            return false;
        }
        if policy.max_job_part > 0 {
            Self::bump(&mut self.partition, partition);
        }
        if policy.max_job_assoc > 0 {
            Self::bump(&mut self.association, job.association.index());
        }
        if policy.max_job_user > 0 {
            Self::bump(&mut self.user, user);
        }
        if policy.max_job_user_part > 0 {
            Self::bump(&mut self.user_partition, pair);
        }
        true
    }

    /// Whether a task's array has as many planned tasks as `bf_max_job_array_resv` allows.
    fn array_is_planned(&self, name: crate::job::JobName, most: u32) -> bool {
        matches!(name.part, crate::job::JobPart::Task(_)) && self.array.get(&name.id).is_some_and(|&n| n >= most)
    }
}

/// Finds where and when the job could run; starts it if that is now, else plans it.
fn place(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    cycle: &mut Cycle,
    record: Record,
    shape: &Shape,
    test_only: bool,
) -> Next {
    let scenario = controller.scenario;
    let policy = &scenario.policy.backfill;
    let id = record.job;
    let now = seconds(controller.now);
    let partition = &scenario.cluster.partitions[record.partition.index()];
    let limit = controller.live.get(id).map_or(0, |live| live.limit_seconds);
    let user = scenario.workload.jobs[id.index()].user.0;
    let resolution = i64::from(policy.resolution.max(1));
    let floor = |time: i64| time.div_euclid(resolution) * resolution;
    let window_end = seconds(cycle.resumed_ms) + i64::from(policy.window) * 60;
    backfill.base.copy_from(&partition.nodes);
    backfill.base.intersect(&controller.up);
    let mut try_from = now;
    let mut tested = false;
    // Each attempt begins at a later slot, so there are at most as many as slots; the bound is a safeguard.
    for _ in 0..=2 * backfill.timeline.slots.len() + 8 {
        let end = try_from.max(now) + limit;
        backfill.usable.copy_from(&backfill.base);
        let (later, slack) = backfill.timeline.narrow(&mut backfill.usable, &backfill.base, try_from, end);
        if try_from == now {
            backfill.valid_until = backfill.valid_until.min(now.saturating_add(slack));
        }
        let again = later.filter(|_| !test_only);
        backfill.usable.intersect(&shape.eligible);
        if backfill.usable.len() < shape.min_nodes as usize
            || shape.required.iter().any(|&node| !backfill.usable.contains(node))
        {
            match again {
                Some(later) => {
                    try_from = later;
                    continue;
                }
                None => return Next::Record,
            }
        }
        cycle.tested += u32::from(!tested);
        tested = true;
        let Some(found) = will_run(controller, backfill, shape, user, now, test_only) else {
            match again {
                Some(later) => {
                    try_from = later;
                    continue;
                }
                None => return Next::Record,
            }
        };
        if found < try_from {
            // slurmctld stamps the job as changed here, which keeps cycles coming every interval.
            controller.timers.changed(controller.now);
            backfill.stamped = true;
        }
        let mut start = found.max(try_from);
        let mut later = later;
        if start <= now {
            if controller.selector.chosen.iter().any(|offer| controller.completing.contains(offer.node)) {
                start = now + 1;
                later = None;
                backfill.valid_until = now;
            } else {
                match start_now(controller, backfill, record, shape, user) {
                    Attempt::Started => {
                        cycle.started += 1;
                        if policy.max_job_start > 0 && cycle.started >= policy.max_job_start {
                            return Next::End(Exit::MaxStart);
                        }
                        return Next::Record;
                    }
                    Attempt::Limited if scenario.policy.main.assoc_limit_stop => {
                        start = later.unwrap_or(now + LIMITED_RETRY_SECONDS);
                    }
                    Attempt::Limited => return Next::Record,
                    Attempt::Busy => {}
                }
            }
        }
        if start > now {
            backfill.valid_until = backfill.valid_until.min(start);
        }
        if start > now && test_only {
            return Next::Record;
        }
        if let Some(later) = later
            && start > later
        {
            try_from = later;
            continue;
        }
        let begin = floor(start);
        let mut end = floor(start + limit);
        if scenario.policy.version >= SlurmVersion::V24_05 && end < start + limit {
            end += resolution;
        }
        // The window moves with time: a start beyond it comes into it, an end beyond it becomes the end of a slot.
        let window = window_end - seconds(cycle.resumed_ms);
        if start > window_end {
            backfill.valid_until = backfill.valid_until.min(start - window);
        } else if begin >= backfill.timeline.end() {
            backfill.valid_until = now;
        } else if end >= backfill.timeline.end() {
            backfill.valid_until = backfill.valid_until.min(end - window);
        }
        if start > window_end {
            return Next::Record;
        }
        backfill.chosen.clear();
        for offer in &controller.selector.chosen {
            backfill.chosen.insert(offer.node);
        }
        if start > now && !backfill.timeline.is_free(&backfill.chosen, begin, end) {
            if try_from == start {
                return Next::Record;
            }
            try_from = start;
            continue;
        }
        if controller.limits.active
            && !scenario.policy.main.assoc_limit_stop
            && !controller.limits_allow_counts(id, record.partition, &controller.requested_counts(id))
        {
            return Next::Record;
        }
        let table_size = policy.node_space_size.unwrap_or(policy.max_job_test).max(2);
        if backfill.timeline.records >= table_size {
            return Next::End(Exit::TableSize);
        }
        Counts::bump(&mut backfill.counts.planned_in_partition, record.partition.index());
        if let crate::job::JobPart::Task(_) = scenario.workload.jobs[id.index()].name.part {
            *backfill.counts.array.entry(scenario.workload.jobs[id.index()].name.id).or_insert(0) += 1;
        }
        backfill.timeline.insert(&backfill.chosen, begin, end);
        backfill.planned.union(&backfill.chosen);
        return Next::Record;
    }
    Next::Record
}

/// The earliest expected start on `backfill.usable`; nodes are left in the selector.
fn will_run(
    controller: &mut Controller<'_>,
    backfill: &Backfill,
    shape: &Shape,
    user: u32,
    now: i64,
    test_only: bool,
) -> Option<i64> {
    if controller.selector.fits(&controller.free, shape, user, &backfill.usable) {
        return Some(now);
    }
    if test_only {
        return None;
    }
    let live = &controller.live;
    let running = backfill.ends.iter().filter_map(|&(end, job)| {
        live.get(crate::ids::JobId(job)).map(|live| RunningJob { end, allocation: &live.allocation })
    });
    let scenario = controller.scenario;
    let policy = WillRunPolicy {
        linear: scenario.policy.select.linear,
        window_linear: i64::from(scenario.policy.backfill.window_linear),
        version: scenario.policy.version,
    };
    earliest_start(
        &mut controller.selector,
        policy,
        &controller.free,
        &mut controller.future,
        shape,
        user,
        &backfill.usable,
        running,
        now,
    )
}

/// Starts the job on nodes out of `backfill.usable`; selection is run again as slurmctld does.
fn start_now(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    user: u32,
) -> Attempt {
    backfill.usable.subtract(&controller.completing);
    if !controller.selector.fits(&controller.free, shape, user, &backfill.usable) {
        return Attempt::Busy;
    }
    let allocation = controller.selector.allocate(&controller.free, shape);
    if controller.limits.active {
        let billing = controller.billing(record.partition, &allocation);
        let counts = controller.allocated_counts(record.job, &allocation, billing);
        if !controller.limits_allow_test(record.job, record.partition)
            || !controller.limits_allow_counts(record.job, record.partition, &counts)
        {
            return Attempt::Limited;
        }
    }
    controller.start(record.job, record.partition, allocation, StartedBy::Backfill);
    if let Some(live) = controller.live.get(record.job) {
        let end = live.expected_end;
        let at = backfill.ends.partition_point(|&(other, _)| other <= end);
        backfill.ends.insert(at, (end, record.job.0));
    }
    Attempt::Started
}
