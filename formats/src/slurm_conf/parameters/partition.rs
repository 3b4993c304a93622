//! Keys of a `PartitionName` line.

use super::Scope::Partition;
use super::{Kind, PREEMPT_WORDS_LEFT_OUT, Parameter};

const fn modelled(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Parameter {
    Parameter::modelled(Partition, name, kind, unit, default, meaning)
}

const fn not_modelled(name: &'static str, default: &'static str, reason: &'static str) -> Parameter {
    Parameter::not_modelled(Partition, name, default, reason)
}

/// Here the numbers for UNLIMITED and for nothing are numbers (parse_config.c, `s_p_handle_uint16`).
const PRIORITY: Kind = Kind::Integer { min: 0, max: 65_535 };
const SHARING: Kind = Kind::OneOf(&["NO", "YES", "FORCE", "EXCLUSIVE"]);

/// Every key known.
pub(super) static PARAMETERS: &[Parameter] = &[
    modelled("AllowAccounts", Kind::Text, "", "ALL", "accounts that may use it"),
    modelled("AllowQos", Kind::Text, "", "ALL", "qualities of service that may use it"),
    modelled("Default", Kind::YesNo, "", "NO", "whether jobs that name no partition come here"),
    modelled("DefaultTime", Kind::Time, "min", "NONE", "time limit of jobs that ask for none"),
    modelled("DefMemPerCPU", Kind::Megabytes, "MB", "0", "memory per CPU of jobs that ask for none"),
    modelled("DefMemPerNode", Kind::Megabytes, "MB", "0", "memory per node of jobs that ask for none"),
    modelled("DefCpuPerGPU", Kind::NATURAL, "CPUs", "", "CPUs that come with each GPU; default is the cluster's"),
    modelled("DefMemPerGPU", Kind::Megabytes, "MB", "0", "memory per GPU; 0 is the cluster's"),
    modelled("DenyAccounts", Kind::Text, "", "", "accounts that may not use it"),
    modelled("DenyQos", Kind::Text, "", "", "qualities of service that may not use it"),
    modelled(
        "Exclusive",
        Kind::OneOf(&["NO", "NONE", "NODE", "USER", "TOPO"]),
        "",
        "",
        "26.05: whether nodes are taken whole, or by one user; default is as OverSubscribe and ExclusiveUser say",
    )
    .but_for(&[("TOPO", "topology blocks are shared: nodes are taken whole")]),
    modelled("ExclusiveUser", Kind::YesNo, "", "NO", "whether nodes are shared only by jobs of one user"),
    modelled("GraceTime", Kind::NATURAL, "s", "0", "time between the warning and the end of a preempted job"),
    modelled("LLN", Kind::YesNo, "", "NO", "whether the least loaded nodes are taken first"),
    modelled("MaxCPUsPerNode", Kind::Count, "CPUs", "UNLIMITED", "CPUs of a node that this partition may use"),
    modelled("MaxMemPerCPU", Kind::Megabytes, "MB", "0", "greatest memory per CPU; 0 is the cluster's"),
    modelled("MaxMemPerNode", Kind::Megabytes, "MB", "0", "greatest memory per node; 0 is the cluster's"),
    modelled("MaxNodes", Kind::Count, "nodes", "UNLIMITED", "greatest number of nodes of a job"),
    modelled("MaxTime", Kind::Time, "min", "UNLIMITED", "greatest time limit"),
    modelled("MinNodes", Kind::Count, "nodes", "1", "least number of nodes of a job"),
    modelled("Nodes", Kind::Text, "", "", "nodes and node sets of the partition"),
    modelled("OverSubscribe", SHARING, "", "NO", "how jobs share nodes: EXCLUSIVE, NO, YES[:n], FORCE[:n]"),
    modelled(
        "OverTimeLimit",
        Kind::ShortCount,
        "min",
        "",
        "how far a job may exceed its time limit; default is the cluster's",
    ),
    modelled(
        "PreemptMode",
        Kind::ListOf(&["OFF", "CANCEL", "CHECKPOINT", "GANG", "REQUEUE", "SUSPEND", "WITHIN", "PRIORITY"]),
        "",
        "",
        "what happens to its preempted jobs; default is the cluster's",
    )
    .but_for(PREEMPT_WORDS_LEFT_OUT),
    modelled("Priority", PRIORITY, "", "", "old: both PriorityTier and PriorityJobFactor"),
    modelled("PriorityJobFactor", PRIORITY, "", "1", "the partition's factor in job priorities"),
    modelled("PriorityTier", PRIORITY, "", "1", "partitions of higher tiers are scheduled first"),
    modelled("QOS", Kind::Text, "", "", "quality of service whose limits hold for the whole partition"),
    Parameter::alias(Partition, "Shared", "OverSubscribe", SHARING),
    modelled(
        "SelectTypeParameters",
        Kind::OneOf(&["CR_Core", "CR_Core_Memory", "CR_Socket", "CR_Socket_Memory"]),
        "",
        "",
        "cores or sockets in place of the cluster's, which must be cores or sockets, too",
    ),
    modelled(
        "State",
        Kind::OneOf(&["UP", "DOWN", "DRAIN", "INACTIVE"]),
        "",
        "UP",
        "whether it accepts and schedules jobs",
    ),
    modelled("TRESBillingWeights", Kind::TresWeights, "", "", "billing units of resources; default is one a CPU"),
    not_modelled("AllocNodes", "ALL", "jobs are not checked for the node they were submitted from"),
    not_modelled("AllowGroups", "ALL", "unix groups are not in traces: jobs that ran are taken as allowed"),
    not_modelled("Alternate", "", "jobs are not moved to an alternate partition"),
    not_modelled("ExclusiveTopo", "NO", "topology blocks are shared"),
    not_modelled("MaxCPUsPerSocket", "UNLIMITED", "CPUs are not limited by socket"),
    not_modelled("ReqResv", "NO", "jobs need no reservation"),
    not_modelled("ResumeTimeout", "", "power saving is not simulated"),
    not_modelled("SuspendTime", "", "power saving is not simulated"),
    not_modelled("SuspendTimeout", "", "power saving is not simulated"),
    not_modelled("Topology", "", "one topology holds for all partitions"),
    Parameter::harmless(Partition, "CpuBind", "binding of tasks"),
    Parameter::harmless(Partition, "DisableRootJobs", "root's jobs"),
    Parameter::harmless(Partition, "Hidden", "what users see"),
    Parameter::harmless(Partition, "PowerDownOnIdle", "power saving"),
    Parameter::harmless(Partition, "RootOnly", "who may name it"),
];
