//! Arrays with a task limit (`%N`), and the common records of arrays. Source: slurm-semantics 2.5.

use super::Corresponding;
use crate::ids::JobId;
use crate::job::{Job, JobPart};
use crate::outcome::StartedBy;
use crate::policy::SlurmVersion;
use crate::simulation::Controller;
use crate::simulation::jobs::Phase;

/// `correspond_after_task_cnt`: so many records may an array have whose tasks wait for those of another.
const SPLIT_MOST: usize = 10;

/// The array a job is a task of, where the array limits its running tasks.
pub(crate) fn limited_array(job: &Job) -> Option<(u64, u32)> {
    match (job.name.part, job.extra.as_ref()?.array_task_limit) {
        (JobPart::Task(_), Some(limit)) => Some((job.name.id, limit)),
        _ => None,
    }
}

impl Controller<'_> {
    /// A queue build gives tasks that wait for those of another array records of their own, as long as their array has few
    /// (job_scheduler.c of 22.05.8, `build_job_queue`; rec ax-share). O(such tasks) until then.
    pub(super) fn split_corresponding(&mut self) {
        let arrays = std::mem::take(&mut self.waiting.corresponding);
        for (array, Corresponding { tasks, is_new }) in arrays {
            let waits = |phase: Phase| matches!(phase, Phase::Waiting | Phase::Pending);
            let is_split = |id: &JobId| self.live.get(*id).is_some_and(|live| live.age.is_some() && waits(live.phase));
            let mut records = tasks.iter().filter(|id| is_split(id)).count() + 1;
            let mut left = false;
            for &id in &tasks {
                // Those that a queue build has found to wait no more have no dependency left to be split for.
                if self.has_own_record(id) || !(is_new || self.waiting.held.contains(&id)) {
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
                self.waiting.corresponding.insert(array, Corresponding { tasks, is_new: false });
            }
        }
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
        let by_backfill = self.records[id.index()].started_by == Some(StartedBy::Backfill);
        // Where each has a record of its own the main scheduler asks the next one, and passes over the rest of the array: that one has no begin
        // time any more, and its age begins anew if no queue build has come to know it (job_scheduler.c of 22.05.8, `_schedule`,
        // `job_array_start_test`; rec c1177). Where limits are enforced its age asks for no begin time (acct_policy.c,
        // `acct_policy_handle_accrue_time`; rec c1395).
        let waiting = || siblings.iter().copied().filter(|&id| self.live.is_pending(id));
        let is_asked =
            !by_backfill && !self.scenario.policy.enforce.limits && waiting().all(|id| self.has_own_record(id));
        let next = waiting().next().filter(|_| is_asked);
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
                if by_backfill || next == Some(sibling) {
                    self.waiting.unaged.remove(&sibling);
                }
            }
        }
        if held {
            // That their reason is the limit the next queue build notes, once (`build_job_queue` of 22.05.8; rec c1173).
            self.new_reason |= self.waiting.held_by_limit.insert(array);
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
}
