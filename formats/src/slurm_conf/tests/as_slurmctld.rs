//! What slurmctld takes in its own way, and starts all the same: read_config.c, backfill.c and job_mgr.c of 22.05.8.

use foresite_engine::cluster::{MemoryDefault, OverSubscribe, UNLIMITED_OVER_TIME};

use super::*;

/// The lines of slurm.conf and what is said of them.
fn lowered(text: &str) -> (Site, String) {
    let (site, said) = read_and_lower(&[("slurm.conf", text)], None);
    (site.unwrap_or_else(|| panic!("{said}")), said)
}

#[test]
fn a_partition_without_a_memory_limit_does_not_take_the_clusters() {
    let (site, _) = lowered(
        "MaxMemPerCPU=2000\nNodeName=n[1-4] CPUs=4 RealMemory=64000\n\
         PartitionName=p Nodes=ALL MaxMemPerCPU=UNLIMITED\nPartitionName=q Nodes=ALL MaxMemPerNode=infinite\n\
         PartitionName=r Nodes=ALL MaxMemPerCPU=0\n",
    );
    let limits: Vec<Option<MemoryDefault>> = site.cluster.partitions.iter().map(|it| it.max_memory).collect();
    let none = Some(MemoryDefault::PerNode(u64::MAX));
    assert_eq!(limits, [none, none, None]);
}

#[test]
fn two_keys_of_the_default_line_are_not_inherited() {
    let (site, said) = lowered(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-4] CPUs=4\n\
         PartitionName=DEFAULT Nodes=ALL ExclusiveUser=YES SelectTypeParameters=CR_Socket LLN=YES\nPartitionName=p\n",
    );
    let partition = &site.cluster.partitions[0];
    assert_eq!((partition.exclusive_user, partition.consumes, partition.least_loaded_nodes), (false, None, true));
    let warning = |key: &str| {
        format!(
            "slurm.conf:4: warning: PartitionName.{key}: slurmctld reads it from a partition's own line only: \
             without effect for DEFAULT; write it on the line of each partition that it is meant for"
        )
    };
    assert_eq!(said, [warning("ExclusiveUser"), warning("SelectTypeParameters")].join("\n"));
}

#[test]
fn the_old_priority_of_a_partition_wins() {
    let (site, said) = lowered(
        "NodeName=n[1-4] CPUs=4\nPartitionName=p Nodes=ALL Priority=10 PriorityTier=1\nPartitionName=q Nodes=ALL Priority=7\n",
    );
    let found: Vec<(u32, u32)> =
        site.cluster.partitions.iter().map(|it| (it.priority_tier, it.priority_job_factor)).collect();
    assert_eq!(found, [(10, 10), (7, 7)]);
    assert_eq!(
        said,
        "slurm.conf:2: warning: partition.NAME.PriorityTier: Priority=10 sets PriorityTier as well, and is taken, \
         as slurmctld does; remove Priority"
    );
}

#[test]
fn nodes_of_partitions_and_sets_are_lists_of_every_shape() {
    let (site, said) = lowered(
        "NodeName=n[1-4] CPUs=4\nNodeSet=every Nodes=ALL\nPartitionName=p Nodes=\"n1 n2\"\nPartitionName=q Nodes=every\n",
    );
    let sizes: Vec<usize> = site.cluster.partitions.iter().map(|it| it.nodes.len()).collect();
    assert_eq!((sizes, said), (vec![2, 4], String::new()));
}

#[test]
fn sockets_follow_from_cpus_only_where_they_come_out_even() {
    let (site, said) = lowered("NodeName=n1 CPUs=10 CoresPerSocket=4\nPartitionName=p Nodes=ALL\n");
    assert_eq!((site.cluster.nodes[0].sockets, site.cluster.nodes[0].cpus), (1, 4));
    assert!(said.contains("CPUs=10 matches neither 1 sockets nor 4 cores nor 4 threads; 4 is taken"), "{said}");
}

#[test]
fn options_are_found_anywhere_in_their_list() {
    for (list, interval, user, said) in [
        ("=bf_max_job_user=20,bf_interval=60", 60, 20, ""),
        ("\"bf_interval=60 bf_max_job_user=20\"", 60, 20, ""),
        ("bf_interval=60;bf_max_job_user=20", 60, 20, ""),
        ("\"bf_interval = 60\"", 30, 0, "slurmctld looks for 'bf_interval=' and ignores it without a value"),
        ("\"bf_interval= 60 bf_max_job_user=20\"", 60, 20, ""),
        ("bf_interval", 30, 0, "slurmctld looks for 'bf_interval=' and ignores it without a value"),
        ("bf_hetjob_prio=foo", 30, 0, "slurmctld ignores it, and so does this"),
    ] {
        let (site, all) = lowered(&small(&format!("SchedulerParameters={list}")));
        let backfill = &site.policy.backfill;
        assert_eq!((backfill.interval, backfill.max_job_user), (Some(interval), user), "{list}");
        assert!(if said.is_empty() { all.is_empty() } else { all.contains(said) }, "{list}: {all}");
    }
}

