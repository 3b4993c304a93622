//! Studies on a small cluster: files in, schedules and comparisons out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::convert::Infallible;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Mutex;

use foresite_engine::observer::{Interrupted, Unobserved};
use foresite_engine::outcome::JobState;

use super::{Replicated, Study, compare, replication_seed};
use crate::comparison::{Comparison, Dimension, Metric};
use crate::diagnostic::Diagnostic;
use crate::file_set::FileSet;
use crate::schedule_file;
use crate::study_document;
use crate::summary_file::Summary;

mod calendar;
mod changes;
mod recorded;
mod workload;

const SLURM_CONF: &str = "\
ClusterName=small
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairshare=1000
NodeName=a[1-2] CPUs=4 RealMemory=8000
NodeName=b[1-3] CPUs=4 RealMemory=8000
PartitionName=main Nodes=ALL Default=YES MaxTime=10:00:00
PartitionName=left Nodes=a[1-2] MaxTime=10:00:00
";

const SCENARIOS: &str = "
scenarios:
  - {name: exclusive, changes: [{node_sharing: {partition: main, mode: exclusive}}]}
  - {name: split, changes: [{separate_controllers: {controllers: {a: {nodes: 'a[1-2]'}, b: {nodes: 'b[1-3]'}}}}]}
  - {name: more age, changes: [{scale: {PriorityWeightAge: 10}}, {set: {SchedulerParameters.bf_max_job_user: 1}}]}
gates:
  - {metric: wait_seconds.mean, by: user, max_increase: 5%, on_inconclusive: pass}
";

#[test]
fn a_trace_of_another_cluster_is_told() {
    let said = |cluster: &str| {
        let trace =
            format!("Cluster|JobID|Submit|ElapsedRaw|State|ReqCPUS\n{cluster}|1|2026-01-01T00:00:00|60|COMPLETED|1\n");
        let mut files = FileSet::default();
        files.insert("slurm.conf", SLURM_CONF);
        files.insert("sacct.txt", trace);
        let document = b"name: c\nsite: {slurm_conf: slurm.conf}\ntrace: {file: sacct.txt, timezone: UTC}\n";
        let document = study_document::read("study.yaml", document).0.unwrap();
        let (study, found) = Study::prepare(&document, &files);
        assert!(study.is_some());
        found.iter().filter(|it| it.field.as_deref() == Some("Cluster")).map(ToString::to_string).collect::<Vec<_>>()
    };
    let words = "sacct.txt:2: warning: Cluster: the jobs are those of the cluster 'snow', slurm.conf is of 'small': taken all the same; \
                 export with sacct --clusters small";
    assert_eq!(said("snow"), [words]);
    assert!(said("Small").is_empty() && said("").is_empty());
}

/// Sixty jobs of three users; every twentieth asks for five nodes.
fn trace() -> String {
    let mut text =
        "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|Timelimit|NNodes|ReqCPUS|ReqMem\n".to_owned();
    for job in 0..60u32 {
        let (hour, minute) = (job / 30, job % 30 * 2);
        let cpus = if job % 20 == 0 { 20 } else { 1 + job * 7 % 8 };
        let nodes = cpus.div_ceil(4);
        let partition = if job % 10 == 3 { "left" } else { "main" };
        let user = ["ann", "bob", "cyd"][job as usize % 3];
        let submit = format!("2026-01-01T{hour:02}:{minute:02}:00");
        let length = 1 + job * 13 % 40;
        let end = format!("2026-01-01T{:02}:{length:02}:00", hour + 3);
        let start = format!("2026-01-01T{:02}:00:00", hour + 3);
        writeln!(
            text,
            "{}|{user}|group|{partition}|normal|{submit}|{submit}|{start}|{end}|COMPLETED|01:00:00|{nodes}|{cpus}|0",
            job + 1
        )
        .unwrap();
    }
    text
}

/// The same jobs; in place of their starts, how long they ran.
fn without_starts() -> String {
    let trace = trace();
    let mut lines = trace.lines();
    let mut text = lines.next().unwrap().replace("|Start|", "|ElapsedRaw|") + "\n";
    for line in lines {
        let mut fields: Vec<&str> = line.split('|').collect();
        let seconds = (fields[8][14..16].parse::<u32>().unwrap() * 60).to_string();
        fields[7] = &seconds;
        text += &(fields.join("|") + "\n");
    }
    text
}

