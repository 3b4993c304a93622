//! Conservative backfilling: every job gets a planned start when it arrives, the earliest that delays nobody planned
//! before it, and never starts later than that.
//!
//! Compression: at every completion each waiting job, in order of arrival, is taken out of the plan and put back at its
//! earliest place. Source: Feitelson and Weil, IPPS 1998; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
//!
//! What makes it fast is skipping jobs that provably cannot move. Say a job planned at s was last tried when it could
//! not start before s, and now can, at t. While it is planned at s, it fits at any time from s to its end, so what
//! refused t then was a time x in [t, s) with too few processors, and at x it now finds enough. Hence x is in the set
//! of times that have become emptier since ([`Freed`]), and a job wider than anything free there, or planned before
//! its beginning, stays where it is. Arrivals, starts and the passing of time free nothing; a job that ends when
//! expected frees nothing either. With exact estimates, then, compression costs nothing at all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::outcome::StartedBy;

use super::event_loop::Discipline;
use super::first_fit::{FirstFit, Hole};
use super::freed::Freed;
use super::jobs::Rank;
use super::machine::Machine;
use super::options::Compression;
use super::profile::Profile;

/// Conservative backfilling.
#[derive(Debug)]
pub(super) struct Conservative {
    compression: Compression,
    /// No rank below waits.
    head: Rank,
    profile: Profile,
    /// Each job's planned start, by rank.
    planned: Vec<i64>,
    /// Planned starts in time order; superseded ones stay until they come up.
    starts: BinaryHeap<Reverse<(i64, Rank)>>,
    /// Waiting jobs by width.
    queue: FirstFit,
    /// What has become emptier since every waiting job was last tried.
    freed: Freed,
    /// The same during a compression, for the next one.
    freed_meanwhile: Freed,
}

impl Conservative {
    /// An empty plan for up to `n_jobs` jobs. O(n_jobs).
    pub(super) fn new(n_jobs: usize, machine: &Machine, compression: Compression) -> Self {
        Self {
            compression,
            head: 0,
            profile: Profile::new(machine.now(), machine.free()),
            planned: vec![i64::MAX; n_jobs],
            starts: BinaryHeap::new(),
            queue: FirstFit::new(n_jobs),
            freed: Freed::default(),
            freed_meanwhile: Freed::default(),
        }
    }

    fn give_back(&mut self, from: i64, to: i64, procs: u32, machine: &Machine) {
        self.profile.advance(machine.now());
        self.profile.give_back(from, to, procs);
        if self.compression == Compression::EveryCompletion {
            self.freed.add(from, to);
            self.compress(machine);
        }
    }

    /// Tries every waiting job that might move, in order of arrival.
    /// O(jobs tried × (log queue + steps of the plan looked at)); O(1) if nothing has become emptier.
    fn compress(&mut self, machine: &Machine) {
        self.freed.advance(machine.now());
        self.freed_meanwhile.clear();
        let mut widest = self.widest_freed(self.freed.spans());
        let mut next = self.next_up_to(widest, 0);
        while let Some(rank) = next {
            if let Some((from, to)) = self.move_earlier(rank, machine) {
                self.freed.add(from, to);
                self.freed_meanwhile.add(from, to);
                widest = widest.max(self.widest_freed(&[(from, to)]));
            }
            next = self.next_up_to(widest, rank + 1);
        }
        std::mem::swap(&mut self.freed, &mut self.freed_meanwhile);
    }

    /// The most processors free anywhere in the spans: no wider job can gain by them.
    fn widest_freed(&self, spans: &[(i64, i64)]) -> u32 {
        spans.iter().map(|&(from, to)| self.profile.most_free(from, to)).max().unwrap_or(0)
    }

    /// The first waiting job from a rank on that is no wider.
    fn next_up_to(&self, procs: u32, from: Rank) -> Option<Rank> {
        if procs == 0 { None } else { self.queue.next(from, Hole { free: procs, extra: procs, window: None }) }
    }

    /// Puts a waiting job at its earliest place, if that is earlier, and says where its old place has become free.
    fn move_earlier(&mut self, rank: Rank, machine: &Machine) -> Option<(i64, i64)> {
        let job = machine.job(rank);
        let (planned, seconds) = (self.planned[rank as usize], i64::from(job.estimate));
        let (first_freed, last_freed) = self.freed.bounds()?;
        if planned <= first_freed.max(machine.now()) {
            return None;
        }
        let from = machine.now().max(first_freed - seconds + 1);
        // From `planned` on the job's own place is free for it.
        let start = self.profile.earliest(job.procs, job.estimate, from, planned.min(last_freed), planned)?;
        let freed = (planned.max(start + seconds), planned + seconds);
        self.profile.give_back(freed.0, freed.1, job.procs);
        self.profile.take(start, planned.min(start + seconds), job.procs);
        self.plan(rank, start);
        Some(freed)
    }

    fn plan(&mut self, rank: Rank, start: i64) {
        self.planned[rank as usize] = start;
        self.starts.push(Reverse((start, rank)));
    }

    /// The next planned start that holds.
    fn next_start(&mut self, machine: &Machine) -> Option<(i64, Rank)> {
        while let Some(&Reverse((start, rank))) = self.starts.peek() {
            if machine.is_waiting(rank) && self.planned[rank as usize] == start {
                return Some((start, rank));
            }
            self.starts.pop();
        }
        None
    }
}

impl Discipline for Conservative {
    /// O(log queue + steps of the plan).
    fn arrived(&mut self, rank: Rank, machine: &Machine) {
        let (job, now) = (machine.job(rank), machine.now());
        self.profile.advance(now);
        // The last step of the plan has all processors free, so there is always a place.
        let start = self.profile.earliest(job.procs, job.estimate, now, i64::MAX, i64::MAX).unwrap_or(i64::MAX);
        self.profile.take(start, start.saturating_add(i64::from(job.estimate)), job.procs);
        self.plan(rank, start);
        self.queue.insert(rank, job.procs, job.estimate);
    }

    fn withdrawn(&mut self, rank: Rank, machine: &Machine) {
        let (job, planned) = (machine.job(rank), self.planned[rank as usize]);
        self.queue.remove(rank);
        self.give_back(planned, planned + i64::from(job.estimate), job.procs, machine);
    }

    fn completed(&mut self, rank: Rank, machine: &Machine) {
        let job = machine.job(rank);
        let expected_end = self.planned[rank as usize] + i64::from(job.estimate);
        self.give_back(machine.now(), expected_end, job.procs, machine);
    }

    /// Starts the jobs planned for now. O(log queue) each.
    fn pass(&mut self, machine: &mut Machine) {
        while let Some((start, rank)) = self.next_start(machine) {
            // With a pass per event, who is planned on processors released this second waits for that very event.
            if start > machine.now() || machine.job(rank).procs > machine.free() {
                return;
            }
            self.starts.pop();
            self.head = machine.next_waiting(self.head);
            machine.start(rank, if rank == self.head { StartedBy::Main } else { StartedBy::Backfill });
            self.queue.remove(rank);
        }
    }

    fn next_planned_start(&mut self, machine: &Machine) -> Option<i64> {
        self.next_start(machine).map(|(start, _)| start)
    }
}
