//! Jobs that are submitted but not eligible: begin times, dependencies and array task limits.
//! What releases a job is found out at the next queue build or tick, not when it happens.
//! Source: slurm-semantics 2.1, 2.4, 2.5.

use std::collections::{BTreeMap, BTreeSet};

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, SECOND, seconds};
use crate::ids::JobId;
use crate::job::{Dependencies, Dependency, DependencyKind, Job, JobPart, Workload};
use crate::limits::accrue::NO_AGE;
use crate::outcome::{JobState, StartedBy};
use crate::policy::SlurmVersion;

/// `correspond_after_task_cnt`: so many records may an array have whose tasks wait for those of another.
const SPLIT_MOST: usize = 10;

/// Which jobs wait for which, and array limits. Empty for most traces.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Jobs by the trace's base id, for ids that a dependency names.
    targets: BTreeMap<u64, Vec<JobId>>,
    /// Submitted jobs that are not eligible for one of these reasons.
    held: BTreeSet<JobId>,
    /// Running tasks of arrays with a task limit.
    running_tasks: BTreeMap<u64, u32>,
    /// Whether there are such arrays.
    any_limited_array: bool,
    /// Some jobs are cancelled, if nobody else, once their dependency cannot be fulfilled.
    any_killed_on_invalid_dep: bool,
    /// Tasks whose array waits for another's (`aftercorr`), by their array's id, until all of its tasks have records of their own.
    corresponding: BTreeMap<u64, Vec<JobId>>,
    /// Jobs whose age no queue build has come to know, and since when it counts [s].
    pub(super) unaged: BTreeMap<JobId, i64>,
    /// Which of a job's dependencies have been met, in their order: they are not asked again, though who met them be queued anew.
    met: BTreeMap<JobId, Vec<bool>>,
    /// Pending or running jobs of each (user, job name) with a singleton.
    singletons: BTreeMap<(u32, String), BTreeSet<JobId>>,
}

/// A dependency's state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Met {
    Yes,
    NotYet,
    Never,
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

/// The array a job is a task of, where the array limits its running tasks.
pub(crate) fn limited_array(job: &Job) -> Option<(u64, u32)> {
    match (job.name.part, job.extra.as_ref()?.array_task_limit) {
        (JobPart::Task(_), Some(limit)) => Some((job.name.id, limit)),
        _ => None,
    }
}