fn files() -> FileSet {
    let mut files = FileSet::default();
    files.insert("site/slurm.conf", SLURM_CONF.as_bytes());
    files.insert("trace.txt", trace().into_bytes());
    files
}

fn prepared(trace: &str, rest: &str) -> (Option<Study>, Vec<Diagnostic>) {
    let text = format!(
        "name: test\nsite: {{slurm_conf: site/slurm.conf}}\ntrace: {{file: trace.txt, timezone: UTC}}\nreplications: 3\n{rest}"
    );
    let (document, diagnostics) = study_document::read("study.yaml", text.as_bytes());
    let mut files = files();
    files.insert("trace.txt", trace.as_bytes());
    Study::prepare(&document.unwrap_or_else(|| panic!("{diagnostics:?}")), &files)
}

fn study(rest: &str) -> Study {
    study_of(&trace(), rest)
}

fn study_of(trace: &str, rest: &str) -> Study {
    let (study, diagnostics) = prepared(trace, rest);
    study.unwrap_or_else(|| panic!("{}", shown(&diagnostics)))
}

fn shown(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|it| format!("{it}\n")).collect()
}

fn faults(rest: &str) -> String {
    let (study, diagnostics) = prepared(&trace(), rest);
    assert!(study.is_none(), "the study should be refused");
    shown(&diagnostics.into_iter().filter(Diagnostic::is_error).collect::<Vec<_>>())
}

/// Scenario and replication, their schedule file and their summary.
type Stored = ((usize, u32), (Vec<u8>, Summary));

fn on_threads(study: &Study, threads: usize) -> (Comparison, Vec<Stored>) {
    let schedules = Mutex::new(Vec::new());
    let comparison = study
        .simulate_all(
            threads,
            |_, _, _, _| ControlFlow::Continue(()),
            |scenario, replication, replicated| {
                let stored = (replicated.schedule_csv(), replicated.summary.clone());
                schedules.lock().unwrap().push(((scenario, replication), stored));
                ControlFlow::Continue(())
            },
        )
        .unwrap();
    let mut schedules = schedules.into_inner().unwrap();
    schedules.sort_by_key(|(key, _)| *key);
    (comparison, schedules)
}

#[test]
fn one_thread_and_several_give_the_same_bytes() {
    let study = study(SCENARIOS);
    let (one, schedules_of_one) = on_threads(&study, 1);
    for threads in [2, 5] {
        let (several, schedules) = on_threads(&study, threads);
        assert_eq!(one.to_json(), several.to_json());
        assert!(schedules_of_one == schedules, "schedules differ on {threads} threads");
    }
    assert_eq!(schedules_of_one.len(), 12);
}

#[test]
fn a_comparison_from_schedule_files_equals_the_one_from_memory() {
    let study = study(SCENARIOS);
    let (from_memory, schedules) = on_threads(&study, 2);
    let load = |scenario: usize, replication: u32| {
        let (_, (bytes, summary)) = schedules.iter().find(|(key, _)| *key == (scenario, replication)).unwrap();
        let (schedule, diagnostics) = schedule_file::read("schedule.csv", bytes);
        assert_eq!(diagnostics, []);
        Ok::<_, Infallible>(Replicated { schedule: schedule.unwrap(), summary: summary.clone() })
    };
    let Ok(from_files) = compare(&study, load);
    assert_eq!(from_memory.to_json(), from_files.to_json());
    assert_eq!(serde_json::from_str::<Comparison>(&from_files.to_json()).unwrap(), from_files);
}

#[test]
fn schedules_have_a_row_per_job_in_the_order_of_the_trace() {
    let study = study(SCENARIOS);
    for scenario in 0..study.n_scenarios() {
        let schedule = study.replicate(scenario, 0, &mut Unobserved).unwrap().schedule;
        let ids: Vec<u64> = schedule.rows.iter().map(|row| row.job.id).collect();
        assert_eq!(ids, (1..=60).collect::<Vec<_>>(), "scenario {scenario}");
    }
}

#[test]
fn separate_controllers_keep_to_their_nodes_and_count_what_does_not_fit() {
    let study = study(SCENARIOS);
    let split = study.scenario_named("split").unwrap();
    let schedule = study.replicate(split, 1, &mut Unobserved).unwrap().schedule;
    let lists: Vec<&str> = schedule.rows.iter().map(|row| schedule.node_list(row)).collect();
    assert!(lists.iter().all(|list| !(list.contains('a') && list.contains('b'))), "{lists:?}");
    assert!(lists.iter().any(|list| list.contains('a')) && lists.iter().any(|list| list.contains('b')));
    let controllers = study.plan().scenarios[split - 1].1.clone().unwrap();
    assert_eq!(
        (controllers.names, controllers.too_large, controllers.rejected),
        (vec!["a".to_owned(), "b".to_owned()], 3, 3)
    );
    let refused: Vec<u64> =
        schedule.rows.iter().filter(|row| row.state == JobState::Cancelled).map(|row| row.job.id).collect();
    assert_eq!(refused, [1, 21, 41]);
}

