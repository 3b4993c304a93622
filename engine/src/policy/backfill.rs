//! The backfill scheduler: `bf_*` of SchedulerParameters.

/// `SchedulerParameters` bf_*.
#[derive(Clone, Debug, PartialEq)]
pub struct BackfillPolicy {
    /// `bf_interval` [s], default 30, 1–10800; `None` (-1) turns backfill off. The agent of `sched/builtin` sleeps as long.
    pub interval: Option<u32>,
    /// `bf_max_time` [s]; default `bf_interval`.
    pub max_time: Option<u32>,
    /// `bf_window` [min], default 1440.
    pub window: u32,
    /// `bf_resolution` [s], default 60.
    pub resolution: u32,
    /// `bf_max_job_test` [jobs], default 500; 50 for the agent of `sched/builtin`.
    pub max_job_test: u32,
    /// `bf_max_job_part`, default 0 (off).
    pub max_job_part: u32,
    /// `bf_max_job_user`, default 0 (off): of a user in an account.
    pub max_job_user: u32,
    /// `bf_max_job_assoc`, default 0 (off).
    pub max_job_assoc: u32,
    /// `bf_max_job_user_part`, default 0 (off).
    pub max_job_user_part: u32,
    /// `bf_max_job_start`, default 0 (off).
    pub max_job_start: u32,
    /// `bf_max_job_array_resv`, default 20.
    pub max_job_array_resv: u32,
    /// `bf_node_space_size`; default `bf_max_job_test`.
    pub node_space_size: Option<u32>,
    /// `bf_job_part_count_reserve`, default 0 (off).
    pub job_part_count_reserve: u32,
    /// `bf_min_age_reserve` [s], default 0.
    pub min_age_reserve: u32,
    /// `bf_min_prio_reserve`, default 0.
    pub min_prio_reserve: u32,
    /// `bf_one_resv_per_job`.
    pub one_resv_per_job: bool,
    /// `bf_continue`.
    pub continue_after_yield: bool,
    /// `bf_yield_interval` [µs], default 2,000,000.
    pub yield_interval_us: u64,
    /// `bf_yield_sleep` [µs], default 500,000.
    pub yield_sleep_us: u64,
    /// `bf_running_job_reserve`.
    pub running_job_reserve: bool,
    /// `bf_licenses`.
    pub licenses: bool,
    /// `bf_busy_nodes`.
    pub busy_nodes: bool,
    /// `bf_window_linear` [s], default 0 (off).
    pub window_linear: u32,
    /// `bf_hetjob_prio`, default none.
    pub hetjob_prio: Option<HetjobPriority>,
    /// `bf_hetjob_immediate`: heterogeneous jobs start when the cycle has looked at their last component, not after the queue.
    pub hetjob_immediate: bool,
    /// `time_min_as_soft_limit`, from 23.11 on: who backfill starts with `--time-min` keeps its own limit.
    pub time_min_is_soft: bool,
}

/// `bf_hetjob_prio`: whose tier and priority all components of a heterogeneous job stand with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HetjobPriority {
    /// The lowest of them.
    Min,
    /// Their mean.
    Average,
    /// The highest of them.
    Max,
}

impl BackfillPolicy {
    /// How components of heterogeneous jobs stand in the queue: `bf_hetjob_immediate` alone means `min` (slurm.conf(5)).
    pub fn hetjob_priority(&self) -> Option<HetjobPriority> {
        self.hetjob_prio.or(self.hetjob_immediate.then_some(HetjobPriority::Min))
    }

    /// How many records of a user in an account a cycle tests; 0 for all.
    pub const fn holder_cap(&self) -> u32 {
        if self.max_job_assoc == 0 { self.max_job_user } else { 0 }
    }

    /// Whether a cap on tested records per partition, user or association is set.
    pub const fn caps_records(&self) -> bool {
        self.max_job_part > 0 || self.max_job_user > 0 || self.max_job_assoc > 0 || self.max_job_user_part > 0
    }
}

impl Default for BackfillPolicy {
    fn default() -> Self {
        Self {
            interval: Some(30),
            max_time: None,
            window: 1440,
            resolution: 60,
            max_job_test: 500,
            max_job_part: 0,
            max_job_user: 0,
            max_job_assoc: 0,
            max_job_user_part: 0,
            max_job_start: 0,
            max_job_array_resv: 20,
            node_space_size: None,
            job_part_count_reserve: 0,
            min_age_reserve: 0,
            min_prio_reserve: 0,
            one_resv_per_job: false,
            continue_after_yield: false,
            yield_interval_us: 2_000_000,
            yield_sleep_us: 500_000,
            running_job_reserve: false,
            licenses: false,
            busy_nodes: false,
            hetjob_prio: None,
            hetjob_immediate: false,
            time_min_is_soft: false,
            window_linear: 0,
        }
    }
}
