//! How the controller decides: one field per slurm.conf parameter modelled, with its unit, default and range.
//! Defaults are those of Slurm 22.05 (slurm.conf(5)).

use crate::cluster::{MemoryDefault, Tres};
use crate::plain::PlainOptions;

/// Everything slurm.conf says about scheduling that is not a node or a partition.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Which release's behaviour is reproduced.
    pub version: SlurmVersion,
    /// Slurm's two schedulers, or one of the literature's plain algorithms.
    pub scheduler: Scheduler,
    /// The main scheduler.
    pub main: MainPolicy,
    /// The backfill scheduler.
    pub backfill: BackfillPolicy,
    /// Job priorities.
    pub priority: PriorityPolicy,
    /// Node selection.
    pub select: SelectPolicy,
    /// Preemption.
    pub preempt: PreemptPolicy,
    /// What is enforced.
    pub enforce: Enforcement,
    /// `KillWait` [s], default 30.
    pub kill_wait: u32,
    /// `OverTimeLimit` [min], default 0; `None` is unlimited.
    pub over_time_limit: Option<u32>,
    /// `ResvOverRun` [min], default 0: how far a job may outlast its reservation; `None` is unlimited.
    pub reservation_over_run: Option<u32>,
    /// `CompleteWait` [s], default 0.
    pub complete_wait: u32,
    /// `MinJobAge` [s], default 300.
    pub min_job_age: u32,
    /// Whether nodes run an `Epilog`, so that a job's end wakes the main scheduler at once.
    pub epilog: bool,
    /// Seconds an Epilog takes, 0 by default.
    pub epilog_seconds: u32,
    /// `JobRequeue`, default true.
    pub job_requeue: bool,
    /// `MessageTimeout` [s], default 10.
    pub message_timeout: u32,
    /// `kill_invalid_depend`.
    pub kill_invalid_depend: bool,
    /// The controllers' virtual run time.
    pub cost: CostModel,
    /// What the literature leaves open about plain algorithms.
    pub plain: PlainOptions,
}

/// A Slurm release whose differences are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SlurmVersion {
    /// 22.05 (default; the recordings').
    V22_05,
    /// 23.02.
    V23_02,
    /// 23.11.
    V23_11,
    /// 24.05.
    V24_05,
    /// 24.11.
    V24_11,
    /// 25.05, as of 25.05.3.
    V25_05,
}

/// Which algorithm starts jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// `sched/backfill`: main and backfill scheduler.
    SlurmBackfill,
    /// `sched/builtin`: main scheduler only.
    SlurmBuiltin,
    /// First come, first served.
    Fcfs,
    /// Shortest (requested) job first.
    Sjf,
    /// EASY backfilling (Lifka 1995; Mu'alem and Feitelson 2001).
    Easy,
    /// Conservative backfilling with compression (Mu'alem and Feitelson 2001).
    Conservative,
}

impl Scheduler {
    /// Whether it is one of the literature's algorithms, which count processors and know nothing else.
    pub const fn is_plain(self) -> bool {
        matches!(self, Self::Fcfs | Self::Sjf | Self::Easy | Self::Conservative)
    }
}

/// `SchedulerParameters` of the main scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct MainPolicy {
    /// `batch_sched_delay` [s], default 3.
    pub batch_sched_delay: u32,
    /// `sched_interval` [s], default 60; `None` (-1) turns the main scheduler off.
    pub sched_interval: Option<u32>,
    /// `sched_min_interval` [µs], default 2.
    pub sched_min_interval_us: u64,
    /// `default_queue_depth` [records], default 100.
    pub default_queue_depth: u32,
    /// `partition_job_depth` [records], default 0 (off).
    pub partition_job_depth: u32,
    /// `sched_max_job_start` [jobs], default 0 (off).
    pub sched_max_job_start: u32,
    /// `max_sched_time` [s], default 2.
    pub max_sched_time: u32,
    /// `defer`.
    pub defer: bool,
    /// `assoc_limit_stop`.
    pub assoc_limit_stop: bool,
    /// `reduce_completing_frag`.
    pub reduce_completing_frag: bool,
}

/// `SchedulerParameters` bf_*.
#[derive(Clone, Debug, PartialEq)]
pub struct BackfillPolicy {
    /// `bf_interval` [s], default 30, 1–10800; `None` (-1) turns backfill off.
    pub interval: Option<u32>,
    /// `bf_max_time` [s]; default `bf_interval`.
    pub max_time: Option<u32>,
    /// `bf_window` [min], default 1440.
    pub window: u32,
    /// `bf_resolution` [s], default 60.
    pub resolution: u32,
    /// `bf_max_job_test` [jobs], default 500.
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
}

