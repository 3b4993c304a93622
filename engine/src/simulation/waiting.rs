//! Jobs that are submitted but not eligible: begin times, dependencies and array task limits.
//! What releases a job is found out at the next queue build or tick, not when it happens.
//! Source: slurm-semantics 2.1, 2.4, 2.5.

mod ages;
mod array_limits;
mod dependencies;

use std::collections::{BTreeMap, BTreeSet};

use dependencies::{Met, singleton_key};

pub(crate) use array_limits::limited_array;

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, SECOND, seconds};
use crate::ids::JobId;
use crate::job::{Dependency, DependencyKind, Job, Workload};

/// Which jobs wait for which, and array limits. Empty for most traces.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Jobs by the trace's base id, for ids that a dependency names.
    targets: BTreeMap<u64, Vec<JobId>>,
    /// Submitted jobs that are not eligible for one of these reasons.
    held: BTreeSet<JobId>,
    /// Running tasks of arrays with a task limit.
    running_tasks: BTreeMap<u64, u32>,
    /// Those of them whose waiting tasks have had the limit for a reason.
    held_by_limit: BTreeSet<u64>,
    /// Whether there are such arrays.
    any_limited_array: bool,
    /// Some jobs are cancelled, if nobody else, once their dependency cannot be fulfilled.
    any_killed_on_invalid_dep: bool,
    /// Tasks whose array waits for another's (`aftercorr`), by their array's id, until all of its tasks have records of their own.
    corresponding: BTreeMap<u64, Corresponding>,
    /// Jobs whose age no queue build has come to know, and since when it counts [s].
    pub(super) unaged: BTreeMap<JobId, i64>,
    /// Which of a job's dependencies have been met, in their order: they are not asked again, though who met them be queued anew.
    met: BTreeMap<JobId, Vec<bool>>,
    /// Pending or running jobs of each (user, job name) with a singleton.
    singletons: BTreeMap<(u32, String), BTreeSet<JobId>>,
}

/// Tasks of an array that waits for another's.
#[derive(Debug)]
struct Corresponding {
    tasks: Vec<JobId>,
    /// No queue build has asked yet whether they wait.
    is_new: bool,
}

impl Waiting {
    /// Indexes the jobs that dependencies name. O(jobs).
    pub(crate) fn new(workload: &Workload) -> Self {
        let any_limited_array = workload.jobs.iter().any(|job| limited_array(job).is_some());
        let kills = |job: &Job| job.extra.as_ref().is_some_and(|extra| extra.kill_on_invalid_dep == Some(true));
        let any_killed_on_invalid_dep = workload.jobs.iter().any(kills);
        let mut waiting = Self { any_limited_array, any_killed_on_invalid_dep, ..Self::default() };
        let extras = workload.jobs.iter().filter_map(|job| job.extra.as_ref());
        for on in extras.filter_map(|extra| extra.dependencies.as_ref()).flat_map(|deps| &deps.on) {
            waiting.targets.entry(on.id).or_default();
        }
        if !waiting.targets.is_empty() {
            for (index, job) in workload.jobs.iter().enumerate() {
                if let Some(jobs) = waiting.targets.get_mut(&job.name.id) {
                    jobs.push(JobId::new(index));
                }
            }
        }
        waiting
    }
}

