//! Association and QOS limits on what a job would hold, with final counts.
//! Source: slurm-semantics 5.3, column post-select. Each kind of limit on each resource is decided by the first level
//! that sets it: the QOS in their order, then the association and its ancestors.

use crate::association::Limits;
use crate::cluster::Tres;
use crate::ids::{JobId, PartitionId, QosId};
use crate::policy::SlurmVersion;
use crate::simulation::Controller;

use super::usage::{Held, TresIndex, Used};

/// What of the groups' use counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// All of it.
    Everything,
    /// What is held, and what was spent before where it never decays.
    Undecayed,
    /// Nothing: the job alone (`DenyOnLimit`).
    Nothing,
}

const GRP: u16 = 1;
const PER_USER: u16 = 1 << 1;
const PER_ACCOUNT: u16 = 1 << 2;
const PER_JOB: u16 = 1 << 3;
const PER_NODE: u16 = 1 << 4;
const JOB_MINUTES: u16 = 1 << 5;
const GRP_MINUTES: u16 = 1 << 6;
const GRP_RUN_MINUTES: u16 = 1 << 7;
const USER_RUN_MINUTES: u16 = 1 << 8;
const ACCOUNT_RUN_MINUTES: u16 = 1 << 9;
const LEAST: u16 = 1 << 10;

/// A job before its limits.
struct Candidate<'a> {
    held: &'a Held,
    index: TresIndex,
    /// Its time limit [min], times `UsageFactor` with `UsageFactorSafe`.
    minutes: u64,
    /// `safe` is enforced.
    safe: bool,
    /// Its QOS has `UsageFactor=0`: what its groups have spent and will spend does not count for it.
    is_free: bool,
    beside: Beside,
    /// The group's use does not decay (`NoDecay`).
    keeps_spent: bool,
    /// Which kinds are decided, a mask a resource.
    decided: Vec<u16>,
    /// What this level's limits on what is held are multiplied by (`LimitFactor`).
    factor: Option<f64>,
}

impl Candidate<'_> {
    /// Whether every limit of a list that nobody decided before is kept; `note` says that it is decided now.
    fn keeps(
        &mut self,
        kind: u16,
        limits: &[(Tres, u64)],
        note: bool,
        keeps: impl Fn(&Self, usize, u64) -> bool,
    ) -> bool {
        for &(tres, most) in limits {
            let at = self.index.of(tres);
            if self.decided[at] & kind != 0 {
                continue;
            }
            if note {
                self.decided[at] |= kind;
            }
            let most = match self.factor {
                Some(factor) if kind & (GRP | PER_JOB) != 0 => (most as f64 * factor) as u64,
                _ => most,
            };
            if !keeps(self, at, most) {
                return false;
            }
        }
        true
    }

    /// Whether the group with this job stays within a limit on what it holds.
    fn fits(&self, group: Option<&Used>, at: usize, most: u64) -> bool {
        let (asked, used) = match group {
            Some(group) if self.beside != Beside::Nothing => (group.more(self.held, at), group.tres[at]),
            _ => (self.held.counts[at], 0),
        };
        asked == 0 || used + asked <= most
    }

    /// Whether what remains of the group's running jobs and this one stays within a limit [min].
    fn runs_within(&self, group: Option<&Used>, at: usize, most: u64) -> bool {
        let asked = self.asked(at);
        asked == 0 || asked.saturating_add(self.left(group, at)) <= most
    }

    /// What it asks for until its limit [min].
    fn asked(&self, at: usize) -> u64 {
        self.held.counts[at].saturating_mul(self.minutes)
    }

    /// What remains of the group's running jobs [min].
    fn left(&self, group: Option<&Used>, at: usize) -> u64 {
        match group {
            Some(group) if self.beside != Beside::Nothing => (group.run_seconds[at] / 60.0) as u64,
            _ => 0,
        }
    }

    /// Limits of one job.
    fn job_keeps(&mut self, limits: &Limits) -> bool {
        self.keeps(PER_JOB, &limits.max_tres_per_job, true, |job, at, most| job.held.counts[at] <= most)
            && self.keeps(PER_NODE, &limits.max_tres_per_node, true, |job, at, most| {
                job.held.counts[at] / job.held.counts[TresIndex::NODE].max(1) <= most
            })
            && self.keeps(JOB_MINUTES, &limits.max_tres_mins_per_job, true, |job, at, most| job.asked(at) <= most)
    }

    /// Limits of a group.
    fn group_keeps(&mut self, limits: &Limits, group: &Used, note: bool) -> bool {
        let runs_on = (!self.is_free).then_some(group);
        self.keeps(GRP, &limits.grp_tres, note, |job, at, most| job.fits(Some(group), at, most))
            && self.keeps(GRP_RUN_MINUTES, &limits.grp_tres_run_mins, note, |job, at, most| {
                job.runs_within(runs_on, at, most)
            })
            && self.keeps(GRP_MINUTES, &limits.grp_tres_mins, note, |job, at, most| {
                let counts = (job.beside == Beside::Everything || job.keeps_spent) && !job.is_free;
                let spent = if counts { (group.spent[at] / 60.0) as u64 } else { 0 };
                let asked = job.asked(at);
                match (job.beside, job.safe) {
                    // Who uses none of it is not held back.
                    _ if asked == 0 => true,
                    (Beside::Nothing, _) => asked <= most,
                    (_, true) => (spent + job.left(runs_on, at)).saturating_add(asked) <= most,
                    (_, false) => spent < most,
                }
            })
    }
}

