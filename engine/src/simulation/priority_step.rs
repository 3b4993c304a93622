//! The priority thread: usage decays and grows, fair shares and priorities follow. Source: slurm-semantics 4.2–4.6.

use super::jobs::{LiveJob, Phase};
use super::record_age::Age;
use super::{Controller, seconds};
use crate::ablation::{Rule, is_off};
use crate::ids::{AssociationId, JobId};
use crate::sched::backfill::hetjob_order::keep_order;
use crate::sched::queue::Record;

/// Running jobs that are looked up together.
const AT_ONCE: usize = 32;

/// What of a running job its charge depends on.
#[derive(Clone, Copy, Debug)]
struct Charged {
    id: JobId,
    /// Its start [s].
    start: i64,
    billing: f64,
    association: AssociationId,
    usage_factor: f64,
}

impl Controller<'_> {
    /// The priority thread: decay, new usage, fair-share, then every pending job's priority.
    /// O(associations + running + pending log pending); running jobs are charged only where that decides anything.
    pub(crate) fn priority_step(&mut self) {
        let now = seconds(self.now);
        let since = self.timers.last_priority_step;
        let policy = &self.scenario.policy.priority;
        let tree = &self.scenario.associations;
        if crate::priority::reset::is_due(policy.usage_reset, since, now) {
            self.usage.reset();
            self.limits_decay(0.0);
        }
        if policy.is_classic() {
            self.fair_share.accounts_anew(tree, policy, &self.usage.raw);
        }
        let factor = self.usage.decay(now - since);
        self.limits_decay(factor);
        if policy.is_classic() {
            self.charge_and_settle(since);
        } else if self.shares_are_read || self.limits.active {
            self.charge_running(since);
            self.fair_share.rank(tree, &self.usage.raw);
        }
        self.end_where_minutes_ran_out();
        self.timers.priority_ran(self.now);
        self.counters.priority_steps += 1;
        self.array_sizes_at_step.clear();
        self.reprioritise_live();
        let policy = &self.scenario.policy.priority;
        let rates_all = policy.calculate_running && !policy.increase_only;
        let rates_others = rates_all && (!self.running.is_empty() || self.timers.keeps_records());
        if self.queue.is_empty() && (rates_others || self.anyone_held()) {
            // Who waits for other things than nodes gets a priority, too, which is a change; under CALCULATE_RUNNING so does everybody whose
            // record is there (`decay_apply_weighted_factors` of 22.05.8; rec c174).
            self.timers.changed(self.now);
        }
        self.rise_all();
        if self.queue.is_empty() || is_off(Rule::PrioritySteps) {
            return;
        }
        let mut queue = std::mem::take(&mut self.queue);
        let increase_only = self.scenario.policy.priority.increase_only;
        let waits = |record: &Record| self.live.is_pending(record.job);
        let standing = |record: &Record| self.standing(record.job);
        queue.reprioritise(waits, standing, |record, standing| {
            let (tier, priority) = self.tier_and_priority_of(record.job, record.partition, standing);
            let before = self.own_priority(record);
            (tier, if increase_only { priority.max(before) } else { priority })
        });
        self.queue = queue;
        keep_order(self);
        self.reorder();
    }

    /// Charges every running job for its time since the last step, in the order of their ends. O(running jobs × depth of the tree).
    /// They are looked up for a few at a time: the cache misses of one do not wait for those before.
    fn charge_running(&mut self, since: i64) {
        let ids: Vec<JobId> = self.running.iter().map(|running| running.job).collect();
        let mut found = Vec::with_capacity(AT_ONCE);
        for ids in ids.chunks(AT_ONCE) {
            found.extend(ids.iter().filter_map(|&id| self.charged(id)));
            found.drain(..).for_each(|charged| self.charge_since(charged, since));
        }
    }

    fn charged(&self, id: JobId) -> Option<Charged> {
        let (live, job) = (self.live.get(id)?, self.job(id));
        let (start, billing) = (live.start, live.billing);
        Some(Charged { id, start, billing, association: job.association, usage_factor: self.usage_factor(id) })
    }

    /// Charges a running job for its time since the last step.
    fn charge_since(&mut self, job: Charged, since: i64) {
        let slice = (seconds(self.now) - job.start.max(since)).max(0);
        let charge = self.usage.charge_of(slice, job.billing * job.usage_factor);
        self.usage.add(&self.scenario.associations, job.association, charge);
        if self.limits.active {
            let charged_seconds = self.usage.charge_of(slice, job.usage_factor);
            self.limits_charge(job.id, slice, charged_seconds);
        }
    }

    /// The classic formula goes through the jobs once, in the order of their records: it charges those that run and
    /// asks for the factors of those that wait, which see what was charged until then. O(live jobs log live jobs).
    fn charge_and_settle(&mut self, since: i64) {
        let all_ask = self.scenario.policy.priority.calculate_running;
        let mut jobs: Vec<(Age, JobId, Phase)> =
            self.live.all().map(|live| (self.age_of(live), live.job, live.phase)).collect();
        jobs.sort_unstable_by_key(|&(age, id, _)| (age, id));
        for (_, id, phase) in jobs {
            if let Some(charged) = self.charged(id).filter(|_| phase == Phase::Running) {
                self.charge_since(charged, since);
            }
            if matches!(phase, Phase::Waiting | Phase::Pending) || (all_ask && phase == Phase::Running) {
                self.settle_share(id);
            }
        }
    }

    /// The job asks after its association's fair share.
    pub(super) fn settle_share(&mut self, id: JobId) {
        let policy = &self.scenario.policy.priority;
        self.fair_share.settle(self.scenario.workload.jobs[id.index()].association, policy, &self.usage.raw);
    }

    /// The priorities that say who preempts whom within a QOS, which are those of waiting jobs, too; and with `CALCULATE_RUNNING` those of running
    /// jobs, with which they come back if they are requeued (rec c1383). O(live jobs × partitions) where either is on.
    fn reprioritise_live(&mut self) {
        let policy = &self.scenario.policy;
        let (running, within) = (policy.priority.calculate_running, policy.preempt.within);
        let increase_only = policy.priority.increase_only;
        if !running && !within {
            return;
        }
        let counts = |live: &&LiveJob| match live.phase {
            Phase::Pending => within,
            Phase::Running => running,
            _ => false,
        };
        let jobs: Vec<JobId> = self.live.all().filter(counts).map(|live| live.job).collect();
        for id in jobs {
            let Some(live) = self.live.get(id) else { continue };
            let (waits, before) = (live.phase == Phase::Pending, live.priority);
            let risen = |priority: u32, before: u32| if increase_only { priority.max(before) } else { priority };
            let partition = self.partitions(id).first().copied().filter(|_| waits).unwrap_or(live.partition);
            let priority = risen(self.tier_and_priority(id, partition).1, before);
            if !waits && let Some(mut kept) = self.kept_priorities.remove(&id) {
                for (kept, &partition) in kept.iter_mut().zip(self.partitions(id)) {
                    *kept = risen(self.tier_and_priority(id, partition).1, *kept);
                }
                self.kept_priorities.insert(id, kept);
            }
            if let Some(live) = self.live.get_mut(id) {
                live.priority = priority;
            }
        }
    }
}