impl Controller<'_> {
    /// Whether any submitted job is held back by a dependency, a begin time or an array limit.
    pub(crate) fn anyone_held(&self) -> bool {
        self.waiting.held.iter().any(|&id| !self.is_held_by_hand(id))
    }

    /// Whether a submitted job is held back.
    pub(crate) fn is_held(&self, id: JobId) -> bool {
        self.waiting.held.contains(&id)
    }

    /// Holds a job until it is independent.
    pub(crate) fn hold(&mut self, id: JobId) {
        self.waiting.held.insert(id);
    }

    /// Whether anything but its recorded release time can keep a job from being eligible at submission.
    /// Notes the job as waiting if so.
    pub(crate) fn must_wait(&mut self, id: JobId) -> bool {
        let job = &self.scenario.workload.jobs[id.index()];
        if let Some(key) = singleton_key(job) {
            self.waiting.singletons.entry(key).or_default().insert(id);
        }
        let begin = job.extra.as_ref().and_then(|extra| extra.begin);
        if job.extra.is_none() && self.reservation_of(id).is_none() {
            return false;
        }
        if let Some(begin) = begin
            && begin > seconds(self.now)
        {
            self.events.push(begin * SECOND, Event::Released { job: id });
        }
        let waits = !self.becomes_independent(id);
        if waits {
            self.waiting.held.insert(id);
        }
        // What all holds when the array is submitted is forgotten at once, and nothing is split for it (rec c1224-24-11, c1058), unless the array
        // is to begin later (rec w2006).
        let begins_later = begin.is_some_and(|begin| begin > seconds(self.now));
        let left = self.dependencies_of(id).filter(|_| begins_later || !self.dependencies_hold(id));
        let mut on = left.into_iter().flat_map(|dependencies| &dependencies.on);
        let is_corresponding = |&on: &Dependency| {
            let is_there = || self.there_for(id, on).any(|other| self.is_named(on, other));
            on.kind == DependencyKind::AfterCorr && (begins_later || is_there())
        };
        if on.any(is_corresponding) && !self.has_own_record(id) {
            let new = || Corresponding { tasks: Vec::new(), is_new: true };
            self.waiting.corresponding.entry(self.job(id).name.id).or_insert_with(new).tasks.push(id);
        }
        waits
    }

    /// Whether begin time, reservation, dependencies and array limit let the job be considered.
    fn is_independent(&self, id: JobId) -> bool {
        if self.live.get(id).is_some_and(|live| live.begin > seconds(self.now)) {
            return false;
        }
        if self.awaits_reservation(id) {
            return false;
        }
        let job = &self.scenario.workload.jobs[id.index()];
        let Some(extra) = &job.extra else { return true };
        if extra.begin.is_some_and(|begin| begin > seconds(self.now)) {
            return false;
        }
        if let Some((array, limit)) = limited_array(job)
            && self.waiting.running_tasks.get(&array).is_some_and(|&running| running >= limit)
        {
            return false;
        }
        self.dependencies_hold(id)
    }

    /// [`Self::is_independent`] where slurmctld asks it: dependencies that are met by now stay met, those behind an alternative that holds
    /// as well, whatever else keeps the job (job_scheduler.c of 22.05.8, `test_job_dependency`; rec l-share).
    fn becomes_independent(&mut self, id: JobId) -> bool {
        if self.is_held_by_hand(id) {
            return false;
        }
        if let Some(dependencies) = self.dependencies_of(id) {
            let is_met = |(nth, &on): (usize, &Dependency)| self.nth_dependency(id, nth, on) == Met::Yes;
            let mut met: Vec<bool> = dependencies.on.iter().enumerate().map(is_met).collect();
            if met.contains(&true) {
                if dependencies.any {
                    met.fill(true);
                }
                self.waiting.met.insert(id, met);
            }
        }
        self.is_independent(id)
    }

    /// Queue build and tick refresh: jobs that have become independent are eligible from now.
    /// O(waiting jobs × their dependencies).
    pub(crate) fn discover_eligible(&mut self) {
        self.discover_accruing();
        self.split_corresponding();
        if self.waiting.held.is_empty() {
            return;
        }
        if self.scenario.policy.kill_invalid_depend || self.waiting.any_killed_on_invalid_dep {
            self.cancel_never_satisfied();
        }
        if self.waiting.any_limited_array {
            self.forget_begin_times(true);
        }
        let held: Vec<JobId> = self.waiting.held.iter().copied().collect();
        let ready: Vec<JobId> = held.into_iter().filter(|&id| self.becomes_independent(id)).collect();
        for id in ready {
            self.waiting.held.remove(&id);
            if self.live.get(id).is_some_and(|live| live.phase == Phase::Waiting) {
                self.enqueue(id, seconds(self.now));
            }
        }
    }

    /// A begin time has come: the job is eligible from that second, if nothing else holds it.
    pub(crate) fn begin_time(&mut self, id: JobId) {
        if self.waiting.held.contains(&id) && self.becomes_independent(id) {
            self.waiting.held.remove(&id);
            // No change by itself: the next queue that is built for another reason has it (job_mgr.c of 22.05.8, `job_independent`).
            self.enter_queue(id, seconds(self.now));
            match self.reservation_of(id) {
                Some(_) => self.reserve_anew(),
                // A cycle that sleeps is taken to see it; and so is a controller that builds no queue but for changes.
                None if self.backfill.in_progress() || self.timers.main_is_over() => self.touch(),
                None => self.come_unseen(),
            }
        }
    }

    /// Whether a job waits for something that will never come, so that it will not end the simulation's wait.
    pub(crate) fn forget_waiting(&mut self, id: JobId) {
        self.waiting.held.remove(&id);
        self.waiting.met.remove(&id);
        self.risen.remove(&id);
        self.kept_priorities.remove(&id);
        self.back_in_place.remove(&id);
        if let Some(key) = singleton_key(&self.scenario.workload.jobs[id.index()])
            && let Some(group) = self.waiting.singletons.get_mut(&key)
        {
            group.remove(&id);
        }
    }
}