#[test]
fn an_option_that_is_there_is_on() {
    let (site, said) = lowered(&small("SchedulerParameters=assoc_limit_stop=no,defer=0"));
    assert!(site.policy.main.assoc_limit_stop && site.policy.main.defer);
    assert!(
        said.contains("SchedulerParameters.defer: slurmctld only looks for its name: it is on; remove defer"),
        "{said}"
    );
}

#[test]
fn what_slurmctld_resets_is_reset_and_told() {
    for (line, said) in [
        ("NodeName=x CPUs=4 CoreSpecCount=4", "keeps 4 of 4 cores, and leaves none for jobs; slurmctld takes 1"),
        ("NodeName=x CPUs=4 RealMemory=2000 MemSpecLimit=2048", "2048 MB leave nothing of RealMemory 2000 MB"),
        ("NodeName=x CPUs=4 MemSpecLimit=2048", "2048 MB leave nothing of RealMemory 1 MB; slurmctld takes 0"),
        ("NodeName=x CPUs=4 CpuSpecList=7", "'7' is no list of the node's 4 CPUs; slurmctld ignores it"),
        (
            "PartitionName=q Nodes=ALL OverSubscribe=FORCE:0",
            "'FORCE:0': no number of jobs that can share; slurmctld takes NO",
        ),
        ("PriorityFlags=FAIRTREE,DEPTH_OBLIVIOUS", "slurmctld ignores it, and so does this"),
        ("NodeName=x CPUs=4 State=EXTERNAL", "jobs on nodes outside of Slurm's control are not simulated"),
    ] {
        let (_, all) = lowered(&small(line));
        assert!(all.contains(said), "{line}: {all}");
    }
    let (site, _) = lowered(&small("NodeName=x CPUs=4 CoreSpecCount=4 RealMemory=2000 MemSpecLimit=2048"));
    let node = site.cluster.nodes.last().unwrap();
    assert_eq!((node.cpus, node.memory_mb, &node.spec_cores[..]), (3, 2000, &[0, 0, 0, 1][..]));
    let (site, _) = lowered(&small("PartitionName=q Nodes=ALL OverSubscribe=FORCE:0"));
    assert_eq!(site.cluster.partitions[1].over_subscribe, OverSubscribe::No);
}

#[test]
fn the_largest_number_has_a_name() {
    let (site, said) = lowered(&small("KillWait=UNLIMITED\nNodeName=x CPUs=4 RealMemory=1 Weight=INFINITE"));
    assert_eq!((site.policy.kill_wait, site.cluster.nodes.last().unwrap().weight), (65_533, u32::MAX));
    assert_eq!(said, "");
}

#[test]
fn a_topology_that_is_not_read_is_named() {
    let text = small("TopologyPlugin=topology/tree");
    let (_, said) = read_and_lower(&[("slurm.conf", &text), ("topology.yaml", "- topology: tree\n")], None);
    assert!(said.contains("topology.yaml is not read"), "{said}");
    assert!(!said.contains("topology.conf is not there"), "{said}");
}

#[test]
fn dynamic_nodes_are_asked_for_by_the_lines_they_have() {
    let (_, said) = read_and_lower(&[("slurm.conf", "MaxNodeCount=256\nPartitionName=p Nodes=ALL\n")], None);
    assert!(said.contains("add NodeName lines of the nodes that have registered"), "{said}");
}

#[test]
fn a_what_if_of_a_tier_wins_over_the_old_priority() {
    let mut conf = read("NodeName=n[1-4] CPUs=4\nPartitionName=p Nodes=ALL Priority=10\n");
    conf.set("partition.p.PriorityTier", "20").unwrap();
    let partition = &conf.lower(None).0.unwrap().cluster.partitions[0];
    assert_eq!((partition.priority_tier, partition.priority_job_factor), (20, 10));
}

#[test]
fn what_there_is_of_a_number_counts() {
    let (site, said) = lowered(&small(
        "PartitionName=q Nodes=ALL OverSubscribe=FORCE:4x\nPartitionName=r Nodes=ALL OverSubscribe=YES:1\n\
         NodeName=x CPUs=4 CpuSpecList=9 CoreSpecCount=2",
    ));
    let sharing: Vec<OverSubscribe> = site.cluster.partitions.iter().map(|it| it.over_subscribe).collect();
    assert_eq!(sharing[1..], [OverSubscribe::Force(4), OverSubscribe::No]);
    assert_eq!(site.cluster.nodes.last().unwrap().cpus, 2, "{said}");
}

