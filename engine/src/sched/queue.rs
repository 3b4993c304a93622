//! The pending queue in scheduling order.
//! Source of the order: slurm-semantics 2.2 (tier, priority, submit time, job id).

use std::collections::BTreeMap;

use crate::ablation::{Rule, is_off};
use crate::ids::{JobId, PartitionId, RequestId};

/// One (job, partition) of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Inverted (tier, priority): smaller is earlier.
    pub(crate) order: u64,
    /// Its place by submit time and job id.
    pub(crate) turn: u64,
    /// The job.
    pub(crate) job: JobId,
    /// What it asks for.
    pub(crate) request: RequestId,
    /// Whom `bf_max_job_user` counts it for.
    pub(crate) holder: Holder,
    /// The partition.
    pub(crate) partition: PartitionId,
    /// Which of the request's partitions this is.
    pub(crate) place: u16,
    /// What kind of job it is.
    pub(crate) kind: Kind,
}

/// A user in his default account, or in any other: `bf_max_job_user` counts the two apart (rec q-tree, w2145; `docs/FACTS.md`, facts 44, 101).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder(pub(crate) u32);

/// What cycles ask about the job of every record that they pass: it stands here, so that the job need not be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// A task of an array.
    pub(crate) task: bool,
    /// It is part of its array's common record.
    pub(crate) common: bool,
    /// No part of another job id, and without a record in another partition.
    pub(crate) alone: bool,
    /// Some of its partitions allow it, and some do not.
    pub(crate) mixed: bool,
    /// Nobody takes it back before it starts, and nothing is known of it that few jobs have.
    pub(crate) stays: bool,
    /// The partition's limits keep the job out: slurmctld builds its queues without the record.
    pub(crate) out: bool,
    /// Its time limit is beyond the partition's `MaxTime`, but its `--time-min` is not: only backfill tries it.
    pub(crate) out_of_main: bool,
    /// The partition's lists refuse the job, though queues are built with its record.
    pub(crate) denied: bool,
    /// Every cycle is gone through while it waits ([`crate::simulation::Controller::every_cycle`]).
    pub(crate) peculiar: bool,
}

impl Record {
    /// A record of a job with this tier and priority in the `place`th partition of its request. `first` is the first task of its
    /// array, else the job.
    pub(crate) fn new(
        (job, first, request, holder, kind): (JobId, JobId, RequestId, Holder, Kind),
        (place, partition): (usize, PartitionId),
        (tier, priority): (u32, u32),
    ) -> Self {
        let (order, turn, place) = (order(tier, priority), turn(first), place as u16);
        Self { order, turn, job, request, holder, partition, place, kind }
    }

    /// The tier it carries.
    pub(crate) fn tier(self) -> u32 {
        (!self.order >> 32) as u32
    }

    /// The priority it carries.
    pub(crate) fn priority(self) -> u32 {
        !self.order as u32
    }

    /// An array's common record stands behind its tasks that have records of their own (job_scheduler.c, `sort_job_queue2`); it has one a
    /// partition, with its tasks in turn.
    fn key(&self) -> (u64, u64, bool, u16, JobId, u16) {
        let place = if self.kind.common { self.place } else { 0 };
        (self.order, self.turn, self.kind.common, place, self.job, self.place)
    }
}

/// Tier and priority, the higher the earlier.
fn order(tier: u32, priority: u32) -> u64 {
    let tier = if is_off(Rule::Tiers) { 0 } else { tier };
    if is_off(Rule::QueueOrder) { 0 } else { !(u64::from(tier) << 32 | u64::from(priority)) }
}

/// The place of a job that was never requeued: jobs stand in order of submission.
fn turn(job: JobId) -> u64 {
    (u64::from(job.0) + 1) << 32
}

/// The place of a job that was submitted anew in a second, before a job of the trace: behind others of earlier seconds (rec i-mix).
fn turn_before(job: JobId, second: i64) -> u64 {
    (u64::from(job.0) << 32) + u64::try_from(second).unwrap_or(0).clamp(1, u64::from(u32::MAX))
}

/// Records whose jobs are looked up together.
const AT_ONCE: usize = 32;

/// No record of a request in [`Queue::requests`].
const NEVER_SEEN: u32 = u32::MAX;

