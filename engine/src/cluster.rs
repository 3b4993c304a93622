//! The machine: nodes, their features and generic resources, partitions, switches. Static facts only.

use crate::ids::{FeatureId, GresId, NodeId, PartitionId, QosId};
use crate::node_set::NodeSet;
use crate::policy::ConsumableUnit;

/// The machine a controller schedules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// `ClusterName`.
    pub name: String,
    /// All nodes in node order: natural (numeric-aware) sort by name.
    pub nodes: Vec<Node>,
    /// Partitions in the order of slurm.conf.
    pub partitions: Vec<Partition>,
    /// Feature names; a [`FeatureId`] points here.
    pub features: Vec<String>,
    /// Generic resources; a [`GresId`] points here.
    pub gres: Vec<GresType>,
    /// `Licenses=`: name and total; a [`crate::ids::LicenseId`] points here.
    pub licenses: Vec<(String, u32)>,
    /// Switches of topology.conf, leaves first; empty without `topology/tree`.
    pub switches: Vec<Switch>,
}

impl Cluster {
    /// Total logical CPUs of all nodes.
    pub fn total_cpus(&self) -> u64 {
        self.nodes.iter().map(|node| u64::from(node.cpus)).sum()
    }

    /// The partition of that name (exact, as slurmctld compares).
    pub fn partition_named(&self, name: &str) -> Option<PartitionId> {
        self.partitions.iter().position(|partition| partition.name == name).map(PartitionId::new)
    }

    /// The node of that name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|node| node.name == name).map(NodeId::new)
    }

    /// The partition with `Default=YES`, if any.
    pub fn default_partition(&self) -> Option<PartitionId> {
        self.partitions.iter().position(|partition| partition.is_default).map(PartitionId::new)
    }
}

/// A compute node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// `NodeName`.
    pub name: String,
    /// Sockets on the node.
    pub sockets: u32,
    /// Cores in each socket.
    pub cores_per_socket: u32,
    /// Hardware threads in each core.
    pub threads_per_core: u32,
    /// Logical CPUs that jobs may have: those of `CPUs=` (cores × threads, or fewer where slurm.conf says so, then one CPU a core) less
    /// those of `spec_cores`; `CPUEfctv` of scontrol.
    pub cpus: u32,
    /// Cores of each socket that are kept for the system (`CoreSpecCount`, `CpuSpecList`); empty where none are.
    pub spec_cores: Vec<u32>,
    /// `RealMemory` less `MemSpecLimit` [MB].
    pub memory_mb: u64,
    /// `MemSpecLimit` [MB]: no job's, but counted where priorities weigh memory.
    pub kept_memory_mb: u64,
    /// `TmpDisk` [MB]; `None` where slurm.conf does not say: then there is enough for all.
    pub tmp_disk_mb: Option<u64>,
    /// `Weight`: lighter nodes are filled first.
    pub weight: u32,
    /// Features, ascending ids.
    pub features: Vec<FeatureId>,
    /// Count of each generic resource, by [`GresId`]; a typed unit counts under its type and under its name.
    pub gres: Vec<u32>,
    /// Of them, units near each socket (gres.conf `Cores`), by [`GresId`] and socket; empty where all are near all sockets.
    pub gres_near: Vec<Vec<u32>>,
    /// Which NodeName line the node came from: nodes of one record form one node set.
    pub config_record: u32,
    /// Whether it can be scheduled (false for DOWN, DRAIN, FAIL, FUTURE).
    pub schedulable: bool,
}

impl Node {
    /// Physical cores.
    pub fn cores(&self) -> u32 {
        self.sockets * self.cores_per_socket
    }

    /// Logical CPUs that each core counts for (1 where `CPUs` names cores).
    pub fn cpus_per_core(&self) -> u32 {
        (self.cpus / self.cores().saturating_sub(self.kept_cores()).max(1)).max(1)
    }

    /// Logical CPUs of all cores, those kept for the system included (`CPUTot` of scontrol).
    pub fn all_cpus(&self) -> u32 {
        self.cpus + self.kept_cores() * self.cpus_per_core()
    }

    fn kept_cores(&self) -> u32 {
        self.spec_cores.iter().sum()
    }
}

/// A generic resource's name, or one type of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GresType {
    /// `gpu`.
    pub name: String,
    /// `a100` in `gpu:a100`; `None` is the total over all types.
    pub kind: Option<String>,
    /// Only its number is known: gres.conf names neither cores nor a type for it (`Cores`, `Type`, `AutoDetect`).
    pub counted: bool,
}

impl GresType {
    /// The form used in TRES strings: `gpu` or `gpu:a100`.
    pub fn label(&self) -> String {
        self.kind.as_ref().map_or_else(|| self.name.clone(), |kind| format!("{}:{kind}", self.name))
    }
}

/// A switch of topology/tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// `SwitchName`.
    pub name: String,
    /// Every node below it.
    pub nodes: NodeSet,
    /// 0 for a leaf.
    pub level: u32,
    /// Its parent among [`Cluster::switches`].
    pub parent: Option<usize>,
}

