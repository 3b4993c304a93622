//! Records counted against the caps of one backfill cycle. Source: slurm-semantics 3.1, 3.6.

use crate::ablation::{Rule, is_off};
use crate::ids::{JobId, PartitionId};
use crate::policy::BackfillPolicy;
use crate::simulation::Controller;

use crate::sched::queue::Record;

/// Records counted against the per-cycle caps. Dense vectors: no hashing per record.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// A user in his default account, or in any of the others.
    pub(super) holder: Vec<u32>,
    pub(super) partition: Vec<u32>,
    pub(super) association: Vec<u32>,
    pub(super) user_partition: Vec<u32>,
    pub(super) planned_in_partition: Vec<u32>,
    /// Tasks of the array last planned, since another one was.
    latest_array: LatestArray,
    /// Arrays with whose record of a partition the cycle is done: Slurm keeps the tasks in one record, and comes to the next one only
    /// when it has found a place for the one before.
    closed_arrays: std::collections::BTreeSet<(u64, PartitionId)>,
    /// The array of which a record has just been rejected in a partition: others of it are then passed over there, until a plan or a start.
    pub(super) rejected: Option<(u64, PartitionId)>,
    /// The array whose record with preferred features has been rejected in a partition (from 23.02.3 on): its tasks go on without them.
    pub(super) without_preference: Option<(u64, PartitionId)>,
    /// Arrays at whose record of a partition the cycle is, or was, and what holds for all of their tasks there.
    begun_arrays: std::collections::BTreeMap<(u64, PartitionId), Begun>,
    /// The task of an array that starts next: a plan uses up none.
    next_tasks: std::collections::BTreeMap<u64, JobId>,
    /// Jobs with a time of start, under `bf_one_resv_per_job`.
    jobs: std::collections::BTreeSet<JobId>,
}

/// What an array's first task found at its record of a partition; it holds for the tasks behind it (`next_task` of backfill.c of 22.05.8 is
/// behind the questions).
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// They may only start now.
    test_only: bool,
    /// Another record had a time of start (`orig_start_time`; rec c154).
    planned_elsewhere: bool,
}

/// Plans of one array's tasks in a row.
#[derive(Debug, Default)]
struct LatestArray {
    /// The array, and the partition of the latest plan.
    of: Option<(u64, PartitionId)>,
    planned: u32,
    /// Those in that partition since one in another.
    in_partition: u32,
}

/// Where a user's records of a partition are counted.
fn user_in_partition(controller: &Controller<'_>, record: Record) -> usize {
    let user = controller.scenario.workload.jobs[record.job.index()].user;
    user.index() * controller.scenario.cluster.partitions.len() + record.partition.index()
}

impl Counts {
    pub(super) fn planned(&self, partition: PartitionId) -> u32 {
        self.planned_in_partition.get(partition.index()).copied().unwrap_or(0)
    }

    pub(super) fn bump(counts: &mut Vec<u32>, index: usize) -> u32 {
        if counts.len() <= index {
            counts.resize(index + 1, 0);
        }
        counts[index] += 1;
        counts[index]
    }

    /// Whether a cap keeps the record from being tested. O(1).
    pub(super) fn are_used_up(&self, controller: &Controller<'_>, record: Record) -> bool {
        if is_off(Rule::BackfillCaps) {
            return false;
        }
        let scenario = controller.scenario;
        let policy = &scenario.policy.backfill;
        let at = |counts: &[u32], index: usize| counts.get(index).copied().unwrap_or(0);
        let association = || scenario.workload.jobs[record.job.index()].association.index();
        let (holder, partition) = (record.holder.0 as usize, record.partition.index());
        let pair = || user_in_partition(controller, record);
        (policy.max_job_part > 0 && at(&self.partition, partition) >= policy.max_job_part)
            || (policy.max_job_assoc > 0 && at(&self.association, association()) >= policy.max_job_assoc)
            || (policy.max_job_assoc == 0 && policy.max_job_user > 0 && at(&self.holder, holder) >= policy.max_job_user)
            || (policy.max_job_user_part > 0 && at(&self.user_partition, pair()) >= policy.max_job_user_part)
    }