/// Pending records in order, as two sorted runs: a long one, and a short one of what came since they were last merged.
/// Records of jobs that have left stay behind until there are many, so a cycle that looks at a few records costs no
/// more than those. Insertion is O(√n) amortised, a removal O(1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    settled: Vec<Record>,
    fresh: Vec<Record>,
    waiting: usize,
    /// Tasks of arrays among them.
    tasks: usize,
    /// Records of jobs that some of their partitions do not allow.
    mixed: usize,
    /// Records that their partitions keep out.
    out: usize,
    /// Records that their partitions' lists refuse.
    denied: usize,
    /// Records for which every cycle is gone through.
    peculiar: usize,
    /// Records that wait, by partition.
    by_partition: Vec<u32>,
    /// Records that wait, by holder, and how many of a holder's `bf_max_job_user` admits; 0 for all.
    by_holder: Vec<u32>,
    holder_cap: u32,
    /// Records that this cap admits.
    admitted: usize,
    /// Records that wait, by request.
    by_request: Vec<u32>,
    /// Requests of which a record may wait, each once.
    requests: Vec<RequestId>,
    /// Jobs that were queued again, before which job their new submit time puts them, and that time [s]. Mostly empty.
    requeued: BTreeMap<JobId, (JobId, i64)>,
    /// Counts rearrangements, so that a cursor notices them.
    epoch: u64,
}

/// Where a walk through the queue stands. Stays right when the queue changes: it then goes on after the last record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    settled: usize,
    fresh: usize,
    epoch: u64,
    last: Option<Record>,
}

impl Queue {
    /// An empty queue that counts how many records a cap for each holder admits; 0 admits all.
    pub(crate) fn capped(holder_cap: u32) -> Self {
        Self { holder_cap, ..Self::default() }
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, mut record: Record) {
        if let Some(&(before, second)) = self.requeued.get(&record.job) {
            record.turn = turn_before(before, second);
        }
        let at = self.fresh.partition_point(|other| other.key() < record.key());
        self.fresh.insert(at, record);
        self.waiting += 1;
        self.tasks += usize::from(record.kind.task);
        self.mixed += usize::from(record.kind.mixed);
        self.out += usize::from(record.kind.out);
        self.denied += usize::from(record.kind.denied);
        self.peculiar += usize::from(record.kind.peculiar);
        self.epoch += 1;
        let partition = record.partition.index();
        if self.by_partition.len() <= partition {
            self.by_partition.resize(partition + 1, 0);
        }
        self.by_partition[partition] += 1;
        self.hold(record.holder, 1, 0);
        let request = record.request.index();
        if self.by_request.len() <= request {
            self.by_request.resize(request + 1, NEVER_SEEN);
        }
        if self.by_request[request] == NEVER_SEEN {
            self.by_request[request] = 0;
            self.requests.push(record.request);
        }
        self.by_request[request] += 1;
    }

    /// The records of a job in these partitions have left (started, cancelled); so many of these partitions kept it out, and so many
    /// refused it by their lists.
    pub(crate) fn left(
        &mut self,
        request: RequestId,
        holder: Holder,
        kind: Kind,
        partitions: &[PartitionId],
        (out, denied): (usize, usize),
    ) {
        self.out = self.out.saturating_sub(out);
        self.denied = self.denied.saturating_sub(denied);
        self.waiting -= partitions.len();
        self.hold(holder, 0, partitions.len() as u32);
        self.tasks -= if kind.task { partitions.len() } else { 0 };
        self.mixed -= if kind.mixed { partitions.len() } else { 0 };
        self.peculiar -= if kind.peculiar { partitions.len() } else { 0 };
        self.by_request[request.index()] -= partitions.len() as u32;
        for partition in partitions {
            self.by_partition[partition.index()] -= 1;
        }
    }

    /// A holder has so many records more, and so many fewer. O(1).
    fn hold(&mut self, holder: Holder, more: u32, fewer: u32) {
        let index = holder.0 as usize;
        if self.by_holder.len() <= index {
            self.by_holder.resize(index + 1, 0);
        }
        let cap = if self.holder_cap == 0 { u32::MAX } else { self.holder_cap };
        let before = self.by_holder[index];
        let after = before + more - fewer;
        self.by_holder[index] = after;
        self.admitted = self.admitted + after.min(cap) as usize - before.min(cap) as usize;
    }

    /// How many records the holders' cap and one for each partition (0 for none) leave to be tested, at most. O(1); with the latter
    /// O(partitions).
    pub(crate) fn within_caps(&self, partition_cap: u32) -> usize {
        match partition_cap {
            0 => self.admitted,
            cap => self.admitted.min(self.by_partition.iter().map(|&waiting| waiting.min(cap) as usize).sum()),
        }
    }

    /// How many records wait in a partition. O(1).
    pub(crate) fn waiting_in(&self, partition: PartitionId) -> u32 {
        self.by_partition.get(partition.index()).copied().unwrap_or(0)
    }

    /// Whether jobs wait that some of their partitions allow, and some do not.
    pub(crate) fn any_mixed(&self) -> bool {
        self.mixed > 0
    }

    /// Whether partitions keep records out.
    pub(crate) fn any_out(&self) -> bool {
        self.out > 0
    }

    /// Whether partitions' lists refuse records: each refusal is noted as a change.
    pub(crate) fn any_denied(&self) -> bool {
        self.denied > 0
    }

    /// Whether records wait for which every cycle is gone through.
    pub(crate) fn any_peculiar(&self) -> bool {
        self.peculiar > 0
    }