#[test]
fn what_slurmctld_would_not_start_with_is_said_where_it_is_understood() {
    let (site, said) = lowered(&small(
        "AccountingStorageEnforce=none\nNodeName=x CPUs=4 RealMemory=64G Weight=010\nPartitionName=q Nodes=x DefaultTime=NONE",
    ));
    let node = site.cluster.nodes.iter().find(|node| node.name == "x").unwrap();
    assert_eq!((node.memory_mb, node.weight), (65_536, 8));
    assert!(!site.policy.enforce.associations);
    for expected in [
        "AccountingStorageEnforce: slurmctld does not start with 'none'; taken as nothing enforced; leave it out",
        "node.HOSTLIST.RealMemory: slurmctld does not start with '64G'; taken as 65536 MB; write RealMemory=65536",
        "partition.NAME.DefaultTime: slurmctld does not start with 'NONE'; taken as not given; leave DefaultTime out",
    ] {
        assert!(said.contains(expected), "{expected}\nin\n{said}");
    }
    let half_life = "slurmctld does not start with 0 where PriorityUsageResetPeriod is not given";
    assert!(lowered(&small("PriorityDecayHalfLife=0")).1.contains(half_life));
    assert!(!lowered(&small("PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=NONE")).1.contains(half_life));
    let (_, said) = read_and_lower(&[("slurm.conf", &small("AccountingStorageEnforce=3"))], None);
    assert!(said.contains("error: AccountingStorageEnforce: '3' is unknown"), "{said}");
}

#[test]
fn plugins_that_newer_releases_left_out() {
    let of = |lines: &str, version: &str| {
        let mut conf = read(&format!("{lines}NodeName=n[1-4] CPUs=4\nPartitionName=p Nodes=ALL\n"));
        conf.set("SlurmVersion", version).unwrap();
        let (site, diagnostics) = conf.lower(None);
        let (site, said) = (site.unwrap(), said(&diagnostics));
        let select = site.policy.select;
        let plugin = if select.linear {
            "linear"
        } else if select.cons_res {
            "cons_res"
        } else {
            "cons_tres"
        };
        (plugin, said.lines().filter(|line| line.contains(" SelectType: ")).collect::<Vec<_>>().join("\n"))
    };
    let cons_res = "SelectType=select/cons_res\nSelectTypeParameters=CR_Core\n";
    assert_eq!(of(cons_res, "23.02"), ("cons_res", String::new()));
    let gone = "slurm.conf:1: warning: SelectType: 23.11 and later have no select/cons_res; taken as select/cons_tres; \
                write SelectType=select/cons_tres";
    assert_eq!(of(cons_res, "23.11"), ("cons_tres", gone.to_owned()));
    let cray = "SelectType=select/cray_aries\n";
    assert_eq!(of(cray, "23.11"), ("linear", String::new()));
    let gone = "slurm.conf:1: warning: SelectType: 24.05 and later have no select/cray_aries; taken as what \
                SelectTypeParameters names; write SelectType=select/cons_tres";
    assert_eq!(of(cray, "24.05"), ("linear", gone.to_owned()));
    let tree = "SelectType=select/linear\nTopologyPlugin=topology/tree\n";
    assert_eq!(of(tree, "23.11"), ("linear", String::new()));
    let gone = "slurm.conf:1: warning: SelectType: slurmctld of 24.05 and later does not start with it beside \
                topology/tree; taken as 23.11 takes them; write SelectType=select/cons_tres, or leave out TopologyPlugin";
    assert_eq!(of(tree, "24.05"), ("linear", gone.to_owned()));
}

/// read_config.c of 26.05.3, `_parse_partitionname`: the new word counts before the old ones; a what-if of the old ones counts before it.
#[test]
fn exclusive_partitions_of_26_05() {
    let text = small(
        "PartitionName=DEFAULT Nodes=n1\nPartitionName=node OverSubscribe=FORCE:2 Exclusive=NODE\nPartitionName=user OverSubscribe=YES:2 Exclusive=USER
         PartitionName=no OverSubscribe=EXCLUSIVE ExclusiveUser=YES Exclusive=NO\nPartitionName=topo Exclusive=TOPO",
    );
    let modes = |conf: &SlurmConf| {
        let partitions = conf.lower(None).0.unwrap().cluster.partitions;
        partitions.iter().skip(1).map(|it| (it.over_subscribe, it.exclusive_user)).collect::<Vec<_>>()
    };
    let mut conf = read(&text);
    let whole = (OverSubscribe::Exclusive, false);
    assert_eq!(modes(&conf), [whole, (OverSubscribe::Yes(2), true), (OverSubscribe::No, false), whole]);
    conf.set("partition.node.OverSubscribe", "YES:3").unwrap();
    conf.set("partition.user.ExclusiveUser", "NO").unwrap();
    assert_eq!(modes(&conf)[..2], [(OverSubscribe::Yes(3), false), (OverSubscribe::Yes(2), false)]);
}

