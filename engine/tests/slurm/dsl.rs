//! A scenario in a few lines of text. One thing a line, options as `key=value` or a bare word; `#` begins a comment.
//!
//! ```text
//! node n[1-4] cores=4 sockets=2 threads=1 memory=16000 weight=1 features=a,b gres=gpu:2   # in node order
//! node n5 sockets=2 cores=4 gres=gpu:4 near=2,2                             # units of the first GRES near each socket
//! partition p nodes=n[1-2],n4 tier=1 max=60 default=30 over=exclusive      # without one: `p` over all nodes
//! switch s1 nodes=n[1-2]                                                    # topology/tree: leaves, then `switch top over=s1,s2`
//! license matlab:2
//! set select=core memory bf_interval=30 ...                                # see `set`
//! qos normal priority=10 max_jobs_per_user=1 grp_cpu=8                     # `normal` is always there
//! account a parent=root shares=1 grp_cpu=8
//! user bob account=a shares=1 usage=0                                      # unknown users of jobs get account root
//! job 1 at=0 run=300 t=10 n=1 N=1-2 c=1 p=p user=bob qos=normal ...        # see `job::add`
//! reservation r nodes=n[1-2] at=600 for=300 users=bob maint daily=3         # see `calendar`
//! outage n[1-2] at=600 for=300 drain                                       # down without `drain`, for good without `for`
//! boot 600                                                                 # controller start before first submit
//! ```
//!
//! A job's name is `7`, `7_1` (task), `7+0` (component); `array=1-4%2` makes tasks. Times are seconds after
//! [`T0`], limits (`t`, `max`, `default`) minutes. Without `at` a job comes at 0, without `t` its limit is 60 minutes.

mod calendar;
mod job;
mod limits;

use std::sync::Arc;

use foresite_engine::association::{Association, AssociationTree, Qos, Shares};
use foresite_engine::calendar::Calendar;
use foresite_engine::cluster::{
    Cluster, GresType, MemoryDefault, Node, OverSubscribe, Partition, PartitionState, Switch, Tres,
};
use foresite_engine::ids::{FeatureId, GresId, NodeId, QosId};
use foresite_engine::job::Workload;
use foresite_engine::node_set::NodeSet;
use foresite_engine::policy::{
    ConsumableUnit, EnforcePartLimits, HetjobPriority, Policy, PreemptKind, PreemptMode, Scheduler, SlurmVersion,
    UsageReset,
};
use foresite_engine::scenario::Scenario;

/// What time 0 of a scenario is: a midnight, so a whole number of minutes.
pub(crate) const T0: i64 = 1_699_920_000;

/// A scenario and when its controller starts.
pub(crate) struct Parsed {
    pub(crate) scenario: Scenario,
    pub(crate) boot_offset: Option<u32>,
}

/// One line: its words after the first, with options split.
struct Line<'a> {
    text: &'a str,
    name: &'a str,
    options: Vec<(&'a str, &'a str)>,
}

impl Line<'_> {
    fn number<T: std::str::FromStr>(&self, value: &str) -> T {
        value.parse().unwrap_or_else(|_| panic!("not a number: {value} in: {}", self.text))
    }

    fn unknown(&self, key: &str) -> ! {
        panic!("unknown option {key} in: {}", self.text)
    }
}

