//! What the engine gets.

use foresite_engine::cluster::{GresType, MemoryDefault, OverSubscribe, Tres};
use foresite_engine::ids::{GresId, LicenseId};
use foresite_engine::policy::{
    ConsumableUnit, CostModel, EnforcePartLimits, Policy, PreemptKind, PreemptMode, Scheduler, SlurmVersion, UsageReset,
};

use super::*;
use crate::slurm_conf::NOT_CONSUMED;

#[test]
fn the_recorded_cluster_is_lowered_as_it_was_run() {
    let site = site(MICRO);
    let names: Vec<&str> = site.cluster.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["b1", "g1", "m1", "m2", "m3", "m4", "n1", "n2", "n3", "n4"]);
    let (b1, g1) = (&site.cluster.nodes[0], &site.cluster.nodes[1]);
    assert_eq!((b1.cpus, b1.sockets, b1.cores_per_socket, b1.weight, &b1.gres[..]), (12, 2, 6, 20, &[2][..]));
    assert_eq!((g1.memory_mb, g1.weight, &g1.gres[..]), (512_000, 30, &[0][..]));
    assert_eq!(site.cluster.gres, [GresType { name: "gpu".into(), kind: None, counted: false }]);
    let partition = &site.cluster.partitions[0];
    assert_eq!(
        (partition.is_default, partition.nodes.len(), partition.max_time, partition.over_subscribe),
        (true, 10, Some(60), OverSubscribe::No)
    );
    let policy = &site.policy;
    assert_eq!((policy.select.linear, policy.select.unit, policy.select.memory), (false, ConsumableUnit::Core, true));
    let priority = &policy.priority;
    assert_eq!(
        (priority.multifactor, priority.weight_age, priority.weight_fairshare, priority.weight_job_size),
        (true, 10_000, 20_000, 5000)
    );
    assert_eq!((priority.max_age, priority.calc_period, priority.decay_half_life), (14_400, 300, 7200));
    assert!(policy.enforce.associations && policy.enforce.limits && policy.enforce.qos && !policy.enforce.safe);
    assert_eq!((policy.kill_wait, policy.over_time_limit, policy.epilog), (30, Some(0), false));
    assert!(!site.has_accounts);
    assert_eq!(site.qos[0].name, "normal");
}

#[test]
fn what_the_file_does_not_say_has_the_engines_defaults() {
    let policy = site(&small("")).policy;
    // But for the controller's own time.
    let default = Policy { cost: CostModel::RECORDED, ..Policy::default() };
    assert_eq!(format!("{policy:?}").replace("unit: Core", "unit: Cpu"), format!("{default:?}"));
}

#[test]
fn later_releases_have_other_defaults() {
    let mut conf = read(&small(""));
    for (text, version, modern) in [
        ("22.05", SlurmVersion::V22_05, false),
        ("23.02", SlurmVersion::V23_02, false),
        ("23.11", SlurmVersion::V23_11, true),
        ("24.05", SlurmVersion::V24_05, true),
        ("24.11", SlurmVersion::V24_11, true),
        ("25.05", SlurmVersion::V25_05, true),
    ] {
        conf.set("SlurmVersion", text).unwrap();
        let policy = conf.lower(None).0.unwrap().policy;
        assert_eq!((policy.version, policy.priority.multifactor, policy.select.linear), (version, modern, !modern));
        assert_eq!(policy.select.memory, modern);
    }
    assert!(conf.set("SlurmVersion", "19.05").is_err());
}

