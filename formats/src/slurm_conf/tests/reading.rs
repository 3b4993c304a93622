//! What slurm.conf's text may look like.

use proptest::prelude::*;

use super::*;

#[test]
fn every_spelling_of_a_line_is_read_as_slurmctld_reads_it() {
    let text = "\u{feff}# Größe\r\n\
        clustername = demo # the name\r\n\
        SCHEDULERPARAMETERS=defer,\\\r\n  bf_window=2880\r\n\
        Nodename=n[01-02]\tCPUS=4  Features=\"a,b\" state=UNKNOWN #Feature=c\n\
        PartitionName=p Nodes=n[01-02] \\\n  MaxTime=2-0 Shared=EXCLUSIVE State=\"UP\"\n";
    let (site, said) = read_and_lower(&[("slurm.conf", text)], None);
    // slurmctld joins the value only where no blank stands between.
    assert_eq!(
        said,
        "slurm.conf:4: error: bf_window: slurm.conf has no such parameter; slurmctld would not start; \
         it belongs to SchedulerParameters: end the line before with a backslash, or join the lines"
    );
    let site = site.unwrap();
    assert_eq!(site.cluster.name, "demo");
    assert!(site.policy.main.defer);
    assert_eq!(site.cluster.features, ["a", "b"]);
    assert_eq!(site.cluster.partitions[0].max_time, Some(2880));
    assert_eq!(site.cluster.partitions[0].over_subscribe, foresite_engine::cluster::OverSubscribe::Exclusive);
}

#[test]
fn a_comment_line_ends_a_continued_list() {
    let site = site(&small("SchedulerParameters=bf_window=60,\\\n#End\nKillWait=7"));
    assert_eq!((site.policy.backfill.window, site.policy.kill_wait), (60, 7));
}

#[test]
fn a_comment_that_touches_a_value_is_told() {
    assert_eq!(
        remarks("SchedulerParameters=bf_window=60#defer"),
        "slurm.conf:3: warning: #: '#defer' touches the value before it and is read as a comment, as slurmctld does; \
         put a blank before the #"
    );
}

#[test]
fn an_unknown_parameter_is_an_error_that_names_its_neighbour() {
    assert_eq!(
        remarks("PriorityWeightFairshair=1"),
        "slurm.conf:3: error: PriorityWeightFairshair: slurm.conf has no such parameter; slurmctld would not start; \
         did you mean 'PriorityWeightFairshare'?"
    );
    assert!(
        remarks("NodeName=x Cpu=4")
            .contains("NodeName.Cpu: no such key; slurmctld would not start; did you mean 'CPUs'?")
    );
    assert_eq!(
        remarks("SchedulerParameters=max_prc_cnt=5"),
        "slurm.conf:3: warning: SchedulerParameters.max_prc_cnt: no such option: slurmctld ignores it, and so does this; \
         did you mean 'max_rpc_cnt'?"
    );
    assert!(remarks("KillWait 30").contains("KillWait: this is not Key=Value"));
    assert!(remarks("Nodes+=3").contains("operators such as += are not understood"));
}

#[test]
fn parameters_of_old_releases_are_known() {
    assert_eq!(
        remarks("ControlMachine=a\nFastSchedule=1\nCryptoType=crypto/munge\nCacheGroups=0\nSchedulerPort=7321"),
        ""
    );
}

/// What is assumed of the release says what the file tells of it, and the default that changed most.
#[test]
fn options_that_22_05_does_not_start_with_and_the_default_of_selecttype_are_told() {
    let assumed = |extra: &str| {
        let (conf, _) = SlurmConf::read(&files(&[("slurm.conf", &small(extra))]), "slurm.conf");
        let (_, remarks) = conf.lower(None);
        remarks.iter().map(ToString::to_string).find(|text| text.contains("SlurmVersion: ")).unwrap_or_default()
    };
    let none = assumed("");
    assert!(none.contains("do not say which release runs") && none.contains("every job gets whole nodes"), "{none}");
    let old = assumed("SelectType=select/cons_res\nCacheGroups=0\nSchedulerPort=7321");
    assert!(old.contains("before 22.05, which does not start with CacheGroups, SchedulerPort: "), "{old}");
    assert!(!old.contains("whole nodes"), "{old}");
}