/// Reads a scenario.
pub(crate) fn parse(text: &str) -> Parsed {
    let mut cluster = Cluster::default();
    let mut policy = Policy::default();
    policy.select.linear = false;
    policy.select.cuts_to_gres = true;
    policy.select.unit = ConsumableUnit::Core;
    let mut associations = AssociationTree::default();
    let mut qos = vec![Qos { name: "normal".to_owned(), ..Qos::default() }];
    let mut workload = Workload::default();
    let mut boot_offset = None;
    let mut set_to_happen = Calendar::default();
    for line in text.lines().map(|line| line.split('#').next().unwrap().trim()).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap();
        let mut rest: Vec<&str> = words.collect();
        let name = if kind == "set" { "" } else { rest.remove(0) };
        let options = rest.into_iter().map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
        let line = Line { text: line, name, options };
        match kind {
            "node" => node(&line, &mut cluster),
            "partition" => partition(&line, &mut cluster, &qos),
            "switch" => switch(&line, &mut cluster, &mut policy),
            "license" => {
                let (name, count) = line.name.split_once(':').unwrap();
                cluster.licenses.push((name.to_owned(), line.number(count)));
            }
            "set" => set(&line, &mut policy),
            "qos" => limits::add_qos(&line, &cluster, &mut qos),
            "account" | "user" => association(&line, kind == "user", &cluster, &mut associations),
            "reservation" => set_to_happen.reservations.push(calendar::reservation(&line, &cluster)),
            "outage" => set_to_happen.outages.push(calendar::outage(&line, &cluster)),
            "boot" => boot_offset = Some(line.number(line.name)),
            "job" => job::add(&line, &mut cluster, &mut associations, &qos, &mut workload),
            other => panic!("unknown kind of line: {other}"),
        }
    }
    // Submit order, ties by name; stable, so tasks stay in order.
    workload.jobs.sort_by_key(|job| (job.submit, job.name));
    workload.trace_order = (0..workload.jobs.len()).map(foresite_engine::ids::JobId::new).collect();
    let scenario =
        Scenario { cluster, associations, qos, policy, calendar: set_to_happen, workload: Arc::new(workload) };
    scenario.validate().unwrap();
    Parsed { scenario, boot_offset }
}

/// `n[1-3],n5` → n1 n2 n3 n5.
fn host_list(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in text.split(',') {
        match part.split_once('[') {
            Some((prefix, range)) => {
                let (first, last) = range.trim_end_matches(']').split_once('-').unwrap();
                let range = first.parse::<u32>().unwrap()..=last.parse().unwrap();
                names.extend(range.map(|number| format!("{prefix}{number}")));
            }
            None => names.push(part.to_owned()),
        }
    }
    names
}

fn nodes_named(cluster: &Cluster, list: &str) -> Vec<NodeId> {
    host_list(list).iter().map(|name| cluster.node_named(name).unwrap_or_else(|| panic!("no node {name}"))).collect()
}

/// The position of `value`, appended if it is new.
fn intern<T: PartialEq>(values: &mut Vec<T>, value: T) -> usize {
    values.iter().position(|other| *other == value).unwrap_or_else(|| {
        values.push(value);
        values.len() - 1
    })
}

fn node(line: &Line<'_>, cluster: &mut Cluster) {
    let mut node = Node {
        name: String::new(),
        sockets: 1,
        cores_per_socket: 1,
        threads_per_core: 1,
        cpus: 1,
        spec_cores: Vec::new(),
        kept_memory_mb: 0,
        tmp_disk_mb: None,
        memory_mb: 16_000,
        weight: 1,
        features: Vec::new(),
        gres: Vec::new(),
        gres_near: Vec::new(),
        config_record: cluster.nodes.len() as u32,
        schedulable: true,
    };
    let mut cores = 1;
    for &(key, value) in &line.options {
        match key {
            "cores" => cores = line.number(value),
            "sockets" => node.sockets = line.number(value),
            "threads" => node.threads_per_core = line.number(value),
            "memory" => node.memory_mb = line.number(value),
            "tmp" => node.tmp_disk_mb = Some(line.number(value)),
            "weight" => node.weight = line.number(value),
            "down" => node.schedulable = false,
            "features" => {
                for feature in value.split(',') {
                    node.features.push(FeatureId::new(intern(&mut cluster.features, feature.to_owned())));
                }
            }
            "gres" => {
                let (name, count) = value.split_once(':').unwrap();
                let gres = intern(&mut cluster.gres, GresType { name: name.to_owned(), kind: None, counted: true });
                node.gres.resize(gres + 1, 0);
                node.gres[gres] = line.number(count);
            }
            "spec" => node.spec_cores = value.split(',').map(|cores| line.number(cores)).collect(),
            "near" => node.gres_near = vec![value.split(',').map(|units| line.number(units)).collect()],
            other => line.unknown(other),
        }
    }
    node.features.sort_unstable();
    node.cores_per_socket = cores / node.sockets;
    node.cpus = (cores - node.spec_cores.iter().sum::<u32>()) * node.threads_per_core;
    cluster.nodes.extend(host_list(line.name).into_iter().map(|name| Node { name, ..node.clone() }));
}

/// `cpu:1`, `memory:1` a MB, `gpu:4`.
fn billing(line: &Line<'_>, cluster: &Cluster, text: &str) -> (Tres, f64) {
    let (name, weight) = text.split_once(':').unwrap();
    let gres = cluster.gres.iter().position(|gres| gres.name == name).map(GresId::new);
    let tres = if name == "memory" { Tres::Memory } else { gres.map_or(Tres::Cpu, Tres::Gres) };
    (tres, line.number(weight))
}