#[test]
fn too_large_jobs_are_cut_to_the_largest_controller_where_asked() {
    let study = study(
        "scenarios:\n  - {name: split, changes: [{separate_controllers: {controllers: {a: {nodes: 'a[1-2]'}, b: {nodes: 'b[1-3]'}}, \
         too_large: largest, either: first}}]}\n",
    );
    let schedule = study.replicate(1, 0, &mut Unobserved).unwrap().schedule;
    assert_eq!(schedule.node_list(&schedule.rows[0]), "b[1-3]");
    assert_eq!(schedule.rows[0].cpus, 12);
    let controllers = study.plan().scenarios[0].1.clone().unwrap();
    assert_eq!((controllers.cut, controllers.rejected), (3, 0));
    // All others fit the first controller, and go there.
    assert!(schedule.rows.iter().filter(|row| row.nodes < 3).all(|row| schedule.node_list(row).starts_with('a')));
}

#[test]
fn a_controller_of_partitions_serves_these_alone() {
    let study = study(
        "scenarios:\n  - {name: split, changes: [{separate_controllers: {controllers: {a: {partitions: [left]}, b: {nodes: 'b[1-3]'}}, \
         either: least_loaded}}]}\n",
    );
    let schedule = study.replicate(1, 0, &mut Unobserved).unwrap().schedule;
    for row in schedule.rows.iter().filter(|row| row.start.is_some()) {
        let is_left = schedule.labels.name(row.partition) == "left";
        assert_eq!(schedule.node_list(row).starts_with('a'), is_left, "job {}", row.job);
    }
}

#[test]
fn rows_name_the_partition_that_a_job_ran_in() {
    let mut files = files();
    let trace = trace().replace("|left|", "|left,main|").replace("|main|", "|left,main|");
    files.insert("site/slurm.conf", SLURM_CONF.replace("Nodes=ALL", "Nodes=b[1-3]").into_bytes());
    files.insert("trace.txt", trace.into_bytes());
    let text = "name: test\nsite: {slurm_conf: site/slurm.conf}\ntrace: {file: trace.txt}\nreplications: 1\n\
                scenarios: [{name: same, changes: [{scale: {PriorityWeightAge: 1}}]}]\n";
    let (document, _) = study_document::read("study.yaml", text.as_bytes());
    let (study, diagnostics) = Study::prepare(&document.unwrap(), &files);
    let study = study.unwrap_or_else(|| panic!("{}", shown(&diagnostics)));
    let schedule = study.replicate(0, 0, &mut Unobserved).unwrap().schedule;
    let mut ran = [0; 2];
    for row in &schedule.rows {
        let is_left = schedule.labels.name(row.partition) == "left";
        // Who never started has the first that it asked for.
        assert_eq!(schedule.node_list(row).starts_with('a') || row.start.is_none(), is_left, "job {}", row.job);
        ran[usize::from(is_left)] += u32::from(row.start.is_some());
    }
    assert!(ran.iter().all(|&jobs| jobs > 5), "{ran:?}");
    // Compared they are by what they ask for, which is the same in all replications.
    let (comparison, _) = on_threads(&study, 1);
    let groups: Vec<_> =
        comparison.scenarios[0].by(Dimension::Partition).map(|it| (it.key.as_str(), it.jobs)).collect();
    assert_eq!(groups, [("left", 60)]);
}

#[test]
fn baseline_and_scenarios_share_one_workload_where_it_is_equal() {
    let study = study(SCENARIOS);
    let workload = |scenario: usize| study.scenario(scenario).unwrap().workload.clone();
    assert!(std::sync::Arc::ptr_eq(&workload(0), &workload(3)));
}