#[test]
fn utf_16_is_named() {
    let utf16 = |text: &str| format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let mut files = crate::file_set::FileSet::default();
    files.insert("slurm.conf", "ClusterName=c\nInclude nodes.conf\n");
    files.insert("nodes.conf", utf16(&small("")));
    let (_, included) = SlurmConf::read(&files, "slurm.conf");
    files.insert("slurm.conf", utf16(&small("")));
    let (_, conf) = SlurmConf::read(&files, "slurm.conf");
    let (_, accounts) = Sacctmgr::read("sacctmgr.cfg", &utf16("Cluster - 'c'\n"));
    for (found, file) in [(included, "nodes.conf"), (conf, "slurm.conf"), (accounts, "sacctmgr.cfg")] {
        let words = "the file is UTF-16, as PowerShell writes it, and not the text that Slurm printed; convert it: iconv -f utf-16 -t utf-8";
        assert_eq!(
            found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [format!("{file}: error: {words} {file}")]
        );
    }
}

#[test]
fn accounts_of_another_cluster_are_told() {
    let dump = "Cluster - 'other'\nParent - 'root'\nAccount - 'a'\n";
    let said = |name: &str| read_and_lower(&[("slurm.conf", &small(&format!("ClusterName={name}")))], Some(dump)).1;
    assert!(
        said("t").contains("ClusterName: the accounts are those of the cluster 'other', this is 't'"),
        "{}",
        said("t")
    );
    assert_eq!(said("Other"), "");
}

#[test]
fn preemption_without_a_type_or_a_mode_and_nodes_off_the_tree_are_told() {
    assert!(
        remarks("PreemptMode=REQUEUE").contains("PreemptMode: PreemptType is preempt/none, so nothing is preempted")
    );
    for extra in ["PreemptType=preempt/qos", "PreemptType=preempt/partition_prio\nPreemptMode=GANG"] {
        assert!(remarks(extra).contains("PreemptType: PreemptMode is OFF for the cluster"), "{}", remarks(extra));
    }
    let tree =
        [("slurm.conf", &*small("TopologyPlugin=topology/tree")), ("topology.conf", "SwitchName=s1 Nodes=n[1-2]")];
    let said = read_and_lower(&tree, None).1;
    assert!(said.contains("Nodes: 'n[3-4]' stand on no switch: only jobs that name them run there"), "{said}");
    assert!(remarks("SchedulerParameters=bf_continue:bf_window=9").contains("options stand between commas"));
}

#[test]
fn a_tier_may_have_the_largest_number_of_sixteen_bits() {
    assert_eq!(remarks("PartitionName=q Nodes=ALL PriorityTier=65535"), "");
    assert!(remarks("PartitionName=q Nodes=ALL PriorityTier=65536").contains("between 0 and 65535"));
}

#[test]
fn a_template_is_told_from_a_configuration() {
    for (line, marker) in [
        ("KillWait={{ kill_wait }}", "{{"),
        ("SlurmctldHost=<login ip address>", "<login ip address>"),
        ("PartitionName=q Nodes=n#CLUSTER-[1-5]", "#CLUSTER"),
    ] {
        let said = remarks(line);
        assert!(
            said.contains(&format!("'{marker}' is a template's placeholder, not a value; hand over the file")),
            "{said}"
        );
    }
}

#[test]
fn repeated_parameters_take_the_last_value() {
    let said = remarks("KillWait=10\nKillWait=20\nSlurmctldHost=a(1.2.3.4)\nSlurmctldHost=b(1.2.3.5)");
    assert_eq!(
        said,
        "slurm.conf:4: warning: KillWait: given more than once (first in slurm.conf:3); the last one is taken, as slurmctld does; keep one"
    );
}

