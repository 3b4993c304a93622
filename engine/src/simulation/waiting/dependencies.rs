//! What a job depends on: which of it is met, is not yet, and never will be. Source: slurm-semantics 2.4; job_scheduler.c of 22.05.8,
//! `test_job_dependency`.

use crate::ids::JobId;
use crate::job::{Dependencies, Dependency, DependencyKind, Job, JobPart};
use crate::outcome::JobState;
use crate::simulation::jobs::Phase;
use crate::simulation::{Controller, seconds};

/// A dependency's state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    Yes,
    NotYet,
    Never,
}

/// The singleton group of a job.
pub(super) fn singleton_key(job: &Job) -> Option<(u32, String)> {
    let extra = job.extra.as_ref()?;
    extra.job_name.as_ref().map(|name| (job.user.0, name.clone()))
}

impl Controller<'_> {
    /// Whether a held job waits for `after:J+minutes` of a job that has started: time alone will release it.
    pub(crate) fn waits_for_time(&self) -> bool {
        self.waiting.held.iter().any(|id| {
            let extra = self.scenario.workload.jobs[id.index()].extra.as_ref();
            let dependencies = extra.and_then(|extra| extra.dependencies.as_ref());
            dependencies.into_iter().flat_map(|dependencies| dependencies.on.iter().enumerate()).any(|(nth, &on)| {
                let targets = self.waiting.targets.get(&on.id).into_iter().flatten();
                let all_started = |other: &JobId| {
                    let record = &self.records[other.index()];
                    record.start.or(record.end).is_some()
                };
                matches!(on.kind, DependencyKind::After(minutes) if minutes > 0)
                    && self.nth_dependency(*id, nth, on) == Met::NotYet
                    && targets.filter(|&&other| self.is_named(on, other)).all(all_started)
            })
        })
    }

    pub(super) fn dependencies_of(&self, id: JobId) -> Option<&Dependencies> {
        self.scenario.workload.jobs[id.index()].extra.as_ref()?.dependencies.as_ref()
    }

    pub(super) fn dependencies_hold(&self, id: JobId) -> bool {
        let Some(dependencies) = self.dependencies_of(id) else { return true };
        let mut on = dependencies.on.iter().enumerate();
        let mut is_met = |(nth, &on): (usize, &Dependency)| self.nth_dependency(id, nth, on) == Met::Yes;
        if dependencies.any { on.any(&mut is_met) } else { on.all(&mut is_met) }
    }

    /// A job's dependency, in their order: one that was met is not asked again.
    pub(super) fn nth_dependency(&self, id: JobId, nth: usize, on: Dependency) -> Met {
        let was_met = self.waiting.met.get(&id).and_then(|met| met.get(nth)).copied().unwrap_or(false);
        if was_met { Met::Yes } else { self.dependency(id, on) }
    }

    /// One dependency of a job. Source: job_scheduler.c of 22.05.8, `test_job_dependency`. O(jobs of the id).
    fn dependency(&self, id: JobId, on: Dependency) -> Met {
        let kind = on.kind;
        if kind == DependencyKind::Singleton {
            let job = &self.scenario.workload.jobs[id.index()];
            let others = singleton_key(job).and_then(|key| self.waiting.singletons.get(&key));
            let jobs = &self.scenario.workload.jobs;
            let blocked = others.into_iter().flatten().any(|&other| {
                // Tasks of one array have one dependency, which is gone once it is met.
                jobs[other.index()].name.id != job.name.id
                    && self.live.get(other).is_some_and(|live| {
                        let has_ended = matches!(live.phase, Phase::Completing | Phase::Done);
                        live.phase == Phase::Running || (!has_ended && other < id)
                    })
            });
            return if blocked { Met::NotYet } else { Met::Yes };
        }
        // A job that the trace does not hold has been purged: satisfied.
        if !self.waiting.targets.contains_key(&on.id) {
            return Met::Yes;
        }
        let job = &self.scenario.workload.jobs[id.index()];
        let part_of = |other: JobId| self.scenario.workload.jobs[other.index()].name.part;
        // Who has no task to correspond to waits for all that is named.
        let corresponds = |other: JobId| part_of(other) == job.name.part;
        // Tasks of a common record have no number yet: that waits for all of the other array, and never fails (job_scheduler.c of 22.05.8,
        // `test_job_dependency`; src).
        let is_common = on.kind == DependencyKind::AfterCorr
            && matches!(job.name.part, JobPart::Task(_))
            && !self.has_own_record(id);
        // Nor has whose task slurmctld does not know any more (job_scheduler.c of 22.05.8, `_test_job_dependency_common`; rec w2268).
        let holder = (on.kind == DependencyKind::AfterCorr).then(|| self.array_holder(on.id)).flatten();
        let is_known =
            |other: JobId| on.kind != DependencyKind::AfterCorr || holder == Some(other) || !self.is_purged(other);
        let any_corresponds = on.kind == DependencyKind::AfterCorr
            && !is_common
            && self.there_for(id, on).any(|other| corresponds(other) && is_known(other));
        let is_meant = |other: JobId| if any_corresponds { corresponds(other) } else { self.is_named(on, other) };
        let mut meant = self.there_for(id, on).filter(|&other| is_meant(other) && is_known(other)).peekable();
        if meant.peek().is_none() {
            return Met::Yes;
        }
        match self.dependency_on(on.kind, meant) {
            Met::Never if is_common => Met::NotYet,
            met => met,
        }
    }

    /// Whether slurmctld does not know the job any more (MinJobAge). O(1).
    fn is_purged(&self, id: JobId) -> bool {
        self.records[id.index()].end.is_some_and(|end| self.timers.has_purged(end))
    }

    /// The task whose record is the array's: the last to start, which stays as long as any other of it (job_mgr.c of 22.05.8,
    /// `_list_find_job_old`; src). None while some have not started. O(jobs of the id).
    fn array_holder(&self, id: u64) -> Option<JobId> {
        let tasks = self.waiting.targets.get(&id)?;
        if tasks.iter().any(|&task| self.records[task.index()].start.is_none()) {
            return None;
        }
        let last = tasks.iter().copied().max_by_key(|&task| (self.records[task.index()].start, task))?;
        tasks.iter().any(|&task| task != last && !self.is_purged(task)).then_some(last)
    }

    /// Who has the id that a job's dependency names, of those that were there when the job came. O(jobs of the id).
    pub(super) fn there_for(&self, id: JobId, on: Dependency) -> impl Iterator<Item = JobId> + '_ {
        let jobs = &self.scenario.workload.jobs;
        let job = &jobs[id.index()];
        // What ended MinJobAge before had been purged: satisfied. 0 purges nothing.
        let min_age = i64::from(self.scenario.policy.min_job_age);
        let was_purged = move |other: JobId| {
            min_age > 0 && self.records[other.index()].end.is_some_and(|end| end + min_age < job.submit)
        };
        // Who comes later was not there to be waited for: satisfied.
        let is_later = move |other: JobId| other > id && jobs[other.index()].name.id != job.name.id;
        let named = self.waiting.targets.get(&on.id).into_iter().flatten().copied();
        named.filter(move |&other| !was_purged(other) && !is_later(other))
    }

    /// Whether a dependency on this job's id is one on the job itself: one task of an array may be named alone.
    pub(super) fn is_named(&self, on: Dependency, other: JobId) -> bool {
        on.task.is_none_or(|task| self.scenario.workload.jobs[other.index()].name.part == JobPart::Task(task))
    }

    /// What jobs of one id let another do: nothing is decided before all of them have ended, and they end well if each does
    /// (job_mgr.c of 22.05.8, `test_job_array_complete`, `test_job_array_completed`).
    fn dependency_on(&self, kind: DependencyKind, mut others: impl Iterator<Item = JobId>) -> Met {
        let when = |yes: bool, no: Met| if yes { Met::Yes } else { no };
        if let DependencyKind::After(minutes) = kind {
            let is_due = |other: JobId| {
                let record = &self.records[other.index()];
                let since = record.start.or(record.end);
                // "Job is gone, dependency lifted" (rec w2092-25-05).
                self.is_purged(other) || since.is_some_and(|start| start + i64::from(minutes) * 60 <= seconds(self.now))
            };
            return when(others.all(is_due), Met::NotYet);
        }
        let mut all_well = true;
        for other in others {
            let record = &self.records[other.index()];
            if record.end.is_none() || self.live.get(other).is_some_and(|live| live.phase != Phase::Done) {
                return Met::NotYet;
            }
            all_well &= record.state == JobState::Completed;
        }
        match kind {
            DependencyKind::AfterOk | DependencyKind::AfterCorr => when(all_well, Met::Never),
            DependencyKind::AfterNotOk => when(!all_well, Met::Never),
            _ => Met::Yes,
        }
    }

    /// `kill_invalid_depend`, `--kill-on-invalid-dep`: jobs whose dependency cannot be fulfilled any more are cancelled (job_mgr.c of
    /// 22.05.8, `handle_invalid_dependency`).
    pub(super) fn cancel_never_satisfied(&mut self) {
        let by_default = self.scenario.policy.kill_invalid_depend;
        let jobs = &self.scenario.workload.jobs;
        let asked = |id: JobId| jobs[id.index()].extra.as_ref().and_then(|extra| extra.kill_on_invalid_dep);
        let is_killed = |id: JobId| asked(id).unwrap_or(by_default);
        let is_lost = |&id: &JobId| is_killed(id) && !self.is_held_by_hand(id) && self.never_satisfied(id);
        let lost: Vec<JobId> = self.waiting.held.iter().copied().filter(is_lost).collect();
        for id in lost {
            self.cancel_pending(id);
        }
    }

    /// Whether a job's dependencies cannot be fulfilled any more.
    pub(crate) fn never_satisfied(&self, id: JobId) -> bool {
        let extra = self.scenario.workload.jobs[id.index()].extra.as_ref();
        let Some(dependencies) = extra.and_then(|extra| extra.dependencies.as_ref()) else { return false };
        let failed = |(nth, &on): (usize, &Dependency)| self.nth_dependency(id, nth, on) == Met::Never;
        let mut failed = dependencies.on.iter().enumerate().map(failed);
        if dependencies.any { failed.all(|failed| failed) } else { failed.any(|failed| failed) }
    }
}