    /// Counts the record against the caps; false if one was reached. O(1).
    pub(super) fn admit(&mut self, controller: &Controller<'_>, record: Record) -> bool {
        let policy = &controller.scenario.policy.backfill;
        if !policy.caps_records() {
            return true;
        }
        if self.are_used_up(controller, record) {
            return false;
        }
        if policy.max_job_part > 0 {
            Self::bump(&mut self.partition, record.partition.index());
        }
        if policy.max_job_assoc > 0 {
            let association = controller.scenario.workload.jobs[record.job.index()].association;
            Self::bump(&mut self.association, association.index());
        }
        if policy.max_job_user > 0 {
            Self::bump(&mut self.holder, record.holder.0 as usize);
        }
        if policy.max_job_user_part > 0 {
            Self::bump(&mut self.user_partition, user_in_partition(controller, record));
        }
        true
    }

    /// A record got a planned start.
    pub(super) fn note_plan(&mut self, policy: &BackfillPolicy, record: Record) {
        self.note_counted(record);
        self.note_start_time(policy, record.job);
    }

    /// A record counts for `bf_job_part_count_reserve`.
    pub(super) fn note_counted(&mut self, record: Record) {
        Self::bump(&mut self.planned_in_partition, record.partition.index());
    }

    /// A record got a time of start, though no plan: under `bf_one_resv_per_job` the job's other records may then only start now
    /// (`_attempt_backfill` of 22.05.8: `start_time`). O(log jobs).
    pub(super) fn note_start_time(&mut self, policy: &BackfillPolicy, job: JobId) {
        if policy.one_resv_per_job {
            self.jobs.insert(job);
        }
    }

    /// Under `bf_one_resv_per_job`: whether another record of the job has a time of start, planned or found. Of an array's tasks
    /// (`task_of` an array in a partition) the first one's answer holds. O(log jobs).
    pub(super) fn is_planned_elsewhere(
        &self,
        policy: &BackfillPolicy,
        job: JobId,
        task_of: Option<(u64, PartitionId)>,
    ) -> bool {
        let begun = || task_of.and_then(|of| self.begun_arrays.get(&of));
        policy.one_resv_per_job && begun().map_or_else(|| self.jobs.contains(&job), |begun| begun.planned_elsewhere)
    }

    /// Whether the cycle comes to no other task of an array in a partition.
    pub(super) fn is_done_with(&self, array: u64, partition: PartitionId) -> bool {
        self.closed_arrays.contains(&(array, partition))
    }

    /// The task that starts if the cycle finds a place now at the record of this one: the lowest of those in the array's common record
    /// (node_scheduler.c of 22.05.8, `job_array_pre_sched`; rec l-share). O(log arrays), and once a cycle over the tasks that started in it.
    pub(super) fn next_task(&mut self, controller: &Controller<'_>, array: u64, task: JobId) -> JobId {
        let from = self.next_tasks.get(&array).copied().unwrap_or(task);
        let next = controller.first_in_common_record(from).unwrap_or(task);
        self.next_tasks.insert(array, next);
        next
    }

    /// The first task of an array gets past its limits in a partition, and may be planned or may only start now: so may those behind it.
    /// O(log arrays).
    pub(super) fn begin_array(&mut self, array: u64, partition: PartitionId, task: JobId, test_only: bool) {
        let planned_elsewhere = self.jobs.contains(&task);
        self.begun_arrays.insert((array, partition), Begun { test_only, planned_elsewhere });
    }

    /// What was said of a task before: whether it may only start now. O(log arrays).
    pub(super) fn task_before(&self, array: u64, partition: PartitionId) -> Option<bool> {
        self.begun_arrays.get(&(array, partition)).map(|begun| begun.test_only)
    }

    /// A task of an array got a planned start.
    pub(super) fn note_task_plan(&mut self, array: u64, partition: PartitionId) {
        let of = Some((array, partition));
        let (planned, in_partition) = match self.latest_array {
            LatestArray { of: latest, planned, in_partition } if latest == of => (planned, in_partition),
            LatestArray { of: Some((latest, _)), planned, .. } if latest == array => (planned, 0),
            _ => (0, 0),
        };
        self.latest_array = LatestArray { of, planned: planned + 1, in_partition: in_partition + 1 };
    }

    /// How many tasks behind the one just planned must wait for the cycle to come to the next: plans in other partitions count
    /// against the number of tasks, too, until another array is planned. `None` if `most` are planned.
    pub(super) fn tasks_behind_needed(&self, most: u32) -> Option<u32> {
        let latest = &self.latest_array;
        (latest.planned < most).then_some(latest.planned - latest.in_partition + 1)
    }

    /// Tasks of the array last planned that were planned since another one was.
    pub(super) fn planned_in_row(&self) -> u32 {
        self.latest_array.planned
    }

    /// The cycle is done with an array in a partition.
    pub(super) fn close_array(&mut self, array: u64, partition: PartitionId) {
        self.closed_arrays.insert((array, partition));
    }
}