#[test]
fn included_files_are_found_beside_the_including_one() {
    let set = [
        ("slurm.conf", "ClusterName=c\nInclude conf/nodes.conf\ninclude /etc/slurm/parts.conf\n"),
        ("conf/nodes.conf", "Include more.conf\n"),
        ("conf/more.conf", "NodeName=n1 CPUs=2\n"),
        ("parts.conf", "PartitionName=p Nodes=n1\n"),
    ];
    let (site, said) = read_and_lower(&set, None);
    assert_eq!(said, "slurm.conf:3: assumed: Include: '/etc/slurm/parts.conf' is taken from 'parts.conf'");
    assert_eq!(site.unwrap().cluster.partitions.len(), 1);
}

#[test]
fn the_file_beside_goes_before_an_absolute_one_and_keeps_what_it_can_of_its_folders() {
    let set = [
        ("site/slurm.conf", "ClusterName=c\nInclude /etc/slurm/conf.d/nodes.conf\nInclude /etc/slurm/parts.conf\n"),
        ("site/nodes.conf", "NodeName=other\n"),
        ("site/conf.d/nodes.conf", "NodeName=n1\n"),
        ("/etc/slurm/parts.conf", "PartitionName=p Nodes=n1\n"),
        ("/etc/slurm/conf.d/nodes.conf", "NodeName=this_machine\n"),
    ];
    let (conf, diagnostics) = SlurmConf::read(&files(&set), "site/slurm.conf");
    assert_eq!(
        said_all(&diagnostics),
        "site/slurm.conf:2: assumed: Include: '/etc/slurm/conf.d/nodes.conf' is taken from 'site/conf.d/nodes.conf'"
    );
    assert_eq!(conf.node_names().collect::<Vec<_>>(), ["n1"]);
    assert_eq!(conf.partition_names().collect::<Vec<_>>(), ["p"]);
}

#[test]
fn the_cluster_name_in_included_paths_is_in_lower_case_and_must_be_known() {
    let (site, said) = read_and_lower(
        &[
            ("slurm.conf", "ClusterName=Foo\nInclude n_%c.conf\nPartitionName=p Nodes=ALL\n"),
            ("n_foo.conf", "NodeName=n1\n"),
        ],
        None,
    );
    assert_eq!((said.as_str(), site.unwrap().cluster.nodes.len()), ("", 1));
    let (_, said) = read_and_lower(&[("slurm.conf", &small("")), ("gres.conf", "Include g_%c.conf\n")], None);
    assert_eq!(
        said,
        "gres.conf:1: error: Include: 'g_%c.conf': %c stands for ClusterName, which slurmctld does not know here; write the file's name without %c"
    );
}

#[test]
fn gres_and_topology_include_files_too() {
    let set = [
        ("slurm.conf", &*small("GresTypes=gpu\nTopologyPlugin=topology/tree")),
        ("gres.conf", "Include gpus.conf\n"),
        ("gpus.conf", "Name=gpu\nInclude gres.conf\n"),
        ("topology.conf", "include switches.conf\n"),
        ("switches.conf", "SwitchName=s1 Nodes=nope\n"),
    ];
    let (_, said) = read_and_lower(&set, None);
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said[0], "gpus.conf:2: error: Include: 'gres.conf' includes itself; remove the include");
    assert!(said[1].starts_with("switches.conf:1: "), "{said:?}");
}

#[test]
fn sources_are_what_was_found_and_where_the_rest_may_be() {
    let set = [("a/slurm.conf", "# x\nInclude b.conf # y\n include\tc/d.conf\nInclude /e/f.conf\n"), ("a/b.conf", "")];
    let sources = SlurmConf::sources(&files(&set), "a/slurm.conf");
    assert_eq!(sources.found, ["a/slurm.conf", "a/b.conf"]);
    assert_eq!(
        sources.wanted,
        [
            vec!["a/c/d.conf", "a/d.conf"],
            vec!["a/e/f.conf", "a/f.conf", "/e/f.conf"],
            vec!["a/gres.conf"],
            vec!["a/topology.conf"],
            vec!["a/topology.yaml"]
        ]
    );
}