#[test]
fn a_study_without_scenarios_shows_the_baseline_alone() {
    let study = study_of(&without_starts(), "");
    let (comparison, stored) = on_threads(&study, 2);
    let load = |_, replication: u32| {
        let (_, (bytes, summary)) = stored.iter().find(|(key, _)| *key == (0, replication)).unwrap();
        let schedule = schedule_file::read("schedule.csv", bytes).0.unwrap();
        Ok::<_, Infallible>(Replicated { schedule, summary: summary.clone() })
    };
    let Ok(from_files) = compare(&study, load);
    assert_eq!(from_files, comparison);
    assert_eq!(serde_json::from_str::<Comparison>(&comparison.to_json()).unwrap(), comparison);
    let text = comparison.to_terminal();
    let first_words = |line: &str| line.trim().split("  ").next().map(str::to_owned);
    let rows: Vec<String> =
        text.lines().skip(3).take_while(|line| *line != "bear in mind").filter_map(first_words).collect();
    assert_eq!(
        rows,
        [
            "baseline",
            "mean wait",
            "median wait",
            "95th percentile wait",
            "bounded slowdown",
            "mean response time",
            "utilisation",
            "makespan",
            "",
            "mean wait by user",
            "ann",
            "bob",
            "cyd",
            "",
            "mean wait by partition",
            "left",
            "main",
            ""
        ],
        "{text}"
    );
    let mean = comparison.baseline[0].metrics[&Metric::WaitMean].mean;
    assert!(comparison.to_csv().contains(&format!("\nbaseline,overall,,60,wait_seconds.mean,{mean},,,,,,,\n")));
    assert!(
        comparison.to_markdown().contains("\n| mean wait | ") && comparison.to_html().contains("<td>mean wait</td>")
    );
}

#[test]
fn a_scenario_that_changes_nothing_shows_no_change_at_all() {
    let study = study("scenarios: [{name: same, changes: [{scale: {PriorityWeightAge: 1}}]}]\n");
    let (comparison, _) = on_threads(&study, 2);
    for group in &comparison.scenarios[0].groups {
        for change in group.metrics.values() {
            assert_eq!((change.difference, change.interval), (Some(0.0), Some((0.0, 0.0))));
            assert_eq!(change.verdict.as_str(), "no detectable change");
        }
    }
    let overall = comparison.scenarios[0].overall().unwrap();
    assert_eq!((overall.jobs, overall.started.both, overall.metrics.len()), (60, 180, Metric::ALL.len()));
    let users: Vec<&str> = comparison.scenarios[0].by(Dimension::User).map(|group| group.key.as_str()).collect();
    assert_eq!(users, ["ann", "bob", "cyd"]);
}

#[test]
fn a_window_simulates_its_warm_up_and_counts_its_own_jobs() {
    let text = format!(
        "name: test\nsite: {{slurm_conf: site/slurm.conf}}\n\
         trace: {{file: trace.txt, window: ['2026-01-01T00:20:00', '2026-01-01T01:00:00'], warmup: 10m}}\nreplications: 2\n{SCENARIOS}"
    );
    let document = study_document::read("study.yaml", text.as_bytes()).0.unwrap();
    let study = Study::prepare(&document, &files()).0.unwrap();
    // Five jobs of before waited when the warm-up begins.
    assert_eq!(study.n_jobs(), 30);
    let replicated = study.replicate(0, 0, &mut Unobserved).unwrap();
    assert_eq!((replicated.schedule.rows.len(), replicated.summary.jobs), (30, 20));
    let caveats: Vec<&str> = study.plan.caveats.iter().map(|caveat| caveat.text.as_str()).collect();
    assert!(caveats[1].starts_with("When the simulated part begins, 0 jobs of the trace run, on their recorded nodes"));
    assert!(caveats[1].contains("and 5 wait"), "{caveats:?}");
    assert_eq!(on_threads(&study, 1).0.scenarios[0].overall().unwrap().jobs, 20);
}