impl BackfillPolicy {
    /// How components of heterogeneous jobs stand in the queue: `bf_hetjob_immediate` alone means `min` (slurm.conf(5)).
    pub fn hetjob_priority(&self) -> Option<HetjobPriority> {
        self.hetjob_prio.or(self.hetjob_immediate.then_some(HetjobPriority::Min))
    }
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

/// `SelectType` and `SelectTypeParameters`.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectPolicy {
    /// select/linear: whole nodes always.
    pub linear: bool,
    /// The consumable unit.
    pub unit: ConsumableUnit,
    /// `CR_*_Memory`: memory is consumed.
    pub memory: bool,
    /// `CR_ONE_TASK_PER_CORE`.
    pub one_task_per_core: bool,
    /// select/cons_tres: a node offers jobs that ask for GRES only the cores they need there.
    pub cuts_to_gres: bool,
    /// `CR_LLN`.
    pub least_loaded_nodes: bool,
    /// `CR_CORE_DEFAULT_DIST_BLOCK`.
    pub block_cores: bool,
    /// `pack_serial_at_end`.
    pub pack_serial_at_end: bool,
    /// `TopologyPlugin=topology/tree`.
    pub topology_tree: bool,
    /// `TopologyParam=TopoOptional`.
    pub topology_optional: bool,
    /// Global `DefMemPerCPU` or `DefMemPerNode`.
    pub default_memory: Option<MemoryDefault>,
    /// Global `MaxMemPerCPU` or `MaxMemPerNode`.
    pub max_memory: Option<MemoryDefault>,
    /// Global `DefCpuPerGPU`.
    pub default_cpus_per_gpu: Option<u32>,
    /// Global `DefMemPerGPU` [MB].
    pub default_memory_per_gpu: Option<u64>,
    /// `max_switch_wait` [s], default 300: how long a job waits for one leaf switch at most.
    pub max_switch_wait: u32,
}

/// What select/cons_* hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsumableUnit {
    /// `CR_CPU`: logical CPUs.
    Cpu,
    /// `CR_Core`: cores with all their threads.
    Core,
    /// `CR_Socket`: whole sockets.
    Socket,
    /// `CR_Memory` alone: memory only, CPUs shared without limit of cores.
    Memory,
}

/// `PreemptMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptMode {
    /// No preemption.
    Off,
    /// Victims end.
    Cancel,
    /// Victims are queued again.
    Requeue,
    /// Victims pause.
    Suspend,
}

/// `PreemptType` and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct PreemptPolicy {
    /// Who may preempt whom.
    pub kind: PreemptKind,
    /// Cluster-wide `PreemptMode`.
    pub mode: PreemptMode,
    /// `WITHIN`.
    pub within: bool,
    /// `PreemptExemptTime` [s].
    pub exempt_time: u32,
    /// `preempt_youngest_first`.
    pub youngest_first: bool,
    /// `preempt_reorder_count`, default 1.
    pub reorder_count: u32,
    /// `preempt_strict_order`.
    pub strict_order: bool,
}

/// `PreemptType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptKind {
    /// preempt/none.
    None,
    /// preempt/partition_prio.
    PartitionPrio,
    /// preempt/qos.
    Qos,
}

/// `AccountingStorageEnforce` and `EnforcePartLimits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Enforcement {
    /// `associations`.
    pub associations: bool,
    /// `limits`.
    pub limits: bool,
    /// `qos`.
    pub qos: bool,
    /// `safe`.
    pub safe: bool,
    /// `EnforcePartLimits`.
    pub partition_limits: EnforcePartLimits,
}

/// `EnforcePartLimits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EnforcePartLimits {
    /// NO: queue and wait (default).
    #[default]
    No,
    /// ANY: one of the partitions must fit.
    Any,
    /// ALL (YES): every partition must fit.
    All,
}

/// Virtual run time of the controller's own work. All zero (the default): an ideal, instantaneous controller,
/// whose jobs run for whole seconds; otherwise the fractions of seconds that no trace tells are drawn.
///
/// A backfill cycle takes `base + records × record_us(nodes)`, times a factor of its own in 1 ± noise, without its sleeps; those that caps pass
/// over take `passed_us`, and a record of a cycle takes the mean of all that wait.
/// Records count up to the queue's length or `bf_max_job_test`, whichever is less: it is reckoned from what is known without
/// planning, so that a cycle which provably starts nothing need not be planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostModel {
    /// Fixed time of a backfill cycle [µs].
    pub backfill_base_us: u64,
    /// Time of one record in backfill [µs].
    pub backfill_record_us: u64,
    /// Time of a record that a cap passes over (`bf_max_job_user`, `bf_max_job_part`) [µs].
    pub backfill_passed_us: u64,
    /// Additional time of a record per thousand nodes of the cluster [µs].
    pub backfill_record_per_1000_nodes_us: u64,
    /// Time of a start in the main scheduler [µs]: it counts towards `max_sched_time`, and the clock stands still.
    pub main_start_us: u64,
    /// How far a cycle's time may be from that, either way, uniformly [%]; at most 100.
    pub noise_percent: u32,
}