/// Recorded (w2225, w2165, c1335).
#[test]
fn the_agent_of_sched_builtin_takes_the_first_interval_of_the_list() {
    for (list, interval, of) in [
        ("bf_interval=45,sched_min_interval=2000000", 45, None),
        ("sched_interval=120,bf_interval=30", 120, Some("sched_interval=")),
        ("sched_min_interval=10000000,bf_interval=60", 10_000_000, Some("sched_min_interval=")),
        ("defer,bf_window=60", 30, None),
        ("BF_Interval=-1", 30, Some("bf_interval=")),
    ] {
        let text = small(&format!("SchedulerType=sched/builtin\nSchedulerParameters={list}"));
        let (site, said) = lowered(&text);
        assert_eq!(site.policy.backfill.interval, Some(interval), "{list}");
        assert_eq!(said.contains("which is "), of.is_some(), "{list}: {said}");
        assert!(of.is_none_or(|of| said.contains(&format!("which is {of}: its agent"))), "{list}: {said}");
        let backfill = lowered(&text.replace("sched/builtin", "sched/backfill")).1;
        assert!(!backfill.contains("sched/builtin"), "{backfill}");
    }
}

/// read_config.c and parse_time.c of 22.05.8.
#[test]
fn times_and_counts_that_slurmctld_starts_with() {
    let (site, said) = lowered(&small("PriorityMaxAge=0\nPartitionName=q Nodes=n1 MaxTime=5-"));
    assert_eq!((site.policy.priority.max_age, site.cluster.partitions[1].max_time), (0, Some(5 * 1440)));
    assert!(!said.contains("error"), "{said}");
    let over = |value: &str| {
        let (site, said) = lowered(&small(&format!("PartitionName=q Nodes=n1 OverTimeLimit={value}")));
        let warning = said.lines().find(|line| line.contains("OverTimeLimit")).unwrap_or_default().to_owned();
        (site.cluster.partitions[1].over_time_limit, warning)
    };
    assert_eq!(over("UNLIMITED"), (Some(UNLIMITED_OVER_TIME), String::new()));
    assert_eq!(over("9"), (Some(9), String::new()));
    let (minutes, said) = over("NO");
    assert_eq!(minutes, Some(0));
    assert!(said.contains("slurmctld takes 0, and so does this"), "{said}");
    assert_eq!(over("-3").0, None);
    assert_eq!(over("65534").0, None);
    assert_eq!(over("70000").0, Some(UNLIMITED_OVER_TIME));
}

/// slurm_protocol_api.c, backfill.c and topology_tree.c of 22.05.8: with these slurmctld ends.
#[test]
fn what_slurmctld_does_not_start_with_is_named() {
    let weights = |tracked: &str| {
        let said = lowered(&small(&format!(
            "GresTypes=gpu\nAccountingStorageType=accounting_storage/slurmdbd\n{tracked}\nPriorityType=priority/multifactor
             PriorityWeightTRES=CPU=10,GRES/gpu=9\nPartitionName=q Nodes=n1 TRESBillingWeights=Mem=0.1G,gres/gpu:a100=2"
        )))
        .1;
        said.lines().filter(|line| line.contains("AccountingStorageTRES lacks")).count()
    };
    assert_eq!(weights(""), 2);
    assert_eq!(weights("AccountingStorageTRES=gres/gpu"), 1);
    assert_eq!(weights("AccountingStorageTRES=gres/gpu:a100,license/x"), 1);
    assert_eq!(weights("AccountingStorageTRES=gres/gpu,gres/gpu:a100"), 0);
    let of_defaults =
        "PartitionName=DEFAULT TRESBillingWeights=gres/gpu=4\nPartitionName=r Nodes=n1\nPartitionName=s Nodes=n1";
    assert_eq!(weights(&format!("AccountingStorageTRES=gres/gpu:a100\n{of_defaults}")), 2);
    let bound =
        |plugin: &str| lowered(&small(&format!("SchedulerType=sched/{plugin}\nSchedulerParameters=max_job_bf=50"))).1;
    assert!(
        bound("backfill").contains("does not start with 'max_job_bf'; taken as bf_max_job_test; write bf_max_job_test"),
        "{}",
        bound("backfill")
    );
    assert!(!bound("builtin").contains("does not start"), "{}", bound("builtin"));
    let both = lowered(&small("SchedulerParameters=bf_max_job_test=9,max_job_bf=50")).1;
    assert!(!both.contains("does not start"), "{both}");
}
