//! Job priorities: parameters `Priority*` of slurm.conf.

use crate::cluster::Tres;

/// Priority plugin and weights.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityPolicy {
    /// `PriorityType=priority/multifactor` (else priority/basic: first come, first served).
    pub multifactor: bool,
    /// Without slurmdbd there is no priority thread: priorities stay as they were when the job was submitted.
    pub no_steps: bool,
    /// `PriorityWeightAge`.
    pub weight_age: u32,
    /// `PriorityWeightAssoc`.
    pub weight_assoc: u32,
    /// `PriorityWeightFairshare`.
    pub weight_fairshare: u32,
    /// `PriorityWeightJobSize`.
    pub weight_job_size: u32,
    /// `PriorityWeightPartition`.
    pub weight_partition: u32,
    /// `PriorityWeightQOS`.
    pub weight_qos: u32,
    /// `PriorityWeightTRES`.
    pub weight_tres: Vec<(Tres, f64)>,
    /// `PriorityMaxAge` [s], default 7 days.
    pub max_age: u32,
    /// `PriorityCalcPeriod` [s], default 300.
    pub calc_period: u32,
    /// `PriorityDecayHalfLife` [s], default 7 days; 0 is no decay.
    pub decay_half_life: u32,
    /// `PriorityUsageResetPeriod`.
    pub usage_reset: UsageReset,
    /// `FairShareDampeningFactor`, default 1.
    pub dampening: u32,
    /// `PriorityFavorSmall`.
    pub favor_small: bool,
    /// `PriorityFlags=ACCRUE_ALWAYS`.
    pub accrue_always: bool,
    /// `PriorityFlags=CALCULATE_RUNNING`.
    pub calculate_running: bool,
    /// `PriorityFlags=DEPTH_OBLIVIOUS` (implies no fair tree).
    pub depth_oblivious: bool,
    /// `PriorityFlags=NO_FAIR_TREE`.
    pub no_fair_tree: bool,
    /// `PriorityFlags=INCR_ONLY`.
    pub increase_only: bool,
    /// `PriorityFlags=MAX_TRES`.
    pub max_tres: bool,
    /// `PriorityFlags=MAX_TRES_GRES` (25.05): as `max_tres`, but generic resources are added.
    pub max_tres_gres: bool,
    /// `PriorityFlags=NO_NORMAL_ASSOC`.
    pub no_normal_assoc: bool,
    /// `PriorityFlags=NO_NORMAL_PART`.
    pub no_normal_part: bool,
    /// `PriorityFlags=NO_NORMAL_QOS`.
    pub no_normal_qos: bool,
    /// `PriorityFlags=NO_NORMAL_TRES`.
    pub no_normal_tres: bool,
    /// `PriorityFlags=SMALL_RELATIVE_TO_TIME`.
    pub small_relative_to_time: bool,
}

/// `PriorityUsageResetPeriod`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageReset {
    /// Never (default).
    None,
    /// At start.
    Now,
    /// 00:00.
    Daily,
    /// Sunday 00:00.
    Weekly,
    /// The 1st, 00:00.
    Monthly,
    /// 1 January, April, July, October.
    Quarterly,
    /// 1 January.
    Yearly,
}

impl PriorityPolicy {
    /// Whether the CPUs of a job have a part in its priority.
    pub fn counts_sizes(&self) -> bool {
        self.multifactor && self.weight_job_size > 0
    }

    /// The classic fair-share formula, not Fair Tree.
    pub fn is_classic(&self) -> bool {
        self.no_fair_tree || self.depth_oblivious
    }
}

impl Default for PriorityPolicy {
    fn default() -> Self {
        Self {
            multifactor: false,
            no_steps: false,
            weight_age: 0,
            weight_assoc: 0,
            weight_fairshare: 0,
            weight_job_size: 0,
            weight_partition: 0,
            weight_qos: 0,
            weight_tres: Vec::new(),
            max_age: 7 * 86_400,
            calc_period: 300,
            decay_half_life: 7 * 86_400,
            usage_reset: UsageReset::None,
            dampening: 1,
            favor_small: false,
            accrue_always: false,
            calculate_running: false,
            depth_oblivious: false,
            no_fair_tree: false,
            increase_only: false,
            max_tres: false,
            max_tres_gres: false,
            no_normal_assoc: false,
            no_normal_part: false,
            no_normal_qos: false,
            no_normal_tres: false,
            small_relative_to_time: false,
        }
    }
}
