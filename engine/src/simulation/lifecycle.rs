//! What happens to a job until it starts: submission, eligibility, the queue, and the size it counts with.
//! Source: slurm-semantics 1.1, 2.1, 4.2.

use super::events::Event;
use super::jobs::{LiveJob, Phase};
use super::{Controller, SECOND, seconds};
use crate::ablation::{Rule, is_off};
use crate::ids::{JobId, PartitionId};
use crate::job::{Job, JobPart, TimeLimit};
use crate::limits::accrue::NO_AGE;
use crate::outcome::PendingReason;
use crate::policy::EnforcePartLimits;
use crate::sched::queue::{Holder, Kind, Record};
use crate::select::allocation::Allocation;
use crate::select::shape::Shape;

/// Where a finite duration is needed, unlimited is a year.
pub(super) const YEAR_MINUTES: u32 = 365 * 24 * 60;

impl<'s> Controller<'s> {
    /// The partitions a job may use.
    pub(crate) fn partitions(&self, job: JobId) -> &'s [PartitionId] {
        let request = self.scenario.workload.jobs[job.index()].request;
        let partitions = &self.scenario.workload.requests[request.index()].partitions;
        if is_off(Rule::PartitionRecords) { &partitions[..1] } else { partitions }
    }
}

impl Controller<'_> {
    pub(crate) fn job(&self, job: JobId) -> &Job {
        &self.scenario.workload.jobs[job.index()]
    }

    /// The limit in force [min]: the request's, else the partition's default, else its maximum, else a year.
    fn limit_minutes(&self, job: JobId) -> u32 {
        let partition = self.partitions(job).first().map(|id| &self.scenario.cluster.partitions[id.index()]);
        let most = partition.and_then(|partition| partition.max_time);
        match self.job(job).time_limit {
            Some(TimeLimit::Minutes(minutes)) => minutes,
            Some(TimeLimit::Unlimited) => most.unwrap_or(YEAR_MINUTES),
            None => match partition.and_then(|partition| partition.default_time) {
                Some(minutes) => minutes,
                None => self.limit_from_limits(job).into_iter().chain(most).min().unwrap_or(YEAR_MINUTES),
            },
        }
    }

    /// What a job that takes whole nodes would be charged on those that are idle now: with select/linear slurmctld tests a new job on
    /// these first, and remembers its size. O(nodes).
    fn charged_now(&mut self, id: JobId, shape: &Shape) -> Option<u32> {
        if !self.linear_sizes_vary() || !shape.size_varies {
            return None;
        }
        let user = self.job(id).user.0;
        let mut idle = shape.eligible.clone();
        idle.intersect(&self.up);
        let asked = self.selector.as_test_only(shape);
        let fits = self.selector.fits(&self.free, &asked, user, &idle);
        if fits { self.selector.charged_cpus(&self.free, shape) } else { None }
    }

    /// sbatch was accepted: the job gets its first priority, and the main scheduler is asked for.
    pub(crate) fn submit(&mut self, id: JobId) {
        let now = self.now;
        let job = self.job(id);
        let (cancelled_at, request) = (job.cancelled_at, job.request);
        let release = if self.is_ever_held(id) { job.submit } else { job.release };
        self.vain.since = now;
        self.look_again();
        self.basic_ranks.submitted(id);
        self.comes_alive(id);
        self.replace_for(id);
        self.settle_share(id);
        self.rise(id, self.standing(id));
        // Who took it from the queue did so after its earlier runs.
        if cancelled_at != i64::MAX && self.on_last_run(id) {
            self.events.push((cancelled_at * SECOND).max(now), Event::Cancelled { job: id });
        }
        // It is tested with the features that it would like, if it says any (job_mgr.c of 22.05.8, `job_allocate`; rec av-gpu).
        // Where none of them could serve it, those that it requires decide, as with `ignore_prefer_validation`: that the trace's job was
        // accepted is taken to say so.
        let mut prefers = self.prefers(id);
        let mut shapes = if prefers { self.take_preferred(id) } else { self.take_shapes(request) };
        if prefers && !shapes.iter().any(|shape| shape.feasible) {
            self.put_preferred(id, shapes);
            (prefers, shapes) = (false, self.take_shapes(request));
        }
        let feasible = shapes.iter().any(|shape| shape.feasible);
        let own = self.reservation_of(id);
        let waits_for_named = self
            .partitions(id)
            .iter()
            .zip(shapes.iter())
            .any(|(&partition, shape)| self.lacks_named(id, (partition, own), shape, &self.up));
        // Only select/linear remembers what a test at submission would have charged.
        let linear = self.scenario.policy.select.linear;
        // Nor is any test made in the only partition, where its limits keep the job out (job_mgr.c of 22.05.8, `_select_nodes_parts`).
        let is_tried = match self.partitions(id) {
            &[only] => self.partition_limits_allow(id, only),
            _ => true,
        };
        let mut charged = shapes.iter().rev().find_map(|shape| shape.charged_alone.filter(|_| linear && is_tried));
        // Its partitions are tried from the highest tier down.
        let tier = |partition: PartitionId| self.scenario.cluster.partitions[partition.index()].priority_tier;
        let first = self
            .partitions(id)
            .iter()
            .copied()
            .rev()
            .max_by_key(|&partition| tier(partition))
            .unwrap_or(PartitionId(0));
        let partitions = self.partitions(id).iter().copied().zip(shapes.iter());
        let feasible_in = partitions.filter(|(_, shape)| shape.feasible).rev();
        // One whose lists or node counts keep it out is no answer where another would take it (`_select_nodes_parts`; rec c1256).
        let tried = feasible_in.max_by_key(|&(partition, _)| (self.admits_to_nodes(id, partition), tier(partition)));
        let tested = tried.filter(|&(partition, _)| is_tried && self.limits_allow_look(id, partition));
        // What another job waited for is none of this one's business.
        self.selector.most_leaves = None;
        if let Some((partition, shape)) = tested {
            if !self.awaits_reservation(id) {
                let bound = self.bound_nodes(own).cloned();
                self.weigh_nodes(id, (partition, own), shape, bound.as_ref());
                let mut nodes = shape.alone.nodes;
                if own.is_some() && bound.is_none() {
                    // Those of a FLEX reservation come first (rec be-h4).
                    let user = self.job(id).user.0;
                    let fits = self.selector.fits(&self.empty, shape, user, &shape.eligible);
                    nodes = if fits { self.selector.chosen.len() as u32 } else { nodes };
                }
                self.counted_nodes(id, partition, nodes);
            }
            charged = self.charged_now(id, shape).or(charged);
            if self.selector.gpus_stay && self.selector.favours(shape) {
                // The test whether it could ever run leaves its weights, too.
                let user = self.job(id).user.0;
                self.selector.fits(&self.empty, shape, user, &shape.eligible);
            }
        }
        // Nodes that have what it asks for are looked at in those tried before, too, though it could not run there: those of higher
        // tiers, then those named before (rec j-mix, aq-gpu).
        let mut in_order: Vec<_> = self.partitions(id).iter().copied().zip(shapes.iter()).collect();
        in_order.sort_by_key(|&(partition, _)| std::cmp::Reverse(tier(partition)));
        // Where none could serve it, the answer of the last one counts (`_select_nodes_parts`; rec ay-arr).
        let last_asked = in_order.last().map(|&(partition, _)| partition);
        let last = tried.and_then(|(partition, _)| in_order.iter().position(|&(other, _)| other == partition));
        // `EnforcePartLimits=ALL` wants an answer of each (job_mgr.c of 22.05.8, `_select_nodes_parts`; rec at-share).
        let all_asked = self.scenario.policy.enforce.partition_limits == EnforcePartLimits::All;
        let asked = last.filter(|_| !all_asked).map_or(in_order.len(), |last| last + 1);
        in_order.truncate(asked);
        for (partition, shape) in in_order.into_iter().filter(|_| is_tried) {
            if self.limits_allow_look(id, partition) {
                self.reservations.tested.set(seconds(self.now));
                if self.looks_at_nodes(id, own, shape) && self.admits_to_nodes(id, partition) {
                    self.selector.weights.see(&shape.tested);
                    self.tested_in(id, partition);
                    self.wait_for_a_leaf(id, shape);
                }
            } else if !all_asked {
                // A limit is an answer: the others are not asked.
                break;
            }
        }
        if prefers {
            self.put_preferred(id, shapes);
        } else {
            self.put_shapes(request, shapes);
        }
        self.note_untested(id);
        let in_bounds = self.partitions(id).iter().any(|&partition| self.partition_limits_allow(id, partition));
        let is_admitted =
            |&partition| self.partition_limits_allow(id, partition) && !self.partition_denies(id, partition);
        let no_limits_enforced = self.scenario.policy.enforce.partition_limits == EnforcePartLimits::No;
        let denied = last_asked.is_some_and(|partition| {
            self.partition_denies(id, partition) || (no_limits_enforced && !self.admits_to_nodes(id, partition))
        });
        let admitted = !denied && self.partitions(id).iter().any(is_admitted);
        let refused = match (feasible, self.reservation_admits(id)) {
            // Nobody looks at nodes for a job whose reservation is still to begin (node_scheduler.c of 22.05.8, `_build_node_list`; rec bb-site).
            (false, true) if self.awaits_reservation(id) => self.refused_at_submission(id),
            (false, _) if admitted && !waits_for_named && self.limits_allow_look(id, first) => {
                Some(PendingReason::BadConstraints)
            }
            // Whoever is held back by limits, of partitions too, is not tested, and waits for ever (rec h-gpu, j-pre).
            (false, _) => self.refused_at_submission(id),
            (true, false) => Some(PendingReason::Reservation),
            (true, true) => self.refused_at_submission(id),
        };
        if let Some(reason) = refused {
            // sbatch would refuse it: it never enters the queue. It stays PENDING in the outcome.
            self.give_up(id, reason);
            return;
        }
        self.limits_submitted(id);
        self.watch_deadline(id);
        if self.must_wait(id) {
            self.new_reason = true;
            self.timers.request_main(now);
        } else if release * SECOND > now {
            self.events.push(release * SECOND, Event::Released { job: id });
        } else {
            let partition = self.partitions(id)[0];
            let limited = !self.limits_allow_test(id, partition);
            self.note_limit(id, limited);
            // That it is out of bounds is found when the next queue is built.
            self.new_reason |= !in_bounds;
            self.ask_who_stands_before(id);
            self.enqueue(id, seconds(now));
            self.timers.request_main(now);
        }
        // Its first priority knows of no test yet, nor those of tasks that come with it; the next step does.
        if let Some(live) = self.live.get_mut(id).filter(|_| charged.is_some()) {
            live.charged_cpus = charged;
            self.sizes_version += 1;
        }
    }

    /// The main scheduler finds that a job of one partition could never run, or cannot be laid out: it is held, and with a task all that wait in the common
    /// record of its array (rec as-pre). O(tasks of the array).
    pub(crate) fn hold_for_good(&mut self, id: JobId, reason: PendingReason) {
        let mut held = Some(id);
        while let Some(id) = held {
            let is_task = self.common_record(id).is_some();
            self.hold_alone(id, reason);
            held = self.first_in_common_record(id).filter(|_| is_task);
        }
    }

    /// A job that could never run in its only partition is held: of an array all of it, or this task `alone`. One of several partitions is
    /// passed over. O(tasks of the array).
    pub(crate) fn hold_never_runnable(&mut self, id: JobId, alone: bool) {
        if self.partitions(id).len() > 1 {
            return;
        }
        if alone {
            self.hold_alone(id, PendingReason::BadConstraints);
        } else {
            self.hold_for_good(id, PendingReason::BadConstraints);
        }
    }

    /// As [`Self::hold_for_good`], this job or task alone. O(partitions).
    fn hold_alone(&mut self, id: JobId, reason: PendingReason) {
        self.leaves_queue(id);
        self.give_up(id, reason);
        self.touch();
    }

    /// The job waits for ever, or until somebody cancels it.
    fn give_up(&mut self, id: JobId, reason: PendingReason) {
        self.refused.insert(id, reason);
        self.live.remove(id);
        self.finished += usize::from(self.job(id).cancelled_at == i64::MAX);
    }

    /// The job is known from now on.
    pub(super) fn comes_alive(&mut self, id: JobId) {
        let now = self.now;
        let limit_minutes = self.limit_minutes(id);
        let (submit, name) = (self.job(id).submit, self.job(id).name);
        let age = self.record_ages.submitted(name);
        self.live.insert(LiveJob {
            job: id,
            phase: Phase::Waiting,
            accrue: seconds(now),
            accrues: false,
            is_limited: false,
            is_noted: false,
            is_mixed: false,
            submit,
            begin: i64::MIN,
            starts: 0,
            run: 0,
            age,
            returns: false,
            requeued_at: None,
            warned: false,
            preempting_since: None,
            preempting_in: None,
            keeps_place: false,
            owes_answer: false,
            leaf_since: None,
            best_switch: true,
            priority: 0,
            limit_seconds: i64::from(limit_minutes) * 60,
            start: 0,
            expected_end: 0,
            partition: PartitionId(0),
            billing: 0.0,
            charged_cpus: None,
            allocation: Allocation::default(),
        });
    }

    /// The recorded release time, or a begin time, has come.
    pub(crate) fn release(&mut self, id: JobId) {
        if self.is_held(id) {
            self.begin_time(id);
        } else if self.live.get(id).is_some_and(|live| live.phase == Phase::Waiting) {
            self.enqueue(id, seconds(self.now));
            // What released it in the recording was seen by a scheduler's run.
            self.timers.request_main(self.now);
        }
    }

    /// The records of a job that is about to start or to go stop to count.
    pub(super) fn leaves_queue(&mut self, id: JobId) {
        if self.live.is_pending(id) {
            let request = self.job(id).request;
            let kind = self.kind(id);
            self.queue.left(request, self.holder(id), kind, self.partitions(id), self.kept_out_of(id));
            self.untested.remove(&id);
            if let Some(hetjobs) = &mut self.hetjobs {
                hetjobs.leaves(id);
            }
        }
    }

    /// A job that will count as more than it asks for waits for its first test. O(partitions).
    pub(crate) fn await_first_test(&mut self, id: JobId) {
        if !self.sizes_vary || self.timers.backfill_off || self.charged_cpus(id).is_some() {
            return;
        }
        if self.has_become_whole(id) {
            // What it is since counts, which no plan may have asked for yet (rec aw-topo).
            let shapes = self.take_shapes_of(id);
            self.put_shapes_of(id, shapes);
        }
        let grows = || (0..).map_while(|place| self.known_shape(id, place)).any(|shape| shape.size_grows);
        if grows() || self.is_planned_in_parts(id) {
            self.untested.insert(id);
        }
    }

    /// The job becomes eligible.
    pub(crate) fn enqueue(&mut self, id: JobId, now: i64) {
        self.enter_queue(id, now);
        match self.reservation_of(id) {
            Some(_) => self.reserve_anew(),
            None => self.touch(),
        }
    }

    /// The same, as no change that backfill would see.
    pub(super) fn enter_queue(&mut self, id: JobId, now: i64) {
        if self.live.get(id).is_some_and(|live| live.starts > 0) {
            // It ran before: what its first run left in the queue must not come back to life.
            self.queue.purge(|record| self.live.is_pending(record.job));
        }
        self.settle_share(id);
        // Who waits when the controller starts has been eligible since the recorded time.
        let job = self.job(id);
        let now = if self.now == self.timers.boot && job.before().is_some() { now.min(job.release) } else { now };
        let known = self.live.get(id).filter(|live| live.accrues).map(|live| live.accrue);
        let at_boot = self.now == self.timers.boot;
        let accrue = known.unwrap_or_else(|| self.accrue_from(id, now));
        // With ACCRUE_ALWAYS it has had its age since its submission, whatever it waited for (rec i-het).
        let always = self.scenario.policy.priority.accrue_always;
        let is_noted = !self.scenario.policy.enforce.limits && self.own_begin(id).is_some();
        let is_learnt =
            known.is_some() || at_boot || always || is_noted || (accrue == NO_AGE && !self.begins_with_queue_build(id));
        self.live.set_phase(id, Phase::Pending);
        let is_mixed = self.is_mixed(id);
        if let Some(live) = self.live.get_mut(id) {
            (live.accrue, live.accrues, live.is_mixed) = (if is_learnt { accrue } else { NO_AGE }, is_learnt, is_mixed);
        }
        if !is_learnt {
            self.await_age(id, accrue);
        }
        self.is_eligible_since(id, now);
        self.backfill.note_newcomer(id);
        self.await_first_test(id);
        let is_component = self.hetjobs.is_some() && crate::sched::main_cycle::is_component(self, id);
        if let Some(hetjobs) = self.hetjobs.as_mut().filter(|_| is_component) {
            hetjobs.enters(id);
        }
        let is_task = matches!(self.job(id).name.part, JobPart::Task(_)) && !self.has_own_record(id);
        for position in 0..self.partitions(id).len() {
            let partition = self.partitions(id)[position];
            // What has changed its array's size since the last step changes no priority before the next (facts 62).
            let mut standing = self.standing(id);
            if let Some(&cpus) = self.array_sizes_at_step.get(&self.job(id).name.id).filter(|_| is_task) {
                standing.charged_cpus = cpus;
            }
            let (tier, priority) = self.tier_and_priority_of(id, partition, standing);
            let priority = self.kept_priority(id, position).unwrap_or(priority);
            let priority = priority.max(self.risen_to(id, position));
            if position == 0
                && let Some(live) = self.live.get_mut(id)
            {
                live.priority = priority;
            }
            let (request, holder) = (self.job(id).request, self.holder(id));
            let (out, denied) = self.keeps_out(id, partition);
            let out_of_main = !out && !self.partition_limits_allow(id, partition);
            let kind = Kind { out, denied, out_of_main, ..self.kind(id) };
            let first = if kind.task { self.first_task(id) } else { id };
            self.queue.push(Record::new((id, first, request, holder, kind), (position, partition), (tier, priority)));
        }
    }

    /// Its user, in the account that is his default, or in any of the others.
    pub(super) fn holder(&self, id: JobId) -> Holder {
        let job = self.job(id);
        let row = self.scenario.associations.rows.get(job.association.index());
        let in_others = row.is_some_and(|row| row.user.is_some() && !row.is_default);
        Holder(2 * job.user.0 + u32::from(in_others))
    }

    /// What its records say about a job. O(1).
    pub(super) fn kind(&self, id: JobId) -> Kind {
        let job = self.job(id);
        Kind {
            task: matches!(job.name.part, JobPart::Task(_)),
            common: matches!(job.name.part, JobPart::Task(_)) && !self.has_own_record(id),
            alone: job.name.part == JobPart::Whole && self.partitions(id).len() == 1,
            mixed: self.live.get(id).is_some_and(|live| live.is_mixed),
            stays: job.extra.is_none() && job.cancelled_at == i64::MAX,
            out: false,
            out_of_main: false,
            denied: false,
            peculiar: self.is_peculiar(id),
        }
    }

    /// How many of its partitions keep a job out by their limits, and how many others refuse it by their lists. O(partitions).
    pub(super) fn kept_out_of(&self, id: JobId) -> (usize, usize) {
        let kept = self.partitions(id).iter().map(|&partition| self.keeps_out(id, partition));
        kept.fold((0, 0), |(out, denied), (is_out, is_denied)| {
            (out + usize::from(is_out), denied + usize::from(is_denied))
        })
    }

    /// Whether a partition keeps a job out by its limits, or else refuses it by its lists. O(lists of the partition).
    fn keeps_out(&self, id: JobId, partition: PartitionId) -> (bool, bool) {
        let out = !self.queue_limits_allow(id, partition);
        (out, !out && self.partition_denies(id, partition))
    }

    /// A test of when and where would have charged the waiting job so many CPUs: its size factor uses them from the next
    /// step on. Source: docs/FACTS.md, facts.
    pub(crate) fn size_becomes(&mut self, id: JobId, charged: Option<u32>) {
        let Some(cpus) = charged else { return };
        self.sizes_version += u64::from(self.charged_cpus(id) != Some(cpus));
        if let Some(live) = self.live.get_mut(id) {
            live.charged_cpus = Some(cpus);
        }
        if let Some(array) = self.array_of_varying_size(id) {
            self.array_counts_as(array, cpus);
        }
    }

    /// The rest of an array counts as so many CPUs from the next step on.
    pub(super) fn array_counts_as(&mut self, array: u64, cpus: u32) {
        let before = self.array_sizes.insert(array, cpus);
        if before != Some(cpus) {
            self.array_sizes_at_step.entry(array).or_insert(before);
        }
    }

    /// As how many CPUs a job counts; `None` as many as it asked for. O(log arrays).
    pub(crate) fn charged_cpus(&self, id: JobId) -> Option<u32> {
        let of_array = self.array_of_varying_size(id).and_then(|array| self.array_sizes.get(&array).copied());
        of_array.or_else(|| self.live.get(id)?.charged_cpus)
    }

    /// The array of a task whose size may vary.
    pub(super) fn array_of_varying_size(&self, id: JobId) -> Option<u64> {
        let name = self.job(id).name;
        (self.sizes_vary && matches!(name.part, JobPart::Task(_)) && !self.has_own_record(id)).then_some(name.id)
    }

    /// Whether tests at submission, and failing ones of the main scheduler, tell how large a job is: with select/linear, where sizes
    /// vary.
    pub(crate) fn linear_sizes_vary(&self) -> bool {
        self.sizes_vary && self.scenario.policy.select.linear
    }

    /// The controller's tick runs the main scheduler.
    pub(crate) fn main_timer(&mut self) {
        let full = self.timers.main_ran(self.now);
        // It only wakes the scheduler's thread, and looks who is eligible before that builds its queue (controller.c of 22.05.8,
        // `set_job_elig_time`): who waits for the start of a job that starts now is seen by the next queue (rec c1082-24-11).
        if full && self.any_limited_array() {
            self.forget_begin_times(false);
        }
        if full {
            self.discover_eligible();
        }
        self.run_main(full);
        self.vain.main += u32::from(full);
    }

    /// Something asked for the main scheduler at once.
    pub(crate) fn main_immediate(&mut self) {
        if self.timers.main_is_imposed() {
            return;
        }
        self.run_main(false);
    }
}