    /// Whether tasks of arrays wait.
    pub(crate) fn any_tasks(&self) -> bool {
        self.tasks > 0
    }

    /// The requests of which a record waits. O(requests that waited since the last call).
    pub(crate) fn waiting_requests(&mut self) -> &[RequestId] {
        let by_request = &mut self.by_request;
        self.requests.retain(|request| {
            let waits = by_request[request.index()] > 0;
            if !waits {
                by_request[request.index()] = NEVER_SEEN;
            }
            waits
        });
        &self.requests
    }

    /// A job's submit time is now this second, which puts it before `before`.
    pub(crate) fn requeue(&mut self, job: JobId, before: JobId, second: i64) {
        self.requeued.insert(job, (before, second));
    }

    /// All records in no order, those of jobs that have left included.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.settled.iter().chain(&self.fresh)
    }

    /// How many records wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Forgets the records for which `waits` is false, once they are many. Amortised O(1) a record that left.
    pub(crate) fn tidy(&mut self, waits: impl Fn(&Record) -> bool) {
        let stored = self.settled.len() + self.fresh.len();
        if stored - self.waiting > 32 + stored / 32 {
            self.purge(waits);
        }
        if self.fresh.len() > 64 + self.settled.len() / 64 {
            self.merge();
        }
    }

    /// Forgets the records for which `waits` is false. O(n).
    pub(crate) fn purge(&mut self, waits: impl Fn(&Record) -> bool) {
        self.settled.retain(&waits);
        self.fresh.retain(&waits);
        self.epoch += 1;
    }

    fn merge(&mut self) {
        self.settled.append(&mut self.fresh);
        // A stable merge sort finds the two runs and merges them.
        self.settled.sort_by_key(Record::key);
        self.epoch += 1;
    }

    /// The record after the cursor's last one, those of jobs that have left included. O(1).
    #[inline]
    pub(crate) fn next(&self, cursor: &mut Cursor) -> Option<&Record> {
        if cursor.epoch != self.epoch {
            self.find(cursor);
        }
        let next = match (self.settled.get(cursor.settled), self.fresh.get(cursor.fresh)) {
            (Some(settled), Some(fresh)) if fresh.key() < settled.key() => {
                cursor.fresh += 1;
                fresh
            }
            (Some(settled), _) => {
                cursor.settled += 1;
                settled
            }
            (None, Some(fresh)) => {
                cursor.fresh += 1;
                fresh
            }
            (None, None) => return None,
        };
        cursor.last = Some(*next);
        Some(next)
    }

    /// The cursor's place after the queue was rearranged. O(log n).
    #[cold]
    fn find(&self, cursor: &mut Cursor) {
        let before = |other: &Record| cursor.last.is_some_and(|last| other.key() <= last.key());
        let (settled, fresh) = (self.settled.partition_point(before), self.fresh.partition_point(before));
        (cursor.settled, cursor.fresh, cursor.epoch) = (settled, fresh, self.epoch);
    }

    /// All records, those of jobs that have left among them, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.settled.iter().chain(&self.fresh)
    }

    /// Gives every record for which `waits` holds a new priority. O(n) plus a sort of nearly sorted data.
    /// What stands with the jobs is looked up for a few at a time: the cache misses of one do not wait for those before.
    pub(crate) fn reprioritise<T>(
        &mut self,
        waits: impl Fn(&Record) -> bool,
        look_up: impl Fn(&Record) -> T,
        tier_and_priority: impl Fn(&Record, T) -> (u32, u32),
    ) {
        self.settled.append(&mut self.fresh);
        self.settled.retain(waits);
        let mut found = Vec::with_capacity(AT_ONCE);
        for records in self.settled.chunks_mut(AT_ONCE) {
            found.extend(records.iter().map(&look_up));
            for (record, found) in records.iter_mut().zip(found.drain(..)) {
                let (tier, priority) = tier_and_priority(record, found);
                record.order = order(tier, priority);
            }
        }
        self.settled.sort_by_key(Record::key);
        self.epoch += 1;
    }

    /// Tasks have got records of their own. O(n) plus a sort of nearly sorted data.
    pub(crate) fn split(&mut self, is_common: impl Fn(JobId) -> bool) {
        self.settled.append(&mut self.fresh);
        for record in self.settled.iter_mut().filter(|record| record.kind.common) {
            record.kind.common = is_common(record.job);
        }
        self.settled.sort_by_key(Record::key);
        self.epoch += 1;
    }

    /// Gives records the turns told for them. O(n) plus a sort of nearly sorted data.
    pub(crate) fn take_turns(&mut self, turn: impl Fn(&Record) -> Option<u64>) {
        self.settled.append(&mut self.fresh);
        for record in &mut self.settled {
            record.turn = turn(record).unwrap_or(record.turn);
        }
        self.settled.sort_by_key(Record::key);
        self.epoch += 1;
    }
}
