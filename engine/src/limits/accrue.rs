//! Limits on waiting jobs that gain age: `GrpJobsAccrue`, `MaxJobsAccrue`.
//! Source: slurm-semantics 4.3. A job waits in the order of job ids until its limit has room; the look comes with
//! each queue build. Starting, leaving and becoming dependent again make room.

use crate::association::Limits;
use crate::ids::{JobId, PartitionId};
use crate::simulation::record_age::Age;
use crate::simulation::{Controller, seconds};

use super::usage::Used;

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
        if !self.awaits_room_to_accrue(id) {
            if self.begins_with_queue_build(id) && self.now != self.timers.boot {
                return NO_AGE;
            }
            return self.own_begin(id).unwrap_or(now);
        }
        // Limits are asked when a queue is built, in the order of job ids.
        if self.now == self.timers.boot && self.accrue_now(id) {
            return now;
        }
        self.limits.to_accrue.insert(id);
        NO_AGE
    }

    /// Whether a limit decides when the job begins to gain age; without one its age counts from its begin time. O(depth).
    pub(crate) fn awaits_room_to_accrue(&self, id: JobId) -> bool {
        self.limits.counts_accruing && self.room_to_accrue(id).is_some()
    }

    /// A queue build: jobs for which there is room now begin to gain age. O(jobs that wait for that × (depth + log of them)).
    pub(crate) fn discover_accruing(&mut self) {
        if self.limits.to_accrue.is_empty() {
            return;
        }
        let now = seconds(self.now);
        // In the order of their records.
        let mut waiting: Vec<(Age, JobId)> = Vec::with_capacity(self.limits.to_accrue.len());
        for &id in &self.limits.to_accrue {
            waiting.push((self.live.get(id).map_or(Age::YOUNGEST, |live| self.age_of(live)), id));
        }
        waiting.sort_unstable();
        let mut splits = false;
        for (_, id) in waiting {
            let is_limited = self.room_to_accrue(id).is_some();
            if self.accrue_now(id) {
                self.limits.to_accrue.remove(&id);
                if is_limited {
                    // A task gets a record of its own.
                    splits |= !self.has_own_record(id);
                    self.age_at_start(id);
                }
                if let Some(live) = self.live.get_mut(id) {
                    live.accrue = now;
                }
            }
        }
        if splits {
            let live = &self.live;
            self.queue.split(|id| live.get(id).is_some_and(|live| live.age.is_none()));
            self.version += 1;
        }
    }

    /// The job starts, leaves, or waits for something else again: it makes room.
    pub(crate) fn stop_accruing(&mut self, id: JobId) {
        self.limits.to_accrue.remove(&id);
        if self.limits.accruing.remove(&id) {
            let leave = |used: &mut Used, _: bool| used.accruing = used.accruing.saturating_sub(1);
            self.for_each_group(id, self.first_partition(id), leave);
        }
    }

    fn first_partition(&self, id: JobId) -> PartitionId {
        self.partitions(id).first().copied().unwrap_or(PartitionId(0))
    }

    /// Counts the job if the limit that decides has room.
    fn accrue_now(&mut self, id: JobId) -> bool {
        if self.room_to_accrue(id) == Some(false) {
            return false;
        }
        self.limits.accruing.insert(id);
        self.for_each_group(id, self.first_partition(id), |used, _| used.accruing += 1);
        true
    }

    /// Whether the limit that decides has room, if any does: the first that is set of the job's QOS (of the group, of each account, of each
    /// user), then of the association and its ancestors. A partition's QOS decides nothing. Source: acct_policy.c,
    /// `_get_accrue_limits`, of 22.05.8.
    fn room_to_accrue(&self, id: JobId) -> Option<bool> {
        let job = &self.scenario.workload.jobs[id.index()];
        let (qos, user, account) = (job.qos, job.user.0, self.account_of(id).0);
        let (limits, rows) = (&self.scenario.qos[qos.index()].limits, &self.scenario.associations.rows);
        let accruing = |used: Option<&Used>| used.map_or(0, |used| used.accruing);
        let of_qos = [
            (limits.grp_jobs_accrue, accruing(self.limits.qos.get(qos.index()))),
            (limits.max_jobs_accrue_per_account, accruing(self.limits.qos_accounts.get(&(qos.0, account)))),
            (limits.max_jobs_accrue, accruing(self.limits.qos_users.get(&(qos.0, user)))),
        ];
        let nearest = self.lineage(id).find_map(|at| rows[at.index()].limits.max_jobs_accrue);
        let of_rows = self.lineage(id).enumerate().flat_map(|(above, at)| {
            let used = self.limits.associations[at.index()].accruing;
            let own = if above == 0 { nearest } else { None };
            [(rows[at.index()].limits.grp_jobs_accrue, used), (own, used)]
        });
        of_qos.into_iter().chain(of_rows).find_map(|(most, used)| most.map(|most| used < most))
    }
}
