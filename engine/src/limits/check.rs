//! Association and QOS limits: does one keep this job waiting?
//! Source: slurm-semantics 5.1, 5.3. The first level that defines a limit decides: partition QOS, job QOS, association,
//! its ancestors (a QOS with OverPartQOS stands before the partition's).

use crate::association::{Limits, Qos};
use crate::cluster::Tres;
use crate::ids::{AssociationId, JobId, PartitionId, QosId};
use crate::simulation::Controller;

use super::usage::{Counts, Used};

/// A limit on counts per group or per job.
type TresLimits = Vec<(Tres, u64)>;

impl Controller<'_> {
    /// The QOS whose limits apply, strongest first.
    fn limiting_qos(&self, id: JobId, partition: PartitionId) -> Vec<QosId> {
        let job_qos = self.scenario.workload.jobs[id.index()].qos;
        let partition_qos = self.scenario.cluster.partitions[partition.index()].qos;
        match partition_qos {
            Some(partition_qos) if partition_qos == job_qos => vec![job_qos],
            Some(partition_qos) if self.scenario.qos[job_qos.index()].over_part_qos => vec![job_qos, partition_qos],
            Some(partition_qos) => vec![partition_qos, job_qos],
            None => vec![job_qos],
        }
    }

    /// The association and its ancestors, the job's own first.
    fn lineage(&self, id: JobId) -> impl Iterator<Item = AssociationId> + '_ {
        let own = self.scenario.workload.jobs[id.index()].association;
        std::iter::successors(Some(own), |at| self.scenario.associations.rows[at.index()].parent)
    }

    /// The account's row of a job.
    pub(crate) fn account_of(&self, id: JobId) -> AssociationId {
        let own = self.scenario.workload.jobs[id.index()].association;
        let row = &self.scenario.associations.rows[own.index()];
        if row.user.is_some() { row.parent.unwrap_or(own) } else { own }
    }

    /// Limits that need no node counts: whether the job may be tested at all.
    pub(crate) fn limits_allow_test(&self, id: JobId, partition: PartitionId) -> bool {
        if !self.limits.active {
            return true;
        }
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let account = self.account_of(id).0;
        let minutes = self.live.get(id).map_or(0, |live| live.limit_seconds / 60);
        let jobs_of = |used: Option<&Used>| used.map_or(0, |used| used.jobs);
        let mut decided = Decided::default();
        for qos in self.limiting_qos(id, partition) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let group = &self.limits.qos[qos.index()];
            let of_user = jobs_of(self.limits.qos_users.get(&(qos.0, user)));
            let of_account = jobs_of(self.limits.qos_accounts.get(&(qos.0, account)));
            if decided.reached(0, limits.grp_jobs, group.jobs)
                || decided.reached(1, limits.max_jobs_per_user, of_user)
                || decided.reached(2, limits.max_jobs_per_account, of_account)
                || decided.exceeded(3, limits.max_wall, minutes)
                || decided.reached(4, limits.grp_wall, (group.wall / 60.0) as u32)
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
            if groups.reached(0, limits.grp_jobs, group.jobs)
                || groups.reached(4, limits.grp_wall, (group.wall / 60.0) as u32)
                || decided.exceeded(3, limits.max_wall, minutes)
            {
                return false;
            }
        }
        let own = self.scenario.workload.jobs[id.index()].association;
        let max_jobs = self.lineage(id).find_map(|at| self.scenario.associations.rows[at.index()].limits.max_jobs);
        max_jobs.is_none_or(|most| self.limits.associations[own.index()].jobs < most)
    }

    /// Limits on what the job would hold.
    pub(crate) fn limits_allow_counts(&self, id: JobId, partition: PartitionId, counts: &Counts) -> bool {
        if !self.limits.active {
            return true;
        }
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let account = self.account_of(id).0;
        let minutes = self.live.get(id).map_or(0, |live| live.limit_seconds / 60).max(0) as u64;
        let index = self.limits.index;
        let nothing = Used::empty(index);
        let n = index.len();
        let mut group_decided = vec![false; n];
        let mut job_decided = vec![false; n];
        for qos in self.limiting_qos(id, partition) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let group = &self.limits.qos[qos.index()];
            let of_user = self.limits.qos_users.get(&(qos.0, user)).unwrap_or(&nothing);
            let of_account = self.limits.qos_accounts.get(&(qos.0, account)).unwrap_or(&nothing);
            let fits = |limits: &TresLimits, used: &Used, decided: &[bool]| {
                limits.iter().all(|&(tres, most)| {
                    let at = index.of(tres);
                    decided[at] || counts[at] == 0 || used.tres[at] + counts[at] <= most
                })
            };
            if !fits(&limits.grp_tres, group, &group_decided)
                || !fits(&limits.max_tres_per_user, of_user, &job_decided)
                || !fits(&limits.max_tres_per_account, of_account, &job_decided)
                || !self.per_job_fits(limits, counts, minutes, &job_decided)
                || !self.minutes_fit(limits, group, counts, minutes, &group_decided)
                || !minimum_met(&self.scenario.qos[qos.index()], counts, index)
            {
                return false;
            }
            for (tres, _) in &limits.grp_tres {
                group_decided[index.of(*tres)] = true;
            }
            for (tres, _) in limits.max_tres_per_user.iter().chain(&limits.max_tres_per_job) {
                job_decided[index.of(*tres)] = true;
            }
        }
        for at in self.lineage(id) {
            let limits = &self.scenario.associations.rows[at.index()].limits;
            let group = &self.limits.associations[at.index()];
            let in_group = limits.grp_tres.iter().all(|&(tres, most)| {
                let at = index.of(tres);
                group_decided[at] || counts[at] == 0 || group.tres[at] + counts[at] <= most
            });
            if !in_group
                || !self.per_job_fits(limits, counts, minutes, &job_decided)
                || !self.minutes_fit(limits, group, counts, minutes, &group_decided)
            {
                return false;
            }
            // A job's own maxima are those of the nearest row that sets them.
            let own = limits.max_tres_per_job.iter().chain(&limits.max_tres_per_node);
            for (tres, _) in own.chain(&limits.max_tres_mins_per_job) {
                job_decided[index.of(*tres)] = true;
            }
        }
        true
    }

    /// `MaxTRES`, `MaxTRESPerNode`, `MaxTRESMins` of one level.
    fn per_job_fits(&self, limits: &Limits, counts: &Counts, minutes: u64, decided: &[bool]) -> bool {
        let index = self.limits.index;
        let nodes = counts[2].max(1);
        limits.max_tres_per_job.iter().all(|&(tres, most)| decided[index.of(tres)] || counts[index.of(tres)] <= most)
            && limits
                .max_tres_per_node
                .iter()
                .all(|&(tres, most)| decided[index.of(tres)] || counts[index.of(tres)] <= most.saturating_mul(nodes))
            && limits
                .max_tres_mins_per_job
                .iter()
                .all(|&(tres, most)| decided[index.of(tres)] || counts[index.of(tres)].saturating_mul(minutes) <= most)
    }

    /// `GrpTRESMins` and `GrpTRESRunMins` of one level.
    fn minutes_fit(&self, limits: &Limits, group: &Used, counts: &Counts, minutes: u64, decided: &[bool]) -> bool {
        let index = self.limits.index;
        let safe = self.scenario.policy.enforce.safe;
        limits.grp_tres_mins.iter().all(|&(tres, most)| {
            let at = index.of(tres);
            let spent = (group.spent[at] / 60.0) as u64;
            let planned = (group.run_seconds[at] / 60.0) as u64 + counts[at].saturating_mul(minutes);
            decided[at] || (spent < most && (!safe || spent + planned <= most))
        }) && limits.grp_tres_run_mins.iter().all(|&(tres, most)| {
            let at = index.of(tres);
            decided[at] || (group.run_seconds[at] / 60.0) as u64 + counts[at].saturating_mul(minutes) <= most
        })
    }

    /// What a waiting job would at least hold.
    pub(crate) fn requested_counts(&self, id: JobId) -> Counts {
        let job = &self.scenario.workload.jobs[id.index()];
        let request = &self.scenario.workload.requests[job.request.index()];
        let index = self.limits.index;
        let mut counts = vec![0; index.len()];
        let nodes = u64::from(request.min_nodes.max(1));
        counts[index.of(Tres::Cpu)] = u64::from(request.min_cpus.max(1));
        counts[index.of(Tres::Node)] = nodes;
        counts[index.of(Tres::Billing)] = u64::from(request.min_cpus.max(1));
        counts[index.of(Tres::Memory)] = match request.memory {
            crate::job::Memory::PerNode(mb) => mb * nodes,
            crate::job::Memory::PerCpu(mb) => mb * u64::from(request.min_cpus),
            _ => 0,
        };
        for wanted in &request.gres {
            counts[index.of(Tres::Gres(wanted.gres))] = u64::from(wanted.count) * nodes;
        }
        for &(license, count) in &request.licenses {
            counts[index.of(Tres::License(license))] = u64::from(count);
        }
        counts
    }
}

/// Which kinds of limit a stronger level has defined.
#[derive(Clone, Copy, Default)]
struct Decided([bool; 5]);

impl Decided {
    /// Whether the limit of this kind is used up; notes that it is defined.
    fn reached(&mut self, kind: usize, limit: Option<u32>, used: u32) -> bool {
        let Some(limit) = limit else { return false };
        !std::mem::replace(&mut self.0[kind], true) && used >= limit
    }

    /// Whether a value is above the limit of this kind; notes that it is defined.
    fn exceeded(&mut self, kind: usize, limit: Option<u32>, value: i64) -> bool {
        let Some(limit) = limit else { return false };
        !std::mem::replace(&mut self.0[kind], true) && value > i64::from(limit)
    }
}

/// `MinTRES` of a QOS.
fn minimum_met(qos: &Qos, counts: &Counts, index: super::usage::TresIndex) -> bool {
    qos.limits.min_tres_per_job.iter().all(|&(tres, least)| counts[index.of(tres)] >= least)
}
