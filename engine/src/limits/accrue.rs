//! Limits on waiting jobs that gain age: `GrpJobsAccrue`, `MaxJobsAccrue`.
//! Source: slurm-semantics 4.3. A job waits in the order of job ids until every limit on it has room; the look comes with
//! each queue build. Starting, leaving and becoming dependent again make room.

use crate::association::Limits;
use crate::ids::{JobId, PartitionId};
use crate::simulation::{Controller, seconds};

impl Limits {
    /// Whether one of them counts waiting jobs that gain age.
    pub(crate) fn count_accruing(&self) -> bool {
        self.grp_jobs_accrue.is_some() || self.max_jobs_accrue.is_some() || self.max_jobs_accrue_per_account.is_some()
    }

    /// Whether one of them counts submitted jobs.
    pub(crate) fn count_submissions(&self) -> bool {
        let own = [self.max_submit_jobs, self.max_submit_jobs_per_user, self.max_submit_jobs_per_account];
        self.grp_submit_jobs.is_some() || own.into_iter().any(|limit| limit.is_some())
    }
}

/// What [`crate::simulation::jobs::LiveJob::accrue`] is while a job gains no age.
pub(crate) const NO_AGE: i64 = i64::MAX;

impl Controller<'_> {
    /// When a job that becomes eligible at `now` begins to gain age [s]; [`NO_AGE`] while a limit keeps it from that.
    pub(crate) fn accrue_from(&mut self, id: JobId, now: i64) -> i64 {
        if self.scenario.policy.priority.accrue_always {
            return self.live.get(id).map_or(now, |live| live.submit);
        }
        if !self.limits.counts_accruing || self.accrue_now(id) {
            return now;
        }
        self.limits.to_accrue.insert(id);
        NO_AGE
    }

    /// A queue build: jobs for which there is room now begin to gain age. O(jobs that wait for that × depth).
    pub(crate) fn discover_accruing(&mut self) {
        if self.limits.to_accrue.is_empty() {
            return;
        }
        let now = seconds(self.now);
        let waiting: Vec<JobId> = self.limits.to_accrue.iter().copied().collect();
        for id in waiting {
            if self.accrue_now(id) {
                self.limits.to_accrue.remove(&id);
                if let Some(live) = self.live.get_mut(id) {
                    live.accrue = now;
                }
            }
        }
    }

    /// The job starts, leaves, or waits for something else again: it makes room.
    pub(crate) fn stop_accruing(&mut self, id: JobId) {
        self.limits.to_accrue.remove(&id);
        if self.limits.accruing.remove(&id) {
            let leave = |used: &mut super::usage::Used, _: bool| used.accruing = used.accruing.saturating_sub(1);
            self.for_each_group(id, self.first_partition(id), leave);
        }
    }

    fn first_partition(&self, id: JobId) -> PartitionId {
        self.partitions(id).first().copied().unwrap_or(PartitionId(0))
    }

    /// Counts the job if every limit has room.
    fn accrue_now(&mut self, id: JobId) -> bool {
        let job = &self.scenario.workload.jobs[id.index()];
        let (own, user, account) = (job.association, job.user.0, self.account_of(id).0);
        let has_room = |limit: Option<u32>, used: u32| limit.is_none_or(|most| used < most);
        let (mut group_decided, mut own_decided) = (false, false);
        for qos in self.limiting_qos(id, self.first_partition(id)) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let of_user = self.limits.qos_users.get(&(qos.0, user)).map_or(0, |used| used.accruing);
            let of_account = self.limits.qos_accounts.get(&(qos.0, account)).map_or(0, |used| used.accruing);
            if (!group_decided && !has_room(limits.grp_jobs_accrue, self.limits.qos[qos.index()].accruing))
                || !has_room(limits.max_jobs_accrue, of_user)
                || !has_room(limits.max_jobs_accrue_per_account, of_account)
            {
                return false;
            }
            group_decided |= limits.grp_jobs_accrue.is_some();
            own_decided |= limits.max_jobs_accrue.is_some() || limits.max_jobs_accrue_per_account.is_some();
        }
        let rows = &self.scenario.associations.rows;
        let nearest = self.lineage(id).find_map(|at| rows[at.index()].limits.max_jobs_accrue);
        let in_groups = group_decided
            || self.lineage(id).all(|at| {
                has_room(rows[at.index()].limits.grp_jobs_accrue, self.limits.associations[at.index()].accruing)
            });
        if !in_groups || !(own_decided || has_room(nearest, self.limits.associations[own.index()].accruing)) {
            return false;
        }
        self.limits.accruing.insert(id);
        self.for_each_group(id, self.first_partition(id), |used, _| used.accruing += 1);
        true
    }
}
