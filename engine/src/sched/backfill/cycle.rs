//! A cycle of backfill on its way through the queue.

use crate::sched::queue::Record;

use super::cost::CycleCost;

/// A cycle between its first record and its last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub(super) begin_ms: i64,
    pub(super) resumed_ms: i64,
    /// Records passed, for the time it takes.
    pub(super) passed: u32,
    /// Records that the time it takes counts.
    pub(super) length: u32,
    pub(super) tested: u32,
    pub(super) depth: u64,
    pub(super) started: u32,
    /// Of how many cycles this one is the sample that the counters of tests stand for; 0 if of none.
    pub(super) weight: u64,
    /// Nothing of the rest can start: only its time is still spent.
    pub(super) exhausted: bool,
    /// The record that it is at for ever ([`crate::select::strays`]).
    pub(super) again: Option<Record>,
    /// Why it decides nothing more, if that is not the queue's end.
    pub(super) ended_by: Option<Exit>,
    pub(super) cost: CycleCost,
    /// Whether it sleeps in between, if it goes through the whole queue.
    pub(super) yields: bool,
    /// Changes there had been when it went to sleep.
    pub(super) changes_before_sleep: u64,
    /// Version of the nodes' weights at its begin.
    pub(super) weights: u64,
    /// Version of the waiting jobs' sizes at its begin.
    pub(super) sizes: u64,
    /// Version of what slurmctld notes of why jobs wait at its begin.
    pub(super) reasons: u64,
    /// Whether a test has held a job for good, or found one too late for its deadline.
    pub(super) held: bool,
}

/// Why a cycle ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exit {
    EndOfQueue,
    MaxTest,
    MaxStart,
    TableSize,
    MaxTime,
    StateChanged,
}

/// What to do after a record.
pub(super) enum Next {
    Record,
    /// This one again, for as long as nothing changes: no other record is come to.
    Again(Record),
    End(Exit),
}
