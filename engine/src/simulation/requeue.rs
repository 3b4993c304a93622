//! Jobs that go back to the queue: a new submission of the same job, not eligible for two minutes.
//! Source: slurm-semantics 7.6; observed: probe-limits job 9 (submit = requeue time, eligible 121 s later).

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, SECOND, seconds};
use crate::ids::JobId;
use crate::job::{EarlierRun, Job, RunEnd};
use crate::moments::RecordedRun;
use crate::outcome::JobRecord;

/// The lifetime of a job credential and a second: a requeued job is not eligible before it [s].
const REQUEUE_DELAY: i64 = 121;

/// A requeue so long after a job's end found it done [ms]: the trace cuts both off to seconds.
const LATER_MS: i64 = 3 * SECOND;

/// The recorded run that a job is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// How long it lasts [s].
    pub(super) seconds: u32,
    /// It would have lasted longer.
    pub(super) is_bound: bool,
    /// The job goes back to the queue after it.
    pub(super) returns: bool,
}

impl Controller<'_> {
    /// The recorded runs of a job before its last one, in their order.
    fn earlier_runs(&self, id: JobId) -> &[EarlierRun] {
        self.scenario.workload.jobs[id.index()].extra.as_ref().map_or(&[], |extra| &extra.earlier_runs)
    }

    /// Whether a recorded run is repeated here. Whom preemption strikes, or a node that goes down, is decided by the simulation where it
    /// preempts or has such nodes, so recorded victims are then not struck again.
    fn is_repeated(&self, run: &EarlierRun) -> bool {
        match run.ended_by {
            RunEnd::Requeued => true,
            RunEnd::Preempted => self.preempt.is_none(),
            RunEnd::NodeFail => !self.agenda.strikes,
        }
    }

    /// The run that a job is in, or comes to next. Who was struck in it runs on until somebody strikes: a requeue that is recorded after
    /// that ends a later run (rec bc-tier). O(1) for a job that was never requeued.
    pub(super) fn current_run(&self, id: JobId) -> Run {
        let run = self.live.get(id).map_or(0, |live| live.run);
        let job = &self.scenario.workload.jobs[id.index()];
        match self.earlier_runs(id).get(usize::from(run)).filter(|run| self.is_repeated(run)) {
            Some(earlier) => Run { seconds: earlier.run_time, is_bound: false, returns: true },
            None => match self.longest_struck(job) {
                // How long it would have run is unknown, as of any that was preempted last.
                Some(seconds) => Run { seconds, is_bound: true, returns: false },
                None => Run { seconds: job.run_time, is_bound: job.run_time_is_bound, returns: false },
            },
        }
    }

    /// A job's run was struck, and it is queued again: if the record's run was, too, it comes to the next of it.
    pub(super) fn was_struck(&mut self, id: JobId) {
        let run = self.live.get(id).map_or(0, |live| live.run);
        let is_recorded = self.earlier_runs(id).get(usize::from(run)).is_some_and(|run| !self.is_repeated(run));
        if let Some(live) = self.live.get_mut(id) {
            live.run += u16::from(is_recorded);
        }
    }

    /// The run of a job that starts in second `start` and would be killed at `kill` [ms]; and when it is queued again [ms], if the trace's
    /// requeue struck it when it was done: `scontrol requeue` takes who is still known, and the accounting then ends the run there
    /// (job_mgr.c of 22.05.8, `_job_requeue_op`; rec at-lin). That shows where a run outlasts its limit, or by the recorded moments. How long
    /// such a run was the trace does not tell: as long as the last one. O(1).
    pub(super) fn ends_before_requeue(
        &self,
        id: JobId,
        run: Run,
        (start, kill): (i64, Option<i64>),
        recorded: Option<RecordedRun>,
    ) -> (Run, Option<i64>) {
        let requeued_at = (start + i64::from(run.seconds)) * SECOND;
        let is_later = match recorded.filter(|recorded| recorded.length < RecordedRun::OPEN) {
            Some(recorded) => recorded.length + LATER_MS < i64::from(run.seconds) * SECOND,
            None => kill.is_some_and(|kill| requeued_at > kill + LATER_MS),
        };
        if !run.returns || !is_later {
            return (run, None);
        }
        let job = &self.scenario.workload.jobs[id.index()];
        let is_bound = job.run_time_is_bound || job.cancelled_at != i64::MAX;
        (Run { seconds: job.run_time.min(run.seconds), is_bound, ..run }, Some(requeued_at))
    }

    /// A job that is done is queued again.
    pub(super) fn done_comes_back(&mut self, id: JobId) {
        if self.live.get(id).is_some_and(|live| live.phase == Phase::Done) {
            self.limits_submitted(id);
            self.come_back(id);
            self.touch();
        }
    }

    /// The longest recorded run that is not repeated here, of a job that was cancelled in the queue after it [s]: its last record tells no
    /// run time (rec aq-mix).
    fn longest_struck(&self, job: &Job) -> Option<u32> {
        let runs = job.extra.as_ref().filter(|_| job.cancelled_at != i64::MAX).map(|extra| extra.earlier_runs.iter());
        runs?.filter(|run| !self.is_repeated(run)).map(|run| run.run_time).max()
    }

    /// How long a run takes [ms]. A trace tells seconds, and cuts both ends off to them: what is lost is drawn, unless the
    /// controller is ideal. Who ended within the limit, or was ended by it, still does; who ran already, at the recorded time. O(1).
    pub(super) fn run_ms(&self, id: JobId, run: Run, limit_seconds: i64, behind: i64) -> i64 {
        let (whole, limit) = (i64::from(run.seconds) * SECOND, limit_seconds * SECOND);
        if run.is_bound || behind > 0 || self.scenario.policy.cost.is_ideal() {
            return whole;
        }
        let drawn = (whole + self.timers.cut_off(id.index())).max(0);
        if whole <= limit { drawn.min(limit) } else { drawn }
    }

    /// Whether no recorded requeue is still to come.
    pub(super) fn on_last_run(&self, id: JobId) -> bool {
        let run = self.live.get(id).map_or(0, |live| live.run);
        !self.earlier_runs(id).iter().skip(usize::from(run)).any(|run| self.is_repeated(run))
    }

    /// Whether a job may be queued again when it loses its nodes: a batch job, by its own word or else `JobRequeue`.
    pub(crate) fn can_requeue(&self, id: JobId) -> bool {
        let extra = self.scenario.workload.jobs[id.index()].extra.as_ref();
        extra.and_then(|extra| extra.requeue).unwrap_or(self.scenario.policy.job_requeue)
    }

    /// A component that is queued again because a sibling did not start: its wait begins now, not when its nodes have answered (rec i-mix).
    pub(crate) fn waits_from_now(&mut self, id: JobId) {
        let begin = seconds(self.now) + REQUEUE_DELAY;
        if let Some(live) = self.live.get_mut(id) {
            live.begin = begin;
        }
    }

    /// A job whose nodes have left COMPLETING is submitted anew: eligible after [`REQUEUE_DELAY`], its age and its
    /// place by submit time begin anew, and its record is that of the new run.
    pub(super) fn come_back(&mut self, id: JobId) {
        let now = seconds(self.now);
        self.live.set_phase(id, Phase::Waiting);
        let Some(live) = self.live.get_mut(id) else { return };
        (live.returns, live.requeued_at) = (false, None);
        let is_new = !std::mem::take(&mut live.keeps_place);
        live.owes_answer |= !is_new;
        if is_new {
            live.submit = now;
            if live.begin <= now {
                live.begin = now + REQUEUE_DELAY;
            }
            (live.accrue, live.accrues) = (now, false);
            // It counts as what it asks for until it is tested again.
            live.charged_cpus = None;
        }
        self.sizes_version += 1;
        let begin = live.begin;
        match is_new {
            true => self.back_in_place.remove(&id),
            false => self.back_in_place.insert(id, now),
        };
        let eligible = self.records[id.index()].eligible.filter(|_| !is_new);
        self.records[id.index()] = JobRecord { eligible, ..JobRecord::PENDING };
        self.counters.requeued += 1;
        if is_new {
            self.stands_anew(id, now);
        }
        self.hold(id);
        self.events.push((begin.max(now) * SECOND).max(self.now), Event::Released { job: id });
        let cancelled_at = self.scenario.workload.jobs[id.index()].cancelled_at;
        if cancelled_at != i64::MAX && self.on_last_run(id) {
            self.events.push((cancelled_at * SECOND).max(self.now), Event::Cancelled { job: id });
        }
    }

    /// Who was queued again without a submission has been eligible before.
    pub(super) fn is_eligible_since(&mut self, id: JobId, now: i64) {
        let ran = self.live.get(id).is_some_and(|live| live.starts > 0);
        let eligible = &mut self.records[id.index()].eligible;
        *eligible = eligible.filter(|_| ran).or(Some(now));
    }

    /// A job's place among those of its priority is that of one submitted now. O(log jobs).
    fn stands_anew(&mut self, id: JobId, now: i64) {
        // Jobs stand in submit order. Under priority/basic the priority of its submission is higher, but its array's is the same.
        // Of those submitted in this second older numbers come first (job_scheduler.c, `sort_job_queue2`; rec c1021).
        let jobs = &self.scenario.workload.jobs;
        let number = jobs[id.index()].name.id;
        let before = jobs.partition_point(|job| (job.submit, job.name.id) < (now, number));
        self.queue.requeue(id, JobId::new(before), now);
        self.ranks_behind(id);
    }
}
