//! How the controller decides: one field per slurm.conf parameter modelled, with its unit, default and range.
//! Defaults are those of Slurm 22.05 (slurm.conf(5)).

use crate::cluster::{MemoryDefault, Partition};
use crate::plain::PlainOptions;

pub use backfill::{BackfillPolicy, HetjobPriority};
pub use cost::CostModel;
pub use priority::{PriorityPolicy, UsageReset};

mod backfill;
mod cost;
mod priority;

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
    /// 25.11, as of 25.11.7.
    V25_11,
    /// 26.05, as of 26.05.3.
    V26_05,
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

/// `SelectType` and `SelectTypeParameters`.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectPolicy {
    /// select/linear: whole nodes always.
    pub linear: bool,
    /// select/cons_res, where it differs from select/cons_tres.
    pub cons_res: bool,
    /// The consumable unit.
    pub unit: ConsumableUnit,
    /// `CR_*_Memory`: memory is consumed.
    pub memory: bool,
    /// `CR_ONE_TASK_PER_CORE`.
    pub one_task_per_core: bool,
    /// select/cons_tres: a node offers jobs that ask for GRES only the cores they need there.
    pub cuts_to_gres: bool,
    /// `PreemptType=preempt/qos`: where cores are shared a partition has a row more, in which running jobs may be put when one of them leaves,
    /// but which no test looks at; and tests put no rows in order (cons_common/job_test.c, part_data.c of 22.05.8).
    pub spare_rows: bool,
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
    /// `TopologyParam=Dragonfly`: leaf switches are used in turn.
    pub topology_dragonfly: bool,
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

impl SelectPolicy {
    /// What holds in a partition: its own `SelectTypeParameters` take the place of the cluster's unit and memory where that is cores or
    /// sockets (cons_common/job_test.c of 22.05.8, `_setup_cr_type`; rec at-dep). O(1).
    pub fn of(&self, partition: &Partition) -> Self {
        match (partition.consumes, self.unit) {
            (Some((unit, memory)), ConsumableUnit::Core | ConsumableUnit::Socket) if !self.linear => {
                Self { unit, memory, ..self.clone() }
            }
            _ => self.clone(),
        }
    }
}

/// What select/cons_* hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl Default for SelectPolicy {
    fn default() -> Self {
        Self {
            linear: true,
            cons_res: false,
            unit: ConsumableUnit::Cpu,
            memory: false,
            one_task_per_core: false,
            cuts_to_gres: false,
            spare_rows: false,
            least_loaded_nodes: false,
            block_cores: false,
            pack_serial_at_end: false,
            topology_tree: false,
            topology_optional: false,
            topology_dragonfly: false,
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
