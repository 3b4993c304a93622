//! When a recorded controller acted, for simulations that shall decide at the very same moments.

use std::collections::BTreeMap;

use crate::ids::NodeId;

/// Moments of one recording [ms since the Unix epoch], each list in order of time. What a list leaves out happens when the
/// simulation's own timers say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Runs of the main scheduler, and whether over the full queue.
    pub main: Vec<(i64, bool)>,
    /// Backfill cycles.
    pub backfill: Vec<RecordedCycle>,
    /// When the agent of `sched/builtin` was started: it goes through the queue an interval later.
    pub builtin: Option<i64>,
    /// Priority steps.
    pub priority: Vec<i64>,
    /// By job of the workload: when its submission was accepted.
    pub arrivals: Vec<Option<i64>>,
    /// By job of the workload: its runs, one after the other; `None` for one that others ended, so that the job was queued again.
    pub runs: Vec<Vec<Option<RecordedRun>>>,
    /// Time-limit scans that found a job's time over; not all there were.
    pub scans: Vec<i64>,
    /// By job of the workload: when it was back in the queue, its nodes having answered.
    pub returns: Vec<Vec<i64>>,
    /// When somebody held a job of the workload (its place there, true), or let it go.
    pub holds: Vec<(i64, usize, bool)>,
    /// By name: when reservations were created.
    pub reservations: BTreeMap<String, i64>,
    /// By node: when it went down, and when it was back.
    pub outages: BTreeMap<String, Vec<(i64, Option<i64>)>>,
    /// By job of the workload: when its nodes answered that it had left them, by time, and which node if the log names it; empty
    /// where the log does not tell.
    pub answers: Vec<Vec<(i64, Option<NodeId>)>>,
    /// From the end of a job, if nobody struck it, to its nodes' answer [ms], where the log does not tell.
    pub answer: Option<i64>,
}

/// A recorded cycle of backfill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedCycle {
    /// Its begin [ms since the Unix epoch].
    pub begin: i64,
    /// How long it worked after its last sleep [ms].
    pub work: i64,
    /// Its end [ms since the Unix epoch].
    pub end: i64,
}

impl RecordedRun {
    /// Length of a run without an end of its own [ms].
    pub const OPEN: i64 = i64::MAX / 4;
}

/// A recorded run of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedRun {
    /// How long it took [ms].
    pub length: i64,
    /// Somebody ended it, its limit for instance: its nodes answer later.
    pub is_killed: bool,
}