#[test]
fn scheduler_parameters_reach_both_schedulers() {
    let policy = site(&small(
        "SchedulerType=sched/backfill\nSchedulerParameters=max_job_bf=50,interval=45,bf_max_job_user=15,bf_max_time=20,sched_interval=-1,\
         default_queue_depth=7,defer,bf_licenses,sched_min_interval=2000000,bf_yield_sleep=1000\nDependencyParameters=max_depend_depth=5,kill_invalid_depend\nMessageTimeout=60",
    ))
    .policy;
    let backfill = &policy.backfill;
    assert_eq!(
        (backfill.max_job_test, backfill.interval, backfill.max_job_user, backfill.max_time),
        (50, Some(45), 15, Some(20))
    );
    assert!(backfill.licenses && backfill.running_job_reserve && policy.main.defer && policy.kill_invalid_depend);
    assert_eq!(
        (policy.main.sched_interval, policy.main.default_queue_depth, policy.main.sched_min_interval_us),
        (None, 7, 2_000_000)
    );
    let builtin = site(&small("SchedulerType=sched/builtin")).policy;
    assert_eq!((builtin.scheduler, builtin.backfill.max_job_test), (Scheduler::SlurmBuiltin, 50));
    assert_eq!(site(&small("SchedulerParameters=bf_interval=-1")).policy.backfill.interval, None);
}

#[test]
fn policies_of_every_kind_are_read() {
    let policy = site(&small(
        "PreemptType=preempt/qos\nPreemptMode=SUSPEND,GANG\nPreemptExemptTime=1:00:00\nPreemptParameters=youngest_first,reorder_count=3\n\
         AccountingStorageEnforce=safe\nEnforcePartLimits=YES\nPriorityFlags=ACCRUE_ALWAYS,DEPTH_OBLIVIOUS\nPriorityUsageResetPeriod=MONTHLY\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory,CR_LLN\nDefMemPerCPU=2G\nMaxMemPerNode=0\nOverTimeLimit=UNLIMITED\n\
         Epilog=/etc/epilog\nJobRequeue=0\nPriorityType=priority/multifactor\nPriorityWeightTRES=cpu=800,mem=-100M\nLicenses=matlab:10,ansys",
    ))
    .policy;
    assert_eq!(
        (policy.preempt.kind, policy.preempt.mode, policy.preempt.exempt_time),
        (PreemptKind::Qos, PreemptMode::Suspend, 3600)
    );
    assert!(policy.preempt.youngest_first && policy.preempt.reorder_count == 3);
    assert!(policy.enforce.safe && policy.enforce.limits && policy.enforce.associations && !policy.enforce.qos);
    assert_eq!(policy.enforce.partition_limits, EnforcePartLimits::All);
    assert!(policy.priority.accrue_always && policy.priority.depth_oblivious && policy.priority.no_fair_tree);
    assert_eq!(policy.priority.usage_reset, UsageReset::Monthly);
    assert!(policy.select.memory && policy.select.least_loaded_nodes && policy.select.unit == ConsumableUnit::Cpu);
    assert_eq!((policy.select.default_memory, policy.select.max_memory), (Some(MemoryDefault::PerCpu(2048)), None));
    assert_eq!((policy.over_time_limit, policy.epilog, policy.job_requeue), (None, true, false));
    assert_eq!(policy.priority.weight_tres, [(Tres::Cpu, 800.0), (Tres::Memory, -100.0)]);
}

#[test]
fn nodes_follow_the_manuals_defaults() {
    let check = |keys: &str, expected: (u32, u32, u32, u32)| {
        let site = site(&format!("NodeName=n {keys}\nPartitionName=p Nodes=n\n"));
        let node = &site.cluster.nodes[0];
        assert_eq!((node.cpus, node.sockets, node.cores_per_socket, node.threads_per_core), expected, "{keys}");
    };
    check("", (1, 1, 1, 1));
    check("CPUs=8", (8, 8, 1, 1));
    check("Procs=24 Sockets=2 CoresPerSocket=12", (24, 2, 12, 1));
    check("CPUs=96 Procs=48 Sockets=2 CoresPerSocket=24 ThreadsPerCore=2", (96, 2, 24, 2));
    check("CPUs=32 CoresPerSocket=8 ThreadsPerCore=2", (32, 2, 8, 2));
    check("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", (16, 4, 4, 1));
    check("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", (16, 2, 8, 2));
    check("CPUs=17 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", (32, 2, 8, 2));
}

