//! Tasks of arrays: those that wait as one record, and those of which no row tells.
//!
//! Of who waits because `%N` of his array run, slurmdbd is told that he is not eligible (`_setup_job_start_msg` of 22.05.8), and sacct, asked for a
//! period, leaves him out. That mark stays on some that have started since: docs/FACTS.md, facts 105.

use std::collections::BTreeMap;

use foresite_engine::job::{DependencyKind, JobName, JobPart};

use super::Jobs;
use crate::trace::caveat::CaveatKind;
use crate::trace::incarnations::RowJob;
use crate::trace::job_id::{MOST_TASKS, PendingTasks, array_tasks};
use crate::trace::log::Log;
use crate::trace::model::{TraceBefore, TraceJob};
use crate::trace::never_eligible::AFTER_THE_TRACE;
use crate::trace::states::TraceState;
use crate::trace::strings::Strings;

/// The most tasks without a row of their own in one trace.
const MOST_PENDING_TASKS: u64 = MOST_TASKS;

/// What the rows of an array tell of it.
pub(super) struct Array {
    /// The `--array` of the command line.
    pub(super) named: Vec<u8>,
    /// Tasks that have come.
    pub(super) come: u64,
    /// The highest of them, and its job.
    pub(super) last: Option<(u32, u32)>,
    /// A row had the array's own id, or no row's is known: the record from which tasks are split off keeps that id, so that it is the
    /// last task's in the end.
    pub(super) has_base: bool,
    /// The first row's line.
    pub(super) line: u64,
}

impl Jobs {
    /// The tasks of an array that wait as one record: each is a job.
    pub(super) fn take_pending(&mut self, tasks: &PendingTasks, job: &TraceJob, log: &mut Log) {
        self.pending_tasks = self.pending_tasks.saturating_add(tasks.count());
        if self.pending_tasks > MOST_PENDING_TASKS {
            log.error(job.line, "JobID", "too many pending tasks", "export a shorter period", || {
                format!("pending array records stand for more than {MOST_PENDING_TASKS} tasks")
            });
            return;
        }
        if tasks.cut {
            log.caveat(CaveatKind::TaskListCut, job.line);
        }
        let end = job.cancelled_at.filter(|&at| at != AFTER_THE_TRACE);
        for task in tasks.tasks() {
            let name = JobName { id: tasks.id, part: JobPart::Task(task) };
            self.add(RowJob { job: TraceJob { name, ..job.clone() }, end }, log);
        }
    }

    /// Makes jobs of tasks without a row, where the others tell what became of them; else they are counted. `opens` is when the simulated part
    /// of the trace begins, `latest` the last moment that it tells. O(jobs + tasks named × log jobs).
    pub(super) fn end_arrays(&mut self, (opens, latest): (Option<i64>, i64), strings: &Strings, log: &mut Log) {
        let ended = self.ends_of_arrays();
        let first_end = self.ends.iter().flatten().min().copied();
        let mut looked_at = 0_u64;
        for (id, array) in std::mem::take(&mut self.arrays) {
            let (Some((task, index)), Some(named)) = (array.last, array_tasks(id, &array.named)) else { continue };
            let missing = named.count().saturating_sub(array.come);
            if missing == 0 {
                continue;
            }
            looked_at = looked_at.saturating_add(named.count());
            let mut made = 0;
            // Of those that run one by one each may be among them, but only where several records of the array are come to.
            let request = self.jobs.get(index as usize).and_then(|job| self.requests.get(job.request as usize));
            let is_of_several = request.is_some_and(|request| strings.text(request.partitions).contains(','));
            if looked_at <= MOST_PENDING_TASKS && (is_of_several || named.limit != Some(1)) {
                made = self.add_lost(&named, task, (opens, first_end), log);
                log.caveats_of(CaveatKind::TasksLost, made, array.line);
            }
            if let (Some(rest), Some(job)) = (self.rest_of(&array, &named, task), self.jobs.get(index as usize)) {
                log.caveats_of(CaveatKind::ArrayRest, rest.count(), array.line);
                made += rest.count();
                let limit = rest.limit.and_then(|limit| limit.checked_sub(1));
                let first = limit.and_then(|limit| ended.get(&id)?.get(limit as usize));
                let before = first.map_or(latest, |&end| end.min(latest));
                self.take_pending(&rest, &job.never_started(before, opens), log);
            }
            log.caveats_of(CaveatKind::TasksMissing, missing.saturating_sub(made), array.line);
        }
    }

