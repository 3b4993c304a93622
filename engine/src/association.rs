//! The association tree (cluster, account, user) with its shares and limits, and the qualities of service.

use crate::cluster::Tres;
use crate::ids::{AssociationId, QosId};

/// `Fairshare=` of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// A number of shares among the siblings.
    Count(u32),
    /// `parent`: shares what the parent has.
    Parent,
}

/// One row of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    /// The account's name (`root` for the root).
    pub account: String,
    /// The user, for a leaf.
    pub user: Option<String>,
    /// The partition, for a user's row that holds for jobs of one partition only.
    pub partition: Option<String>,
    /// Whether the account is its user's `DefaultAccount`: `bf_max_job_user` counts a user's jobs of all others together, and apart from this one's
    /// (assoc_mgr.c of 22.05.8, `_set_user_default_acct`, which leaves the others without the user's record; rec w2145, q-tree).
    pub is_default: bool,
    /// The row above; `None` for the root only. Parents stand before their children.
    pub parent: Option<AssociationId>,
    /// Fair-share allotment.
    pub shares: Shares,
    /// `Priority` of the association.
    pub priority: u32,
    /// Limits set on this row.
    pub limits: Limits,
    /// `DefaultQOS`.
    pub default_qos: Option<QosId>,
    /// `QOS=` list; empty means inherited.
    pub qos: Vec<QosId>,
    /// Raw usage at the scenario's start [billing seconds] (warm start), of this row alone: the engine adds it to the ancestors.
    pub initial_usage: f64,
}

/// All associations; index 0 is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct AssociationTree {
    /// Rows, parents before children, siblings in the order slurmdbd hands them out.
    pub rows: Vec<Association>,
}

impl Default for AssociationTree {
    fn default() -> Self {
        Self { rows: vec![Association::new("root", None, None)] }
    }
}

impl Association {
    /// A row with one share and no limit, in the account that is its user's default.
    pub fn new(account: impl Into<String>, user: Option<String>, parent: Option<AssociationId>) -> Self {
        Self {
            account: account.into(),
            is_default: user.is_some(),
            user,
            partition: None,
            parent,
            shares: Shares::Count(1),
            priority: 0,
            limits: Limits::default(),
            default_qos: None,
            qos: Vec::new(),
            initial_usage: 0.0,
        }
    }
}

impl AssociationTree {
    /// The root's id.
    pub const ROOT: AssociationId = AssociationId(0);

    /// The row of an account, or of a user in an account. O(rows): callers that look up many intern first.
    pub fn find(&self, account: &str, user: Option<&str>) -> Option<AssociationId> {
        self.rows.iter().position(|row| row.account == account && row.user.as_deref() == user).map(AssociationId::new)
    }
}

/// Limits of an association or of a QOS; `None` and empty mean no limit. Times in minutes.
/// Source: sacctmgr(1), resource_limits guide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// `GrpJobs`.
    pub grp_jobs: Option<u32>,
    /// `GrpSubmitJobs`.
    pub grp_submit_jobs: Option<u32>,
    /// `GrpWall` [min].
    pub grp_wall: Option<u32>,
    /// `GrpTRES`.
    pub grp_tres: Vec<(Tres, u64)>,
    /// `GrpTRESMins`.
    pub grp_tres_mins: Vec<(Tres, u64)>,
    /// `GrpTRESRunMins`.
    pub grp_tres_run_mins: Vec<(Tres, u64)>,
    /// `MaxJobs` of an association.
    pub max_jobs: Option<u32>,
    /// `MaxSubmitJobs` of an association.
    pub max_submit_jobs: Option<u32>,
    /// `MaxWall` [min].
    pub max_wall: Option<u32>,
    /// `MaxTRES` (per job).
    pub max_tres_per_job: Vec<(Tres, u64)>,
    /// `MaxTRESPerNode`.
    pub max_tres_per_node: Vec<(Tres, u64)>,
    /// `MaxTRESMins` (per job).
    pub max_tres_mins_per_job: Vec<(Tres, u64)>,
    /// `MinTRES` (per job; QOS).
    pub min_tres_per_job: Vec<(Tres, u64)>,
    /// `MaxTRESPerUser` (QOS).
    pub max_tres_per_user: Vec<(Tres, u64)>,
    /// `MaxTRESPerAccount` (QOS).
    pub max_tres_per_account: Vec<(Tres, u64)>,
    /// `MaxTRESRunMinsPerUser` (QOS); enforced from 24.05 on.
    pub max_tres_run_mins_per_user: Vec<(Tres, u64)>,
    /// `MaxTRESRunMinsPerAccount` (QOS); enforced from 24.05 on.
    pub max_tres_run_mins_per_account: Vec<(Tres, u64)>,
    /// `MaxJobsPerUser` (QOS).
    pub max_jobs_per_user: Option<u32>,
    /// `MaxJobsPerAccount` (QOS).
    pub max_jobs_per_account: Option<u32>,
    /// `MaxSubmitJobsPerUser` (QOS).
    pub max_submit_jobs_per_user: Option<u32>,
    /// `MaxSubmitJobsPerAccount` (QOS).
    pub max_submit_jobs_per_account: Option<u32>,
    /// `GrpJobsAccrue`.
    pub grp_jobs_accrue: Option<u32>,
    /// `MaxJobsAccrue` of an association, `MaxJobsAccruePerUser` of a QOS.
    pub max_jobs_accrue: Option<u32>,
    /// `MaxJobsAccruePerAccount` (QOS).
    pub max_jobs_accrue_per_account: Option<u32>,
    /// `MinPrioThreshold`.
    pub min_prio_threshold: Option<u32>,
}

/// A quality of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// Its name.
    pub name: String,
    /// `Priority`.
    pub priority: u32,
    /// Its limits.
    pub limits: Limits,
    /// `Flags=DenyOnLimit`.
    pub deny_on_limit: bool,
    /// `Flags=NoReserve`: no planned start in backfill.
    pub no_reserve: bool,
    /// `Flags=NoDecay`.
    pub no_decay: bool,
    /// `Flags=OverPartQOS`.
    pub over_part_qos: bool,
    /// `Flags=PartitionMinNodes`.
    pub partition_min_nodes: bool,
    /// `Flags=PartitionMaxNodes`.
    pub partition_max_nodes: bool,
    /// `Flags=PartitionTimeLimit`.
    pub partition_time_limit: bool,
    /// `Flags=EnforceUsageThreshold`: `UsageThreshold` holds jobs back.
    pub enforce_usage_threshold: bool,
    /// `Flags=UsageFactorSafe`: `safe` counts a job's minutes multiplied by `UsageFactor`.
    pub usage_factor_safe: bool,
    /// `UsageFactor`; `None` is 1.
    pub usage_factor: Option<f64>,
    /// `LimitFactor` of associations' limits on resources; `None` is 1.
    pub limit_factor: Option<f64>,
    /// `UsageThreshold`: the least fair-share factor with which jobs run.
    pub usage_threshold: Option<f64>,
    /// `Preempt=`: the QOS whose jobs it may preempt.
    pub preempt: Vec<QosId>,
    /// `PreemptMode`.
    pub preempt_mode: Option<crate::policy::PreemptMode>,
    /// `PreemptExemptTime` [s].
    pub preempt_exempt_time: Option<u32>,
    /// `GraceTime` [s].
    pub grace_time: u32,
}