#[test]
fn missing_and_circular_includes_are_errors() {
    let (_, said) = read_and_lower(&[("slurm.conf", &small("Include gone.conf")), ("b.conf", "")], None);
    assert_eq!(
        said,
        "slurm.conf:3: error: Include: the included file 'gone.conf' is not there; put it beside slurm.conf, under the same relative name"
    );
    let (_, said) = read_and_lower(&[("slurm.conf", &small("Include b.conf")), ("b.conf", "Include slurm.conf")], None);
    assert_eq!(said, "b.conf:1: error: Include: 'slurm.conf' includes itself; remove the include");
    let (_, diagnostics) = SlurmConf::read(&FileSet::default(), "slurm.conf");
    assert_eq!(said_all(&diagnostics), "slurm.conf: error: there is no such file; hand over the file");
}

fn said_all(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn templates_of_records_add_up_and_hold_for_later_lines() {
    let site = site(
        "NodeName=before CPUs=1\nNodeName=DEFAULT CPUs=8 RealMemory=100\nNodeName=DEFAULT RealMemory=200 Weight=3\n\
         NodeName=a\nNodeName=b CPUs=2\nPartitionName=default MaxTime=60 PriorityTier=5\nPartitionName=p Nodes=ALL MaxTime=30\n",
    );
    let nodes: Vec<_> =
        site.cluster.nodes.iter().map(|node| (node.name.as_str(), node.cpus, node.memory_mb, node.weight)).collect();
    assert_eq!(nodes, [("a", 8, 200, 3), ("b", 2, 200, 3), ("before", 1, 1, 1)]);
    let partition = &site.cluster.partitions[0];
    assert_eq!((partition.max_time, partition.priority_tier, site.cluster.partitions.len()), (Some(30), 5, 1));
}

#[test]
fn a_fragment_of_partitions_alone_is_read_but_not_lowered() {
    let (conf, diagnostics) =
        SlurmConf::read(&files(&[("slurm.conf", "PartitionName=p Nodes=n0[004-095].savio[1]\n")]), "slurm.conf");
    assert!(diagnostics.is_empty());
    assert_eq!(conf.partition_names().collect::<Vec<_>>(), ["p"]);
    let (site, diagnostics) = conf.lower(None);
    assert!(site.is_none());
    assert_eq!(
        said(&diagnostics),
        "slurm.conf: error: NodeName: no node is described; hand over the whole slurm.conf, or the file with the NodeName lines beside it"
    );
}

#[test]
fn a_huge_hostlist_is_refused() {
    let alone = read_and_lower(&[("slurm.conf", "NodeName=x[0-999999999999]\n")], None).1;
    assert!(alone.contains("'x[0-999999999999]' stands for more than 200000 names"), "{alone}");
    let after_four = remarks("NodeName=x[0-999999999999]");
    assert!(
        after_four.contains("with 'x[0-999999999999]' there are more than 200000 nodes: lines before name 4"),
        "{after_four}"
    );
}

#[test]
fn too_many_nodes_times_partitions_are_refused_before_they_are_multiplied() {
    let partitions = |count: usize| (0..count).map(|at| format!("PartitionName=p{at} Nodes=n0\n")).collect::<String>();
    let (site, said) = read_and_lower(&[("slurm.conf", &format!("NodeName=n[0-99999]\n{}", partitions(1001)))], None);
    assert!(site.is_none());
    assert_eq!(
        said,
        "slurm.conf:1002: error: PartitionName: 100000 nodes × 1001 partitions are more than 100000000 pairs; \
         hand over the configuration of one cluster, or describe fewer partitions"
    );
    assert_eq!(read_and_lower(&[("slurm.conf", &format!("NodeName=n[0-99999]\n{}", partitions(1000)))], None).1, "");
}

#[test]
fn too_many_nodes_over_several_lines_are_counted_together() {
    let text = "NodeName=a[1-150000]\nNodeName=b[1-50000]\nNodeName=c\nNodeName=d[1-2]\nPartitionName=p Nodes=a1\n";
    let said = read_and_lower(&[("slurm.conf", text)], None).1;
    let cure = "hand over the configuration of one cluster, or describe fewer nodes";
    assert_eq!(
        said,
        format!(
            "slurm.conf:3: error: NodeName: with 'c' there are more than 200000 nodes: lines before name 200000; {cure}\n\
             slurm.conf:4: error: NodeName: with 'd[1-2]' there are more than 200000 nodes: lines before name 200000; {cure}"
        )
    );
}

#[test]
fn a_partition_described_again_among_many_is_an_error() {
    let lines = (0..500).map(|at| format!("PartitionName=p{at},q{at} MaxTime={at}\n")).collect::<String>();
    let text = format!("NodeName=n\nPartitionName=DEFAULT Nodes=n\n{lines}PartitionName=p7 MaxTime=9000\n");
    let (_, said) = read_and_lower(&[("slurm.conf", &text)], None);
    assert_eq!(
        said,
        "slurm.conf:503: error: PartitionName: partition 'p7' is described twice; slurmctld would not start; keep one"
    );
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(lines in prop::collection::vec("(NodeName|PartitionName|NodeSet|DownNodes|Include|Licenses|SchedulerParameters|TopologyPlugin|.{0,3})[ =]?[a-zA-Z0-9=,:\\[\\]\\-\"\\\\ #é<>{}./]{0,40}", 0..12)) {
        let text = lines.join("\n");
        let set = [("slurm.conf", text.as_str()), ("gres.conf", text.as_str()), ("topology.conf", text.as_str())];
        let _ = read_and_lower(&set, Some(&text));
    }
}

#[test]
fn what_slurmctld_settles_between_two_spellings_is_settled_alike_and_told() {
    let text = "NodeName=DEFAULT Feature=old RealMemory=1000\nNodeName=a Features=new CPUs=4 Procs=2\nNodeName=b\n\
                PartitionName=p Nodes=ALL DefMemPerCPU=1 DefMemPerNode=2 Shared=YES OverSubscribe=EXCLUSIVE\n";
    let (site, said) = read_and_lower(&[("slurm.conf", text)], None);
    assert_eq!(
        said,
        "slurm.conf:2: warning: NodeName.CPUs: Procs=2 is another name of it; CPUs=4 is taken; keep one of them\n\
         slurm.conf:4: warning: PartitionName.OverSubscribe: Shared=YES is another name of it; OverSubscribe=EXCLUSIVE is taken; keep one of them\n\
         slurm.conf:4: warning: DefMemPerCPU: DefMemPerNode is set too, and taken: the two exclude one another; keep one of them"
    );
    let cluster = site.unwrap().cluster;
    let features = |node: usize| -> Vec<&str> {
        cluster.nodes[node].features.iter().map(|id| cluster.features[id.index()].as_str()).collect()
    };
    assert_eq!((features(0), features(1), cluster.nodes[0].cpus), (vec!["new"], vec!["old"], 4));
}

#[test]
fn what_is_described_twice_or_not_at_all_is_told_once() {
    let text = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nFastSchedule=0\nEpilogSlurmctld=\n\
                NodeName=n[1-4]\nNodeName=n[3-6],n9 RealMemory=5\nPartitionName=p Nodes=ALL\n";
    let (site, said) = read_and_lower(&[("slurm.conf", text)], None);
    assert!(site.is_none());
    assert_eq!(
        said,
        "slurm.conf:4: warning: EpilogSlurmctld: the value is missing; give a value, or remove the line\n\
         slurm.conf:3: assumed: FastSchedule: nodes are taken as slurm.conf describes them, not as slurmd found them\n\
         slurm.conf:6: error: NodeName: nodes 'n[3-4]' are described twice; slurmctld would not start; keep one description\n\
         slurm.conf:5: warning: node.HOSTLIST.RealMemory: memory is handed out, but RealMemory of 'n[1-4]' is not given: 1 MB, as \
         slurmctld takes it, so that jobs with memory do not fit; give what slurmd -C prints"
    );
}
