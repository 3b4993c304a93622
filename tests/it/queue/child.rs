//! The real tasks, on a small trace: the worker's way gives the same bytes as the whole study in one process.

use std::ops::ControlFlow;
use std::path::Path;

use foresite_formats::file_set::FileSet;
use foresite_formats::study::Study;
use foresite_formats::study_document;
use foresite_jobs_queue::task::{Task, TaskError, TaskFolder, TaskSpec};
use foresite_jobs_queue::tasks::run_task_in;

const DOCUMENT: &str = r#"{"name":"small","site":{"slurm_conf":"slurm.conf"},"trace":{"file":"sacct.txt"},"replications":3,
    "scenarios":[{"name":"two jobs a user","changes":[{"set":{"SchedulerParameters.bf_max_job_user":2}}]},
        {"name":"more work","changes":[{"workload":{"scale_arrivals":1.5}},{"set":{"SchedulerParameters.bf_interval":60}}]},
        {"name":"two controllers","changes":[{"separate_controllers":{"controllers":{"a":{"nodes":"n[1-6]"},"b":{"nodes":"n[7-16]"}}}}]}]}"#;

const SLURM_CONF: &str = "ClusterName=small
SlurmctldHost=head
SchedulerType=sched/backfill
SelectType=select/linear
PriorityType=priority/basic
NodeName=n[1-16] CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
";

/// Jobs of changing width that fill the machine.
fn trace() -> String {
    let clock = |second: u32| format!("2026-01-01T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    let mut text =
        "JobID|User|Account|Partition|Submit|Start|End|State|TimelimitRaw|NNodes|NCPUS|ReqCPUS|ReqNodes\n".to_owned();
    for job in 1..=60 {
        let (submit, run, nodes) = (job * 20, 100 + job * 37 % 400, 1 + job * 7 % 16);
        let (start, end, limit) = (clock(submit + 5), clock(submit + 5 + run), run / 60 + 2);
        let user = job % 5;
        let row = format!("{job}|u{user}|a|main|{}|{start}|{end}|COMPLETED|{limit}", clock(submit));
        text.push_str(&format!("{row}|{nodes}|{nodes}|{nodes}|{nodes}\n"));
    }
    text
}

fn order(folder: &Path, document: &str, task: Task) -> TaskSpec {
    std::fs::write(TaskFolder(folder).input(0), trace()).unwrap();
    std::fs::write(TaskFolder(folder).input(1), SLURM_CONF).unwrap();
    TaskSpec {
        task,
        document: document.to_owned(),
        inputs: vec!["sacct.txt".to_owned(), "slurm.conf".to_owned()],
        compact: None,
        folder: folder.to_owned(),
        memory_limit_bytes: None,
    }
}

/// As [`order`], with the trace in the compact form that a check of `checked` left.
fn compact_order(folder: &Path, (document, checked): (&str, &str), task: Task) -> TaskSpec {
    run_task_in(&order(folder, checked, Task::Check)).unwrap();
    let order = order(folder, document, task);
    std::fs::rename(TaskFolder(folder).compact_trace(), TaskFolder(folder).input(0)).unwrap();
    TaskSpec { compact: Some(0), ..order }
}

/// The comparison as a worker's tasks make it, each in the order that `order` gives.
fn by_tasks(order: impl Fn(&Path, Task) -> TaskSpec) -> String {
    let folder = tempfile::tempdir().unwrap();
    for scenario in 0..4 {
        for (from, to) in [(0, 2), (2, 3)] {
            run_task_in(&order(folder.path(), Task::Replicate { scenario, from, to })).unwrap();
        }
    }
    run_task_in(&order(folder.path(), Task::Summarize)).unwrap();
    std::fs::read_to_string(TaskFolder(folder.path()).comparison()).unwrap()
}

#[test]
fn tasks_make_the_same_comparison_as_one_process() {
    for document in [DOCUMENT, &of_a_window()] {
        let (read, faults) = study_document::read("study", document.as_bytes());
        assert!(faults.is_empty(), "{faults:?}");
        let mut files = FileSet::default();
        files.insert("sacct.txt", trace().into_bytes());
        files.insert("slurm.conf", SLURM_CONF.as_bytes());
        let study = Study::prepare(&read.unwrap(), &files).0.unwrap();
        let comparison =
            study.simulate_all(2, |_, _, _, _| ControlFlow::Continue(()), |_, _, _| ControlFlow::Continue(()));
        let expected = comparison.unwrap().to_json();
        assert_eq!(by_tasks(|folder, task| order(folder, document, task)), expected);
        assert_eq!(by_tasks(|folder, task| compact_order(folder, (document, document), task)), expected);
    }
}

fn of_a_window() -> String {
    DOCUMENT.replace(r#""sacct.txt"}"#, r#""sacct.txt","window":["2026-01-01T00:05:00","2026-01-01T00:15:00"]}"#)
}

#[test]
fn a_trace_read_as_a_whole_is_not_taken_for_a_window_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let order = compact_order(folder.path(), (&of_a_window(), DOCUMENT), Task::Summarize);
    let Err(TaskError::Input(faults)) = run_task_in(&order) else { panic!("it was taken") };
    assert!(faults.contains("sacct.txt") && faults.contains("under other options"), "{faults}");
}

#[test]
fn a_scenario_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = run_task_in(&order(folder.path(), DOCUMENT, Task::Replicate { scenario: 4, from: 0, to: 1 }));
    let Err(TaskError::Input(faults)) = refused else { panic!("{refused:?}") };
    assert_eq!(faults, "the study has no scenario number 4");
}

#[test]
fn wrong_input_is_told_with_all_its_faults() {
    let folder = tempfile::tempdir().unwrap();
    let document = DOCUMENT.replace("sacct.txt", "gone.txt");
    let refused = run_task_in(&order(folder.path(), &document, Task::Summarize));
    let Err(TaskError::Input(faults)) = refused else { panic!("{refused:?}") };
    assert!(faults.contains("gone.txt"), "{faults}");
}
