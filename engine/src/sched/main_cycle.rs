//! The main scheduler: jobs in strict queue order, on free nodes, until a partition's first blocked job.
//!
//! - Models: schedule() of slurmctld 22.05 (slurm-semantics 1.2–1.5): depth limit, per-partition blocking, and the
//!   removal of a blocked partition's nodes from every overlapping partition.
//! - A job's start is decided here or in [`super::backfill`], nowhere else.
//! - Cost: O(records looked at × selection); with one partition, one failed selection ends the cycle.
//!
//! # Invariants
//! 1. No job starts while an earlier record of its partition is blocked in the same cycle.
//! 2. Nodes of a blocked partition serve no later record.

mod busy;
mod consider;
mod of_reservations;
mod unseen;

use crate::ablation::{Rule, is_off};
use crate::cluster::Partition;
use crate::ids::{JobId, PartitionId};
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::simulation::{Controller, seconds};

use super::queue::Record;
use super::turns::{Turn, Turns};
use super::walk::Walk;
use consider::consider;
use of_reservations::{block_reserved, block_unreserved, draw, reservation_lacks_nodes};
use unseen::Unseen;

/// Working memory of a cycle.
#[derive(Debug)]
pub(crate) struct MainScratch {
    /// Nodes the cycle may still use.
    available: NodeSet,
    /// Those of them that reservations leave to the job and that could serve it, busy or not; and those that do not complete.
    /// Nodes left to a record that have what it asks for, and those that only lack its GRES, too.
    possible: NodeSet,
    left: NodeSet,
    candidates: NodeSet,
    walk: Walk,
    blocked: Vec<PartitionId>,
    /// Those of them whose reserved nodes are still there (from 24.11 on).
    half_blocked: Vec<PartitionId>,
    unseen: Unseen,
    /// Arrays whose common record was come to, with the partition: the other tasks in it are passed over before anything is counted.
    /// From 23.02.3 on its record with preferred features is one by itself.
    common_records: std::collections::BTreeSet<(u64, PartitionId, bool)>,
    /// Tasks that have got records of their own in this cycle, without a start ([`crate::preempt::make_room::Room::Unneeded`]): what waits in their other
    /// partitions is the rest of their array (job_scheduler.c of 22.05.8, `schedule`; rec c1401).
    split_off: std::collections::BTreeSet<JobId>,
    /// The array of which a record was rejected last, with the partition: others of it are passed over there, until one of another array
    /// or partition is looked at, or a job starts (job_scheduler.c, `schedule`, `reject_array_job`; rec c1000).
    rejected_array: Option<(u64, PartitionId, bool)>,
    /// Reservations of which a job found its nodes busy.
    failed_reservations: Vec<usize>,
    /// First second at which reservations leave the cycle's jobs other nodes.
    turns_at: i64,
    /// Whether it has stamped a record that it passed over or that has too few nodes left.
    stamped: bool,
    /// What the last cycles that started nothing saw.
    idle: [Option<IdleCycle>; 2],
}

/// A cycle that started nothing. While nothing changes, the next one of its kind will do the same.
#[derive(Clone, Copy, Debug)]
struct IdleCycle {
    version: u64,
    /// Of the nodes' weights as it left them: it would leave them so again.
    weights: u64,
    /// Of the waiting jobs' sizes before it. Backfill's tests may give them others: the last to test decides.
    sizes: u64,
    /// Of what is known of limits that hold jobs back, before it, too: a cycle that finds one anew is followed by another.
    reasons: u64,
    depth: u64,
    stamped: bool,
    /// First second at which it would be another, if only time went by.
    valid_until: i64,
}

impl MainScratch {
    /// Working memory for a cluster.
    pub(crate) fn new(n_nodes: usize) -> Self {
        Self {
            available: NodeSet::empty(n_nodes),
            possible: NodeSet::empty(n_nodes),
            left: NodeSet::empty(n_nodes),
            candidates: NodeSet::empty(n_nodes),
            walk: Walk::default(),
            blocked: Vec::new(),
            half_blocked: Vec::new(),
            unseen: Unseen::default(),
            common_records: std::collections::BTreeSet::new(),
            split_off: std::collections::BTreeSet::new(),
            rejected_array: None,
            failed_reservations: Vec::new(),
            turns_at: i64::MAX,
            stamped: false,
            idle: [None; 2],
        }
    }
}

/// What came of a record.
enum Tried {
    Started,
    Blocks,
    /// It blocks its partition but for nodes of reservations.
    BlocksUnreserved,
    Passes,
    /// The cycle ends (`bf_licenses`).
    Ends,
}

