#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use foresite_engine::association::{Association, AssociationTree, Qos};
use foresite_engine::cluster::{
    GresType, MemoryDefault, OverSubscribe, Partition, PartitionState, UNLIMITED_OVER_TIME,
};
use foresite_engine::ids::{AssociationId, NodeId};
use foresite_engine::job::{Before, FeatureExpr, Memory, Sharing};
use foresite_engine::node_set::NodeSet;
use foresite_engine::policy::ConsumableUnit;

use super::super::TraceOptions;
use super::*;

const HEADER: &str = "JobID|User|Account|Partition|QOS|Submit|Eligible|ElapsedRaw|State|TimelimitRaw|ReqTRES|ReqMem|Constraints|SubmitLine";

fn trace(rows: &[&str]) -> Trace {
    let text = format!("{HEADER}\n{}\n", rows.join("\n"));
    let options = TraceOptions { time_zone: Some(jiff::tz::TimeZone::UTC), max_bytes: None, opens: None };
    let (trace, diagnostics) = Trace::read("t", text.as_bytes(), &options);
    trace.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// Four nodes `n1` … `n4` with the partitions `normal` (default, 1,000 MB a CPU) and `debug`, user `ann` in account `phys`.
fn site() -> Site {
    let empty = trace(&["1|ann|phys||normal|2024-01-01T00:00:00||1|COMPLETED|1|cpu=1,node=1|||"]);
    let mut site = swf_site(&empty, Some(4), Some(8)).unwrap();
    site.cluster.features = vec!["fast".into()];
    site.cluster.partitions[0].default_memory = Some(MemoryDefault::PerCpu(1000));
    site.cluster.partitions.push(Partition { nodes: NodeSet::full(4), ..Partition::new("debug", 4) });
    site.associations.rows.push(Association::new("phys", None, Some(AssociationTree::ROOT)));
    site.associations.rows.push(Association::new("phys", Some("ann".into()), Some(AssociationId(1))));
    site.policy.select.memory = true;
    site.has_accounts = true;
    site
}

fn row(id: &str, partition: &str, submit: &str, line: &str) -> String {
    format!(
        "{id}|ann|phys|{partition}|normal|2024-01-01T{submit}||60|COMPLETED|10|cpu=4,mem=4000M,node=1|4000M||{line}"
    )
}

fn lowered(rows: &[&str]) -> (Option<Workload>, String) {
    let mut site = site();
    let (workload, diagnostics) = lower(&trace(rows), &mut site);
    (workload, diagnostics.iter().map(|it| format!("{it}\n")).collect())
}

#[test]
fn jobs_stand_in_submit_order_and_the_traces_order_is_kept() {
    let rows = [
        row("9", "", "02:00:00", ""),
        row("3_2", "", "01:00:00", ""),
        row("3_1", "", "01:00:00", ""),
        row("2", "debug", "03:00:00", ""),
    ];
    let (workload, said) = lowered(&rows.each_ref().map(String::as_str));
    let workload = workload.unwrap();
    assert_eq!(said, "");
    let names: Vec<String> = workload.jobs.iter().map(|job| job.name.to_string()).collect();
    assert_eq!(names, ["3_1", "3_2", "9", "2"]);
    let order: Vec<usize> = workload.trace_order.iter().map(|id| id.index()).collect();
    assert_eq!(order, [2, 1, 0, 3]);
    assert_eq!((workload.users.as_slice(), workload.requests.len()), (&["ann".to_owned()][..], 2));
    assert_eq!(workload.jobs[0].association, AssociationId(2));
    assert_eq!(workload.jobs[0].estimate, 600);
}

#[test]
fn an_unknown_partition_is_an_error_with_count_line_and_near_names() {
    let rows =
        [row("1", "normal", "01:00:00", ""), row("2", "debugg", "01:00:00", ""), row("3", "debugg", "01:00:00", "")];
    let (workload, said) = lowered(&rows.each_ref().map(String::as_str));
    assert!(workload.is_none());
    assert_eq!(
        said,
        "t:3: error: Partition: the partition 'debugg' of 2 jobs is not in slurm.conf; did you mean 'debug'?\n"
    );
}

#[test]
fn unknown_people_and_qos_are_made_and_named() {
    let rows = [
        "1|bob|phys||fancy|2024-01-01T00:00:00||1|COMPLETED|1|cpu=1,node=1|||",
        "2|eve|chem|||2024-01-01T00:00:00||1|COMPLETED|1|cpu=1,node=1|||",
        "3|ann||||2024-01-01T00:00:00||1|COMPLETED|1|cpu=1,node=1|||",
    ];
    let mut site = site();
    let (workload, diagnostics) = lower(&trace(&rows), &mut site);
    let workload = workload.unwrap();
    let rows = &site.associations.rows;
    assert_eq!(
        rows.iter().map(|row| row.account.as_str()).collect::<Vec<_>>(),
        ["root", "phys", "phys", "phys", "chem", "chem"]
    );
    assert_eq!(rows[3].parent, Some(AssociationId(1)));
    assert_eq!(workload.jobs[2].association, AssociationId(2));
    assert_eq!(site.qos.iter().map(|qos| qos.name.as_str()).collect::<Vec<_>>(), ["normal", "fancy"]);
    let said: String = diagnostics.iter().map(|it| format!("{it}\n")).collect();
    assert!(said.contains("t:2: warning: QOS: the QOS 'fancy' of 1 jobs"), "{said}");
    assert!(said.contains("t:2: warning: User: 'bob in phys' of 1 jobs"), "{said}");
    assert!(said.contains("t:3: warning: Account: the account 'chem' of 1 jobs"), "{said}");
}

#[test]
fn without_an_accounting_dump_the_unknown_names_are_counted_in_one_remark() {
    let mut site = site();
    (site.has_accounts, site.associations, site.qos) =
        (false, AssociationTree::default(), vec![Qos { name: "normal".into(), ..Qos::default() }]);
    let rows: Vec<String> = (1..=300)
        .map(|id| format!("{id}|u{id}|a{}||normal|2024-01-01T00:00:00||1|COMPLETED|1|cpu=1,node=1|||", id % 3))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let (workload, diagnostics) = lower(&trace(&rows), &mut site);
    assert_eq!((workload.unwrap().users.len(), site.associations.rows.len(), diagnostics.len()), (300, 304, 1));
    assert!(diagnostics[0].to_string().contains("no accounting dump was given for 3 accounts"), "{}", diagnostics[0]);
    assert!(diagnostics[0].message.ends_with("(300 jobs)"));
}

#[test]
fn recorded_memory_that_equals_the_default_is_left_to_the_default() {
    let rows = [
        row("1", "", "01:00:00", ""),
        row("2", "debug", "01:00:00", ""),
        row("3", "", "01:00:00", "sbatch -n 4 --mem=4000 j.sh"),
    ];
    let (workload, _) = lowered(&rows.each_ref().map(String::as_str));
    let workload = workload.unwrap();
    let memory = |job: usize| workload.requests[workload.jobs[job].request.index()].memory;
    assert_eq!((memory(0), memory(1), memory(2)), (Memory::Default, Memory::PerNode(4000), Memory::PerNode(4000)));
}

/// Recorded (c202): where a site has no default, a job that says nothing gets all memory of its nodes, on however many it starts.
#[test]
fn recorded_memory_of_whole_nodes_was_no_wish_where_there_is_no_default() {
    let header = format!("{HEADER}|NNodes|AllocTRES");
    let memory = |total: u64, nodes: u32, cpus: u32| {
        let amount = format!("cpu={cpus},mem={total}M,node=");
        let asked = format!("cpu=32,mem={total}M,node=2|{total}M||sbatch -n 32 j.sh|{nodes}|{amount}{nodes}");
        let row = format!("1|ann|phys|debug|normal|2024-01-01T01:00:00||60|COMPLETED|10|{asked}");
        let text = format!("{header}\n{row}\n");
        let options = TraceOptions { time_zone: Some(jiff::tz::TimeZone::UTC), max_bytes: None, opens: None };
        let mut site = site();
        for (node, memory) in site.cluster.nodes.iter_mut().zip([32_000, 32_000, 32_000, 64_000]) {
            node.memory_mb = memory;
        }
        let (workload, _) = lower(&Trace::read("t", text.as_bytes(), &options).0.unwrap(), &mut site);
        workload.unwrap().requests[0].memory
    };
    assert_eq!(memory(128_000, 4, 32), Memory::Default);
    assert_eq!(memory(128_000, 3, 32), Memory::Default);
    assert_eq!(memory(96_000, 2, 64), Memory::Default);
    assert_eq!(memory(112_000, 3, 32), Memory::PerCpu(3_500));
    assert_eq!(memory(80_000, 2, 64), Memory::PerNode(40_000));
}

/// Recorded (c1452): a site's smallest node has 24 GB, so that is recorded of who says nothing; two nodes that he got have 64 CPUs and 128,000 MB,
/// just as much as 2,000 for each of 12 CPUs would be.
#[test]
fn all_memory_was_no_wish_though_it_is_as_much_by_the_cpu() {
    let memory = |allocated: &str| {
        let row = "1|ann|phys|debug|normal|2024-01-01T01:00:00||60|COMPLETED|10|cpu=12,mem=24000M,node=1|24000M||sbatch -n 12 j.sh|2|";
        let text = format!("{HEADER}|NNodes|AllocTRES\n{row}{allocated}\n");
        let options = TraceOptions { time_zone: Some(jiff::tz::TimeZone::UTC), max_bytes: None, opens: None };
        let mut site = site();
        for (node, memory) in site.cluster.nodes.iter_mut().zip([24_000, 64_000, 64_000, 64_000]) {
            node.memory_mb = memory;
        }
        let (workload, _) = lower(&Trace::read("t", text.as_bytes(), &options).0.unwrap(), &mut site);
        workload.unwrap().requests[0].memory
    };
    assert_eq!(memory("cpu=64,mem=128000M,node=2"), Memory::Default);
    assert_eq!(memory("cpu=36,mem=72000M,node=2"), Memory::PerCpu(2_000));
}

/// `#SBATCH --exclusive` is recorded nowhere but in what was allocated: eight CPUs of a node for four.
#[test]
fn all_cpus_of_nodes_for_fewer_were_asked_for_whole() {
    let header = HEADER.replace("|ReqMem", "|AllocTRES|ReqMem");
    let read = |allocated: &str, line: &str, change: fn(&mut Site)| {
        let row = row("1", "", "01:00:00", line).replace("|4000M||", &format!("|{allocated}|4000M||"));
        let options = TraceOptions { time_zone: Some(jiff::tz::TimeZone::UTC), max_bytes: None, opens: None };
        let (trace, _) = Trace::read("t", format!("{header}\n{row}\n").as_bytes(), &options);
        let mut site = site();
        change(&mut site);
        let (workload, diagnostics) = lower(&trace.unwrap(), &mut site);
        let said = diagnostics.iter().any(|it| it.to_string().contains("all CPUs of their nodes"));
        let request = workload.unwrap().requests[0].clone();
        assert_eq!(said, request.sharing == Sharing::Exclusive && !line.contains("exclusive"));
        (request.sharing == Sharing::Exclusive, request.min_cpus)
    };
    let all = "cpu=8,mem=4000M,node=1";
    assert_eq!(read(all, "sbatch j.sh", |_| ()), (true, 4));
    assert_eq!(read(all, "sbatch --exclusive -n 4 j.sh", |_| ()), (true, 4));
    // A part of a node is what cores, threads or tasks make of a request; so is all of it with sockets or two threads a core.
    assert_eq!(read("cpu=6,mem=4000M,node=1", "sbatch j.sh", |_| ()), (false, 4));
    assert_eq!(read(all, "sbatch -s j.sh", |_| ()), (false, 4));
    assert_eq!(read(all, "sbatch j.sh", |site| site.policy.select.unit = ConsumableUnit::Socket), (false, 4));
    assert_eq!(read(all, "sbatch j.sh", |site| site.cluster.nodes[2].threads_per_core = 2), (false, 4));
    let exclusive = |site: &mut Site| site.cluster.partitions[0].over_subscribe = OverSubscribe::Exclusive;
    assert_eq!(read(all, "sbatch j.sh", exclusive), (false, 4));
}

/// Of a partition of an hour, and ten minutes over it.
#[test]
fn a_run_that_the_default_limit_does_not_explain_had_its_own() {
    let limit = |state: &str, seconds: u32, over: Option<u32>| {
        let row = row("1", "", "01:00:00", "").replace("|60|COMPLETED|10|", &format!("|{seconds}|{state}||"));
        let mut site = site();
        site.cluster.partitions[0].default_time = Some(60);
        site.cluster.partitions[0].over_time_limit = over;
        let (workload, _) = lower(&trace(&[&row]), &mut site);
        workload.unwrap().jobs[0].time_limit
    };
    let minutes = |minutes| Some(TimeLimit::Minutes(minutes));
    assert_eq!((limit("TIMEOUT", 3661, None), limit("COMPLETED", 3599, None)), (None, None));
    assert_eq!((limit("TIMEOUT", 1861, None), limit("TIMEOUT", 7261, None)), (minutes(31), minutes(121)));
    assert_eq!((limit("COMPLETED", 3620, None), limit("FAILED", 7200, None)), (None, minutes(120)));
    assert_eq!((limit("TIMEOUT", 4261, Some(10)), limit("TIMEOUT", 1861, Some(10))), (None, minutes(21)));
    // UNLIMITED explains every run.
    let row = row("1", "", "01:00:00", "").replace("|60|COMPLETED|10|", "|1861|TIMEOUT||");
    let mut site = site();
    site.policy.over_time_limit = None;
    site.cluster.partitions[0].default_time = Some(60);
    assert_eq!(lower(&trace(&[&row]), &mut site).0.unwrap().jobs[0].time_limit, None);
    site.policy.over_time_limit = Some(0);
    site.cluster.partitions[0].over_time_limit = Some(UNLIMITED_OVER_TIME);
    assert_eq!(lower(&trace(&[&row]), &mut site).0.unwrap().jobs[0].time_limit, None);
}

#[test]
fn names_in_requests_are_resolved_or_remarked_on() {
    let line = "sbatch -n 4 -C fast&slow -w n[2-3],n9 --gres=gpu:2 -L matlab:1 -p debug,normal j.sh";
    let (workload, said) = lowered(&[&row("1", "normal", "01:00:00", line)]);
    let workload = workload.unwrap();
    let request = &workload.requests[0];
    assert_eq!(request.partitions.iter().map(|id| id.index()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(request.required_nodes.iter().map(|id| id.index()).collect::<Vec<_>>(), [1, 2]);
    assert!(matches!(&request.features, FeatureExpr::And(all) if all.len() == 2));
    assert_eq!(request.gres[0].count, 2);
    for text in ["the feature 'slow'", "the node 'n9'", "the GRES 'gpu'", "the licence 'matlab:1'"] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn a_gres_of_which_nodes_have_more_than_is_counted_is_left_out_and_named() {
    let mut site = site();
    site.cluster.gres = ["gpu", "tmp"].map(|name| GresType { name: name.into(), kind: None, counted: false }).to_vec();
    for node in &mut site.cluster.nodes {
        node.gres = vec![4, u32::MAX];
    }
    let rows = [
        row("1", "", "01:00:00", "sbatch -n 4 --gres=gpu:2,tmp:60G j.sh"),
        row("2", "", "01:00:00", "sbatch -n 4 --gres=gpu:5G j.sh"),
    ];
    let (workload, diagnostics) = lower(&trace(&rows.each_ref().map(String::as_str)), &mut site);
    let workload = workload.unwrap();
    let asked = |job: usize| {
        let gres = &workload.requests[workload.jobs[job].request.index()].gres;
        gres.iter().map(|gres| (gres.gres.index(), gres.count)).collect::<Vec<_>>()
    };
    assert_eq!((asked(0), asked(1)), (vec![(0, 2)], vec![(0, u32::MAX)]));
    let said: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        said.len() == 1 && said[0].contains("of the GRES 'tmp', which is not counted: what 1 jobs ask"),
        "{said:?}"
    );
}

#[test]
fn what_the_site_does_not_tell_of_an_option_is_named() {
    let mut site = site();
    let line = "sbatch -n 4 --tmp=2G --gres-flags=enforce-binding j.sh";
    let rows = [row("1", "", "01:00:00", line)];
    let mut said = |cons_res: bool, tmp_disk_mb: Option<u64>| {
        site.policy.select.cons_res = cons_res;
        site.cluster.nodes.iter_mut().for_each(|node| node.tmp_disk_mb = tmp_disk_mb);
        let (_, diagnostics) = lower(&trace(&rows.each_ref().map(String::as_str)), &mut site);
        diagnostics.iter().map(ToString::to_string).collect::<String>()
    };
    assert_eq!(said(false, Some(4000)), "");
    assert!(said(false, None).contains("1 jobs ask for local disk (--tmp)"));
    assert!(said(true, Some(4000)).contains("enforce-binding of 1 jobs has no effect with select/cons_res"));
}

#[test]
fn dependencies_inside_the_trace_are_simulated_and_others_are_release_times() {
    let inside = row("8", "", "02:00:00", "sbatch -n 4 -d afterok:7 j.sh").replace("||60|", "|2024-01-01T05:00:00|60|");
    let outside = inside.replace("8|ann", "9|ann").replace("-d afterok:7", "-b now+60 -d afterok:6");
    let (workload, said) = lowered(&[&row("7", "", "01:00:00", ""), &inside, &outside]);
    let workload = workload.unwrap();
    let held: Vec<_> = workload
        .jobs
        .iter()
        .map(|job| (job.release - job.submit, job.extra.as_ref().is_some_and(|it| it.dependencies.is_some())))
        .collect();
    assert_eq!(held, [(0, false), (0, true), (10_800, false)]);
    // Its begin time alone would let it in too early.
    assert!(workload.jobs[2].extra.as_ref().is_none_or(|extra| extra.begin.is_none()));
    assert!(said.contains("t:4: assumed: SubmitLine: 1 jobs depend on jobs outside the trace"), "{said}");
}

/// Recorded (c1149): an id above the job's own was nobody's when it came; what it waits for besides is simulated.
#[test]
fn ids_that_nobody_had_yet_are_no_jobs_outside_the_trace() {
    let waits = row("2", "", "02:00:00", "sbatch -n 4 -d afterok:999999:1 j.sh");
    let (workload, said) = lowered(&[&row("1", "", "01:00:00", ""), &waits]);
    let extra = workload.unwrap().jobs[1].extra.clone().unwrap();
    assert_eq!(extra.dependencies.unwrap().on.iter().map(|on| on.id).collect::<Vec<_>>(), [999_999, 1]);
    assert!(!said.contains("outside the trace"), "{said}");
}

/// Recorded (c1082): when a task behind the first became eligible is a decision of the run, since `%N` held it back.
#[test]
fn tasks_of_a_limited_array_are_released_with_the_first_of_them() {
    let task = |id: &str, limit: &str, eligible: &str| {
        let command = format!("sbatch --array=1-2{limit} -n 4 -d afterok:4 j.sh");
        row(id, "", "02:00:00", &command).replace("||60|", &format!("|2024-01-01T{eligible}|60|"))
    };
    let rows = [
        task("5_1", "%1", "05:00:00"),
        task("5_2", "%1", "07:00:00"),
        task("6_1", "", "05:00:00"),
        task("6_2", "", "07:00:00"),
    ];
    let (workload, _) = lowered(&[&rows[0], &rows[1], &rows[2], &rows[3]]);
    let held: Vec<_> = workload.unwrap().jobs.iter().map(|job| job.release - job.submit).collect();
    assert_eq!(held, [10_800, 10_800, 10_800, 18_000]);
}

#[test]
fn a_dependency_on_one_task_is_simulated_where_the_trace_holds_that_task() {
    let on = |id: &str, task: &str| row(id, "", "02:00:00", &format!("sbatch -n 4 -d afterok:1_{task} j.sh"));
    let (workload, said) = lowered(&[&row("1_0", "", "01:00:00", ""), &on("2", "0"), &on("3", "5"), &on("4", "*")]);
    let jobs = workload.unwrap().jobs;
    let held: Vec<_> =
        jobs.iter().map(|job| job.extra.as_ref().is_some_and(|extra| extra.dependencies.is_some())).collect();
    assert_eq!(held, [false, true, false, true]);
    assert!(said.contains("t:4: assumed: SubmitLine: 1 jobs depend on jobs outside the trace"), "{said}");
}

#[test]
fn a_qos_that_puts_node_counts_aside_makes_a_request_of_its_own() {
    let mut site = site();
    site.qos.push(Qos { partition_max_nodes: true, name: "wide".to_owned(), ..Qos::default() });
    let wide = |id: &str| row(id, "", "02:00:00", "").replace("|normal|", "|wide|");
    let (workload, _) = lower(&trace(&[&row("1", "", "01:00:00", ""), &wide("2"), &wide("3")]), &mut site);
    let workload = workload.unwrap();
    let past: Vec<_> = workload.jobs.iter().map(|job| workload.requests[job.request.index()].past_max_nodes).collect();
    assert_eq!((past, workload.requests.len()), (vec![false, true, true], 2));
}

#[test]
fn a_usage_threshold_makes_a_request_of_its_own_where_memory_is_limited() {
    let requests = |limit| {
        let mut site = site();
        site.policy.select.max_memory = limit;
        site.qos.push(Qos { enforce_usage_threshold: true, name: "wide".to_owned(), ..Qos::default() });
        let wide = row("2", "", "02:00:00", "").replace("|normal|", "|wide|");
        let (workload, _) = lower(&trace(&[&row("1", "", "01:00:00", ""), &wide]), &mut site);
        workload.unwrap().requests.iter().map(|request| request.past_memory_limits).collect::<Vec<_>>()
    };
    assert_eq!(requests(None), [false]);
    assert_eq!(requests(Some(MemoryDefault::PerCpu(1000))), [false, true]);
}

#[test]
fn a_cluster_without_slurm_conf_has_the_headers_size() {
    let sizes = |header: &str, nodes, cpus| {
        let text = format!("{header}1 10 5 100 8 -1 -1 8 3600 2048 1 3 4 -1 1 -1 -1 -1\n");
        let (trace, _) = Trace::read("t", text.as_bytes(), &TraceOptions::default());
        swf_site(&trace.unwrap(), nodes, cpus)
            .map(|site| (site.cluster.nodes.len(), site.cluster.total_cpus()))
            .map_err(|fault| fault.to_string())
    };
    assert_eq!(sizes("; MaxNodes: 151\n; MaxProcs: 2004\n", None, None), Ok((151, 2004)));
    assert_eq!(sizes("; MaxProcs: 100\n", None, None), Ok((100, 100)));
    assert_eq!(sizes("; MaxProcs: 100\n", None, Some(16)), Ok((7, 100)));
    assert_eq!(sizes("; MaxNodes: 9\n; MaxProcs: 100\n", Some(3), Some(8)), Ok((3, 24)));
    let none = sizes("", None, None).unwrap_err();
    assert!(
        none.contains("does not say how large the cluster was; give a slurm.conf, or --nodes and --cpus-per-node"),
        "{none}"
    );
    assert!(sizes("", Some(0), Some(4)).is_err());
    assert!(sizes("", Some(u32::MAX), Some(u32::MAX)).is_err());
}

#[test]
fn a_job_belongs_to_its_users_association_in_its_first_partition() {
    let mut site = site();
    let mut own = Association::new("phys", Some("ann".into()), Some(AssociationId(1)));
    own.partition = Some("debug".into());
    site.associations.rows.push(own);
    let rows = [row("1", "", "01:00:00", ""), row("2", "debug", "02:00:00", ""), row("3", "normal", "03:00:00", "")];
    let (workload, _) = lower(&trace(&rows.each_ref().map(String::as_str)), &mut site);
    let rows: Vec<usize> = workload.unwrap().jobs.iter().map(|job| job.association.index()).collect();
    assert_eq!(rows, [2, 3, 2]);
    // One that takes no jobs is none of theirs.
    let line = "sbatch -p debug,normal j.sh";
    let of_list = |state: PartitionState| {
        let mut site = site.clone();
        site.cluster.partitions[1].state = state;
        let (workload, _) = lower(&trace(&[&row("1", "normal", "01:00:00", line)]), &mut site);
        workload.unwrap().jobs[0].association.index()
    };
    assert_eq!((of_list(PartitionState::Up), of_list(PartitionState::Drain)), (3, 2));
}

/// Jobs submitted before 12:00, when the simulated part begins.
#[test]
fn jobs_from_before_the_simulated_part_run_or_wait_or_are_over() {
    let header =
        "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|State|TimelimitRaw|ReqTRES|NodeList";
    let day = |time: &str| if time.contains(':') { format!("2024-01-01T{time}") } else { time.to_owned() };
    let row = |id: &str, times: [&str; 4], state: &str, elapsed: u32, nodes: &str| {
        let [submit, eligible, start, end] = times.map(day);
        format!("{id}|ann|phys||normal|{submit}|{eligible}|{start}|{end}|{elapsed}|{state}|600|cpu=1,node=1|{nodes}")
    };
    let rows = [
        row("1", ["08:00:00", "08:00:00", "09:00:00", "13:00:00"], "COMPLETED", 14_400, "n[2-3]"),
        row("2", ["08:00:00", "08:10:00", "12:30:00", "13:00:00"], "COMPLETED", 1800, "n1"),
        row("3", ["08:00:00", "08:00:00", "09:00:00", "11:00:00"], "COMPLETED", 7200, "n1"),
        row("4", ["08:00:00", "08:00:00", "Unknown", "12:30:00"], "CANCELLED by 5", 0, "None assigned"),
        row("5", ["08:00:00", "08:00:00", "Unknown", "11:30:00"], "CANCELLED by 5", 0, "None assigned"),
        row("6", ["08:00:00", "08:00:00", "11:00:00", "Unknown"], "RUNNING", 7200, "n4,old1"),
        row("7", ["08:00:00", "08:00:00", "Unknown", "Unknown"], "PENDING", 0, "None assigned"),
        // Preempted before; its second run is going on, its third is to come.
        row("8", ["08:00:00", "08:00:00", "09:00:00", "10:00:00"], "PREEMPTED", 3600, "n1"),
        row("8", ["10:00:00", "10:02:01", "11:00:00", "12:10:00"], "PREEMPTED", 4200, "n1"),
        row("8", ["12:10:00", "12:12:01", "13:00:00", "13:10:00"], "COMPLETED", 600, "n1"),
        row("9", ["12:00:00", "12:00:00", "13:00:00", "13:10:00"], "COMPLETED", 600, "n1"),
    ];
    let text = format!("{header}\n{}\n", rows.join("\n"));
    let noon = 1_704_110_400;
    let options = TraceOptions { time_zone: Some(jiff::tz::TimeZone::UTC), max_bytes: None, opens: Some(noon) };
    let (trace, _) = Trace::read("t", text.as_bytes(), &options);
    let (workload, diagnostics) = lower(&trace.unwrap(), &mut site());
    let said: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    let former = "t:7: warning: NodeList: the node 'old1' of 1 jobs that run from the beginning is not in slurm.conf: they run on others";
    assert_eq!(said, [former]);
    let hour = |hour: i64| noon + (hour - 12) * 3600;
    let running = |since, nodes: &[usize]| {
        Some(Before::Running { since, nodes: nodes.iter().map(|&node| NodeId::new(node)).collect() })
    };
    let workload = workload.unwrap();
    let found: Vec<_> = workload.jobs.iter().map(|job| job.before().cloned()).collect();
    let expected = [
        running(hour(9), &[1, 2]),
        Some(Before::Waiting),
        None,
        Some(Before::Waiting),
        None,
        running(hour(11), &[3]),
        Some(Before::Waiting),
        running(hour(11), &[0]),
        None,
    ];
    assert_eq!(found, expected);
    assert_eq!(workload.jobs[1].release, hour(8) + 600);
    let runs: Vec<u32> = workload.jobs[7].extra.as_ref().unwrap().earlier_runs.iter().map(|run| run.run_time).collect();
    assert_eq!((runs, workload.jobs[7].run_time), (vec![4200], 600));
}

/// Without a window nothing of a recorded schedule is looked at.
#[test]
fn starts_and_nodes_are_not_read_where_the_whole_trace_is_simulated() {
    let row = "1|ann|phys||normal|2024-01-01T08:00:00|2024-01-01T08:00:00|nonsense|60|COMPLETED|600|cpu=1,node=1|n[1-";
    let text = format!(
        "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|ElapsedRaw|State|TimelimitRaw|ReqTRES|NodeList\n{row}\n"
    );
    let options = TraceOptions { time_zone: Some(jiff::tz::TimeZone::UTC), max_bytes: None, opens: None };
    let (trace, _) = Trace::read("t", text.as_bytes(), &options);
    let (workload, _) = lower(&trace.unwrap(), &mut site());
    assert_eq!(workload.unwrap().jobs[0].before(), None);
}

/// `debug` takes no jobs: it is dropped from a list, and kept where a job names nothing else (rec w2009).
#[test]
fn partitions_that_take_no_jobs_are_dropped_from_lists() {
    use foresite_engine::cluster::PartitionState::{Down, Drain, Inactive};

    let rows = [
        row("1", "debug,normal", "01:00:00", "sbatch -p debug,normal x"),
        row("2", "debug", "02:00:00", "sbatch -p debug x"),
    ];
    let asked = |state| {
        let mut site = site();
        site.cluster.partitions[1].state = state;
        let (workload, _) = lower(&trace(&rows.each_ref().map(String::as_str)), &mut site);
        let workload = workload.unwrap();
        let of = |job: &foresite_engine::job::Job| workload.requests[job.request.index()].partitions.len();
        workload.jobs.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(asked(Down), [2, 1]);
    assert_eq!(asked(Drain), [1, 1]);
    assert_eq!(asked(Inactive), [1, 1]);
}

/// Recorded (t9-24-11): before 23.02 a job must have all nodes that it names, cut to as many as it has tasks; from then on any of them will do,
/// where it needs fewer.
#[test]
fn a_list_of_more_nodes_than_are_needed_is_a_choice_from_23_02_on() {
    use foresite_engine::policy::SlurmVersion::{V22_05, V23_02};

    let asked = |version, line: &str| {
        let mut site = site();
        site.policy.version = version;
        let (workload, _) = lower(&trace(&[&row("1", "", "01:00:00", line)]), &mut site);
        let request = workload.unwrap().requests.remove(0);
        let numbers = |nodes: &[NodeId]| nodes.iter().map(|id| id.index() + 1).collect::<Vec<_>>();
        (numbers(&request.required_nodes), numbers(&request.excluded_nodes), request.min_nodes)
    };
    let one = "sbatch -n 1 -w n[2-3] -x n4 x";
    assert_eq!(asked(V22_05, one), (vec![2], vec![4], 1));
    assert_eq!(asked(V23_02, one), (vec![], vec![1, 4], 1));
    let range = "sbatch -N 1-3 -n 7 -w n[2-3] x";
    assert_eq!(asked(V22_05, range), (vec![2, 3], vec![], 2));
    assert_eq!(asked(V23_02, range), (vec![], vec![1, 4], 1));
    // Without a number it needs all.
    let all = "sbatch -n 7 -w n[2-3] x";
    assert_eq!(asked(V23_02, all), (vec![2, 3], vec![], 2));
}
