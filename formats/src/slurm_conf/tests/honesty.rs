//! The table of parameters says what is true: what counts as modelled changes what the engine gets, and the engine reads
//! it.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::slurm_conf::parameters;

/// A site with something of everything, so that each parameter has something to act on.
const CONF: &str = "\
ClusterName=c
SlurmctldHost=h
AccountingStorageType=accounting_storage/slurmdbd
PriorityType=priority/multifactor
PriorityWeightAge=10
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
TopologyPlugin=topology/tree
GresTypes=gpu
NodeName=n[1-4] Boards=1 Sockets=4 CoresPerSocket=4 RealMemory=4000 Gres=gpu:2
NodeName=m1 SocketsPerBoard=4 CoresPerSocket=2
NodeName=m2 CPUs=8
NodeName=m3 Sockets=2 CoresPerSocket=2 CoreSpecCount=1
PartitionName=p Nodes=n[1-4] Default=YES
PartitionName=q Nodes=ALL
";
const TOPOLOGY: &str = "SwitchName=s Nodes=n[1-4],m[1-3]\n";
const ACCOUNTS: &str = "Cluster - 'c'\nParent - 'root'\nAccount - 'a'\nQOS - 'part':Priority=3\n";

/// For each modelled parameter: a value other than that of the site, and the engine's field it feeds. A parameter of
/// several words may stand on several rows.
const FEEDS: &[(&str, &str, &str)] = &[
    ("SlurmVersion", "25.05", "version"),
    ("CostModel", "ideal", "backfill_base_us"),
    ("CostModel.backfill_base_us", "9", "backfill_base_us"),
    ("CostModel.backfill_record_us", "9", "backfill_record_us"),
    ("CostModel.backfill_passed_us", "9", "backfill_passed_us"),
    ("CostModel.backfill_record_per_1000_nodes_us", "9", "backfill_record_per_1000_nodes_us"),
    ("CostModel.main_start_us", "9", "main_start_us"),
    ("CostModel.noise_percent", "9", "noise_percent"),
    ("Plain.batching", "per_event", "batching"),
    ("Plain.shadow_bound", "before", "shadow_bound"),
    ("Plain.extra_processors", "unused", "extra_processors"),
    ("Plain.shadow_refresh", "once_per_head", "shadow_refresh"),
    ("Plain.compression", "never", "compression"),
    ("Plain.overrun", "kill", "overrun"),
    ("AccountingStorageEnforce", "limits", "limits"),
    ("AccountingStorageEnforce", "safe", "safe"),
    ("AccountingStorageType", "accounting_storage/none", "weight_age"),
    ("EpilogSeconds", "9", "epilog_seconds"),
    ("CompleteWait", "9", "complete_wait"),
    ("DefCpuPerGPU", "9", "default_cpus_per_gpu"),
    ("DefMemPerGPU", "9", "default_memory_per_gpu"),
    ("PriorityFlags", "CALCULATE_RUNNING", "calculate_running"),
    ("PriorityFlags", "MAX_TRES_GRES", "max_tres_gres"),
    ("SchedulerParameters.spec_cores_first", "true", "spec_cores"),
    ("SchedulerParameters.reduce_completing_frag", "true", "reduce_completing_frag"),
    ("SchedulerParameters.max_switch_wait", "9", "max_switch_wait"),
    ("partition.p.DefCpuPerGPU", "9", "default_cpus_per_gpu"),
    ("partition.p.DefMemPerGPU", "9", "default_memory_per_gpu"),
    ("DefMemPerCPU", "100", "default_memory"),
    ("DefMemPerNode", "100", "default_memory"),
    ("EnforcePartLimits", "ALL", "partition_limits"),
    ("Epilog", "/etc/epilog", "epilog"),
    ("FairShareDampeningFactor", "3", "dampening"),
    ("JobRequeue", "0", "job_requeue"),
    ("KillWait", "60", "kill_wait"),
    ("Licenses", "matlab:3", "licenses"),
    ("MaxMemPerCPU", "100", "max_memory"),
    ("MessageTimeout", "60", "message_timeout"),
    ("OverTimeLimit", "5", "over_time_limit"),
    ("ResvOverRun", "5", "reservation_over_run"),
    ("PreemptExemptTime", "1", "exempt_time"),
    ("PreemptMode", "CANCEL", "mode"),
    ("PreemptMode", "CANCEL,WITHIN", "within"),
    ("PreemptParameters", "strict_order", "strict_order"),
    ("PreemptParameters.reorder_count", "9", "reorder_count"),
    ("PreemptParameters.strict_order", "true", "strict_order"),
    ("PreemptParameters.youngest_first", "true", "youngest_first"),
    ("PreemptType", "preempt/qos", "kind"),
    ("PriorityCalcPeriod", "1", "calc_period"),
    ("PriorityDecayHalfLife", "1-0", "decay_half_life"),
    ("PriorityFavorSmall", "YES", "favor_small"),
    ("PriorityFlags", "ACCRUE_ALWAYS", "accrue_always"),
    ("PriorityFlags", "DEPTH_OBLIVIOUS", "depth_oblivious"),
    ("PriorityFlags", "INCR_ONLY", "increase_only"),
    ("PriorityFlags", "MAX_TRES", "max_tres"),
    ("PriorityFlags", "NO_FAIR_TREE", "no_fair_tree"),
    ("PriorityFlags", "NO_NORMAL_ALL", "no_normal_assoc"),
    ("PriorityFlags", "NO_NORMAL_ASSOC", "no_normal_assoc"),
    ("PriorityFlags", "NO_NORMAL_PART", "no_normal_part"),
    ("PriorityFlags", "NO_NORMAL_QOS", "no_normal_qos"),
    ("PriorityFlags", "NO_NORMAL_TRES", "no_normal_tres"),
    ("PriorityFlags", "SMALL_RELATIVE_TO_TIME", "small_relative_to_time"),
    ("PriorityMaxAge", "1-0", "max_age"),
    ("PriorityType", "priority/basic", "multifactor"),
    ("PriorityUsageResetPeriod", "DAILY", "usage_reset"),
    ("PriorityWeightAge", "3", "weight_age"),
    ("PriorityWeightAssoc", "3", "weight_assoc"),
    ("PriorityWeightFairshare", "3", "weight_fairshare"),
    ("PriorityWeightJobSize", "3", "weight_job_size"),
    ("PriorityWeightPartition", "3", "weight_partition"),
    ("PriorityWeightQOS", "3", "weight_qos"),
    ("PriorityWeightTRES", "cpu=3", "weight_tres"),
    ("SchedulerParameters", "defer", "defer"),
    ("SchedulerType", "sched/builtin", "scheduler"),
    ("SelectType", "select/linear", "linear"),
    ("SelectTypeParameters", "CR_CPU_Memory", "unit"),
    ("SelectTypeParameters", "CR_Core", "memory"),
    ("SelectTypeParameters", "CR_Core_Memory,CR_ONE_TASK_PER_CORE", "one_task_per_core"),
    ("SelectTypeParameters", "CR_Core_Memory,CR_LLN", "least_loaded_nodes"),
    ("SelectTypeParameters", "CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK", "block_cores"),
    ("TopologyParam", "TopoOptional", "topology_optional"),
    ("TopologyParam", "Dragonfly", "topology_dragonfly"),
    ("TopologyPlugin", "topology/none", "switches"),
    ("SchedulerParameters.assoc_limit_stop", "true", "assoc_limit_stop"),
    ("SchedulerParameters.batch_sched_delay", "9", "batch_sched_delay"),
    ("MaxMemPerNode", "100", "max_memory"),
    ("MinJobAge", "9", "min_job_age"),
    ("SchedulerParameters.bf_hetjob_immediate", "true", "hetjob_immediate"),
    ("SchedulerParameters.bf_hetjob_prio", "avg", "hetjob_prio"),
    ("SchedulerParameters.bf_busy_nodes", "true", "busy_nodes"),
    ("SchedulerParameters.bf_interval", "9", "interval"),
    ("SchedulerParameters.bf_licenses", "true", "licenses"),
    ("SchedulerParameters.bf_one_resv_per_job", "true", "one_resv_per_job"),
    ("SchedulerParameters.bf_running_job_reserve", "true", "running_job_reserve"),
    ("SchedulerParameters.time_min_as_soft_limit", "true", "time_min_is_soft"),
    ("DependencyParameters", "kill_invalid_depend", "kill_invalid_depend"),
    ("SchedulerParameters.sched_min_interval", "9000", "sched_min_interval_us"),
    ("SchedulerParameters.bf_job_part_count_reserve", "9", "job_part_count_reserve"),
    ("SchedulerParameters.bf_max_job_array_resv", "9", "max_job_array_resv"),
    ("SchedulerParameters.bf_max_job_assoc", "9", "max_job_assoc"),
    ("SchedulerParameters.bf_max_job_part", "9", "max_job_part"),
    ("SchedulerParameters.bf_max_job_start", "9", "max_job_start"),
    ("SchedulerParameters.bf_max_job_test", "9", "max_job_test"),
    ("SchedulerParameters.bf_max_job_user", "9", "max_job_user"),
    ("SchedulerParameters.bf_max_job_user_part", "9", "max_job_user_part"),
    ("SchedulerParameters.bf_min_age_reserve", "9", "min_age_reserve"),
    ("SchedulerParameters.bf_min_prio_reserve", "9", "min_prio_reserve"),
    ("SchedulerParameters.bf_node_space_size", "9", "node_space_size"),
    ("SchedulerParameters.bf_resolution", "9", "resolution"),
    ("SchedulerParameters.bf_window", "9", "window"),
    ("SchedulerParameters.bf_window_linear", "9", "window_linear"),
    ("SchedulerParameters.default_queue_depth", "9", "default_queue_depth"),
    ("SchedulerParameters.defer", "true", "defer"),
    ("SchedulerParameters.pack_serial_at_end", "true", "pack_serial_at_end"),
    ("SchedulerParameters.partition_job_depth", "9", "partition_job_depth"),
    ("SchedulerParameters.preempt_reorder_count", "9", "reorder_count"),
    ("SchedulerParameters.preempt_strict_order", "true", "strict_order"),
    ("SchedulerParameters.preempt_youngest_first", "true", "youngest_first"),
    ("SchedulerParameters.sched_interval", "9", "sched_interval"),
    ("SchedulerParameters.sched_max_job_start", "9", "sched_max_job_start"),
    ("partition.p.AllowAccounts", "a", "allow_accounts"),
    ("partition.p.AllowQos", "part", "allow_qos"),
    ("partition.q.Default", "YES", "is_default"),
    ("partition.p.DefaultTime", "9", "default_time"),
    ("partition.p.DefMemPerCPU", "9", "default_memory"),
    ("partition.p.DefMemPerNode", "9", "default_memory"),
    ("partition.p.DenyAccounts", "a", "deny_accounts"),
    ("partition.p.DenyQos", "part", "deny_qos"),
    ("partition.p.Exclusive", "NODE", "over_subscribe"),
    ("partition.p.ExclusiveUser", "YES", "exclusive_user"),
    ("partition.p.GraceTime", "9", "grace_time"),
    ("partition.p.LLN", "YES", "least_loaded_nodes"),
    ("partition.p.MaxCPUsPerNode", "9", "max_cpus_per_node"),
    ("partition.p.MaxMemPerCPU", "9", "max_memory"),
    ("partition.p.MaxMemPerNode", "9", "max_memory"),
    ("partition.p.MaxNodes", "9", "max_nodes"),
    ("partition.p.MaxTime", "9", "max_time"),
    ("partition.p.MinNodes", "2", "min_nodes"),
    ("partition.p.Nodes", "m1", "nodes"),
    ("partition.p.OverSubscribe", "EXCLUSIVE", "over_subscribe"),
    ("partition.p.OverTimeLimit", "9", "over_time_limit"),
    ("partition.p.PreemptMode", "OFF", "preempt_mode"),
    ("partition.p.SelectTypeParameters", "CR_Socket", "consumes"),
    ("partition.p.Priority", "9", "priority_tier"),
    ("partition.p.PriorityJobFactor", "9", "priority_job_factor"),
    ("partition.p.PriorityTier", "9", "priority_tier"),
    ("partition.p.QOS", "part", "qos"),
    ("partition.p.State", "DOWN", "state"),
    ("partition.p.TRESBillingWeights", "cpu=3", "billing_weights"),
    ("node.m1.Boards", "2", "sockets"),
    ("node.n1.CoreSpecCount", "1", "spec_cores"),
    ("node.n1.CpuSpecList", "0", "spec_cores"),
    ("node.n1.CoresPerSocket", "2", "cores_per_socket"),
    ("node.m2.CPUs", "16", "cpus"),
    ("node.n1.Feature", "f", "features"),
    ("node.n1.Gres", "gpu:4", "gres"),
    ("node.n1.MemSpecLimit", "9", "memory_mb"),
    ("node.n1.RealMemory", "9", "memory_mb"),
    ("node.n1.Sockets", "2", "sockets"),
    ("node.m1.SocketsPerBoard", "2", "sockets"),
    ("node.n1.State", "DOWN", "schedulable"),
    ("node.n1.ThreadsPerCore", "2", "threads_per_core"),
    ("node.n1.TmpDisk", "9", "tmp_disk_mb"),
    ("node.n1.Weight", "9", "weight"),
];

