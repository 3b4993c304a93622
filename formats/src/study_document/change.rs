//! The closed list of changes a scenario may make.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::reservation::ReservationChange;
use super::units::Setting;
use super::workload::WorkloadChange;

/// One change to the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Sets parameters: `{PriorityWeightAge: 5000, SchedulerParameters.bf_max_job_user: 10}`.
    Set(BTreeMap<String, Setting>),
    /// Multiplies numeric parameters: `{PriorityWeightFairshare: 1.2}`.
    Scale(BTreeMap<String, f64>),
    /// Sets parameters of one partition.
    Partition(PartitionChange),
    /// How jobs share nodes.
    NodeSharing(NodeSharing),
    /// Several controllers, each with its own nodes, queue and fair-share.
    SeparateControllers(SeparateControllers),
    /// Another algorithm starts the jobs.
    Scheduler(SchedulerName),
    /// Adds, removes, resizes or drains nodes.
    Nodes(NodesChange),
    /// Sets limits or the priority of a QOS.
    Qos(QosChange),
    /// Sets shares or limits of an association.
    Association(AssociationChange),
    /// Adds or removes a reservation.
    Reservation(ReservationChange),
    /// Changes the jobs themselves.
    Workload(WorkloadChange),
}

/// Settings of one partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionChange {
    /// The partition's name.
    pub name: String,
    /// Parameters of its `PartitionName=` line.
    pub set: BTreeMap<String, Setting>,
}

/// How jobs share nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSharing {
    /// The partition; all where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The smallest unit a job is given.
    pub mode: SharingMode,
}

/// The smallest unit a job is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharingMode {
    /// Whole nodes (`OverSubscribe=EXCLUSIVE`).
    Exclusive,
    /// Whole sockets (`CR_Socket`).
    Sockets,
    /// Single cores (`CR_Core`).
    Cores,
}

/// Several controllers in place of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeparateControllers {
    /// The controllers, ordered by name.
    pub controllers: BTreeMap<String, ControllerNodes>,
    /// Where jobs go that fit several, default `fraction`.
    #[serde(default)]
    pub either: Either,
    /// What happens to jobs that fit none, default `reject`.
    #[serde(default)]
    pub too_large: TooLarge,
}

/// The nodes of one controller: those named, or those of its partitions, which it then serves alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerNodes {
    /// Partitions it serves, with their nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<String>,
    /// A hostlist; every partition is served on these nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
}

/// Where jobs go that fit several controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Either {
    /// The first by name.
    First,
    /// The one with the least requested core-seconds per core so far.
    LeastLoaded,
    /// Drawn for each job, in proportion to the controllers' cores.
    #[default]
    Fraction,
}

/// What happens to jobs that fit no controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TooLarge {
    /// They are refused at submission.
    #[default]
    Reject,
    /// They are cut to the largest controller that can take them.
    Largest,
}

/// The algorithm that starts jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulerName {
    /// Slurm's main and backfill scheduler.
    Slurm,
    /// First come, first served.
    Fcfs,
    /// Shortest requested job first.
    Sjf,
    /// EASY backfilling.
    Easy,
    /// Conservative backfilling.
    Conservative,
}

/// Adds, removes, resizes or drains nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodesChange {
    /// Nodes like an existing one.
    Add {
        /// Names of the new nodes (hostlist).
        nodes: String,
        /// The node they are copies of.
        like: String,
    },
    /// Nodes that go (hostlist).
    Remove(String),
    /// Other sizes for existing nodes.
    Resize {
        /// Which nodes (hostlist).
        nodes: String,
        /// Parameters of their `NodeName=` line.
        set: BTreeMap<String, Setting>,
    },
    /// Nodes out of service for a while.
    Drain {
        /// Which nodes (hostlist).
        nodes: String,
        /// From and to.
        window: (super::units::Moment, super::units::Moment),
    },
}

/// Settings of a QOS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QosChange {
    /// Its name.
    pub name: String,
    /// Parameters as sacctmgr names them.
    pub set: BTreeMap<String, Setting>,
}

/// Settings of an account, or of a user in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssociationChange {
    /// The account.
    pub account: String,
    /// The user, for a leaf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Parameters as sacctmgr names them.
    pub set: BTreeMap<String, Setting>,
}

impl Change {
    /// The word by which the document names the change.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Set(_) => "set",
            Self::Scale(_) => "scale",
            Self::Partition(_) => "partition",
            Self::NodeSharing(_) => "node_sharing",
            Self::SeparateControllers(_) => "separate_controllers",
            Self::Scheduler(_) => "scheduler",
            Self::Nodes(_) => "nodes",
            Self::Qos(_) => "qos",
            Self::Association(_) => "association",
            Self::Reservation(_) => "reservation",
            Self::Workload(_) => "workload",
        }
    }
}

impl SchedulerName {
    /// The engine's algorithm; `builtin` where slurm.conf says `sched/builtin` and Slurm's own is asked for.
    pub const fn algorithm(self, configured: foresite_engine::policy::Scheduler) -> foresite_engine::policy::Scheduler {
        use foresite_engine::policy::Scheduler;
        match self {
            Self::Slurm => match configured {
                Scheduler::SlurmBuiltin => Scheduler::SlurmBuiltin,
                _ => Scheduler::SlurmBackfill,
            },
            Self::Fcfs => Scheduler::Fcfs,
            Self::Sjf => Scheduler::Sjf,
            Self::Easy => Scheduler::Easy,
            Self::Conservative => Scheduler::Conservative,
        }
    }
}