    /// As tasks start in the order of their numbers, those after the highest that came are the ones that still waited, if `N` came at all: of fewer,
    /// the period holds the ends alone of tasks that ran before it. No row has the array's own id then. They were cancelled when the first of the
    /// last `N` ended, or before: after an end the next one is eligible, and has a row. While one runs, nothing is known of them after the
    /// `latest` moment that the trace tells.
    fn rest_of(&self, array: &Array, named: &PendingTasks, last: u32) -> Option<PendingTasks> {
        let limit = named.limit.filter(|&limit| limit > 0 && !array.has_base && array.come >= u64::from(limit))?;
        let rest = named.after(last).filter(|rest| self.has_room_for(rest.count()))?;
        Some(PendingTasks { limit: Some(limit), ..rest })
    }

    fn has_room_for(&self, tasks: u64) -> bool {
        self.pending_tasks.saturating_add(tasks) <= MOST_PENDING_TASKS
    }

    /// Tasks with which `N` of an array ran are marked as not eligible by whoever looks at the array next, often (facts 105). Where a later one has
    /// started, they have, and are taken to have run as long as the next one that has a row. They are no more than one of `N` that start, and none
    /// that may have ended before the period began. With `aftercorr` they may have been cancelled alone. Returns how many there were.
    fn add_lost(
        &mut self,
        named: &PendingTasks,
        last: u32,
        (opens, first_end): (Option<i64>, Option<i64>),
        log: &mut Log,
    ) -> u64 {
        let (Some(limit), Some(first_end)) = (named.limit.filter(|&limit| limit > 0), first_end) else { return 0 };
        // Each with the job that it is like.
        let mut lost: Vec<(JobName, u32)> = Vec::new();
        let (mut waiting, mut started) = (Vec::new(), 0_u64);
        for task in named.tasks().take_while(|&task| task <= last) {
            let name = JobName { id: named.id, part: JobPart::Task(task) };
            let known = self.by_name.get(&name).and_then(|&index| Some((index, self.jobs.get(index as usize)?)));
            match known {
                Some((index, job)) if job.has_started() => {
                    if !job.keeps_lost_tasks(first_end, opens) {
                        return 0;
                    }
                    started += 1;
                    lost.extend(waiting.drain(..).map(|name| (name, index)));
                }
                Some(_) => {}
                None => waiting.push(name),
            }
        }
        let made = lost.len() as u64;
        let starts = (started + made).div_ceil(u64::from(limit));
        if made > starts || !self.has_room_for(made) {
            return 0;
        }
        self.pending_tasks += made;
        for (name, like) in lost {
            if let Some(job) = self.jobs.get(like as usize) {
                let job = job.like(name);
                self.add(RowJob { job, end: None }, log);
            }
        }
        made
    }

    /// When the tasks of each array ended, the latest first; the end of time for one that has not. O(tasks log tasks).
    fn ends_of_arrays(&self) -> BTreeMap<u64, Vec<i64>> {
        let mut ended: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        let tasks = self.jobs.iter().zip(&self.ends).filter(|(job, _)| matches!(job.name.part, JobPart::Task(_)));
        for (job, end) in tasks.filter(|(job, _)| self.arrays.contains_key(&job.name.id)) {
            ended.entry(job.name.id).or_default().push(end.unwrap_or(i64::MAX));
        }
        ended.values_mut().for_each(|ends| ends.sort_unstable_by_key(|&end| std::cmp::Reverse(end)));
        ended
    }
}

impl TraceJob {
    fn has_started(&self) -> bool {
        self.cancelled_at.is_none() && self.state != TraceState::Pending
    }

    /// Whether tasks like this one are in the trace, with a row or without, whenever they ran: none can have ended before its period began.
    fn keeps_lost_tasks(&self, first_end: i64, opens: Option<i64>) -> bool {
        let extra = self.extra.as_deref();
        let on = extra.and_then(|extra| extra.dependencies.as_ref()).map_or(&[][..], |dependencies| &dependencies.on);
        first_end <= self.submit.saturating_add(i64::from(self.run_time))
            && opens.is_none_or(|opens| opens <= self.submit)
            && on.iter().all(|one| one.kind != DependencyKind::AfterCorr)
    }

    /// A task of the same array, which ran once and as long.
    fn like(&self, name: JobName) -> Self {
        let mut job = Self { name, eligible: self.release, started: None, ..self.clone() };
        if let Some(extra) = &mut job.extra {
            (extra.earlier_runs, extra.last_submit) = (Vec::new(), 0);
        }
        job
    }

    /// A task of the same array that has not started, and waited until it was cancelled.
    fn never_started(&self, cancelled_at: i64, opens: Option<i64>) -> Self {
        let mut job = self.clone();
        (job.state, job.cancelled_at, job.run_time, job.run_time_is_bound, job.started) =
            (TraceState::Cancelled, Some(cancelled_at.max(job.submit)), 0, false, None);
        if let Some(extra) = &mut job.extra {
            (extra.earlier_runs, extra.last_submit) = (Vec::new(), 0);
            let waits = opens.is_some_and(|opens| self.submit < opens && cancelled_at > opens);
            extra.before = waits.then_some(TraceBefore::Waiting);
        }
        job
    }
}