impl CostModel {
    /// A busy controller: 6.5 ms + records × (2.1 ms + 16 ms per 1,000 nodes) ± 20 %; 0.5 ms for a record that is passed over.
    ///
    /// Base and record: the median over 24 recorded cases on 4 to 16 nodes, whose clock runs 25 to 30 times as fast as their machine (base
    /// 2.6 to 14.7 ms, a record that is tested 1.0 to 3.1 ms, one that is passed over 0.5 ms). An idle controller at real time needs a
    /// twenty-fifth of it there (oracle, probe-turnover: 0.26 ms + 0.048 ms a record): on a small machine no cycle is long
    /// with either. Nodes: with them a record takes 6.2 ms on 256 nodes, where 54 took 0.23 s (4.3 ms each) and 1,500 on a slow
    /// virtual machine 36 s (24 ms; slurm-semantics 8), and Cori's several ten thousand jobs on 11,000 nodes 15 minutes. Starts in the main scheduler: about 100 in 0.44 s
    /// there; a run over 1,500 records that starts none takes 2 to 3 ms, which is left out. A site's own figures come from `sdiag`.
    pub const PUBLISHED: Self = Self {
        backfill_base_us: 6_500,
        backfill_record_us: 2_100,
        backfill_passed_us: 500,
        backfill_record_per_1000_nodes_us: 16_000,
        main_start_us: 4_400,
        noise_percent: 20,
    };

    /// All work is done at once, and jobs run for whole seconds.
    pub fn is_ideal(&self) -> bool {
        *self == Self::default()
    }

    /// Time of one record in backfill on so many nodes [µs].
    pub const fn record_us(&self, nodes: usize) -> u64 {
        self.backfill_record_us
            .saturating_add(self.backfill_record_per_1000_nodes_us.saturating_mul(nodes as u64) / 1000)
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            version: SlurmVersion::V22_05,
            scheduler: Scheduler::SlurmBackfill,
            main: MainPolicy::default(),
            backfill: BackfillPolicy::default(),
            priority: PriorityPolicy::default(),
            select: SelectPolicy::default(),
            preempt: PreemptPolicy::default(),
            enforce: Enforcement::default(),
            kill_wait: 30,
            over_time_limit: Some(0),
            reservation_over_run: Some(0),
            complete_wait: 0,
            min_job_age: 300,
            epilog: false,
            epilog_seconds: 0,
            job_requeue: true,
            message_timeout: 10,
            kill_invalid_depend: false,
            cost: CostModel::default(),
            plain: PlainOptions::default(),
        }
    }
}

impl Default for MainPolicy {
    fn default() -> Self {
        Self {
            batch_sched_delay: 3,
            sched_interval: Some(60),
            sched_min_interval_us: 2,
            default_queue_depth: 100,
            partition_job_depth: 0,
            sched_max_job_start: 0,
            max_sched_time: 2,
            defer: false,
            assoc_limit_stop: false,
            reduce_completing_frag: false,
        }
    }
}

impl BackfillPolicy {
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
            window_linear: 0,
        }
    }
}

impl PriorityPolicy {
    /// Whether the CPUs of a job have a part in its priority.
    pub fn counts_sizes(&self) -> bool {
        self.multifactor && self.weight_job_size > 0
    }
}

impl PriorityPolicy {
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

impl Default for SelectPolicy {
    fn default() -> Self {
        Self {
            linear: true,
            unit: ConsumableUnit::Cpu,
            memory: false,
            one_task_per_core: false,
            cuts_to_gres: false,
            least_loaded_nodes: false,
            block_cores: false,
            pack_serial_at_end: false,
            topology_tree: false,
            topology_optional: false,
            default_memory: None,
            max_memory: None,
            default_cpus_per_gpu: None,
            default_memory_per_gpu: None,
            max_switch_wait: 300,
        }
    }
}

impl Default for PreemptPolicy {
    fn default() -> Self {
        Self {
            kind: PreemptKind::None,
            mode: PreemptMode::Off,
            within: false,
            exempt_time: 0,
            youngest_first: false,
            reorder_count: 1,
            strict_order: false,
        }
    }
}