/// A leaf with its nodes, or one `over` others.
fn switch(line: &Line<'_>, cluster: &mut Cluster, policy: &mut Policy) {
    let nodes = NodeSet::empty(cluster.nodes.len());
    let mut switch = Switch { name: line.name.to_owned(), nodes, level: 0, parent: None };
    policy.select.topology_tree = true;
    for &(key, value) in &line.options {
        match key {
            "nodes" => switch.nodes = NodeSet::from_nodes(cluster.nodes.len(), nodes_named(cluster, value)),
            "over" => {
                let top = cluster.switches.len();
                for below in cluster.switches.iter_mut().filter(|below| value.split(',').any(|name| name == below.name))
                {
                    below.parent = Some(top);
                    switch.level = below.level + 1;
                    switch.nodes.union(&below.nodes);
                }
            }
            other => line.unknown(other),
        }
    }
    cluster.switches.push(switch);
}

fn partition(line: &Line<'_>, cluster: &mut Cluster, qos: &[Qos]) {
    let n_nodes = cluster.nodes.len();
    let mut partition = Partition::new(line.name, n_nodes);
    partition.is_default = cluster.partitions.is_empty();
    partition.nodes = NodeSet::full(n_nodes);
    for &(key, value) in &line.options {
        match key {
            "nodes" => partition.nodes = NodeSet::from_nodes(n_nodes, nodes_named(cluster, value)),
            "tier" => partition.priority_tier = line.number(value),
            "job_factor" => partition.priority_job_factor = line.number(value),
            "max" => partition.max_time = Some(line.number(value)),
            "default" => partition.default_time = Some(line.number(value)),
            "max_nodes" => partition.max_nodes = Some(line.number(value)),
            "min_nodes" => partition.min_nodes = line.number(value),
            "max_cpus_per_node" => partition.max_cpus_per_node = Some(line.number(value)),
            "mem_per_cpu" => partition.default_memory = Some(MemoryDefault::PerCpu(line.number(value))),
            "mem_per_node" => partition.default_memory = Some(MemoryDefault::PerNode(line.number(value))),
            "allow_accounts" => partition.allow_accounts = value.split(',').map(str::to_owned).collect(),
            "qos" => partition.qos = qos.iter().position(|qos| qos.name == value).map(QosId::new),
            "exclusive_user" => partition.exclusive_user = true,
            "sockets" => partition.consumes = Some((ConsumableUnit::Socket, false)),
            "cpus_per_gpu" => partition.default_cpus_per_gpu = Some(line.number(value)),
            "mem_per_gpu" => partition.default_memory_per_gpu = Some(line.number(value)),
            "down" => partition.state = PartitionState::Down,
            "drain" => partition.state = PartitionState::Drain,
            "preempt_mode" => partition.preempt_mode = Some(preempt_mode(line, value)),
            "billing" => {
                partition.billing_weights = value.split(',').map(|weight| billing(line, cluster, weight)).collect();
            }
            "grace" => partition.grace_time = line.number(value),
            "over" => {
                partition.over_subscribe = match value {
                    "exclusive" => OverSubscribe::Exclusive,
                    "no" => OverSubscribe::No,
                    other if other.starts_with("yes:") => OverSubscribe::Yes(line.number(&other[4..])),
                    other if other.starts_with("force:") => OverSubscribe::Force(line.number(&other[6..])),
                    other => line.unknown(other),
                }
            }
            other => line.unknown(other),
        }
    }
    cluster.partitions.push(partition);
}