/// Modelled parameters that feed no field which the engine reads, and why they count all the same.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("ClusterName", "names the cluster in results"),
    ("GresTypes", "says which generic resources Gres= of nodes may name"),
];

/// The key that `FEEDS` would give a parameter, without the name of a partition or the list of nodes.
fn general(key: &str) -> String {
    let (first, last) = (key.split('.').next().unwrap(), key.rsplit('.').next().unwrap());
    match first {
        "partition" => format!("partition.NAME.{last}"),
        "node" => format!("node.HOSTLIST.{last}"),
        _ => key.to_owned(),
    }
}

fn lowered(change: Option<(&str, &str)>) -> String {
    let (mut conf, _) = SlurmConf::read(&files(&[("slurm.conf", CONF), ("topology.conf", TOPOLOGY)]), "slurm.conf");
    if let Some((key, value)) = change {
        conf.set(key, value).unwrap_or_else(|fault| panic!("{fault}"));
    }
    let (accounts, _) = Sacctmgr::read("sacctmgr.cfg", ACCOUNTS.as_bytes());
    let (site, diagnostics) = conf.lower(Some(&accounts));
    format!("{:#?}", site.unwrap_or_else(|| panic!("{change:?}: {}", said(&diagnostics))))
}

/// Every line of an indented text with the fields and places in lists that lead to it.
fn paths(text: &str) -> BTreeSet<(Vec<String>, &str)> {
    let mut open: Vec<(usize, String, usize)> = Vec::new();
    let mut paths = BTreeSet::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        while open.last().is_some_and(|(above, ..)| *above >= indent) {
            open.pop();
        }
        let place = open.last_mut().map_or(0, |(.., children)| {
            *children += 1;
            *children
        });
        let label = line.trim().split_once(": ").map_or_else(|| place.to_string(), |(field, _)| field.to_owned());
        open.push((indent, label, 0));
        paths.insert((open.iter().map(|(_, label, _)| label.clone()).collect(), line));
    }
    paths
}