/// Job 1 ran for two hours when the window opened, on nodes that all controllers but one do not have.
#[test]
fn a_job_that_runs_when_the_window_opens_keeps_its_nodes_until_its_recorded_end() {
    let header =
        "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|Timelimit|NNodes|ReqCPUS|ReqMem|NodeList";
    let rows = "1|ann|group|main|normal|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T05:00:00|COMPLETED|10:00:00|3|12|0|b[1-3]
2|bob|group|main|normal|2026-01-01T04:00:00|2026-01-01T04:00:00|2026-01-01T06:00:00|2026-01-01T06:10:00|COMPLETED|01:00:00|5|20|0|a[1-2],b[1-3]
3|bob|group|main|normal|2026-01-01T01:00:00|2026-01-01T01:00:00|2026-01-01T01:00:00|2026-01-01T01:10:00|COMPLETED|01:00:00|5|20|0|a[1-2],b[1-3]";
    let mut files = files();
    files.insert("trace.txt", format!("{header}\n{rows}\n").into_bytes());
    let text = "name: test\nsite: {slurm_conf: site/slurm.conf}\n\
         trace: {file: trace.txt, timezone: UTC, window: ['2026-01-01T04:00:00', '2026-01-01T07:00:00']}\nreplications: 1\n\
         scenarios:\n  - {name: split, changes: [{separate_controllers: {controllers: {a: {nodes: 'a[1-2]'}, b: {nodes: 'b[1-3]'}}, too_large: largest}}]}\n";
    let document = study_document::read("study.yaml", text.as_bytes()).0.unwrap();
    let (study, diagnostics) = Study::prepare(&document, &files);
    let study = study.unwrap_or_else(|| panic!("{}", shown(&diagnostics)));
    let schedule = study.replicate(0, 0, &mut Unobserved).unwrap().schedule;
    let rows = &schedule.rows;
    let hour = |hour: i64| 1_767_225_600 + hour * 3600;
    assert_eq!((rows[0].start, rows[0].end), (Some(hour(2)), Some(hour(5))));
    assert_eq!((schedule.node_list(&rows[0]), rows[0].started_by), ("b[1-3]", None));
    assert_eq!(rows.len(), 2, "job 3 was over");
    assert!((hour(5)..hour(5) + 5).contains(&rows[1].start.unwrap()), "{:?}", rows[1]);
    // Under separate controllers it runs on the nodes of its own.
    let split = study.replicate(1, 0, &mut Unobserved).unwrap().schedule;
    assert_eq!((split.rows[0].start, split.node_list(&split.rows[0])), (Some(hour(2)), "b[1-3]"));
}

#[test]
fn replications_differ_and_the_first_has_the_seed_of_the_study() {
    assert_eq!(replication_seed(7, 0), 7);
    let mut seeds: Vec<u64> =
        (1..4).flat_map(|seed| (0..100).map(move |replication| replication_seed(seed, replication))).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 300);
}

#[test]
fn a_study_stops_when_its_watcher_says_so() {
    let study = study(SCENARIOS);
    let stopped = study.simulate_all(2, |_, _, _, _| ControlFlow::Continue(()), |_, _, _| ControlFlow::Break(()));
    assert_eq!(stopped, Err(Interrupted));
    assert_eq!(study.replicate(99, 0, &mut Unobserved), Err(Interrupted));
}