impl Controller<'_> {
    /// A job's minutes as limits count them before it starts: times `UsageFactor`, if its QOS has `UsageFactorSafe`.
    pub(super) fn safe_minutes(&self, id: JobId, minutes: i64) -> i64 {
        let qos = &self.scenario.qos[self.scenario.workload.jobs[id.index()].qos.index()];
        match qos.usage_factor.filter(|_| qos.usage_factor_safe) {
            Some(factor) => (minutes as f64 * factor) as i64,
            None => minutes,
        }
    }

    /// `LimitFactor` of the first QOS that sets one.
    fn limit_factor(&self, id: JobId, partition: PartitionId) -> Option<f64> {
        self.limiting_qos(id, partition).find_map(|qos| self.scenario.qos[qos.index()].limit_factor)
    }

    /// Limits on what the job would hold. O(limits + depth of the tree).
    pub(crate) fn limits_allow_counts(&self, id: JobId, partition: PartitionId, held: &Held) -> bool {
        !self.limits.active || self.counts_keep_limits(id, partition, held, Beside::Everything)
    }

    /// The same beside a part of what the groups use.
    pub(super) fn counts_keep_limits(&self, id: JobId, partition: PartitionId, held: &Held, beside: Beside) -> bool {
        self.counts_break(id, partition, held, beside).is_none()
    }

    /// The QOS whose group limit keeps a job from holding so much, if that is what does.
    pub(crate) fn qos_in_the_way(&self, id: JobId, partition: PartitionId, held: &Held) -> Option<QosId> {
        self.counts_break(id, partition, held, Beside::Everything).flatten()
    }

    /// `Some` if a limit is broken, with the QOS whose group limit it is, if it is one.
    fn counts_break(&self, id: JobId, partition: PartitionId, held: &Held, beside: Beside) -> Option<Option<QosId>> {
        let job = &self.scenario.workload.jobs[id.index()];
        let (user, account) = (job.user.0, self.account_of(id).0);
        let job_qos = &self.scenario.qos[job.qos.index()];
        let minutes = self.live.get(id).map_or(0, |live| live.limit_seconds / 60).max(0);
        let index = self.limits.index;
        let mut job = Candidate {
            held,
            index,
            minutes: self.safe_minutes(id, minutes) as u64,
            safe: self.scenario.policy.enforce.safe,
            is_free: job_qos.usage_factor == Some(0.0),
            beside,
            keeps_spent: false,
            decided: vec![0; index.len()],
            factor: None,
        };
        // Until 24.05 slurmctld keeps a QOS's MaxTRESRunMins per user and account, but nowhere looks at them.
        let counts_run = self.scenario.policy.version >= SlurmVersion::V24_05;
        for qos in self.limiting_qos(id, partition) {
            let limits = &self.scenario.qos[qos.index()].limits;
            let of_user = self.limits.qos_users.get(&(qos.0, user));
            let of_account = self.limits.qos_accounts.get(&(qos.0, account));
            job.keeps_spent = self.scenario.qos[qos.index()].no_decay;
            if !job.group_keeps(limits, &self.limits.qos[qos.index()], true) {
                return Some(Some(qos));
            }
            let keeps = job
                .keeps(PER_USER, &limits.max_tres_per_user, true, |job, at, most| job.fits(of_user, at, most))
                && job.keeps(PER_ACCOUNT, &limits.max_tres_per_account, true, |job, at, most| {
                    job.fits(of_account, at, most)
                })
                && job.keeps(USER_RUN_MINUTES, &limits.max_tres_run_mins_per_user, true, |job, at, most| {
                    !counts_run || job.runs_within(of_user, at, most)
                })
                && job.keeps(ACCOUNT_RUN_MINUTES, &limits.max_tres_run_mins_per_account, true, |job, at, most| {
                    !counts_run || job.runs_within(of_account, at, most)
                })
                && job.keeps(LEAST, &limits.min_tres_per_job, true, |job, at, least| job.held.counts[at] >= least)
                && job.job_keeps(limits);
            if !keeps {
                return Some(None);
            }
        }
        job.factor = self.limit_factor(id, partition);
        job.keeps_spent = false;
        for at in self.lineage(id) {
            let limits = &self.scenario.associations.rows[at.index()].limits;
            // Group limits hold at every ancestor; a job's own maxima are those of the nearest row that sets them.
            if !job.group_keeps(limits, &self.limits.associations[at.index()], false) || !job.job_keeps(limits) {
                return Some(None);
            }
        }
        None
    }
}
