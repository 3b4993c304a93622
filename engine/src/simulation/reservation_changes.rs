//! What reservations make happen, and when: they become known, begin and end. Source: slurm-semantics 7.2.

use super::jobs::Phase;
use super::reservations::{Occurrence, RESERVED_TIER};
use super::{Controller, SECOND, seconds};
use crate::ids::JobId;
use crate::sched::queue::Record;

/// A change of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// A reservation's occurrence ends (before the next one is known).
    Ended(usize, usize),
    /// The time-limit scan deletes a FLEX reservation that has ended.
    Deleted(usize),
    /// A reservation's occurrence becomes known.
    Created(usize, usize),
    /// The sweep sees a reservation begin.
    Seen,
    /// The sweep sees one end: node records change.
    Swept,
    /// The background loop's pass looks whether unusable nodes can be replaced.
    Replaced,
    /// The time-limit scan does so, too.
    ReplacedByScan,
    /// Nodes go out of service (before others return, so that one outage can follow the other).
    NodesLeave(usize),
    /// Drained nodes are resumed: they may register again.
    NodesResume,
    /// Nodes register again.
    NodesReturn(usize),
}

impl Controller<'_> {
    /// An occurrence becomes known.
    pub(super) fn reservation_created(&mut self, index: usize, window: usize) {
        let (start, end) = self.reservation(index).windows[window];
        let occurrence = Occurrence { reservation: index, start, end };
        let at = self.reservations.existing.partition_point(|it| it.reservation < index);
        self.reservations.existing.insert(at, occurrence);
        self.reserve_anew();
        self.replace_reserved();
    }

    /// The sweep has seen that one has begun: its jobs may run, and the main scheduler is asked for.
    pub(super) fn reservation_seen(&mut self) {
        self.timers.sweeps(true);
        self.reserve_anew();
        self.timers.request_main(self.now);
    }

    /// The sweep has seen that one has ended: node records have changed.
    pub(super) fn reservation_swept(&mut self) {
        self.timers.sweeps(false);
        self.reserve_anew();
    }

    /// An occurrence is over: its nodes are anybody's. After the last one its waiting jobs are held, or freed; those of a FLEX one, which binds
    /// nobody to its time, only when the time-limit scan deletes it (reservation.c of 22.05.8, `job_test_resv`, `job_resv_check`; rec c1108).
    pub(super) fn reservation_ended(&mut self, index: usize, window: usize) {
        let is_last = window + 1 == self.reservation(index).windows.len();
        let stays = is_last && self.reservation(index).flags.flex;
        self.reservations.existing.retain(|it| stays || it.reservation != index);
        self.version += 1;
        self.look_again();
        self.replace_later();
        if stays {
            let scan = self.timers.scan_after(seconds(self.now) + 1);
            self.plan_change(scan, Change::Deleted(index));
        } else if is_last {
            self.reservation_deleted(index);
        } else {
            self.return_to_waiting(index);
        }
    }

    /// A reservation is no more: its waiting jobs are held, or freed.
    pub(super) fn reservation_deleted(&mut self, index: usize) {
        self.reservations.existing.retain(|it| it.reservation != index);
        self.version += 1;
        let waiting: Vec<JobId> = self.waiting_for(index).collect();
        if self.reservation(index).flags.no_hold_jobs_after {
            self.reservations.freed.extend(&waiting);
            let mut queue = std::mem::take(&mut self.queue);
            let waits = |record: &Record| self.live.is_pending(record.job);
            let is_freed = |record: &Record| self.reservations.freed.contains(&record.job);
            queue.reprioritise(waits, is_freed, |record, freed| {
                let tier = record.tier();
                (if freed { tier & !RESERVED_TIER } else { tier }, record.priority())
            });
            self.queue = queue;
            return;
        }
        for id in waiting {
            // Held for good, as one that sbatch refused: only its owner can still take it back.
            self.leaves_queue(id);
            self.forget_waiting(id);
            let is_cancelled = self.scenario.workload.jobs[id.index()].cancelled_at != i64::MAX && self.on_last_run(id);
            self.finished += usize::from(!is_cancelled);
            self.live.remove(id);
        }
        self.queue.purge(|record| self.live.is_pending(record.job));
    }

    /// Pending jobs of a recurring reservation wait for its next occurrence.
    fn return_to_waiting(&mut self, index: usize) {
        if self.reservation(index).flags.flex {
            return;
        }
        let pending: Vec<JobId> = self.waiting_for(index).filter(|&id| self.live.is_pending(id)).collect();
        for id in pending {
            self.leaves_queue(id);
            self.live.set_phase(id, Phase::Waiting);
            self.records[id.index()].eligible = None;
            self.hold(id);
        }
        self.queue.purge(|record| self.live.is_pending(record.job));
    }

    /// Jobs bound to a reservation that have not started. O(live jobs).
    fn waiting_for(&self, index: usize) -> impl Iterator<Item = JobId> + '_ {
        let waits = |phase: Phase| matches!(phase, Phase::Waiting | Phase::Pending);
        self.live
            .all()
            .filter(move |live| waits(live.phase))
            .map(|live| live.job)
            .filter(move |&id| self.reservation_of(id) == Some(index))
    }

    /// What reservations make happen, in order: (time [ms], what). O(occurrences).
    pub(super) fn reservation_changes(&self) -> Vec<(i64, Change)> {
        let mut changes = Vec::new();
        for (index, reservation) in self.scenario.calendar.reservations.iter().enumerate() {
            let mut known = self.timers.recorded_creation(&reservation.name).unwrap_or(reservation.created);
            for (window, &(start, end)) in reservation.windows.iter().enumerate() {
                let from = std::mem::replace(&mut known, end);
                if end * SECOND <= self.now || from >= end {
                    continue;
                }
                changes.push(((from.max(seconds(self.now)) * SECOND).max(self.now), Change::Created(index, window)));
                changes.push((self.timers.sweep_after(start.max(from)), Change::Seen));
                changes.push((end * SECOND, Change::Ended(index, window)));
                changes.push((self.timers.sweep_after(end), Change::Swept));
            }
        }
        changes
    }
}
