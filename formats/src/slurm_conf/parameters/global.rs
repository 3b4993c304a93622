//! Parameters on lines of their own that have to do with scheduling.

use super::{Kind, PREEMPT_WORDS_LEFT_OUT, Parameter, Scope};

const U16: Kind = Kind::Integer { min: 0, max: 65_533 };

const fn modelled(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Parameter {
    Parameter::modelled(Scope::Global, name, kind, unit, default, meaning)
}

/// What the literature leaves open about a plain algorithm: a setting of the simulator, the default first.
const fn plain(name: &'static str, words: &'static [&'static str], meaning: &'static str) -> Parameter {
    Parameter::modelled(Scope::Simulator, name, Kind::OneOf(words), "", words[0], meaning)
}

/// The run time of the controller's own work: a setting of the simulator.
const fn cost(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Parameter {
    Parameter::modelled(Scope::Simulator, name, kind, unit, default, meaning)
}

const fn not_modelled(name: &'static str, default: &'static str, reason: &'static str) -> Parameter {
    Parameter::not_modelled(Scope::Global, name, default, reason)
}

/// Reproduced.
pub(super) static MODELLED: &[Parameter] = &[
    Parameter::modelled(
        Scope::Simulator,
        "SlurmVersion",
        Kind::OneOf(&["22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05"]),
        "",
        "22.05",
        "the release whose defaults and decisions are reproduced",
    ),
    cost(
        "CostModel",
        Kind::OneOf(&["ideal", "default"]),
        "",
        "default",
        "how long backfill cycles take: no time, or what they took in recordings",
    ),
    cost(
        "CostModel.backfill_base_us",
        Kind::NATURAL,
        "µs",
        "11000",
        "time of a backfill cycle before its first record",
    ),
    cost("CostModel.backfill_record_us", Kind::NATURAL, "µs", "1600", "time of one record in backfill"),
    cost(
        "CostModel.backfill_passed_us",
        Kind::NATURAL,
        "µs",
        "500",
        "time of a record that bf_max_job_user or bf_max_job_part passes over",
    ),
    cost(
        "CostModel.backfill_record_per_1000_nodes_us",
        Kind::NATURAL,
        "µs",
        "16000",
        "additional time of a record for every thousand nodes of the cluster",
    ),
    cost(
        "CostModel.main_start_us",
        Kind::NATURAL,
        "µs",
        "4400",
        "time of a start in the main scheduler, towards max_sched_time",
    ),
    cost(
        "EpilogSeconds",
        Kind::Integer { min: 0, max: 86_400 },
        "s",
        "0",
        "how much longer nodes complete after a job's end: the time of an Epilog",
    ),
    cost(
        "CostModel.noise_percent",
        Kind::Integer { min: 0, max: 100 },
        "%",
        "25",
        "how far the time of a cycle strays",
    ),
    plain(
        "Plain.batching",
        &["per_timestamp", "per_event"],
        "plain algorithms: one pass a second, or one after every event",
    ),
    plain(
        "Plain.shadow_bound",
        &["at_or_before", "before"],
        "EASY: a backfilled job ends by the head's planned start, or before it",
    ),
    plain(
        "Plain.extra_processors",
        &["consumed", "unused"],
        "EASY: whether longer jobs may take processors that the head leaves",
    ),
    plain("Plain.shadow_refresh", &["every_pass", "once_per_head"], "EASY: when the head's planned start is computed"),
    plain(
        "Plain.compression",
        &["every_completion", "never"],
        "conservative: what becomes of planned starts at an early end",
    ),
    plain("Plain.overrun", &["raise_estimate", "kill"], "plain algorithms: jobs that run longer than they asked for"),
    modelled("AccountingStorageEnforce", Kind::Text, "", "none", "which limits and associations are enforced"),
    modelled(
        "AccountingStorageType",
        Kind::Text,
        "",
        "accounting_storage/none",
        "without slurmdbd there is no fair share and no age factor",
    ),
    modelled("ClusterName", Kind::Text, "", "cluster", "the cluster's name"),
    modelled("CompleteWait", U16, "s", "0", "how long completing jobs hold back scheduling"),
    modelled(
        "DefCpuPerGPU",
        Kind::NATURAL,
        "CPUs",
        "",
        "CPUs that come with each GPU of jobs that ask for no CPUs per task",
    ),
    modelled("DefMemPerGPU", Kind::Megabytes, "MB", "0", "memory per GPU of jobs that ask for none"),
    modelled(
        "DefMemPerCPU",
        Kind::Megabytes,
        "MB",
        "0",
        "memory per CPU of jobs that ask for none; 0 is all of the node",
    ),
    modelled(
        "DefMemPerNode",
        Kind::Megabytes,
        "MB",
        "0",
        "memory per node of jobs that ask for none; 0 is all of the node",
    ),
    modelled(
        "DependencyParameters",
        Kind::Text,
        "",
        "",
        "kill_invalid_depend cancels jobs whose dependency cannot hold",
    )
    .but_for(&[("disable_remote_singleton", "federations are not simulated")]),
    modelled(
        "EnforcePartLimits",
        Kind::OneOf(&["NO", "YES", "ANY", "ALL", "TRUE", "FALSE"]),
        "",
        "NO",
        "whether jobs beyond a partition's limits are refused at submission",
    ),
    modelled("Epilog", Kind::Text, "", "", "a program at a job's end: it wakes the main scheduler at once"),
    modelled(
        "FairShareDampeningFactor",
        Kind::Integer { min: 1, max: 65_533 },
        "",
        "1",
        "divides classic fair-share's exponent",
    ),
    modelled("GresTypes", Kind::Text, "", "", "generic resources in use"),
    modelled(
        "JobRequeue",
        Kind::Integer { min: 0, max: 1 },
        "",
        "1",
        "whether batch jobs are queued again after preemption or node failure",
    ),
    modelled("KillWait", U16, "s", "30", "between SIGTERM and SIGKILL at the time limit"),
    modelled("Licenses", Kind::Text, "", "", "licences and their totals"),
    modelled("MaxMemPerCPU", Kind::Megabytes, "MB", "0", "greatest memory per CPU; 0 is unlimited"),
    modelled("MaxMemPerNode", Kind::Megabytes, "MB", "0", "greatest memory per node; 0 is unlimited"),
    modelled("MessageTimeout", U16, "s", "10", "round trip of a message, which spaces a job's preemptions"),
    modelled("MinJobAge", Kind::NATURAL, "s", "300", "how long a finished job is remembered, for dependencies"),
    modelled("OverTimeLimit", Kind::ShortCount, "min", "0", "how far a job may exceed its time limit"),
    modelled("ResvOverRun", Kind::Count, "min", "0", "how far a job may outlast its reservation"),
    modelled("PreemptExemptTime", Kind::Time, "min", "0", "how long a job runs before it may be preempted"),
    modelled(
        "PreemptMode",
        Kind::ListOf(&["OFF", "CANCEL", "CHECKPOINT", "GANG", "REQUEUE", "SUSPEND", "WITHIN", "PRIORITY"]),
        "",
        "OFF",
        "what happens to preempted jobs",
    )
    .but_for(PREEMPT_WORDS_LEFT_OUT),
    modelled("PreemptParameters", Kind::Text, "", "", "options of preemption"),
    modelled(
        "PreemptType",
        Kind::OneOf(&["preempt/none", "preempt/partition_prio", "preempt/qos"]),
        "",
        "preempt/none",
        "which jobs preempt which",
    ),
    modelled("PriorityCalcPeriod", Kind::Time, "min", "5", "period in which priorities are computed"),
    modelled("PriorityDecayHalfLife", Kind::Time, "min", "7-0", "half-life of recorded usage; 0 is no decay"),
    modelled("PriorityFavorSmall", Kind::YesNo, "", "NO", "whether small jobs get the greater size factor"),
    modelled(
        "PriorityFlags",
        Kind::ListOf(&[
            "ACCRUE_ALWAYS",
            "CALCULATE_RUNNING",
            "DEPTH_OBLIVIOUS",
            "FAIR_TREE",
            "INCR_ONLY",
            "MAX_TRES",
            "MAX_TRES_GRES",
            "NO_FAIR_TREE",
            "NO_NORMAL_ALL",
            "NO_NORMAL_ASSOC",
            "NO_NORMAL_PART",
            "NO_NORMAL_QOS",
            "NO_NORMAL_TRES",
            "SMALL_RELATIVE_TO_TIME",
            "TICKET_BASED",
            "LEVEL_BASED",
        ]),
        "",
        "",
        "variations of the priority's computation",
    )
    .but_for(&[("LEVEL_BASED", "an option of old releases"), ("TICKET_BASED", "an option of old releases")]),
    modelled("PriorityMaxAge", Kind::Time, "min", "7-0", "age at which the age factor is 1"),
    modelled(
        "PriorityType",
        Kind::OneOf(&["priority/basic", "priority/multifactor", "priority/multifactor2"]),
        "",
        "priority/basic",
        "how priorities are made (multifactor from 23.11 on)",
    ),
    modelled(
        "PriorityUsageResetPeriod",
        Kind::OneOf(&["NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"]),
        "",
        "NONE",
        "when recorded usage is forgotten",
    ),
    modelled("PriorityWeightAge", Kind::NATURAL, "", "0", "weight of the time in the queue"),
    modelled("PriorityWeightAssoc", Kind::NATURAL, "", "0", "weight of the association's priority"),
    modelled("PriorityWeightFairshare", Kind::NATURAL, "", "0", "weight of fair share"),
    modelled("PriorityWeightJobSize", Kind::NATURAL, "", "0", "weight of the job's size"),
    modelled("PriorityWeightPartition", Kind::NATURAL, "", "0", "weight of the partition's PriorityJobFactor"),
    modelled("PriorityWeightQOS", Kind::NATURAL, "", "0", "weight of the QOS's priority"),
    modelled("PriorityWeightTRES", Kind::TresWeights, "", "", "weights of requested resources"),
    modelled("SchedulerParameters", Kind::Text, "", "", "options of both schedulers"),
    modelled(
        "SchedulerType",
        Kind::OneOf(&["sched/backfill", "sched/builtin"]),
        "",
        "sched/backfill",
        "with or without the backfill scheduler",
    ),
    modelled(
        "SelectType",
        Kind::OneOf(&["select/linear", "select/cons_res", "select/cons_tres", "select/cray_aries"]),
        "",
        "select/linear",
        "whole nodes or parts of nodes (cons_tres from 23.11 on)",
    ),
    modelled(
        "SelectTypeParameters",
        Kind::ListOf(&[
            "CR_CPU",
            "CR_CPU_Memory",
            "CR_Core",
            "CR_Core_Memory",
            "CR_Socket",
            "CR_Socket_Memory",
            "CR_Memory",
            "CR_ONE_TASK_PER_CORE",
            "CR_CORE_DEFAULT_DIST_BLOCK",
            "CR_LLN",
            "CR_Pack_Nodes",
            "CR_NO_DIST_TOPO_BLOCK",
            "ENFORCE_BINDING_GRES",
            "LL_SHARED_GRES",
            "MULTIPLE_SHARING_GRES_PJ",
            "ONE_TASK_PER_SHARING_GRES",
            "OTHER_CONS_RES",
            "OTHER_CONS_TRES",
            "NONE",
        ]),
        "",
        "CR_Core_Memory",
        "what cons_tres hands out",
    )
    .but_for(&[
        ("CR_NO_DIST_TOPO_BLOCK", "an option of old releases"),
        ("ENFORCE_BINDING_GRES", "generic resources are not bound to cores"),
        ("LL_SHARED_GRES", "generic resources are not shared"),
        ("MULTIPLE_SHARING_GRES_PJ", "generic resources are not shared"),
        ("ONE_TASK_PER_SHARING_GRES", "generic resources are not shared"),
    ]),
    modelled("TopologyParam", Kind::Text, "", "", "options of the topology")
        .but_for(&[("SwitchAsNodeRank", "nodes are taken in the order of the file")]),
    modelled(
        "TopologyPlugin",
        Kind::OneOf(&[
            "topology/none",
            "topology/default",
            "topology/flat",
            "topology/tree",
            "topology/block",
            "topology/3d_torus",
            "topology/node_rank",
            "topology/hypercube",
        ]),
        "",
        "topology/none",
        "network topology",
    ),
];

/// Known, with an effect on scheduling that is not reproduced.
pub(super) static NOT_MODELLED: &[Parameter] = &[
    not_modelled("BurstBufferParameters", "", "burst buffers are not simulated"),
    not_modelled("BurstBufferType", "burst_buffer/none", "burst buffers are not simulated"),
    not_modelled("DefMemPerTask", "0", "an option of old releases"),
    not_modelled("MaxMemPerTask", "0", "an option of old releases"),
    not_modelled("EpilogMsgTime", "2000", "nodes of large jobs are released at once"),
    not_modelled("EpilogSlurmctld", "", "the controller's epilog takes no time"),
    not_modelled("FederationParameters", "", "federations are not simulated"),
    not_modelled("FrontendName", "", "front-end nodes are not simulated"),
    not_modelled(
        "JobSubmitPlugins",
        "",
        "a submit plugin's changes are taken from the trace, which records their results",
    ),
    not_modelled("MCSPlugin", "mcs/none", "security labels do not separate nodes"),
    not_modelled("MCSParameters", "", "security labels do not separate nodes"),
    not_modelled("MaxArraySize", "1001", "large arrays are not refused"),
    not_modelled("MaxBatchRequeue", "5", "jobs are queued again any number of times"),
    not_modelled("MaxJobCount", "10000", "submissions to a full queue are not refused"),
    not_modelled("NodeFeaturesPlugins", "", "features are not changed by rebooting"),
    not_modelled("PowerParameters", "", "power capping is not simulated"),
    not_modelled("PowerPlugin", "", "power capping is not simulated"),
    not_modelled("PrioritySiteFactorParameters", "", "the site's own priority factor is unknown"),
    not_modelled("PrioritySiteFactorPlugin", "site_factor/none", "the site's own priority factor is unknown"),
    not_modelled("PrologSlurmctld", "", "the controller's prolog takes no time"),
    not_modelled("RequeueExit", "", "jobs are not queued again by exit code"),
    not_modelled("RequeueExitHold", "", "jobs are not held by exit code"),
    not_modelled("ResumeProgram", "", "power saving is not simulated: nodes are always on"),
    not_modelled("SchedulerTimeSlice", "30", "gang scheduling is not simulated"),
    not_modelled("SuspendProgram", "", "power saving is not simulated: nodes are always on"),
    not_modelled("SuspendTime", "-1", "power saving is not simulated: nodes are always on"),
];