/// The singleton group of a job.
fn singleton_key(job: &Job) -> Option<(u32, String)> {
    let extra = job.extra.as_ref()?;
    extra.job_name.as_ref().map(|name| (job.user.0, name.clone()))
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
            let mut on = self.dependencies_of(id).into_iter().flat_map(|dependencies| &dependencies.on);
            if on.any(|on| on.kind == DependencyKind::AfterCorr) && !self.has_own_record(id) {
                self.waiting.corresponding.entry(self.job(id).name.id).or_default().push(id);
            }
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

    fn dependencies_of(&self, id: JobId) -> Option<&Dependencies> {
        self.scenario.workload.jobs[id.index()].extra.as_ref()?.dependencies.as_ref()
    }

    fn dependencies_hold(&self, id: JobId) -> bool {
        let Some(dependencies) = self.dependencies_of(id) else { return true };
        let mut on = dependencies.on.iter().enumerate();
        let mut is_met = |(nth, &on): (usize, &Dependency)| self.nth_dependency(id, nth, on) == Met::Yes;
        if dependencies.any { on.any(&mut is_met) } else { on.all(&mut is_met) }
    }

    /// A job's dependency, in their order: one that was met is not asked again.
    fn nth_dependency(&self, id: JobId, nth: usize, on: Dependency) -> Met {
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
        let Some(jobs) = self.waiting.targets.get(&on.id) else { return Met::Yes };
        let job = &self.scenario.workload.jobs[id.index()];
        let part_of = |other: JobId| self.scenario.workload.jobs[other.index()].name.part;
        // Who has no task to correspond to waits for all that is named.
        let corresponds = |other: JobId| part_of(other) == job.name.part;
        // Tasks of a common record have no number yet: that waits for all of the other array, and never fails (job_scheduler.c of 22.05.8,
        // `test_job_dependency`; src).
        let is_common = on.kind == DependencyKind::AfterCorr
            && matches!(job.name.part, JobPart::Task(_))
            && !self.has_own_record(id);
        let any_corresponds =
            on.kind == DependencyKind::AfterCorr && !is_common && jobs.iter().any(|&other| corresponds(other));
        let is_meant = |other: JobId| if any_corresponds { corresponds(other) } else { self.is_named(on, other) };
        // What ended MinJobAge before the job came had been purged: satisfied. 0 purges nothing.
        let min_age = i64::from(self.scenario.policy.min_job_age);
        let was_purged =
            |other: JobId| min_age > 0 && self.records[other.index()].end.is_some_and(|end| end + min_age < job.submit);
        // Who comes later was not there to be waited for when the job came: satisfied.
        let is_later = |other: JobId| other > id && self.scenario.workload.jobs[other.index()].name.id != job.name.id;
        let is_there = |other: JobId| !was_purged(other) && !is_later(other);
        let mut meant = jobs.iter().copied().filter(|&other| is_meant(other) && is_there(other)).peekable();
        if meant.peek().is_none() {
            return Met::Yes;
        }
        match self.dependency_on(on.kind, meant) {
            Met::Never if is_common => Met::NotYet,
            met => met,
        }
    }

    /// Whether a dependency on this job's id is one on the job itself: one task of an array may be named alone.
    fn is_named(&self, on: Dependency, other: JobId) -> bool {
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
                since.is_some_and(|start| start + i64::from(minutes) * 60 <= seconds(self.now))
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

    /// Queue build and tick refresh: jobs that have become independent are eligible from now.
    /// O(waiting jobs × their dependencies).
    pub(crate) fn discover_eligible(&mut self) {
        self.discover_accruing();
        if self.waiting.held.is_empty() {
            return;
        }
        self.split_corresponding();
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

    /// A queue build gives tasks that wait for those of another array records of their own, as long as their array has few
    /// (job_scheduler.c of 22.05.8, `build_job_queue`; rec ax-share). O(such tasks) until then.
    fn split_corresponding(&mut self) {
        let arrays = std::mem::take(&mut self.waiting.corresponding);
        for (array, tasks) in arrays {
            let waits = |phase: Phase| matches!(phase, Phase::Waiting | Phase::Pending);
            let is_split = |id: &JobId| self.live.get(*id).is_some_and(|live| live.age.is_some() && waits(live.phase));
            let mut records = tasks.iter().filter(|id| is_split(id)).count() + 1;
            let mut left = false;
            for &id in &tasks {
                // Those that wait no more have no dependency left to be split for.
                if self.has_own_record(id) || !self.waiting.held.contains(&id) {
                    continue;
                }
                if records >= SPLIT_MOST {
                    left = true;
                    break;
                }
                self.age_at_start(id);
                records += 1;
            }
            if left {
                self.waiting.corresponding.insert(array, tasks);
            }
        }
    }

    /// Whether a job's age begins with a queue build: it is a task of an array (rec j-topo), and has no begin time of its own. O(1).
    pub(crate) fn begins_with_queue_build(&self, id: JobId) -> bool {
        let is_task = matches!(self.job(id).name.part, JobPart::Task(_));
        is_task && self.own_begin(id).is_none() && !self.awaits_room_to_accrue(id)
    }

    /// The begin time that a job's age counts from, if it has come [s]: that given when it was queued again, which an array's limit takes
    /// back (rec m-topo), or that asked for. O(1).
    pub(crate) fn own_begin(&self, id: JobId) -> Option<i64> {
        let job = self.job(id);
        let asked = job.extra.as_ref().and_then(|extra| extra.begin).filter(|&begin| begin > job.submit);
        let begin = match self.live.get(id)? {
            live if live.starts > 0 => live.begin,
            // A `--begin` of a whole array is its tasks' (rec as-tier), also where a limit takes it back: that comes after a queue build, with
            // which their age has begun (acct_policy.c of 22.05.8, `_handle_add_accrue`; rec at-gpu).
            _ if matches!(job.name.part, JobPart::Task(_)) => asked?,
            // Where limits are not enforced queue builds note it as soon as it is known, whatever else the job waits for
            // (`acct_policy_handle_accrue_time`; rec bi-c197).
            _ if !self.scenario.policy.enforce.limits => asked?,
            _ => return None,
        };
        (i64::MIN < begin && begin <= seconds(self.now)).then_some(begin)
    }

    /// Whoever is found at its array's limit after its begin time has none any more, and is eligible anew when there is room
    /// (job_mgr.c of 22.05.8, `job_array_start_test`). A queue build lets its age begin with it before (job_scheduler.c,
    /// `build_job_queue`), a look at who is eligible does not (`set_job_elig_time`). O(waiting jobs).
    pub(crate) fn forget_begin_times(&mut self, builds: bool) {
        let at_limit = |id: &&JobId| {
            let array = limited_array(self.job(**id));
            array.is_some_and(|(array, limit)| self.waiting.running_tasks.get(&array).is_some_and(|&n| n >= limit))
        };
        let ages = |id: JobId| self.live.get(id).is_some_and(|live| live.starts == 0 && live.accrues);
        let came = |id: &&JobId| !ages(**id) && self.own_begin(**id).is_some();
        let lost: Vec<JobId> = self.waiting.held.iter().filter(came).filter(at_limit).copied().collect();
        for id in lost {
            let ages = builds && !self.scenario.policy.priority.accrue_always && !self.awaits_room_to_accrue(id);
            let begin = self.own_begin(id).filter(|_| ages);
            if let Some(live) = self.live.get_mut(id) {
                if let Some(begin) = begin.filter(|_| !live.accrues) {
                    (live.accrue, live.accrues) = (begin, true);
                }
                live.begin = i64::MIN;
            }
        }
    }

    /// A job comes into the queue whose age counts from `since` on, [`NO_AGE`] if the next queue build is to begin it. O(log such jobs).
    pub(super) fn await_age(&mut self, id: JobId, since: i64) {
        self.waiting.unaged.insert(id, since);
    }

    /// A queue build: ages that have begun are known from now on, and steps before know of none. The age of tasks of limited arrays
    /// begins; of those whom backfill takes out of the queue before the next build it begins anew (docs/FACTS.md, facts 62).
    /// O(jobs whose age is not known).
    pub(crate) fn learn_ages(&mut self) {
        if self.waiting.unaged.is_empty() {
            return;
        }
        let (now, live) = (seconds(self.now), &mut self.live);
        self.waiting.unaged.retain(|&id, since| match live.get_mut(id) {
            Some(live) if *since == NO_AGE && live.phase == Phase::Pending => {
                *since = now;
                true
            }
            Some(live) if *since != NO_AGE => {
                (live.accrue, live.accrues) = (*since, true);
                false
            }
            _ => false,
        });
    }

    /// `kill_invalid_depend`, `--kill-on-invalid-dep`: jobs whose dependency cannot be fulfilled any more are cancelled (job_mgr.c of
    /// 22.05.8, `handle_invalid_dependency`).
    fn cancel_never_satisfied(&mut self) {
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
    pub(super) fn never_satisfied(&self, id: JobId) -> bool {
        let extra = self.scenario.workload.jobs[id.index()].extra.as_ref();
        let Some(dependencies) = extra.and_then(|extra| extra.dependencies.as_ref()) else { return false };
        let failed = |(nth, &on): (usize, &Dependency)| self.nth_dependency(id, nth, on) == Met::Never;
        let mut failed = dependencies.on.iter().enumerate().map(failed);
        if dependencies.any { failed.all(|failed| failed) } else { failed.any(|failed| failed) }
    }

    /// How many tasks of a job's array may be planned in a row or make room, from 23.11 on: as many as `%N` lets run beside those that do
    /// (backfill.c of 24.11.5, `tot_run_tasks`; rec c108-24-11).
    pub(crate) fn array_may_run(&self, id: JobId) -> Option<u32> {
        if self.scenario.policy.version < SlurmVersion::V23_11 {
            return None;
        }
        let (array, limit) = limited_array(&self.scenario.workload.jobs[id.index()]).filter(|&(_, limit)| limit > 0)?;
        let running = self.waiting.running_tasks.get(&array).copied().unwrap_or(0);
        Some(limit.saturating_sub(running))
    }

    /// The first task of its array, from this one on, that waits in the array's common record. O(tasks passed over).
    pub(crate) fn first_in_common_record(&self, id: JobId) -> Option<JobId> {
        let jobs = &self.scenario.workload.jobs;
        let of = &jobs[id.index()];
        let on = jobs.iter().enumerate().skip(id.index());
        let mut siblings = on.take_while(|(_, job)| (job.submit, job.name.id) == (of.submit, of.name.id));
        let waits = |id: JobId| self.live.is_pending(id) && !self.has_own_record(id);
        siblings.find(|&(index, _)| waits(JobId::new(index))).map(|(index, _)| JobId::new(index))
    }

    /// Whether at least so many tasks behind this one of its array wait. O(tasks behind), where fewer do.
    pub(crate) fn has_pending_tasks_behind(&self, id: JobId, needed: u32) -> bool {
        let jobs = &self.scenario.workload.jobs;
        let of = &jobs[id.index()];
        let behind = jobs.iter().enumerate().skip(id.index() + 1);
        let siblings = behind.take_while(|(_, job)| (job.submit, job.name.id) == (of.submit, of.name.id));
        let waits = |id: JobId| self.live.is_pending(id) && !self.has_own_record(id);
        let pending = siblings.filter(|&(index, _)| waits(JobId::new(index)));
        pending.take(needed as usize).count() == needed as usize
    }

    /// Whether any array has a `%N`.
    pub(crate) fn any_limited_array(&self) -> bool {
        self.waiting.any_limited_array
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

    /// A task of a limited array started: at the limit, its waiting tasks are not eligible any more.
    pub(crate) fn array_task_started(&mut self, id: JobId) {
        let Some((array, limit)) = limited_array(&self.scenario.workload.jobs[id.index()]) else { return };
        let running = self.waiting.running_tasks.entry(array).or_insert(0);
        *running += 1;
        if *running < limit {
            return;
        }
        // Tasks of one array share their submit second, and jobs stand in submit order.
        let jobs = &self.scenario.workload.jobs;
        let submit = jobs[id.index()].submit;
        let first = jobs.partition_point(|job| job.submit < submit);
        let together = jobs.iter().enumerate().skip(first).take_while(|(_, job)| job.submit == submit);
        let siblings: Vec<JobId> = together
            .filter(|(index, job)| job.name.id == array && *index != id.index())
            .map(|(index, _)| JobId::new(index))
            .collect();
        let mut held = false;
        for sibling in siblings {
            if self.live.is_pending(sibling) {
                let request = self.scenario.workload.jobs[sibling.index()].request;
                let kind = self.kind(sibling);
                let out = self.kept_out_of(sibling);
                self.queue.left(request, self.holder(sibling), kind, self.partitions(sibling), out);
                held = true;
                self.live.set_phase(sibling, Phase::Waiting);
                self.records[sibling.index()].eligible = None;
                self.waiting.held.insert(sibling);
                if self.records[id.index()].started_by == Some(StartedBy::Backfill) {
                    self.waiting.unaged.remove(&sibling);
                }
            }
        }
        if held {
            self.queue.purge(|record| self.live.is_pending(record.job));
        }
    }

    /// A task of a limited array ended.
    pub(crate) fn array_task_ended(&mut self, id: JobId) {
        if let Some((array, _)) = limited_array(&self.scenario.workload.jobs[id.index()])
            && let Some(running) = self.waiting.running_tasks.get_mut(&array)
        {
            *running = running.saturating_sub(1);
        }
    }

    /// Whether a job waits for something that will never come, so that it will not end the simulation's wait.
    pub(crate) fn forget_waiting(&mut self, id: JobId) {
        self.waiting.held.remove(&id);
        self.waiting.met.remove(&id);
        self.risen.remove(&id);
        self.kept_priorities.remove(&id);
        if let Some(key) = singleton_key(&self.scenario.workload.jobs[id.index()])
            && let Some(group) = self.waiting.singletons.get_mut(&key)
        {
            group.remove(&id);
        }
    }
}