/// One main scheduling cycle, over the full queue or to the default depth.
pub(crate) fn cycle(controller: &mut Controller<'_>, full: bool) {
    if controller.someone_completes() && !controller.scenario.policy.main.reduce_completing_frag {
        return;
    }
    controller.counters.main_cycles += 1;
    controller.stamp_new_reasons();
    controller.discover_eligible();
    controller.learn_ages();
    if controller.queue.is_empty() {
        return;
    }
    let policy = &controller.scenario.policy.main;
    let kind = usize::from(full);
    // Ages decide only through bf_min_age_reserve; without it a decision depends on nothing but the state.
    // Preemption looks at how long jobs have run and when room was last made.
    let timeless = controller.scenario.policy.backfill.min_age_reserve == 0
        && controller.preempt.is_none()
        && !controller.reservations.any_licenses(controller.scenario)
        && !controller.every_cycle();
    if let Some(idle) = controller.main_scratch.idle[kind]
        && idle.version == controller.version
        && idle.weights == controller.selector.weights.version()
        && idle.sizes == controller.sizes_version
        && idle.reasons == controller.reasons_version
        && seconds(controller.now) < idle.valid_until
        && timeless
    {
        controller.counters.main_depth += idle.depth;
        if idle.stamped {
            controller.timers.changed(controller.now);
        }
        return;
    }
    let (version, sizes, reasons) = (controller.version, controller.sizes_version, controller.reasons_version);
    let mut scratch = std::mem::replace(&mut controller.main_scratch, MainScratch::new(0));
    scratch.blocked.clear();
    scratch.half_blocked.clear();
    scratch.common_records.clear();
    scratch.rejected_array = None;
    scratch.split_off.clear();
    scratch.failed_reservations.clear();
    scratch.turns_at = i64::MAX;
    scratch.stamped = false;
    let live = &controller.live;
    controller.queue.tidy(|record| live.is_pending(record.job));
    controller.counters.queue_length_max = controller.counters.queue_length_max.max(controller.queue.len() as u64);
    scratch.available.copy_from(&controller.up);
    if controller.someone_completes() {
        block_completing(controller, &mut scratch);
    }
    let n_partitions = controller.scenario.cluster.partitions.len();
    let mut depth: u64 = 0;
    let mut started: u32 = 0;
    let mut per_partition = vec![0; if policy.partition_job_depth > 0 { n_partitions } else { 0 }];
    scratch.walk.begin_main(controller);
    started += draw(controller, &mut scratch, &mut depth);
    scratch.unseen.begin(controller, &scratch.blocked);
    // What comes after can be counted without a look at it.
    let mut countable = !controller.by_definition()
        && controller.preempt.is_none()
        && !controller.queue.any_tasks()
        && !controller.queue.any_out()
        && !controller.reservations.any_named()
        && !controller.components_wait()
        && policy.partition_job_depth == 0;
    // Who blocks a blocked partition, such as the second component of a heterogeneous job, ends the cycle: the `break` that left a search for
    // the partition leaves the cycle itself now (job_scheduler.c of 24.11.0 to 25.11.7, `_schedule`, `fail_this_part`; rec c135-24-11).
    let ends_at_second_block = controller.scenario.policy.version >= SlurmVersion::V24_11;
    let mut waiting_behind = 0;
    let start_us = controller.scenario.policy.cost.main_start_us;
    let mut turns = Turns::default();
    while let Some((record, turn)) = turns.next(controller, &mut scratch.walk, |_| true) {
        let prefers = turn == Turn::Preferred;
        if policy.sched_max_job_start > 0 && started >= policy.sched_max_job_start {
            break;
        }
        if u64::from(started).saturating_mul(start_us) > u64::from(policy.max_sched_time) * 1_000_000 {
            break;
        }
        scratch.unseen.come_to(record.partition, scratch.blocked.contains(&record.partition));
        waiting_behind += 1;
        if record.kind.out || record.kind.out_of_main || controller.made_room_in_cycle(record.job) {
            continue;
        }
        let reservation = controller.reservation_of(record.job);
        if reservation.is_some_and(|own| reservation_lacks_nodes(controller, record, own)) {
            continue;
        }
        let array = array_of(controller, record, prefers);
        let is_common = array.is_some() && !controller.has_own_record(record.job);
        if scratch.split_off.contains(&record.job) {
            continue;
        }
        if let Some(array) = array {
            let is_seen = is_common && !scratch.common_records.insert(array);
            if is_seen || scratch.rejected_array == Some(array) {
                continue;
            }
            scratch.rejected_array = Some(array);
        }
        // Components block their partitions before anything is counted (job_scheduler.c of 22.05.8, `schedule`; rec ax-mix).
        let component = is_component(controller, record.job);
        if !component {
            if let Some(seen) = per_partition.get_mut(record.partition.index()) {
                *seen += 1;
                if *seen > policy.partition_job_depth {
                    continue;
                }
            }
            depth += 1;
            if !full && depth > u64::from(policy.default_queue_depth) + 1 && !is_off(Rule::MainDepth) {
                break;
            }
        }
        if !component && reservation.is_some_and(|reservation| scratch.failed_reservations.contains(&reservation)) {
            stamp(controller, &mut scratch);
            continue;
        }
        if component && ends_at_second_block && scratch.blocked.contains(&record.partition) {
            break;
        }
        if reservation.is_none() && scratch.blocked.contains(&record.partition) {
            if component {
                // It neither counts nor is noted: those behind are still come to.
                continue;
            }
            stamp(controller, &mut scratch);
            block_reserved(controller, &mut scratch, record.partition);
            if scratch.blocked.len() == n_partitions && scratch.half_blocked.is_empty() {
                // Every partition is blocked: the rest of the queue cannot start.
                break;
            }
            if countable && scratch.unseen.open == 0 {
                // So are those of the records left, which only make the cycle deeper.
                depth += controller.queue.len().saturating_sub(waiting_behind) as u64;
                if !full {
                    depth = depth.min(u64::from(policy.default_queue_depth) + 2);
                }
                break;
            }
            continue;
        }
        let tried = consider(controller, &mut scratch, record, reservation, prefers);
        if is_common && controller.live.is_pending(record.job) && controller.has_own_record(record.job) {
            scratch.split_off.insert(record.job);
        }
        if !controller.live.is_pending(record.job) {
            // It has started, or is held for good.
            waiting_behind -= 1;
            countable &= record.kind.alone;
        }
        match tried {
            Tried::Started => {
                started += 1;
                scratch.rejected_array = None;
                if let Some(array) = array {
                    scratch.common_records.remove(&array);
                }
            }
            Tried::Passes => {}
            Tried::Ends => break,
            Tried::Blocks | Tried::BlocksUnreserved if is_off(Rule::Blocking) => {}
            Tried::Blocks | Tried::BlocksUnreserved => {
                if !scratch.blocked.contains(&record.partition) {
                    scratch.blocked.push(record.partition);
                    scratch.unseen.block(record.partition);
                } else if ends_at_second_block {
                    break;
                }
                let nodes = &controller.scenario.cluster.partitions[record.partition.index()].nodes;
                if matches!(tried, Tried::BlocksUnreserved) {
                    block_unreserved(controller, &mut scratch, record.partition);
                } else if !is_off(Rule::BlockedNodes) {
                    scratch.available.subtract(nodes);
                }
            }
        }
    }
    controller.counters.main_depth += depth;
    let valid_until = scratch.turns_at;
    // A job that it held for good is not there the next time.
    scratch.idle[kind] = (started == 0 && version == controller.version).then_some(IdleCycle {
        version,
        weights: controller.selector.weights.version(),
        sizes,
        reasons,
        depth,
        stamped: scratch.stamped,
        valid_until,
    });
    controller.main_scratch = scratch;
}

