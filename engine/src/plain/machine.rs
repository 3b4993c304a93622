//! The machine while a plain algorithm runs on it: clock, free processors, running jobs, and the records written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cluster::Cluster;
use crate::ids::JobId;
use crate::outcome::{JobRecord, JobState, Outcome, PendingReason, SchedulerCounters, StartedBy};

use super::jobs::{Jobs, PlainJob, Rank};
use super::processors::Processors;

/// A running job, ordered by end, then arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Running {
    /// When it ends.
    pub(super) end: i64,
    /// Which job it is.
    pub(super) rank: Rank,
    /// The processors it holds.
    slot: u32,
}

/// State shared by all plain algorithms.
#[derive(Debug)]
pub(super) struct Machine {
    jobs: Vec<PlainJob>,
    waiting: Vec<bool>,
    n_waiting: u64,
    arrived: Rank,
    now: i64,
    processors: Processors,
    running: BinaryHeap<Reverse<Running>>,
    records: Vec<JobRecord>,
    node_ranges: Vec<(u32, u32)>,
    counters: SchedulerCounters,
}

impl Machine {
    /// An empty machine before the first arrival. O(jobs + nodes).
    pub(super) fn new(cluster: &Cluster, jobs: Jobs) -> Self {
        let n_jobs = jobs.by_rank.len();
        Self {
            waiting: vec![false; n_jobs],
            n_waiting: 0,
            arrived: 0,
            now: jobs.by_rank.first().map_or(0, |job| job.release),
            jobs: jobs.by_rank,
            processors: Processors::new(cluster),
            running: BinaryHeap::new(),
            records: jobs.records,
            node_ranges: Vec::with_capacity(n_jobs),
            counters: SchedulerCounters::default(),
        }
    }

    /// The current second.
    #[inline]
    pub(super) fn now(&self) -> i64 {
        self.now
    }

    /// Free processors.
    #[inline]
    pub(super) fn free(&self) -> u32 {
        self.processors.free()
    }

    /// How many jobs ever enter the queue.
    pub(super) fn n_jobs(&self) -> usize {
        self.jobs.len()
    }

    /// The job of a rank.
    #[inline]
    pub(super) fn job(&self, rank: Rank) -> &PlainJob {
        &self.jobs[rank as usize]
    }

    /// Whether the job has arrived, and neither started nor left.
    #[inline]
    pub(super) fn is_waiting(&self, rank: Rank) -> bool {
        self.waiting[rank as usize]
    }

    /// How many jobs wait.
    #[inline]
    pub(super) fn n_waiting(&self) -> u64 {
        self.n_waiting
    }

    /// Ranks below have arrived.
    #[inline]
    pub(super) fn arrived(&self) -> Rank {
        self.arrived
    }

    /// The lowest rank from `from` that waits, or [`Self::arrived`]. O(ranks skipped).
    #[inline]
    pub(super) fn next_waiting(&self, from: Rank) -> Rank {
        (from..self.arrived).find(|&rank| self.is_waiting(rank)).unwrap_or(self.arrived)
    }

    /// The next completion.
    #[inline]
    pub(super) fn next_end(&self) -> Option<i64> {
        self.running.peek().map(|Reverse(running)| running.end)
    }

    /// The next arrival.
    #[inline]
    pub(super) fn next_arrival(&self) -> Option<i64> {
        self.jobs.get(self.arrived as usize).map(|job| job.release)
    }

    /// Moves the clock forward.
    #[inline]
    pub(super) fn advance(&mut self, now: i64) {
        debug_assert!(now >= self.now, "time runs backwards: {now} after {}", self.now);
        self.now = now;
    }

    /// The next job enters the queue. O(1).
    #[inline]
    pub(super) fn arrive(&mut self) -> Rank {
        let rank = self.arrived;
        self.arrived += 1;
        self.waiting[rank as usize] = true;
        self.n_waiting += 1;
        rank
    }

    /// Ends the job that ends first, if that is now. O(log running).
    #[inline]
    pub(super) fn complete(&mut self) -> Option<Rank> {
        if self.next_end() != Some(self.now) {
            return None;
        }
        let Reverse(running) = self.running.pop()?;
        self.processors.give_back(running.slot);
        Some(running.rank)
    }

    /// Starts a waiting job that fits. O(log running + ranges of its allocation).
    pub(super) fn start(&mut self, rank: Rank, started_by: StartedBy) {
        debug_assert!(self.is_waiting(rank));
        self.waiting[rank as usize] = false;
        self.n_waiting -= 1;
        let job = self.jobs[rank as usize];
        let ranges_begin = self.node_ranges.len();
        let allocation = self.processors.take(job.procs, &mut self.node_ranges);
        let end = self.now + i64::from(job.run_time);
        self.running.push(Reverse(Running { end, rank, slot: allocation.slot }));
        if started_by == StartedBy::Main {
            self.counters.main_started += 1;
        } else {
            self.counters.backfill_started += 1;
        }
        let record = &mut self.records[job.id.index()];
        *record = JobRecord {
            eligible: record.eligible,
            start: Some(self.now),
            end: Some(end),
            state: job.final_state,
            started_by: Some(started_by),
            partition: 0,
            cpus: job.procs,
            n_nodes: allocation.n_nodes,
            ranges_begin: ranges_begin as u32,
            n_ranges: (self.node_ranges.len() - ranges_begin) as u32,
        };
    }

    /// A waiting job leaves the queue; its record says so already. O(1).
    pub(super) fn withdraw(&mut self, rank: Rank) {
        self.waiting[rank as usize] = false;
        self.n_waiting -= 1;
    }

    /// The counters, for the event loop and the algorithms.
    pub(super) fn counters(&mut self) -> &mut SchedulerCounters {
        &mut self.counters
    }

    /// What happened.
    pub(super) fn into_outcome(self) -> Outcome {
        let begin = self.jobs.first().map_or(self.now, |job| job.release);
        // Nobody waits for ever but who is larger than the machine.
        let waits = |record: &JobRecord| record.state == JobState::Pending && record.start.is_none();
        let pending = self.records.iter().enumerate().filter(|(_, record)| waits(record));
        let pending = pending.map(|(index, _)| (JobId::new(index), PendingReason::BadConstraints)).collect();
        Outcome {
            records: self.records,
            node_ranges: self.node_ranges,
            counters: self.counters,
            simulated_seconds: self.now - begin,
            pending,
        }
    }
}
