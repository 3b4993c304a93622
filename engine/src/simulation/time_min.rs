//! `--time-min` and `--deadline`. Source: slurm-semantics 1.5.10, 3.6 step 8, 3.7; for NoReserve and
//! PartitionTimeLimit backfill.c (`_attempt_backfill`) of 22.05.8.

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, SECOND, seconds};
use crate::ids::{JobId, PartitionId};
use crate::job::{JobExtra, JobPart};
use crate::outcome::{JobState, StartedBy};
use crate::policy::{PreemptMode, SlurmVersion};

/// The time limit with which backfill tests jobs of QOS with NoReserve [s].
const NO_RESERVE_SECONDS: i64 = 60;

impl Controller<'_> {
    fn extra(&self, id: JobId) -> Option<&JobExtra> {
        self.scenario.workload.jobs[id.index()].extra.as_deref()
    }

    /// The time limit with which backfill plans a job [s]: its `--time-min`, if that is shorter; all of its own, if it has a deadline of which more
    /// than a minute is left (backfill.c of 22.05.8, `_attempt_backfill`; rec w2271). O(1).
    pub(crate) fn plan_seconds(&self, id: JobId) -> i64 {
        let limit = self.live.get(id).map_or(0, |live| live.limit_seconds);
        let Some(extra) = self.extra(id) else { return limit };
        let least = extra.time_min.filter(|_| self.left_seconds(id).is_none());
        least.map_or(limit, |minutes| limit.min(i64::from(minutes) * 60))
    }

    /// What a job's deadline leaves it [s], in whole minutes; `None` without one, and in the last minute. O(1).
    fn left_seconds(&self, id: JobId) -> Option<i64> {
        let deadline = self.extra(id)?.deadline?;
        Some(deadline.saturating_sub(seconds(self.now)) / 60 * 60).filter(|&left| left > 0)
    }

    /// The time limit that a component would start with [s]: as planned, but no more than its deadline leaves. O(1).
    pub(crate) fn component_seconds(&self, id: JobId) -> i64 {
        let planned = self.plan_seconds(id);
        self.left_seconds(id).map_or(planned, |left| planned.min(left))
    }

    /// What a job needs before its deadline and within a partition's MaxTime [s]: its `--time-min`, else its limit. O(1).
    pub(crate) fn least_seconds(&self, id: JobId) -> i64 {
        let limit = self.live.get(id).map_or(0, |live| live.limit_seconds);
        self.extra(id).and_then(|extra| extra.time_min).map_or(limit, |minutes| i64::from(minutes) * 60)
    }

    /// The time for which backfill tests a job and plans it in a partition [s]: its planned limit, but not more than the partition's
    /// MaxTime, which QOS with PartitionTimeLimit may exceed; and one minute if its QOS has NoReserve, where there is preemption.
    /// O(1).
    pub(crate) fn test_seconds(&self, id: JobId, partition: PartitionId) -> i64 {
        self.limit_within(partition, self.asked_seconds(id))
    }

    /// What a partition's MaxTime leaves of a time limit [s]. O(1).
    pub(crate) fn limit_within(&self, partition: PartitionId, limit: i64) -> i64 {
        let most = self.scenario.cluster.partitions[partition.index()].max_time;
        most.map_or(limit, |minutes| limit.min(i64::from(minutes) * 60))
    }

    /// The time limit with which backfill asks of reservations and limits whether a job may start [s]. O(1).
    pub(crate) fn asked_seconds(&self, id: JobId) -> i64 {
        let limit = self.plan_seconds(id);
        match self.scenario.policy.preempt.mode {
            PreemptMode::Off => limit,
            _ if self.is_never_planned(id) => limit.min(NO_RESERVE_SECONDS),
            _ => limit,
        }
    }

    /// A cycle of backfill ends with the start of a task out of its array's record whose QOS has NoReserve: what stays of the record keeps the
    /// minute with which it was tested, for good; from 24.05.8 on `--time-min` does so, too. Else its limit comes back with the next record (backfill.c of 22.05.8, `_attempt_backfill`;
    /// rec at-lin). O(jobs of that submission).
    pub(crate) fn rest_keeps_test_limit(&mut self, id: JobId) {
        if self.is_never_planned(id) && self.scenario.policy.preempt.mode != PreemptMode::Off {
            self.rest_keeps_limit(id, NO_RESERVE_SECONDS);
        } else if self.scenario.policy.version >= SlurmVersion::V24_05
            && self.extra(id).is_some_and(|extra| extra.time_min.is_some() && extra.deadline.is_none())
        {
            self.rest_keeps_limit(id, self.plan_seconds(id));
        }
    }

    /// The test of an array's record after a start out of it is over: what stays of it has the limit [s] again with which the cycle came to it
    /// (backfill.c of 22.05.8, `_attempt_backfill`: `orig_time_limit` stands before `next_task`; rec c174). O(jobs of that submission).
    pub(crate) fn record_gets_limit(&mut self, id: JobId, limit: i64) {
        self.rest_keeps_limit(id, limit);
        if let Some(live) = self.live.get_mut(id) {
            live.limit_seconds = limit;
        }
    }

    /// What stays of an array's record when a task starts has a limit [s] from then on. O(jobs of that submission).
    fn rest_keeps_limit(&mut self, id: JobId, limit: i64) {
        for task in self.rest_of_record(id) {
            if let Some(live) = self.live.get_mut(task) {
                live.limit_seconds = limit;
            }
        }
    }

    /// While backfill tests a job with `--time-min`, that is its limit, for limits of QOS and associations, too (backfill.c of 22.05.8,
    /// `_attempt_backfill`; rec at-share). Returns what [`Self::unshorten_limit`] is to put back. O(1).
    pub(crate) fn shorten_limit(&mut self, id: JobId) -> Option<i64> {
        self.extra(id).filter(|extra| extra.deadline.is_none())?.time_min?;
        let planned = self.plan_seconds(id);
        let limit = &mut self.live.get_mut(id)?.limit_seconds;
        Some(std::mem::replace(limit, planned))
    }

    /// Puts back the limit that [`Self::shorten_limit`] replaced. Returns what [`Self::unshorten_limit`] is to put back. O(1).
    pub(crate) fn restore_limit(&mut self, id: JobId, limit: i64) -> Option<i64> {
        Some(std::mem::replace(&mut self.live.get_mut(id)?.limit_seconds, limit))
    }

    /// The test is over: who has not started has its own limit again. O(1).
    pub(crate) fn unshorten_limit(&mut self, id: JobId, before: Option<i64>) {
        if let Some(limit) = before
            && self.live.is_pending(id)
            && let Some(live) = self.live.get_mut(id)
        {
            live.limit_seconds = limit;
        }
    }

    /// Whether who is started with `--time-min` keeps its own limit (backfill.c of 23.11.11, `_attempt_backfill`; rec c1052-23-11). O(1).
    pub(crate) fn time_min_is_soft(&self) -> bool {
        let policy = &self.scenario.policy;
        policy.backfill.time_min_is_soft && policy.version >= SlurmVersion::V23_11
    }

    /// When a running job that ends at `end` [s] by its limit is taken to end where that is so: with its `--time-min`, and after that with
    /// half of what is left (`_bf_reserve_running`). O(1).
    pub(crate) fn soft_end(&self, id: JobId, start: i64, end: i64) -> i64 {
        let least = self.extra(id).and_then(|extra| extra.time_min).filter(|_| self.time_min_is_soft());
        let Some(minutes) = least else { return end };
        let (now, soft) = (seconds(self.now), start + i64::from(minutes) * 60);
        if soft < now { now + (end - now) / 2 } else { soft }
    }

    /// Whether a job has a `--time-min`. O(1).
    pub(crate) fn has_time_min(&self, id: JobId) -> bool {
        self.extra(id).is_some_and(|extra| extra.time_min.is_some())
    }

    /// A job of `--time-min` that is about to start gets this limit [s], if that is longer: up to the first plan on its nodes, from 25.05.3 on
    /// (backfill.c, `_reset_job_time_limit`; rec c117-25-05), components of heterogeneous jobs always.
    pub(crate) fn lengthen_limit(&mut self, id: JobId, limit: i64) {
        self.longest_limit = Some((id, limit));
    }

    /// The limit a job gets when it starts: with `--time-min` what backfill planned (20.11 to 25.05.2: exactly that), and
    /// never beyond its deadline.
    pub(super) fn settle_limit(&mut self, id: JobId, by: StartedBy) {
        let Some(extra) = self.extra(id) else { return };
        let Some(requested) = self.live.get(id).map(|live| live.limit_seconds) else { return };
        let deadline = extra.deadline.unwrap_or(i64::MAX);
        let planned = if by == StartedBy::Backfill { self.plan_seconds(id) } else { requested };
        let left = deadline.saturating_sub(seconds(self.now)).max(60) / 60 * 60;
        if by == StartedBy::Backfill
            && extra.time_min.is_some()
            && extra.deadline.is_none()
            && self.scenario.policy.version < SlurmVersion::V24_05
            && self.is_of_common_record(id)
        {
            // The record is split while it is tested with its least (backfill.c of 22.05.8, `_attempt_backfill`; rec bf-c71); from 24.05.8 on it
            // gets its limit back (rec c108-24-11).
            self.rest_keeps_limit(id, planned);
        }
        let longest = self.longest_limit.take().filter(|longest| longest.0 == id).map_or(planned, |longest| longest.1);
        if let Some(live) = self.live.get_mut(id) {
            live.limit_seconds = planned.max(longest).min(left);
        }
    }

    /// Notes when it will be too late for a job to end by its deadline: nobody looks then, but whoever looks next finds it so.
    pub(super) fn watch_deadline(&mut self, id: JobId) {
        if let Some(deadline) = self.extra(id).and_then(|extra| extra.deadline) {
            let late = deadline.saturating_sub(self.least_seconds(id)).saturating_add(1);
            self.events.push(late.saturating_mul(SECOND).max(self.now), Event::DeadlineMissed { job: id });
        }
    }

    /// It has become too late for a job that may still wait.
    pub(super) fn miss_deadline(&mut self, id: JobId) {
        if self.live.is_pending(id) {
            self.come_unseen();
        }
        if self.scenario.policy.version >= SlurmVersion::V23_11 && self.waits(id) {
            self.events.push(self.timers.purge_after(self.now), Event::PurgedLate { job: id });
        }
    }

    /// Whether a job is in the queue, or will be.
    fn waits(&self, id: JobId) -> bool {
        self.live.get(id).is_some_and(|live| matches!(live.phase, Phase::Waiting | Phase::Pending))
    }

    /// Whoever purges records cancels it, too (job_mgr.c of 23.11.4, `purge_old_job`; rec w2083-24-11), held ones from 25.05 on only.
    pub(super) fn purge_late(&mut self, id: JobId) {
        let passes_held = self.scenario.policy.version < SlurmVersion::V25_05;
        if self.waits(id) && !(passes_held && self.is_held_by_hand(id)) {
            self.cancels_late(id);
        }
    }

    /// A scheduler has come to a job, or to the record of an array's tasks: if it is too late, all of that is cancelled (job_scheduler.c of
    /// 22.05.8, `deadline_ok`; rec bf-c90). O(1), else O(jobs of that submission).
    pub(crate) fn cancels_late(&mut self, id: JobId) -> bool {
        let Some(deadline) = self.extra(id).and_then(|extra| extra.deadline) else { return false };
        if deadline >= seconds(self.now).saturating_add(self.least_seconds(id)) {
            return false;
        }
        let of_record = if self.is_of_common_record(id) { self.rest_of_record(id) } else { Vec::new() };
        for job in of_record.into_iter().chain([id]) {
            self.leave_queue(job, JobState::Deadline);
        }
        true
    }

    fn is_of_common_record(&self, id: JobId) -> bool {
        matches!(self.job(id).name.part, JobPart::Task(_)) && !self.has_own_record(id)
    }

    /// The other tasks in the common record of an array. O(jobs of that submission).
    fn rest_of_record(&self, id: JobId) -> Vec<JobId> {
        let jobs = &self.scenario.workload.jobs;
        let (submit, array) = (jobs[id.index()].submit, jobs[id.index()].name.id);
        let first = jobs.partition_point(|job| job.submit < submit);
        let together = jobs.iter().enumerate().skip(first).take_while(|(_, job)| job.submit == submit);
        let tasks = together.filter(|(_, job)| job.name.id == array).map(|(index, _)| JobId::new(index));
        tasks.filter(|&task| task != id && !self.has_own_record(task)).collect()
    }
}