/// slurmctld notes a new reason in the job's record, which is a change: backfill's next cycle comes (docs/FACTS.md, facts 46). O(1).
fn stamp(controller: &mut Controller<'_>, scratch: &mut MainScratch) {
    controller.timers.changed(controller.now);
    scratch.stamped = true;
}

/// `reduce_completing_frag`: partitions that overlap those of completing jobs are as good as blocked.
fn block_completing(controller: &Controller<'_>, scratch: &mut MainScratch) {
    let partitions = &controller.scenario.cluster.partitions;
    let overlaps = |partition: &Partition| {
        controller.partitions_completing().any(|other| partitions[other.index()].nodes.intersects(&partition.nodes))
    };
    for (index, partition) in partitions.iter().enumerate().filter(|(_, partition)| overlaps(partition)) {
        scratch.blocked.push(PartitionId::new(index));
        scratch.available.subtract(&partition.nodes);
    }
}

/// The array a record's job is a task of, with the record's partition, and whether it is its record with preferred features, where that is one by itself.
fn array_of(controller: &Controller<'_>, record: Record, prefers: bool) -> Option<(u64, PartitionId, bool)> {
    let prefers = prefers && controller.scenario.policy.version >= SlurmVersion::V23_02;
    record.kind.task.then(|| (controller.scenario.workload.jobs[record.job.index()].name.id, record.partition, prefers))
}

/// A component of a heterogeneous job: the main scheduler never starts it, but it blocks its partition.
pub(crate) fn is_component(controller: &Controller<'_>, id: JobId) -> bool {
    matches!(controller.scenario.workload.jobs[id.index()].name.part, crate::job::JobPart::Component(_))
}
