//! What-ifs.

use std::collections::BTreeSet;

use foresite_engine::cluster::OverSubscribe;

use super::*;

fn lowered(conf: &SlurmConf) -> Site {
    let (site, diagnostics) = conf.lower(None);
    site.unwrap_or_else(|| panic!("{}", said(&diagnostics)))
}

fn fault(result: Result<(), Diagnostic>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn set_reaches_every_kind_of_parameter() {
    let mut conf = read(MICRO);
    for (key, value) in [
        ("PriorityWeightFairshare", "200000"),
        ("SchedulerParameters.bf_max_job_user", "2"),
        ("SchedulerParameters.assoc_limit_stop", "true"),
        ("schedulerparameters.max_job_bf", "77"),
        ("partition.normal.OverSubscribe", "EXCLUSIVE"),
        ("partition.normal.MaxTime", "2:00:00"),
        ("node.n[1-2].Weight", "99"),
    ] {
        conf.set(key, value).unwrap();
    }
    let site = lowered(&conf);
    assert_eq!(site.policy.priority.weight_fairshare, 200_000);
    let backfill = &site.policy.backfill;
    assert_eq!((backfill.interval, backfill.max_job_user, backfill.max_job_test), (Some(30), 2, 77));
    assert_eq!(
        (site.cluster.partitions[0].over_subscribe, site.cluster.partitions[0].max_time),
        (OverSubscribe::Exclusive, Some(120))
    );
    let weights: Vec<u32> = site.cluster.nodes.iter().map(|node| node.weight).collect();
    assert_eq!(weights, [20, 30, 10, 10, 10, 10, 99, 99, 10, 10]);
    assert!(site.policy.main.assoc_limit_stop);
    conf.set("SchedulerParameters.assoc_limit_stop", "false").unwrap();
    assert!(!lowered(&conf).policy.main.assoc_limit_stop);
    conf.set("SchedulerParameters", "defer,bf_window=60").unwrap();
    let policy = lowered(&conf).policy;
    assert!(policy.main.defer && policy.backfill.window == 60 && policy.backfill.max_job_user == 0);
}

#[test]
fn set_refuses_what_it_does_not_know_and_names_what_is_near() {
    let mut conf = read(MICRO);
    let mut check = |key: &str, value: &str, message: &str| {
        assert_eq!(fault(conf.set(key, value)), format!("slurm.conf: error: {message}"))
    };
    check(
        "PriorityWeightFairshair",
        "1",
        "PriorityWeightFairshair: there is no parameter 'PriorityWeightFairshair'; did you mean 'PriorityWeightFairshare'?",
    );
    check(
        "SchedulerParameters.bf_max_job_usr",
        "1",
        "SchedulerParameters.bf_max_job_usr: there is no parameter 'bf_max_job_usr'; did you mean 'bf_max_job_user' or 'bf_max_job_part' or 'bf_max_job_test'?",
    );
    check(
        "bf_max_job_user",
        "1",
        "bf_max_job_user: there is no parameter 'bf_max_job_user'; it is an option: write SchedulerParameters.bf_max_job_user",
    );
    check(
        "partition.norml.MaxTime",
        "1",
        "partition.norml.MaxTime: there is no partition 'norml'; did you mean 'normal'?",
    );
    check("node.n5.Weight", "1", "node.n5.Weight: there is no node 'n5'; did you mean 'n1' or 'n2' or 'n3'?");
    check(
        "partition.normal.Nodes",
        "n[1-5]",
        "partition.normal.Nodes: there is no node 'n5'; did you mean 'n1' or 'n2' or 'n3'?",
    );
    check(
        "MaxArraySize",
        "1",
        "MaxArraySize: 'MaxArraySize' is not modelled: large arrays are not refused; leave it out: it would change nothing",
    );
    check(
        "SlurmctldPort",
        "1",
        "SlurmctldPort: 'SlurmctldPort' has no effect on scheduling (hosts, ports and communication); leave it out: it would change nothing",
    );
    check(
        "SchedulerParameters.bf_window",
        "0",
        "SchedulerParameters.bf_window: 0 is not between 1 and 43200; bf_window: how far backfill plans ahead",
    );
    check("partition.normal", "1", "partition.normal: this names no parameter; write partition.NAME.PARAMETER");
    let said = fault(conf.set("SchedulerParameters", "bf_windo=3"));
    assert!(said.contains("error: SchedulerParameters.bf_windo: no such option"), "{said}");
    assert_eq!(lowered(&conf).policy.backfill.window, 1440);
}

#[test]
fn scale_multiplies_what_is_set_or_else_the_default() {
    let mut conf = read(MICRO);
    for (key, factor) in [
        ("PriorityWeightFairshare", 1.2),
        ("PriorityMaxAge", 0.5),
        ("SchedulerParameters.bf_interval", 10.0),
        ("SchedulerParameters.bf_max_job_test", 2.0),
        ("SchedulerParameters.bf_node_space_size", 0.5),
        ("partition.normal.MaxTime", 1.5),
        ("node.n1,g1.RealMemory", 2.0),
    ] {
        conf.scale(key, factor).unwrap();
    }
    let site = lowered(&conf);
    assert_eq!((site.policy.priority.weight_fairshare, site.policy.priority.max_age), (24_000, 7200));
    let backfill = &site.policy.backfill;
    // bf_node_space_size defaults to bf_max_job_test, which was scaled before it.
    assert_eq!((backfill.interval, backfill.max_job_test, backfill.node_space_size), (Some(300), 1000, Some(500)));
    assert_eq!(site.cluster.partitions[0].max_time, Some(90));
    let memory: Vec<u64> = site.cluster.nodes.iter().map(|node| node.memory_mb / 1000).collect();
    assert_eq!(memory, [48, 1024, 48, 48, 48, 48, 96, 48, 48, 48]);
}

#[test]
fn scaling_that_can_change_nothing_is_an_error() {
    let mut conf = read(MICRO);
    assert_eq!(
        fault(conf.scale("SchedulerParameters.bf_max_job_user", 2.0)),
        "slurm.conf: error: SchedulerParameters.bf_max_job_user: cannot be scaled: its value 0 is zero, so that scaling changes nothing; use set with a value"
    );
    assert!(fault(conf.scale("SchedulerParameters.defer", 2.0)).contains("it is not a number"));
    assert!(fault(conf.scale("partition.normal.MaxNodes", 2.0)).contains("is unlimited"));
    assert!(fault(conf.scale("PriorityWeightAge", f64::NAN)).contains("is not a number from 0"));
    assert!(fault(conf.scale("SchedulerParameters.bf_interval", 1000.0)).contains("30000 is not between"));
}

#[test]
fn a_controller_of_a_part_keeps_its_nodes_and_their_partitions() {
    let mut conf = read(
        "NodeName=n[1-4] Feature=x\nNodeName=m[1-4]\nNodeSet=s Feature=x\nPartitionName=all Nodes=ALL\nPartitionName=n Nodes=s\nPartitionName=m Nodes=m[1-4]\n",
    );
    let keep: BTreeSet<String> = ["n1", "n2", "n3"].map(str::to_owned).into();
    assert_eq!(conf.retain_nodes(&keep), ["m"]);
    assert_eq!(conf.partition_nodes("all").unwrap(), ["n1", "n2", "n3"]);
    let site = lowered(&conf);
    let sizes: Vec<_> =
        site.cluster.partitions.iter().map(|partition| (partition.name.as_str(), partition.nodes.len())).collect();
    assert_eq!((sizes, site.cluster.nodes.len()), (vec![("all", 3), ("n", 3)], 3));
}

#[test]
fn nodes_can_be_added_and_removed() {
    let mut conf = read(MICRO);
    conf.add_nodes("n[5-8]", "n1").unwrap();
    assert_eq!(conf.remove_nodes("g1,b1").unwrap(), Vec::<String>::new());
    let site = lowered(&conf);
    assert_eq!((site.cluster.nodes.len(), site.cluster.partitions[0].nodes.len()), (12, 12));
    assert_eq!(site.cluster.nodes.last().map(|node| (node.name.as_str(), node.weight)), Some(("n8", 10)));
    assert!(fault(conf.add_nodes("n5", "n1")).contains("there is a node 'n5' already"));
    assert!(fault(conf.add_nodes("x1", "y1")).contains("there is no node 'y1'"));
    assert!(conf.remove_nodes("q[1-3]").is_err());
}

#[test]
fn one_memory_default_replaces_the_other() {
    let mut conf = read(&small("DefMemPerNode=1000"));
    conf.set("DefMemPerCPU", "100").unwrap();
    conf.set("DefMemPerNode", "500").unwrap();
    assert_eq!(
        lowered(&conf).policy.select.default_memory,
        Some(foresite_engine::cluster::MemoryDefault::PerNode(500))
    );
}
