//! What is decided when a job comes: refusals, and the time limit of a job that names none.
//! Source: slurm-semantics 5.2, 5.3, columns submit.

use crate::cluster::PartitionState;
use crate::ids::{JobId, PartitionId};
use crate::outcome::PendingReason;
use crate::policy::EnforcePartLimits;
use crate::simulation::{Controller, seconds};

use super::resources::Beside;

impl Controller<'_> {
    /// Why sbatch would refuse the job, if it would: by its partitions' `State`, by `EnforcePartLimits`, by a limit on
    /// submitted jobs, or by a QOS with `DenyOnLimit`. O(partitions of the job + depth of the tree).
    pub(crate) fn refused_at_submission(&self, id: JobId) -> Option<PendingReason> {
        let state = |&partition: &PartitionId| self.scenario.cluster.partitions[partition.index()].state;
        let comes_now = self.job(id).submit >= seconds(self.now);
        if comes_now && !self.partitions(id).iter().map(state).any(PartitionState::accepts) {
            return Some(PendingReason::PartitionDown);
        }
        let accepts = |&partition: &PartitionId| self.partition_limits_allow(id, partition);
        let refused_by_partitions = match self.scenario.policy.enforce.partition_limits {
            EnforcePartLimits::No => false,
            EnforcePartLimits::Any => !self.partitions(id).iter().any(accepts),
            EnforcePartLimits::All => !self.partitions(id).iter().all(accepts),
        };
        if refused_by_partitions {
            return Some(PendingReason::PartitionLimit);
        }
        (self.too_many_submitted(id) || self.denied_on_limit(id)).then_some(PendingReason::Limit)
    }

    /// The partition whose QOS counts a job from its submission on.
    fn partition_at_submission(&self, id: JobId) -> PartitionId {
        self.partitions(id).first().copied().unwrap_or(PartitionId(0))
    }

    /// `GrpSubmitJobs`, `MaxSubmitJobs`: whether the job would be one too many in the queue.
    fn too_many_submitted(&self, id: JobId) -> bool {
        if !self.limits.counts_submissions {
            return false;
        }
        let (user, account) = (self.scenario.workload.jobs[id.index()].user.0, self.account_of(id).0);
        let (mut group_decided, mut own_decided) = (false, false);
        let full = |limit: Option<u32>, used: Option<u32>| limit.is_some_and(|most| used.unwrap_or(0) >= most);
        for qos in self.limiting_qos(id, self.partition_at_submission(id)) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let of_user = self.limits.qos_users.get(&(qos.0, user)).map(|used| used.submitted);
            let of_account = self.limits.qos_accounts.get(&(qos.0, account)).map(|used| used.submitted);
            if (!group_decided && full(limits.grp_submit_jobs, Some(self.limits.qos[qos.index()].submitted)))
                || full(limits.max_submit_jobs_per_user, of_user)
                || full(limits.max_submit_jobs_per_account, of_account)
            {
                return true;
            }
            group_decided |= limits.grp_submit_jobs.is_some();
            own_decided |= limits.max_submit_jobs_per_user.is_some() || limits.max_submit_jobs_per_account.is_some();
        }
        let own = self.scenario.workload.jobs[id.index()].association;
        let submitted = Some(self.limits.associations[own.index()].submitted);
        let nearest =
            self.lineage(id).find_map(|at| self.scenario.associations.rows[at.index()].limits.max_submit_jobs);
        (!own_decided && full(nearest, submitted))
            || (!group_decided
                && self.lineage(id).any(|at| {
                    let limit = self.scenario.associations.rows[at.index()].limits.grp_submit_jobs;
                    full(limit, Some(self.limits.associations[at.index()].submitted))
                }))
    }

    /// `DenyOnLimit` of the job's QOS or the partition's: whether a limit is below what the job alone asks for.
    fn denied_on_limit(&self, id: JobId) -> bool {
        self.limits.active
            && self.denies_on_limit(id)
            && !(self.wall_keeps_limits(id)
                && self.counts_keep_limits(
                    id,
                    self.partition_at_submission(id),
                    &self.requested_counts(id),
                    Beside::Nothing,
                ))
    }

    fn denies_on_limit(&self, id: JobId) -> bool {
        let mut qos = self.limiting_qos(id, self.partition_at_submission(id));
        qos.any(|qos| self.scenario.qos[qos.index()].deny_on_limit)
    }

    /// Whether the time limit is within `MaxWall` and `GrpWall`.
    fn wall_keeps_limits(&self, id: JobId) -> bool {
        let minutes = self.live.get(id).map_or(0, |live| live.limit_seconds / 60);
        self.wall_limit(id).is_none_or(|most| minutes <= i64::from(most))
    }

    /// The least of `MaxWall` and `GrpWall` [min].
    fn wall_limit(&self, id: JobId) -> Option<u32> {
        let of_qos = self.limiting_qos(id, self.partition_at_submission(id)).map(|qos| &self.scenario.qos[qos.index()]);
        let (mut own, mut group) = (None, None);
        for limits in of_qos.map(|qos| &qos.limits) {
            own = own.or(limits.max_wall);
            group = group.or(limits.grp_wall);
        }
        for at in self.lineage(id) {
            let limits = &self.scenario.associations.rows[at.index()].limits;
            own = own.or(limits.max_wall);
            group = group.or(limits.grp_wall);
        }
        own.into_iter().chain(group).min()
    }

    /// The time limit of a job that names none, in a partition without `DefaultTime`, as far as limits give one [min]:
    /// the least of the wall limits and, with `DenyOnLimit`, of the minutes' limits on what it asks for.
    pub(crate) fn limit_from_limits(&self, id: JobId) -> Option<u32> {
        if !self.limits.active {
            return None;
        }
        let index = self.limits.index;
        let counts = self.requested_counts(id).counts;
        let qos = self.limiting_qos(id, self.partition_at_submission(id)).map(|qos| &self.scenario.qos[qos.index()]);
        let of_qos = qos.map(|qos| &qos.limits);
        let of_rows = self.lineage(id).map(|at| &self.scenario.associations.rows[at.index()].limits);
        let minutes = of_qos.chain(of_rows).flat_map(|limits| {
            let lists = [&limits.max_tres_mins_per_job, &limits.grp_tres_mins, &limits.grp_tres_run_mins];
            lists.into_iter().flatten().filter_map(|&(tres, most)| most.checked_div(counts[index.of(tres)]))
        });
        let minutes = minutes.filter(|_| self.denies_on_limit(id));
        let least = minutes.map(|minutes| u32::try_from(minutes).unwrap_or(u32::MAX)).min();
        self.wall_limit(id).into_iter().chain(least).min()
    }

    /// The job is in the queue: limits on submitted jobs count it until it leaves.
    pub(crate) fn limits_submitted(&mut self, id: JobId) {
        if self.limits.counts_submissions && self.limits.submitted.insert(id) {
            self.for_each_group(id, self.partition_at_submission(id), |used, _| used.submitted += 1);
        }
    }

    /// Nothing more will happen to the job.
    pub(crate) fn limits_left(&mut self, id: JobId) {
        if self.limits.submitted.remove(&id) {
            let leave = |used: &mut super::usage::Used, _: bool| used.submitted = used.submitted.saturating_sub(1);
            self.for_each_group(id, self.partition_at_submission(id), leave);
        }
        self.stop_accruing(id);
    }
}