#[test]
fn every_modelled_parameter_changes_the_field_it_feeds() {
    let before = lowered(None);
    let paths_before = paths(&before);
    let mut faults = Vec::new();
    for (key, value, field) in FEEDS {
        let after = lowered(Some((key, value)));
        let paths_after = paths(&after);
        let changed: Vec<_> = paths_before.symmetric_difference(&paths_after).collect();
        if !changed.iter().any(|(path, _)| path.iter().any(|step| step == field)) {
            faults.push(format!("{key}={value} does not change {field}, but {changed:?}"));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn every_modelled_parameter_names_what_it_feeds() {
    let named: BTreeSet<String> =
        FEEDS.iter().map(|(key, ..)| *key).chain(EXCEPTIONS.iter().map(|(key, _)| *key)).map(general).collect();
    let modelled = parameters().filter(|parameter| parameter.is_modelled() && parameter.alias_of.is_none());
    let modelled: BTreeSet<String> = modelled.map(|parameter| parameter.key()).collect();
    assert_eq!(modelled.symmetric_difference(&named).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_engine_reads_every_field_that_parameters_feed() {
    let mut code = String::new();
    read_code(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/src")), &mut code);
    for (key, _, field) in FEEDS {
        let is_read = code.match_indices(&format!(".{field}")).any(|(at, found)| {
            let next = code[at + found.len()..].chars().next();
            // No longer name.
            next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
        });
        assert!(
            is_read,
            "{key}: no code of the engine reads .{field}: it is not modelled in the table of parameters then"
        );
    }
}

/// All code below a folder, comments and tests apart.
fn read_code(folder: &Path, code: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_code(&path, code);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            code.extend(text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]));
        }
    }
}

#[test]
fn a_threshold_that_a_weight_makes_void_is_told() {
    let of = |weight: u32, threshold: &str| {
        let conf = small(&format!("PriorityType=priority/multifactor\nPriorityWeightFairshare={weight}"));
        let qos = format!("Name|Flags|UsageThres\nnormal|{threshold}\nlow|EnforceUsageThreshold|0.4\n");
        read_and_lower(&[("slurm.conf", &conf)], Some(&qos)).1
    };
    assert!(!of(0, "|").contains("UsageThreshold"));
    let said = of(1000, "EnforceUsageThreshold|400");
    assert_eq!(said.matches("holds next to nobody").count(), 1, "{said}");
    assert!(
        said.contains("warning: PriorityWeightFairshare: the UsageThreshold of QOS 'low' holds next to nobody"),
        "{said}"
    );
    assert!(said.contains("times this weight (1000); set the threshold to what is meant times the weight"), "{said}");
}

#[test]
fn default_accounts_that_are_not_named_are_told_where_they_matter() {
    let of = |parameters: &str, default: &str| {
        let conf = small(&format!("SchedulerParameters={parameters}"));
        let users: String = ["a", "b", "c"].map(|of| format!("Parent - '{of}'\nUser - 'ann'{default}\n")).concat();
        let accounts = "Account - 'a'\nAccount - 'b'\nAccount - 'c'\n";
        let dump = format!("Cluster - 'c'\nParent - 'root'\n{accounts}{users}");
        read_and_lower(&[("slurm.conf", &conf)], Some(&dump)).1
    };
    let said = of("bf_max_job_user=10", "");
    assert!(
        said.contains("1 users of three accounts or more have none that is named: their first one taken"),
        "{said}"
    );
    for (parameters, default) in [("bf_max_job_user=10", ":DefaultAccount='b'"), ("bf_max_job_part=10", "")] {
        let said = of(parameters, default);
        assert!(!said.contains("three accounts"), "{said}");
    }
}
