//! The pending queue in scheduling order.
//! Source of the order: slurm-semantics 2.2 (tier, priority, submit time, job id).

use std::collections::BTreeMap;

use crate::ids::{JobId, PartitionId};

/// One (job, partition) of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Inverted (tier, priority): smaller is earlier.
    pub(crate) order: u64,
    /// The job; its index is its place by submit time and job id.
    pub(crate) job: JobId,
    /// The partition.
    pub(crate) partition: PartitionId,
}

impl Record {
    /// A record of a job with this priority in this partition.
    pub(crate) fn new(job: JobId, partition: PartitionId, tier: u32, priority: u32) -> Self {
        Self { order: !(u64::from(tier) << 32 | u64::from(priority)), job, partition }
    }

    /// The priority it carries.
    pub(crate) fn priority(self) -> u32 {
        !self.order as u32
    }
}

/// Pending records, kept sorted. Insertion is O(1); the next [`Queue::sorted`] merges what came in O(n).
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    sorted: Vec<Record>,
    fresh: Vec<Record>,
    stale: bool,
    /// Jobs that were queued again, and before which job their new submit time puts them. Mostly empty.
    requeued: BTreeMap<JobId, JobId>,
}

/// Sorts by tier and priority, then submit time, then job.
fn sort(records: &mut [Record], requeued: &BTreeMap<JobId, JobId>) {
    if requeued.is_empty() {
        // A stable merge sort finds sorted runs and merges them.
        records.sort_by_key(|record| (record.order, record.job));
    } else {
        let place = |job: JobId| match requeued.get(&job) {
            Some(before) => 2 * u64::from(before.0),
            None => 2 * u64::from(job.0) + 1,
        };
        records.sort_by_key(|record| (record.order, place(record.job), record.job));
    }
}

impl Queue {
    /// Adds a record.
    pub(crate) fn push(&mut self, record: Record) {
        self.fresh.push(record);
    }

    /// Says that some records may have left (started, cancelled).
    pub(crate) fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Records in scheduling order, those for which `waits` is false removed.
    pub(crate) fn sorted(&mut self, waits: impl Fn(&Record) -> bool) -> &[Record] {
        if self.stale {
            self.sorted.retain(&waits);
            self.fresh.retain(&waits);
            self.stale = false;
        }
        if !self.fresh.is_empty() {
            sort(&mut self.fresh, &self.requeued);
            self.sorted.append(&mut self.fresh);
            sort(&mut self.sorted, &self.requeued);
        }
        &self.sorted
    }

    /// Gives every record a new priority. O(n) plus a sort of nearly sorted data.
    pub(crate) fn reprioritise(&mut self, tier_and_priority: impl Fn(&Record) -> (u32, u32)) {
        self.sorted.append(&mut self.fresh);
        for record in &mut self.sorted {
            let (tier, priority) = tier_and_priority(record);
            record.order = Record::new(record.job, record.partition, tier, priority).order;
        }
        sort(&mut self.sorted, &self.requeued);
    }

    /// A job's submit time is now that of a job submitted just before `before`.
    pub(crate) fn requeue(&mut self, job: JobId, before: JobId) {
        self.requeued.insert(job, before);
    }

    /// Whether nothing waits, stale records counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty() && self.fresh.is_empty()
    }
}
