//! How a job's run ends: by itself, by its limit or by somebody; and what becomes of it when its nodes are free.
//! Source: slurm-semantics 4.4, 7.1, 7.4, 7.6.

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, seconds};
use crate::cluster::UNLIMITED_OVER_TIME;
use crate::ids::{JobId, PartitionId};
use crate::moments::RecordedRun;
use crate::outcome::JobState;

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnded {
    /// The job itself.
    Itself,
    /// The time-limit scan.
    TimeLimit,
    /// Somebody else: this is its state, unless it is queued again.
    Others {
        /// The state word.
        state: JobState,
        /// It goes back to the queue.
        requeue: bool,
    },
}

impl Controller<'_> {
    /// Whether this start's run is still going on.
    pub(crate) fn is_running(&self, id: JobId, starts: u16) -> bool {
        self.live.get(id).is_some_and(|live| live.phase == Phase::Running && live.starts == starts)
    }

    /// The event of a run's end; void if that run has ended before.
    pub(super) fn run_ends(&mut self, id: JobId, killed: bool, starts: u16) {
        if self.is_running(id, starts) {
            // The scan looks at preempted jobs first (job_mgr.c of 22.05.8, `job_time_limit`), who have until their grace is over.
            if let Some(live) = self.live.get(id).filter(|live| killed && live.warned) {
                if live.expected_end <= seconds(self.now) {
                    self.grace_over(id, starts);
                }
                return;
            }
            self.end_run(id, if killed { RunEnded::TimeLimit } else { self.ends_alone(id) });
        }
    }

    /// How a run ends that no limit ends: by `scancel`, whose signal its steps die of, if that is how the trace's last one did and no log
    /// tells of it.
    fn ends_alone(&self, id: JobId) -> RunEnded {
        let ends = self.scenario.workload.jobs[id.index()].ends;
        let is_last = self.live.get(id).is_some_and(|live| !live.returns && live.requeued_at.is_none());
        match ends {
            JobState::Cancelled if is_last && self.told_run(id).is_none() => {
                RunEnded::Others { state: ends, requeue: false }
            }
            _ => RunEnded::Itself,
        }
    }

    /// What a log tells of the run of this job that goes on.
    fn told_run(&self, id: JobId) -> Option<RecordedRun> {
        self.timers.recorded_run(id.index(), self.live.get(id)?.starts)
    }

    /// How long a job of the partition may run beyond its limit (`OverTimeLimit`) [s]; `None` for ever.
    pub(crate) fn over_time_seconds(&self, partition: PartitionId) -> Option<i64> {
        let of_partition = self.scenario.cluster.partitions[partition.index()].over_time_limit;
        let minutes = of_partition.or(self.scenario.policy.over_time_limit);
        minutes.filter(|&minutes| minutes != UNLIMITED_OVER_TIME).map(|minutes| i64::from(minutes) * 60)
    }

    /// A running job ends now: its resources are free at once, its nodes when they have answered.
    pub(crate) fn end_run(&mut self, id: JobId, how: RunEnded) {
        let now = seconds(self.now);
        let job = &self.scenario.workload.jobs[id.index()];
        let (association, own) = (job.association, job.ends);
        let was_cancelled = own == JobState::Cancelled && self.told_run(id).is_some_and(|run| run.is_killed);
        self.live.set_phase(id, Phase::Completing);
        if let RunEnded::Others { state: JobState::NodeFail | JobState::Preempted, requeue: true } = how {
            self.was_struck(id);
        }
        let Some(live) = self.live.get_mut(id) else { return };
        match how {
            // The recorded requeue has happened; the next run is the next recorded one.
            RunEnded::Itself => live.run += u16::from(live.returns),
            // Whoever is queued again when it is done is so after this end, too.
            RunEnded::TimeLimit => {
                live.returns = live.requeued_at.is_some();
                live.run += u16::from(live.returns);
            }
            RunEnded::Others { requeue, .. } => (live.returns, live.requeued_at) = (requeue, None),
        }
        let (returns, is_done) = (live.returns, live.requeued_at.is_some());
        let (start, billing, moment) = (live.start, live.billing, live.moment());
        let (limit_end, partition) = (start + live.limit_seconds, live.partition);
        let allocation = std::mem::take(&mut live.allocation);
        self.running.remove(moment);
        self.node_jobs.remove(id, &allocation);
        self.free.give_back(&self.selector.geometry, &allocation);
        for share in &allocation.shares {
            self.completing_jobs[share.node.index()] += 1;
            self.completing.insert(share.node);
        }
        if let Some(live) = self.live.get_mut(id) {
            live.allocation = allocation;
        }
        self.array_task_ended(id);
        let slice = (now - start.max(self.timers.last_priority_step)).max(0);
        // The slice since the last step is charged only where limits are enforced.
        if self.scenario.policy.enforce.limits && self.scenario.policy.priority.multifactor {
            let charge = self.usage.charge_of(slice, billing * self.usage_factor(id));
            self.usage.add(&self.scenario.associations, association, charge);
        }
        let charged_seconds = self.usage.charge_of(slice, self.usage_factor(id));
        self.limits_end(id, slice, charged_seconds, limit_end - (now - slice));
        self.records[id.index()].end = Some(now);
        if !returns || is_done {
            // Who ends by himself is asked for his exit code first, then whether `OverTimeLimit` is past, too (job_mgr.c of 22.05.8,
            // `job_complete`; rec bd-k11).
            let is_late = || self.over_time_seconds(partition).is_some_and(|over| now > limit_end + over);
            let state = match how {
                RunEnded::Others { state, .. } => state,
                RunEnded::TimeLimit if was_cancelled => own,
                RunEnded::TimeLimit => JobState::Timeout,
                RunEnded::Itself if own == JobState::Completed && is_late() => JobState::Timeout,
                RunEnded::Itself => own,
            };
            if is_done {
                self.records[id.index()].state = state;
                self.limits_left(id);
            } else {
                self.close(id, state);
            }
        }
        let asks_for_main = self.nodes_will_answer(id, how, returns && !is_done);
        self.let_go(id);
        self.touch();
        if let Some(at) = asks_for_main.filter(|_| !self.scenario.policy.main.defer) {
            self.events.push(at, Event::MainRequested);
        }
    }

    /// `UsageFactor` of the job's QOS.
    pub(crate) fn usage_factor(&self, id: JobId) -> f64 {
        self.scenario.qos[self.job(id).qos.index()].usage_factor.unwrap_or(1.0)
    }

    /// The last node of a job has answered: it is gone, or back in the queue.
    pub(super) fn nodes_free(&mut self, id: JobId) {
        let Some(live) = self.live.get_mut(id) else { return };
        if !live.keeps_place && std::mem::take(&mut live.owes_answer) {
            return;
        }
        let (returns, requeued_at) = (live.returns, live.requeued_at);
        let allocation = std::mem::take(&mut live.allocation);
        self.return_licenses(id);
        for share in &allocation.shares {
            self.node_answers(share.node);
        }
        if let Some(at) = requeued_at {
            self.live.set_phase(id, Phase::Done);
            let at = self.timers.recorded_return(id.index(), self.now).unwrap_or(at);
            self.events.push(at.max(self.now), Event::ComesBack { job: id });
        } else if returns {
            self.come_back(id);
        } else {
            self.live.remove(id);
            self.forget_waiting(id);
        }
        self.touch();
        if self.scenario.policy.epilog && !self.scenario.policy.main.defer {
            self.events.push(self.now, Event::MainRequested);
        } else {
            self.timers.request_main(self.now);
        }
    }

    /// The owner took the job back, if it had not started.
    pub(super) fn cancel_pending(&mut self, id: JobId) {
        self.leave_queue(id, JobState::Cancelled);
    }

    /// A job that has not started leaves the queue for good.
    pub(super) fn leave_queue(&mut self, id: JobId, state: JobState) {
        let record = self.records[id.index()];
        if record.start.is_some() || record.end.is_some() {
            return;
        }
        self.leaves_queue(id);
        self.live.remove(id);
        self.preferred.remove(&id);
        self.forget_waiting(id);
        self.records[id.index()].end = Some(seconds(self.now));
        self.close(id, state);
        self.touch();
    }
}