/// As `scontrol show node` of 22.05.8 shows them (`docs/FACTS.md`, facts 43).
#[test]
fn cores_for_the_system_are_taken_from_the_last_sockets_or_by_number() {
    let check = |options: &str, keys: &str, cpus: u32, kept: &[u32]| {
        let site = site(&format!("SchedulerParameters={options}\nNodeName=n {keys}\nPartitionName=p Nodes=n\n"));
        let node = &site.cluster.nodes[0];
        assert_eq!((node.cpus, node.spec_cores.as_slice()), (cpus, kept), "{options} {keys}");
    };
    check("", "Sockets=2 CoresPerSocket=6 CoreSpecCount=3", 9, &[1, 2]);
    check("spec_cores_first", "Sockets=2 CoresPerSocket=6 CoreSpecCount=3", 9, &[2, 1]);
    check("", "Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CoreSpecCount=1", 14, &[0, 1]);
    check("", "Sockets=2 CoresPerSocket=6 CoreSpecCount=3 CpuSpecList=0,1", 10, &[2, 0]);
    check("", "Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CpuSpecList=0-2", 12, &[2, 0]);
    let (_, said) = read_and_lower(
        &[(
            "slurm.conf",
            "NodeName=n Sockets=2 CpuSpecList=0-3\nNodeName=m Sockets=2 CoreSpecCount=2\nPartitionName=p Nodes=n\n",
        )],
        None,
    );
    assert!(said.contains("'0-3' is no list of the node's 2 CPUs"), "{said}");
    assert!(said.contains("CoreSpecCount: keeps 2 of 2 cores"), "{said}");
}