fn set(line: &Line<'_>, policy: &mut Policy) {
    let (main, backfill, priority) = (&mut policy.main, &mut policy.backfill, &mut policy.priority);
    for &(key, value) in &line.options {
        let off = value == "off";
        match key {
            "builtin" => policy.scheduler = Scheduler::SlurmBuiltin,
            "select" => match value {
                "linear" => policy.select.linear = true,
                "cons_res" => (policy.select.cons_res, policy.select.cuts_to_gres) = (true, false),
                "cpu" => policy.select.unit = ConsumableUnit::Cpu,
                "core" => policy.select.unit = ConsumableUnit::Core,
                "socket" => policy.select.unit = ConsumableUnit::Socket,
                "memory" => policy.select.unit = ConsumableUnit::Memory,
                other => line.unknown(other),
            },
            "memory" => policy.select.memory = true,
            "pack_serial_at_end" => policy.select.pack_serial_at_end = true,
            "one_task_per_core" => policy.select.one_task_per_core = true,
            "lln" => policy.select.least_loaded_nodes = true,
            "mem_per_cpu" => policy.select.default_memory = Some(MemoryDefault::PerCpu(line.number(value))),
            "mem_per_node" => policy.select.default_memory = Some(MemoryDefault::PerNode(line.number(value))),
            "epilog" => policy.epilog = true,
            "epilog_seconds" => policy.epilog_seconds = line.number(value),
            "complete_wait" => policy.complete_wait = line.number(value),
            "reduce_completing_frag" => main.reduce_completing_frag = true,
            "dragonfly" => policy.select.topology_dragonfly = true,
            "max_switch_wait" => policy.select.max_switch_wait = line.number(value),
            "cpus_per_gpu" => policy.select.default_cpus_per_gpu = Some(line.number(value)),
            "mem_per_gpu" => policy.select.default_memory_per_gpu = Some(line.number(value)),
            "calculate_running" => priority.calculate_running = true,
            "max_tres" => priority.max_tres = true,
            "max_tres_gres" => priority.max_tres_gres = true,
            "resv_over_run" => policy.reservation_over_run = (!off).then(|| line.number(value)),
            "over_time_limit" => policy.over_time_limit = Some(line.number(value)),
            "enforce" => {
                policy.enforce.safe = value == "safe";
                policy.enforce.limits = value == "limits" || policy.enforce.safe;
            }
            "enforce_part_limits" => {
                policy.enforce.partition_limits = match value {
                    "any" => EnforcePartLimits::Any,
                    "all" => EnforcePartLimits::All,
                    other => line.unknown(other),
                }
            }
            "default_queue_depth" => main.default_queue_depth = line.number(value),
            "partition_job_depth" => main.partition_job_depth = line.number(value),
            "sched_max_job_start" => main.sched_max_job_start = line.number(value),
            "batch_sched_delay" => main.batch_sched_delay = line.number(value),
            "assoc_limit_stop" => main.assoc_limit_stop = true,
            "sched_interval" => main.sched_interval = (!off).then(|| line.number(value)),
            "bf_interval" => backfill.interval = (!off).then(|| line.number(value)),
            "bf_busy_nodes" => backfill.busy_nodes = true,
            "bf_hetjob_immediate" => backfill.hetjob_immediate = true,
            "time_min_is_soft" => backfill.time_min_is_soft = true,
            "bf_hetjob_prio" => {
                backfill.hetjob_prio = Some(match value {
                    "min" => HetjobPriority::Min,
                    "avg" => HetjobPriority::Average,
                    "max" => HetjobPriority::Max,
                    other => line.unknown(other),
                });
            }
            "bf_licenses" => backfill.licenses = true,
            "bf_one_resv_per_job" => backfill.one_resv_per_job = true,
            "bf_running_job_reserve" => backfill.running_job_reserve = true,
            "kill_invalid_depend" => policy.kill_invalid_depend = true,
            "min_job_age" => policy.min_job_age = line.number(value),
            "sched_min_interval" => main.sched_min_interval_us = line.number(value),
            "max_mem_per_cpu" => policy.select.max_memory = Some(MemoryDefault::PerCpu(line.number(value))),
            "max_mem_per_node" => policy.select.max_memory = Some(MemoryDefault::PerNode(line.number(value))),
            "version" => policy.version = version(line, value),
            "bf_max_time" => backfill.max_time = Some(line.number(value)),
            "bf_yield_interval" => backfill.yield_interval_us = line.number(value),
            "bf_yield_sleep" => backfill.yield_sleep_us = line.number(value),
            "bf_continue" => backfill.continue_after_yield = true,
            "base_us" => policy.cost.backfill_base_us = line.number(value),
            "record_us" => {
                policy.cost.backfill_record_us = line.number(value);
                policy.cost.backfill_passed_us = policy.cost.backfill_record_us;
            }
            "passed_us" => policy.cost.backfill_passed_us = line.number(value),
            "main_start_us" => policy.cost.main_start_us = line.number(value),
            "max_sched_time" => main.max_sched_time = line.number(value),
            "noise" => policy.cost.noise_percent = line.number(value),
            "bf_window" => backfill.window = line.number(value),
            "bf_resolution" => backfill.resolution = line.number(value),
            "bf_node_space_size" => backfill.node_space_size = Some(line.number(value)),
            "bf_max_job_test" => backfill.max_job_test = line.number(value),
            "bf_max_job_user" => backfill.max_job_user = line.number(value),
            "bf_max_job_part" => backfill.max_job_part = line.number(value),
            "bf_max_job_start" => backfill.max_job_start = line.number(value),
            "bf_min_prio_reserve" => backfill.min_prio_reserve = line.number(value),
            "bf_min_age_reserve" => backfill.min_age_reserve = line.number(value),
            "bf_job_part_count_reserve" => backfill.job_part_count_reserve = line.number(value),
            "bf_max_job_array_resv" => backfill.max_job_array_resv = line.number(value),
            "multifactor" => priority.multifactor = true,
            "weight_age" => priority.weight_age = line.number(value),
            "weight_tres_mem" => priority.weight_tres = vec![(Tres::Memory, line.number(value))],
            "weight_tres_cpu" => priority.weight_tres = vec![(Tres::Cpu, line.number(value))],
            "weight_fairshare" => priority.weight_fairshare = line.number(value),
            "weight_job_size" => priority.weight_job_size = line.number(value),
            "weight_partition" => priority.weight_partition = line.number(value),
            "weight_qos" => priority.weight_qos = line.number(value),
            "max_age" => priority.max_age = line.number(value),
            "preempt" => {
                policy.preempt.kind = match value {
                    "qos" => PreemptKind::Qos,
                    "partition" => PreemptKind::PartitionPrio,
                    other => line.unknown(other),
                };
                policy.select.spare_rows = policy.preempt.kind == PreemptKind::Qos;
            }
            "preempt_mode" => policy.preempt.mode = preempt_mode(line, value),
            "within" => policy.preempt.within = true,
            "exempt" => policy.preempt.exempt_time = line.number(value),
            "youngest_first" => policy.preempt.youngest_first = true,
            "strict_order" => policy.preempt.strict_order = true,
            "reorder_count" => policy.preempt.reorder_count = line.number(value),
            "no_requeue" => policy.job_requeue = false,
            "usage_reset" if value == "daily" => priority.usage_reset = UsageReset::Daily,
            "half_life" => priority.decay_half_life = line.number(value),
            "favor_small" => priority.favor_small = true,
            other => line.unknown(other),
        }
    }
}