#[test]
fn changes_that_cannot_be_made_are_refused_together() {
    let found = faults(
        "scenarios:
  - {name: one, changes: [{node_sharing: {partition: nowhere, mode: exclusive}}, {set: {PriorityWeightAgge: 1}}]}
  - {name: two, changes: [{separate_controllers: {controllers: {a: {nodes: 'a[1-3]'}, b: {partitions: [other]}}}}]}
  - {name: three, changes: [{separate_controllers: {controllers: {a: {nodes: 'a[1-2]'}, b: {nodes: 'a2,b1'}}}}]}
  - {name: four, changes: [{qos: {name: normal, set: {Priority: 5}}}, {nodes: {drain: {nodes: a1, window: [1, 1]}}}]}
  - {name: five, changes: [{reservation: {add: {name: r, nodes: a1, start: 2026-01-02, end: 2026-01-01}}}]}
gates: [{metric: wait_seconds.mean, by: user, key: nobody, max_increase: 1%}]
",
    );
    for words in [
        "/scenarios/0/changes/0/node_sharing: partition nowhere is not in slurm.conf",
        "/scenarios/0/changes/1/set/PriorityWeightAgge: ",
        "/scenarios/1/changes/0/separate_controllers/controllers/a: in scenario `two`: node a3 is not in slurm.conf",
        "/scenarios/1/changes/0/separate_controllers/controllers/b: in scenario `two`: partition other is not in slurm.conf",
        "/scenarios/2/changes/0/separate_controllers/controllers/b: in scenario `three`: node a2 belongs to another",
        "/scenarios/3/changes/0/qos/set/Priority: the change needs a sacctmgr dump",
        "/scenarios/3/changes/1/nodes/drain/window: the window ends before it begins",
        "/scenarios/4/changes/0/reservation/add/end: the reservation ends before it begins",
        "/gates/0/key: there is no user `nobody`",
    ] {
        assert!(found.contains(words), "{words}\n{found}");
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    let text = "name: x\nsite: {slurm_conf: site/slurm.conf, accounts: acc, usage: use}\ntrace: {file: gone.txt}\n";
    let document = study_document::read("study.yaml", text.as_bytes()).0.unwrap();
    let (study, diagnostics) = Study::prepare(&document, &files());
    assert!(study.is_none());
    let found = shown(&diagnostics);
    for name in ["acc: error: the file is not there", "use: error:", "gone.txt: error:"] {
        assert!(found.contains(name), "{found}");
    }
}

#[test]
fn hashes_name_files_by_their_role_and_not_by_their_path() {
    let inputs = study(SCENARIOS).plan().inputs.clone();
    assert_eq!(inputs.configuration.keys().collect::<Vec<_>>(), ["slurm.conf"]);
    assert_eq!((inputs.trace.len(), inputs.document.len(), inputs.seed), (64, 64, 1));
}

#[test]
fn a_fault_elsewhere_does_not_hide_those_of_changes() {
    let text = "name: test\nsite: {slurm_conf: site/slurm.conf}\ntrace: {file: trace.txt, timezone: UTC}\nreplications: 1\n\
                scenarios: [{name: x, changes: [{set: {PriorityWeightAgee: 10}}, {set: {CompleteWait: soon}}]}]";
    let (document, _) = study_document::read("study.yaml", text.as_bytes());
    // As `foresite simulate --timezone` makes it, without the checks of a document that was written.
    let mut document = document.unwrap();
    document.trace.timezone = Some("Mars/Base".to_owned());
    let (study, diagnostics) = Study::prepare(&document, &files());
    assert!(study.is_none());
    let said = shown(&diagnostics);
    for part in ["unknown time zone `Mars/Base`", "there is no parameter 'PriorityWeightAgee'", "'soon' is not a whole"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let errors = diagnostics.iter().filter(|it| it.is_error());
    assert!(errors.clone().count() == 3 && errors.into_iter().all(|it| !it.cure.is_empty()), "{said}");
}

/// Ten processors. Job 3 could end in the very second in which job 2, the head, is to start.
const SWF: &str = "; MaxProcs: 10
1 0 -1 100 6 -1 -1 6 100 -1 1 1 1 1 1 1 -1 -1
2 1 -1 10 10 -1 -1 10 10 -1 1 1 1 1 1 1 -1 -1
3 2 -1 98 4 -1 -1 4 98 -1 1 1 1 1 1 1 -1 -1
";

/// When the jobs of [`SWF`] start under EASY.
fn easy_starts(with_conf: bool, changes: &str) -> Result<Vec<Option<i64>>, String> {
    let mut files = FileSet::default();
    files.insert("log.swf", SWF.as_bytes());
    files.insert(
        "slurm.conf",
        "ClusterName=c\nNodeName=n[1-10] CPUs=1\nPartitionName=1 Nodes=ALL Default=YES\n".as_bytes(),
    );
    let text = format!(
        "name: test\nsite: {{slurm_conf: slurm.conf}}\ntrace: {{file: log.swf}}\nreplications: 1\nscenarios: [{{name: x, changes: [{changes}]}}]"
    );
    let (document, diagnostics) = study_document::read("study.yaml", text.as_bytes());
    let mut document = document.unwrap_or_else(|| panic!("{diagnostics:?}"));
    if !with_conf {
        document.site.slurm_conf = None;
    }
    let (study, diagnostics) = Study::prepare(&document, &files);
    let Some(study) = study else { return Err(shown(&diagnostics)) };
    let replicated = study.replicate(1, 0, &mut Unobserved).unwrap();
    let text = replicated.schedule_csv();
    let (schedule, _) = schedule_file::read("s.csv", &text);
    Ok(schedule.unwrap().rows.iter().map(|row| row.start).collect())
}

#[test]
fn plain_algorithms_take_their_options_with_a_slurm_conf_and_without() {
    for site in [false, true] {
        assert_eq!(easy_starts(site, "{scheduler: easy}"), Ok(vec![Some(0), Some(100), Some(2)]), "{site}");
        let before = "{scheduler: easy}, {set: {Plain.shadow_bound: before}}";
        assert_eq!(easy_starts(site, before), Ok(vec![Some(0), Some(100), Some(110)]), "{site}");
        let wrong = easy_starts(site, "{scheduler: easy}, {set: {Plain.shadow_bound: sometime}}").unwrap_err();
        assert!(wrong.contains("Plain.shadow_bound") && wrong.contains("'sometime' is unknown"), "{wrong}");
    }
}