#[test]
fn states_features_and_generic_resources_of_nodes() {
    let (site, said) = read_and_lower(
        &[(
            "slurm.conf",
            "GresTypes=gpu,mem,fabric\nNodeName=a RealMemory=1000 MemSpecLimit=100 Gres=gpu:A100:4(S:0,1),gpu:v100:2,mem:no_consume:50G,\n\
             NodeName=b State=DRAIN Gres=gpu\nNodeName=c State=CLOUD\nNodeName=d\nDownNodes=d State=down Reason=\"no power\"\nPartitionName=p Nodes=ALL\n",
        )],
        None,
    );
    let site = site.unwrap();
    assert_eq!(
        site.cluster.gres.iter().map(GresType::label).collect::<Vec<_>>(),
        ["gpu", "gpu:a100", "gpu:v100", "mem"]
    );
    assert_eq!(
        site.cluster.nodes.iter().map(|node| node.gres.clone()).collect::<Vec<_>>(),
        [[6, 4, 2, NOT_CONSUMED], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    );
    assert_eq!(site.cluster.nodes.iter().map(|node| node.schedulable).collect::<Vec<_>>(), [true, false, true, false]);
    assert_eq!(site.cluster.nodes[0].memory_mb, 900);
    assert!(!said.contains("Gres mem") && said.contains("cloud nodes are taken as always on"), "{said}");
}

#[test]
fn gres_conf_binds_units_to_sockets() {
    let lines = "NodeName=g1 Name=gpu Type=a File=/dev/nvidia[0-1] Cores=0-3\nName=gpu Type=a File=/dev/nvidia2 Cores=4,5\n\
                 NodeName=g1 Name=gpu Type=a File=/dev/nvidia3 Cores=3-4\nNodeName=g2 Name=gpu File=/dev/nvidia4 Cores=x\n";
    let near = |select: &str| {
        let text = "GresTypes=gpu\nNodeName=g[1-2] Gres=gpu:a:4 Sockets=2 CoresPerSocket=4";
        let conf = format!("SelectType=select/{select}\n{}", small(text));
        let (site, _) = read_and_lower(&[("slurm.conf", &conf), ("gres.conf", lines)], None);
        let nodes = site.unwrap().cluster.nodes;
        nodes.iter().take(2).map(|node| node.gres_near.clone()).collect::<Vec<_>>()
    };
    // By name and by type; what lies near two sockets is bound to none.
    assert_eq!(near("cons_tres"), [vec![vec![2, 1]; 2], vec![vec![0, 1]; 2]]);
    assert_eq!(near("cons_res"), [vec![], Vec::<Vec<u32>>::new()]);
}

/// No more units are bound than slurm.conf gives the node, of types that it has; devices without a type are of its types in turn.
#[test]
fn gres_conf_binds_no_more_than_there_is() {
    let near = |gres: &str, lines: &str| {
        let conf = format!(
            "SelectType=select/cons_tres\n{}",
            small(&format!("GresTypes=gpu\nNodeName=g1 Gres={gres} Sockets=2 CoresPerSocket=4"))
        );
        let (site, _) = read_and_lower(&[("slurm.conf", &conf), ("gres.conf", lines)], None);
        site.unwrap().cluster.nodes[0].gres_near.clone()
    };
    let three = "Name=gpu File=/dev/nvidia[0-2] Cores=0-3\n";
    assert_eq!(near("gpu:2", three), [[2, 0]]);
    assert_eq!(near("gpu:a:1,gpu:b:1", three), [[2, 0], [1, 0], [1, 0]]);
    let of_type = |kind: &str| format!("Name=gpu Type={kind} File=/dev/nvidia[0-1] Cores=4-7\n");
    assert_eq!(near("gpu:a:1,gpu:b:3", &of_type("b")), [vec![0, 2], vec![], vec![0, 2]]);
    assert_eq!(near("gpu:a:1,gpu:b:3", &of_type("c")), Vec::<Vec<u32>>::new());
    assert_eq!(near("gpu:4", &of_type("c")), [[0, 2]]);
    // Those that are bound to no socket are there all the same.
    let unbound = "Name=gpu File=/dev/nvidia[0-1]\nName=gpu File=/dev/nvidia[2-3] Cores=4-7\n";
    assert_eq!(near("gpu:a:2,gpu:b:2", unbound), [[0, 2], [0, 0], [0, 2]]);
}

/// Found by tests/measure/mutate.py: all memory went, or thousands of years were simulated.
#[test]
fn what_no_slurmctld_could_hold_is_refused() {
    let said = |line: &str| read_and_lower(&[("slurm.conf", &small(line))], None).1;
    let large = said("NodeName=g1 Sockets=4294967294 CoresPerSocket=6");
    assert!(large.contains("are more CPUs than a node can have") || large.contains("is not a whole number"), "{large}");
    assert!(
        said("OverTimeLimit=4294967294")
            .contains("OverTimeLimit: '4294967294' is not a whole number up to 65533 or UNLIMITED")
    );
    assert!(!said("OverTimeLimit=UNLIMITED").contains("OverTimeLimit"));
}

#[test]
fn a_gres_is_only_counted_where_gres_conf_names_neither_cores_nor_types() {
    let conf = small("GresTypes=gpu\nNodeName=g1 Gres=gpu:2");
    for (gres, counted) in [
        ("", false),
        ("Name=gpu File=/dev/nvidia[0-1]\n", true),
        ("Name=gpu File=/dev/nvidia0\nName=gpu File=/dev/nvidia1 Cores=0\n", false),
        ("Name=gpu Type=a File=/dev/nvidia[0-1]\n", false),
        ("AutoDetect=nvml\nName=gpu File=/dev/nvidia[0-1]\n", false),
    ] {
        let (site, _) = read_and_lower(&[("slurm.conf", &conf), ("gres.conf", gres)], None);
        assert_eq!(site.unwrap().cluster.gres.iter().map(|gres| gres.counted).collect::<Vec<_>>(), [counted], "{gres}");
    }
}

#[test]
fn the_counts_of_gres_conf_are_only_compared() {
    let conf = small("GresTypes=gpu\nNodeName=g1 Gres=gpu:4");
    let (_, said) =
        read_and_lower(&[("slurm.conf", &conf), ("gres.conf", "NodeName=g1 Name=gpu File=/dev/nvidia[0-1]\n")], None);
    assert_eq!(
        said,
        "slurm.conf:4: warning: node.HOSTLIST.Gres: g1 has 4 GPUs here, but gres.conf lists 2; slurmctld would drain it; correct one of the files"
    );
    assert_eq!(
        read_and_lower(
            &[("slurm.conf", &conf), ("gres.conf", "AutoDetect=nvml\nName=gpu File=/dev/nvidia[0-1]\n")],
            None
        )
        .1,
        ""
    );
}

#[test]
fn partitions_take_node_sets_and_warn_of_undefined_nodes() {
    let (site, said) = read_and_lower(
        &[(
            "slurm.conf",
            "NodeName=c[1-3] Feature=cpu,big\nNodeName=g[1-2] Feature=gpu\nNodeSet=fast Feature=gpu\nNodeSet=some Nodes=c[1-2]\n\
             PartitionName=a Nodes=fast,some Default=YES AllowQos=x,y DenyQos=z AllowAccounts=ALL\nPartitionName=b Nodes=c[1-5] Default=YES PriorityJobFactor=7 PriorityTier=2\n",
        )],
        None,
    );
    let site = site.unwrap();
    let (a, b) = (&site.cluster.partitions[0], &site.cluster.partitions[1]);
    assert_eq!((a.nodes.len(), b.nodes.len(), a.is_default, b.is_default), (4, 3, false, true));
    assert_eq!((b.priority_tier, b.priority_job_factor), (2, 7));
    assert!(a.allow_accounts.is_empty() && a.deny_qos.is_empty() && a.allow_qos == ["x", "y"]);
    assert!(
        said.contains("partition 'b' names 'c[4-5]', which no NodeName or NodeSet line describes; left out"),
        "{said}"
    );
    assert!(said.contains("several partitions say Default=YES; the last, 'b', is taken"), "{said}");
}

#[test]
fn billing_weights_count_memory_in_megabytes() {
    let site = site(&small(
        "GresTypes=gpu\nLicenses=matlab:10\nNodeName=g Gres=gpu:1\nPartitionName=w Nodes=g TRESBillingWeights=\"CPU=1.0,Mem=0.25G,GRES/gpu=2.0,license/matlab=3\"",
    ));
    let expected = [
        (Tres::Cpu, 1.0),
        (Tres::Memory, 0.25 / 1024.0),
        (Tres::Gres(GresId(0)), 2.0),
        (Tres::License(LicenseId(0)), 3.0),
    ];
    assert_eq!(site.cluster.partitions[1].billing_weights, expected);
    assert_eq!(site.cluster.licenses, [("matlab".to_owned(), 10)]);
}

#[test]
fn switches_stand_leaves_first_with_all_nodes_below_them() {
    let topology = "SwitchName=top Switches=s[0-1]\nSwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Nodes=n[3-4]\n";
    let set = [("slurm.conf", small("TopologyPlugin=topology/tree")), ("topology.conf", topology.to_owned())];
    let (site, said) = read_and_lower(&[(set[0].0, &set[0].1), (set[1].0, &set[1].1)], None);
    assert_eq!(said, "");
    let site = site.unwrap();
    let rows: Vec<_> = site
        .cluster
        .switches
        .iter()
        .map(|switch| (switch.name.as_str(), switch.level, switch.parent, switch.nodes.len()))
        .collect();
    assert_eq!(rows, [("s0", 0, Some(2), 2), ("s1", 0, Some(2), 2), ("top", 1, None, 4)]);
    assert!(site.policy.select.topology_tree);
    let circle = "SwitchName=a Switches=b\nSwitchName=b Switches=a\n";
    let (site, said) = read_and_lower(
        &[
            ("slurm.conf", &set[0].1),
            ("topology.conf", "SwitchName=a Nodes=n1 Speed=3\nSwitchName=b Nodes=n1 Switches=a\n"),
        ],
        None,
    );
    assert!(
        site.is_some() && said.contains("topology.conf:1: warning: Speed: topology.conf has no such parameter"),
        "{said}"
    );
    assert!(
        said.contains("topology.conf:2: warning: Switches: a switch has nodes or other switches below it"),
        "{said}"
    );
    let (site, said) = read_and_lower(&[("slurm.conf", &set[0].1), ("topology.conf", circle)], None);
    assert!(
        site.is_none() && said.contains("topology.conf: error: Switches: switches are below one another"),
        "{said}"
    );
    assert!(remarks("TopologyPlugin=topology/tree").contains("topology.conf is not there"));
}

#[test]
fn values_out_of_range_are_errors_with_line_field_and_cure() {
    assert_eq!(
        remarks(
            "SchedulerParameters=bf_resolution=0\nKillWait=soon\nPriorityType=priority/multifacter\nAccountingStorageEnforce=limts"
        ),
        "slurm.conf:4: error: KillWait: 'soon' is not a whole number between 0 and 65533; KillWait [s]: between SIGTERM and SIGKILL at the time limit; default 30\n\
         slurm.conf:5: error: PriorityType: 'priority/multifacter' is unknown; did you mean 'priority/multifactor' or 'priority/multifactor2'?; PriorityType: how priorities are made (multifactor from 23.11 on); default priority/basic\n\
         slurm.conf:3: warning: SchedulerParameters.bf_resolution: 0 is not between 1 and 3600; slurmctld takes 60, and so does this; write bf_resolution=60\n\
         slurm.conf:6: error: AccountingStorageEnforce: 'limts' is unknown; did you mean 'limits'?"
    );
    assert!(remarks("NodeName=n1").contains("node 'n1' is described twice"));
}

#[test]
fn options_are_read_as_slurmctld_reads_them() {
    let policy = |parameters: &str| site(&small(&format!("SchedulerParameters={parameters}"))).policy;
    assert_eq!(policy("bf_interval=-1,bf_interval=30").backfill.interval, None);
    let odd = policy("bf_resolution=7200,bf_window=100min,bf_max_job_test=0x7");
    assert_eq!((odd.backfill.resolution, odd.backfill.window, odd.backfill.max_job_test), (60, 100, 500));
    assert_eq!(policy("bf_interval=0").backfill.interval, Some(30));
    assert_eq!(
        remarks("SchedulerParameters=bf_interval=-1,bf_interval=30,bf_window=100min"),
        "slurm.conf:3: warning: SchedulerParameters.bf_interval: given more than once; the first one is taken, as slurmctld does; keep one\n\
         slurm.conf:3: warning: SchedulerParameters.bf_window: '100min' is not a whole number between 1 and 43200; slurmctld takes 100, and so does this; write bf_window=100"
    );
}

/// Old names are judged as the new ones; what-ifs stay errors.
#[test]
fn options_that_slurmctld_corrects_are_said_and_what_ifs_refused() {
    assert_eq!(
        remarks("SchedulerParameters=max_job_bf=2000000,bf_window=2k,bf_max_time=0,bf_interval=45"),
        "slurm.conf:3: warning: SchedulerParameters.bf_max_time: 0 is not between 1 and 3600; slurmctld takes 45, and so does this; write bf_max_time=45\n\
         slurm.conf:3: warning: SchedulerParameters.bf_window: '2k' is not a whole number between 1 and 43200; slurmctld takes 2, and so does this; write bf_window=2\n\
         slurm.conf:3: warning: SchedulerParameters.max_job_bf: 2000000 is not between 1 and 1000000; slurmctld takes 500, and so does this; write bf_max_job_test=500\n\
         slurm.conf:3: warning: SchedulerParameters.bf_max_job_test: slurmctld does not start with 'max_job_bf'; taken as bf_max_job_test; write bf_max_job_test"
    );
    let refused = |key: &str, value: &str| {
        let mut conf = read(&small(""));
        conf.set(key, value).is_err() || conf.lower(None).0.is_none()
    };
    for (key, value) in [
        ("SchedulerParameters.bf_window", "2k"),
        ("SchedulerParameters.bf_interval", "0"),
        ("SchedulerParameters.bf_max_job_test", "0x7"),
        ("SchedulerParameters", "max_job_bf=2000000"),
        ("SchedulerParameters", "bf_window=2k"),
    ] {
        assert!(refused(key, value), "{key}={value}");
    }
}

/// parse_value.c of 22.05.8: hexadecimal, and `k` is 1024 of whatever the unit is.
#[test]
fn whole_numbers_take_a_k() {
    let site = site(
        "PriorityType=priority/multifactor\nPriorityWeightFairshare=100k\nDefMemPerCPU=2k\nNodeName=n RealMemory=64k Weight=0x10 CPUs=4\nPartitionName=p Nodes=n AllowAccounts=Bio,Chem DenyQos=Low\n",
    );
    assert_eq!(site.policy.priority.weight_fairshare, 102_400);
    assert_eq!(site.policy.select.default_memory, Some(MemoryDefault::PerCpu(2048)));
    assert_eq!((site.cluster.nodes[0].memory_mb, site.cluster.nodes[0].weight), (65_536, 16));
    let partition = &site.cluster.partitions[0];
    assert_eq!(
        (&partition.allow_accounts[..], &partition.deny_qos[..]),
        (&["bio", "chem"].map(str::to_owned)[..], &["low".to_owned()][..])
    );
}

/// partition_mgr.c of 23.02.0: a parent stands for the accounts below it; without associations in force nobody is kept out.
#[test]
fn accounts_below_are_meant_from_23_02_on() {
    let text = |enforce: &str| {
        small(&format!("AccountingStorageEnforce={enforce}\nPartitionName=q Nodes=n1 AllowAccounts=phys DenyQos=x"))
    };
    let (accounts, _) = Sacctmgr::read(
        "dump",
        b"Cluster - 'c'\nParent - 'root'\nAccount - 'phys'\nAccount - 'bio'\nParent - 'phys'\nAccount - 'solid'\nUser - 'ann'\n",
    );
    let allowed = |enforce: &str, version: &str| {
        let mut conf = read(&text(enforce));
        conf.set("SlurmVersion", version).unwrap();
        conf.lower(Some(&accounts)).0.unwrap().cluster.partitions[1].allow_accounts.clone()
    };
    assert_eq!(allowed("associations", "22.05"), ["phys"]);
    assert_eq!(allowed("associations", "23.02"), ["phys", "solid"]);
    assert_eq!(allowed("limits", "25.05"), ["phys", "solid"]);
    assert!(allowed("none", "23.02").is_empty());
}

#[test]
fn states_of_nodes_are_told_by_their_first_letters() {
    let site = site(
        "NodeName=a State=DRAINED\nNodeName=b State=draining\nNodeName=c State=ALLOCATED\nNodeName=d State=MIXED\nPartitionName=p Nodes=ALL\n",
    );
    assert_eq!(site.cluster.nodes.iter().map(|node| node.schedulable).collect::<Vec<_>>(), [false, false, true, true]);
}

#[test]
fn what_is_not_modelled_is_named_unless_it_is_the_default() {
    assert_eq!(remarks("MaxJobCount=10000\nBurstBufferType=burst_buffer/none\nMCSPlugin=mcs/none"), "");
    assert_eq!(remarks("MaxArraySize=20000"), "slurm.conf:3: not modelled: MaxArraySize: large arrays are not refused");
}

#[test]
fn without_a_database_age_and_fair_share_count_nothing() {
    let text = small(
        "PriorityType=priority/multifactor\nPriorityWeightAge=10\nPriorityWeightQOS=5\nAccountingStorageType=accounting_storage/none",
    );
    let priority = site(&text).policy.priority;
    assert_eq!((priority.weight_age, priority.weight_qos), (0, 5));
}

#[test]
fn a_partitions_qos_comes_from_the_accounting_files() {
    let conf = small("PartitionName=q Nodes=n1 QOS=part");
    let qos = "Name|Priority|MaxTRESPU\nnormal|0|\npart|3|cpu=10\n";
    let (site, said) = read_and_lower(&[("slurm.conf", &conf)], Some(qos));
    assert_eq!(said, "");
    let site = site.unwrap();
    assert_eq!(site.cluster.partitions[1].qos.map(|id| site.qos[id.index()].priority), Some(3));
    assert!(!site.has_accounts);
    assert!(
        read_and_lower(&[("slurm.conf", &conf)], None).1.contains("the limits of partition QOS 'part' are unknown")
    );
}