fn version(line: &Line<'_>, word: &str) -> SlurmVersion {
    match word {
        "23.02" => SlurmVersion::V23_02,
        "23.11" => SlurmVersion::V23_11,
        "24.05" => SlurmVersion::V24_05,
        "24.11" => SlurmVersion::V24_11,
        "25.05" => SlurmVersion::V25_05,
        "25.11" => SlurmVersion::V25_11,
        "26.05" => SlurmVersion::V26_05,
        other => line.unknown(other),
    }
}

fn preempt_mode(line: &Line<'_>, word: &str) -> PreemptMode {
    match word {
        "off" => PreemptMode::Off,
        "cancel" => PreemptMode::Cancel,
        "requeue" => PreemptMode::Requeue,
        "suspend" => PreemptMode::Suspend,
        other => line.unknown(other),
    }
}

fn association(line: &Line<'_>, is_user: bool, cluster: &Cluster, tree: &mut AssociationTree) {
    let (mut parent, mut account) = ("root", line.name);
    if let Some((_, value)) = line.options.iter().find(|(key, _)| matches!(*key, "parent" | "account")) {
        parent = value;
    }
    if is_user {
        account = parent;
    }
    let parent = tree.find(parent, None).unwrap_or_else(|| panic!("no account {parent}"));
    let mut row = Association::new(account, is_user.then(|| line.name.to_owned()), Some(parent));
    // A user's first account is his default one.
    row.is_default = is_user && !tree.rows.iter().any(|other| other.user == row.user);
    for &(key, value) in &line.options {
        match key {
            "parent" | "account" => {}
            "shares" if value == "parent" => row.shares = Shares::Parent,
            "shares" => row.shares = Shares::Count(line.number(value)),
            "usage" => row.initial_usage = line.number(value),
            _ if limits::limit(line, &mut row.limits, cluster, key, value) => {}
            other => line.unknown(other),
        }
    }
    tree.rows.push(row);
}
