//! Association and QOS limits that need no counts: may this job be tested at all?
//! Source: slurm-semantics 5.1, 5.3. The first level that defines a limit decides: partition QOS, job QOS, association,
//! its ancestors (a QOS with OverPartQOS stands before the partition's).

use crate::association::Limits;
use crate::ids::{AssociationId, JobId, PartitionId, QosId};
use crate::simulation::Controller;

use super::usage::Used;

impl Controller<'_> {
    /// The QOS whose limits apply, strongest first.
    pub(super) fn limiting_qos(&self, id: JobId, partition: PartitionId) -> impl Iterator<Item = QosId> + use<> {
        let job_qos = self.scenario.workload.jobs[id.index()].qos;
        let partition_qos = self.scenario.cluster.partitions[partition.index()].qos.filter(|&qos| qos != job_qos);
        let (first, second) = match partition_qos {
            Some(partition_qos) if self.scenario.qos[job_qos.index()].over_part_qos => (job_qos, Some(partition_qos)),
            Some(partition_qos) => (partition_qos, Some(job_qos)),
            None => (job_qos, None),
        };
        std::iter::once(first).chain(second)
    }

    /// The association and its ancestors, the job's own first.
    pub(super) fn lineage(&self, id: JobId) -> impl Iterator<Item = AssociationId> + '_ {
        let own = self.scenario.workload.jobs[id.index()].association;
        std::iter::successors(Some(own), |at| self.scenario.associations.rows[at.index()].parent)
    }

    /// The first value that the levels of a job set, strongest first.
    pub(crate) fn limit_of(
        &self,
        id: JobId,
        partition: PartitionId,
        value: impl Fn(&Limits) -> Option<u32>,
    ) -> Option<u32> {
        let mut of_qos = self.limiting_qos(id, partition).map(|qos| &self.scenario.qos[qos.index()].limits);
        let mut of_rows = self.lineage(id).map(|at| &self.scenario.associations.rows[at.index()].limits);
        of_qos.find_map(&value).or_else(|| of_rows.find_map(&value))
    }

    /// The account's row of a job.
    pub(crate) fn account_of(&self, id: JobId) -> AssociationId {
        let own = self.scenario.workload.jobs[id.index()].association;
        let row = &self.scenario.associations.rows[own.index()];
        if row.user.is_some() { row.parent.unwrap_or(own) } else { own }
    }

    /// Limits that need no node counts: whether the job may be tested at all. O(depth of the tree).
    pub(crate) fn limits_allow_test(&self, id: JobId, partition: PartitionId) -> bool {
        !self.limits.active || self.may_be_tested(id, partition, true)
    }

    /// The same; without `spent`, as if all wall time that can decay had.
    pub(super) fn may_be_tested(&self, id: JobId, partition: PartitionId, spent: bool) -> bool {
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let account = self.account_of(id).0;
        let minutes = self.safe_minutes(id, self.live.get(id).map_or(0, |live| live.limit_seconds / 60));
        let jobs_of = |used: Option<&Used>| used.map_or(0, |used| used.jobs);
        let wall_of = |used: &Used, counts: bool| if counts { (used.wall / 60.0) as i64 } else { 0 };
        let wall_minutes = if self.scenario.policy.enforce.safe { minutes } else { 1 };
        let mut decided = Decided::default();
        for qos in self.limiting_qos(id, partition) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let keeps = self.scenario.qos[qos.index()].no_decay;
            let group = &self.limits.qos[qos.index()];
            let of_user = jobs_of(self.limits.qos_users.get(&(qos.0, user)));
            let of_account = jobs_of(self.limits.qos_accounts.get(&(qos.0, account)));
            if decided.reached(GRP_JOBS, limits.grp_jobs, group.jobs)
                || decided.reached(JOBS_PER_USER, limits.max_jobs_per_user, of_user)
                || decided.reached(JOBS_PER_ACCOUNT, limits.max_jobs_per_account, of_account)
                || decided.exceeded(WALL, limits.max_wall, minutes)
                || decided.exceeded(GRP_WALL, limits.grp_wall, wall_of(group, spent || keeps) + wall_minutes)
            {
                return false;
            }
        }
        let by_qos = decided;
        for at in self.lineage(id) {
            let limits = &self.scenario.associations.rows[at.index()].limits;
            let group = &self.limits.associations[at.index()];
            // Group limits hold at every ancestor; a job's own maxima are those of the nearest row that sets them.
            let mut groups = by_qos;
            if groups.reached(GRP_JOBS, limits.grp_jobs, group.jobs)
                || groups.exceeded(GRP_WALL, limits.grp_wall, wall_of(group, spent) + wall_minutes)
                || decided.exceeded(WALL, limits.max_wall, minutes)
            {
                return false;
            }
        }
        if by_qos.has(JOBS_PER_USER) || by_qos.has(JOBS_PER_ACCOUNT) {
            return true;
        }
        let own = self.scenario.workload.jobs[id.index()].association;
        let max_jobs = self.lineage(id).find_map(|at| self.scenario.associations.rows[at.index()].limits.max_jobs);
        max_jobs.is_none_or(|most| self.limits.associations[own.index()].jobs < most)
    }
}

const GRP_JOBS: usize = 0;
const JOBS_PER_USER: usize = 1;
const JOBS_PER_ACCOUNT: usize = 2;
const WALL: usize = 3;
const GRP_WALL: usize = 4;

/// Which kinds of limit a stronger level has defined.
#[derive(Clone, Copy, Default)]
pub(super) struct Decided([bool; 5]);

impl Decided {
    /// Whether the limit of this kind is used up; notes that it is defined.
    pub(super) fn reached(&mut self, kind: usize, limit: Option<u32>, used: u32) -> bool {
        let Some(limit) = limit else { return false };
        !std::mem::replace(&mut self.0[kind], true) && used >= limit
    }

    /// Whether a value is above the limit of this kind; notes that it is defined.
    pub(super) fn exceeded(&mut self, kind: usize, limit: Option<u32>, value: i64) -> bool {
        let Some(limit) = limit else { return false };
        !std::mem::replace(&mut self.0[kind], true) && value > i64::from(limit)
    }

    /// Whether a limit of this kind is defined.
    pub(super) fn has(self, kind: usize) -> bool {
        self.0[kind]
    }
}
