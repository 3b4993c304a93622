//! A cycle's way through the queue: record by record without a copy, or through a copy where the cycle needs one.

use super::queue::{Cursor, Record};
use crate::policy::{Scheduler, SlurmVersion};
use crate::simulation::Controller;

/// Where a cycle stands in the queue.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    cursor: Cursor,
    /// The queue, or what is left of it, as it was when it was copied.
    records: Vec<Record>,
    /// Position in the copy, if there is one.
    copied: Option<usize>,
    /// The copy is the whole queue.
    whole: bool,
}

/// Where a search ahead of a walk stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scout {
    cursor: Cursor,
    position: usize,
}

impl Walk {
    /// Begins at the head of the queue. O(1); O(queue log queue) where preemption reorders it.
    pub(crate) fn begin(&mut self, controller: &Controller<'_>) {
        self.cursor = Cursor::default();
        self.copied = None;
        self.whole = true;
        if controller.preempt.is_some() {
            self.keep_rest(controller);
            controller.order_by_preemption(&mut self.records);
        }
    }

    /// The same for the main scheduler.
    pub(crate) fn begin_main(&mut self, controller: &Controller<'_>) {
        match is_by_age(controller) {
            true => self.begin_by_age(controller),
            false => self.begin(controller),
        }
    }

    /// In the order of the job records: of a job's partitions the one named first comes first. O(queue log queue).
    fn begin_by_age(&mut self, controller: &Controller<'_>) {
        self.cursor = Cursor::default();
        self.copied = None;
        self.keep_rest(controller);
        self.whole = true;
        let age = |record: &Record| controller.live.get(record.job).map(|live| controller.age_of(live));
        self.records.sort_by_cached_key(|record| (age(record), record.place));
    }

    /// The next record whose job waits.
    #[inline]
    pub(crate) fn next(&mut self, controller: &Controller<'_>) -> Option<Record> {
        loop {
            let record = match &mut self.copied {
                Some(at) => {
                    *at += 1;
                    self.records.get(*at - 1)?
                }
                None => {
                    self.whole = false;
                    controller.queue.next(&mut self.cursor)?
                }
            };
            if controller.live.is_pending(record.job) {
                return Some(*record);
            }
        }
    }

    /// The scout's next record, in the order of the walk. Records that came to the queue since the walk began may be among
    /// them, and those of jobs that have left.
    #[inline]
    pub(crate) fn scout(&self, controller: &Controller<'_>, scout: &mut Scout) -> Option<Record> {
        if self.whole && self.copied.is_some() {
            scout.position += 1;
            return self.records.get(scout.position - 1).copied();
        }
        controller.queue.next(&mut scout.cursor).copied()
    }

    /// Keeps what is left of the queue, before it changes under a cycle that sleeps. O(queue), once a cycle.
    pub(crate) fn keep_rest(&mut self, controller: &Controller<'_>) {
        if self.copied.is_some() {
            return;
        }
        self.records.clear();
        while let Some(record) = controller.queue.next(&mut self.cursor) {
            if controller.live.is_pending(record.job) {
                self.records.push(*record);
            }
        }
        self.copied = Some(0);
    }
}

/// Whether the job list itself is gone through, in place of a queue by priority: the rest of an array that has begun to start stands behind
/// whoever came before, and `--nice` is not looked at (job_scheduler.c of 22.05.8, `schedule`, `fifo_sched`; rec bf-c64). O(partitions).
fn is_by_age(controller: &Controller<'_>) -> bool {
    let policy = &controller.scenario.policy;
    let tiers =
        || controller.scenario.cluster.partitions.windows(2).all(|pair| pair[0].priority_tier == pair[1].priority_tier);
    let is_basic = policy.scheduler == Scheduler::SlurmBuiltin && !policy.priority.multifactor;
    is_basic && policy.version < SlurmVersion::V24_11 && tiers()
}