/// How jobs of a partition share nodes (`OverSubscribe=`, formerly `Shared=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverSubscribe {
    /// Whole nodes for every job.
    Exclusive,
    /// Nodes are shared, cores are not (default).
    No,
    /// Cores may be shared by up to n jobs that ask for it.
    Yes(u32),
    /// Cores are shared by up to n jobs.
    Force(u32),
}

/// `State=` of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionState {
    /// Accepts and schedules.
    Up,
    /// Accepts only.
    Down,
    /// Schedules only.
    Drain,
    /// Neither.
    Inactive,
}

impl PartitionState {
    /// Whether jobs may be submitted to the partition.
    pub fn accepts(self) -> bool {
        matches!(self, Self::Up | Self::Down)
    }
}

/// Memory a job gets when it names none [MB].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryDefault {
    /// `DefMemPerNode`, `MaxMemPerNode`.
    PerNode(u64),
    /// `DefMemPerCPU`, `MaxMemPerCPU`.
    PerCpu(u64),
}

/// `OverTimeLimit=UNLIMITED` of a partition.
pub const UNLIMITED_OVER_TIME: u32 = 65_535;

/// A partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// `PartitionName`.
    pub name: String,
    /// `Default=YES`.
    pub is_default: bool,
    /// Its nodes.
    pub nodes: NodeSet,
    /// `State`.
    pub state: PartitionState,
    /// `PriorityTier`: higher tiers are considered first.
    pub priority_tier: u32,
    /// `PriorityJobFactor`.
    pub priority_job_factor: u32,
    /// `MaxTime` [min]; `None` is unlimited.
    pub max_time: Option<u32>,
    /// `DefaultTime` [min].
    pub default_time: Option<u32>,
    /// `MinNodes`.
    pub min_nodes: u32,
    /// `MaxNodes`; `None` is unlimited.
    pub max_nodes: Option<u32>,
    /// `MaxCPUsPerNode`.
    pub max_cpus_per_node: Option<u32>,
    /// `OverSubscribe`.
    pub over_subscribe: OverSubscribe,
    /// `ExclusiveUser=YES`.
    pub exclusive_user: bool,
    /// `LLN=YES`.
    pub least_loaded_nodes: bool,
    /// `SelectTypeParameters` of the partition: what is handed out there, and whether memory is; `None` as in the cluster.
    pub consumes: Option<(ConsumableUnit, bool)>,
    /// `DefMemPerCPU` or `DefMemPerNode` of the partition.
    pub default_memory: Option<MemoryDefault>,
    /// `MaxMemPerCPU` or `MaxMemPerNode` of the partition.
    pub max_memory: Option<MemoryDefault>,
    /// `DefCpuPerGPU` of the partition.
    pub default_cpus_per_gpu: Option<u32>,
    /// `DefMemPerGPU` of the partition [MB].
    pub default_memory_per_gpu: Option<u64>,
    /// `AllowAccounts`; empty allows all.
    pub allow_accounts: Vec<String>,
    /// `DenyAccounts`.
    pub deny_accounts: Vec<String>,
    /// `AllowQos`; empty allows all.
    pub allow_qos: Vec<String>,
    /// `DenyQos`.
    pub deny_qos: Vec<String>,
    /// `QOS`: the partition's own limits.
    pub qos: Option<QosId>,
    /// `TRESBillingWeights`.
    pub billing_weights: Vec<(Tres, f64)>,
    /// `PreemptMode` of the partition, when it differs from the cluster's.
    pub preempt_mode: Option<crate::policy::PreemptMode>,
    /// `GraceTime` [s].
    pub grace_time: u32,
    /// `OverTimeLimit` [min], [`UNLIMITED_OVER_TIME`] for ever; `None` takes the cluster's.
    pub over_time_limit: Option<u32>,
}

impl Partition {
    /// A partition with slurm.conf's defaults and no node.
    pub fn new(name: impl Into<String>, n_nodes: usize) -> Self {
        Self {
            name: name.into(),
            is_default: false,
            nodes: NodeSet::empty(n_nodes),
            state: PartitionState::Up,
            priority_tier: 1,
            priority_job_factor: 1,
            max_time: None,
            default_time: None,
            min_nodes: 1,
            max_nodes: None,
            max_cpus_per_node: None,
            over_subscribe: OverSubscribe::No,
            exclusive_user: false,
            least_loaded_nodes: false,
            consumes: None,
            default_memory: None,
            max_memory: None,
            default_cpus_per_gpu: None,
            default_memory_per_gpu: None,
            allow_accounts: Vec::new(),
            deny_accounts: Vec::new(),
            allow_qos: Vec::new(),
            deny_qos: Vec::new(),
            qos: None,
            billing_weights: Vec::new(),
            preempt_mode: None,
            grace_time: 0,
            over_time_limit: None,
        }
    }
}

/// A trackable resource: what limits and billing weights name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tres {
    /// Logical CPUs.
    Cpu,
    /// Memory [MB].
    Memory,
    /// Nodes.
    Node,
    /// Billing units.
    Billing,
    /// A generic resource.
    Gres(GresId),
    /// A licence.
    License(crate::ids::LicenseId),
}
