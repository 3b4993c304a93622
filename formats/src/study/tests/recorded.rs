//! The record of a trace beside the simulated baseline.

use super::*;
use crate::comparison::fidelity::LikenessVerdict;

const HEADER: &str =
    "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|Timelimit|ElapsedRaw|NNodes|ReqCPUS|AllocTRES";

/// A comparison of jobs of a whole cluster of five nodes: minute of submission, start and end, state.
fn compared(jobs: &[(u32, &str, &str, &str)], trace: &str) -> Comparison {
    let time = |minute: &str| match minute.parse::<u32>() {
        Ok(minute) => format!("2026-01-01T{:02}:{:02}:00", minute / 60, minute % 60),
        Err(_) => minute.to_owned(),
    };
    let mut text = HEADER.to_owned() + "\n";
    for (id, (submit, start, end, state)) in (1..).zip(jobs) {
        let ran = match (start.parse::<u32>(), end.parse::<u32>()) {
            (Ok(start), Ok(end)) => (end - start) * 60,
            (_, Ok(end)) if *state == "COMPLETED" => (end - submit) * 60,
            _ => 0,
        };
        let submit = time(&submit.to_string());
        let (start, end) = (time(start), time(end));
        writeln!(
            text,
            "{id}|ann|group|main|normal|{submit}|{submit}|{start}|{end}|{state}|01:00:00|{ran}|5|20|cpu=20,node=5"
        )
        .unwrap();
    }
    let mut files = files();
    files.insert("trace.txt", text);
    let document = format!(
        "name: r\nsite: {{slurm_conf: site/slurm.conf}}\ntrace: {{file: trace.txt, timezone: UTC{trace}}}\nreplications: 2\n"
    );
    let document = study_document::read("study.yaml", document.as_bytes()).0.unwrap();
    let (study, diagnostics) = Study::prepare(&document, &files);
    on_threads(&study.unwrap_or_else(|| panic!("{}", shown(&diagnostics))), 1).0
}

#[test]
fn waits_and_utilisation_of_the_record_are_those_of_its_starts() {
    // Each job takes all nodes for ten minutes; the second waited for the first, and then for another ten minutes nobody knows what for.
    let comparison = compared(
        &[(0, "0", "10", "COMPLETED"), (0, "20", "30", "COMPLETED"), (5, "Unknown", "6", "CANCELLED by 0")],
        "",
    );
    let fidelity = comparison.fidelity.as_ref().unwrap();
    let all = fidelity.overall().unwrap();
    assert_eq!((all.jobs, all.started.both, all.started.neither), (3, 4, 2));
    let wait = all.metrics[&Metric::WaitMean];
    assert_eq!((wait.recorded, wait.verdict), (600.0, LikenessVerdict::Less));
    assert!((wait.baseline - 300.0).abs() < 10.0, "{wait:?}");
    let utilization = all.metrics[&Metric::Utilization];
    assert_eq!(utilization.recorded, 0.666667);
    assert!(utilization.baseline > 0.98 && utilization.verdict == LikenessVerdict::More, "{utilization:?}");
    assert_eq!((fidelity.starts.minute, fidelity.starts.hour), (0.5, 1.0));
}

#[test]
fn a_window_counts_the_records_of_its_own_jobs() {
    let jobs = [(0, "0", "50", "COMPLETED"), (40, "50", "60", "COMPLETED"), (65, "70", "75", "COMPLETED")];
    let comparison = compared(&jobs, ", window: ['2026-01-01T01:00:00', '2026-01-01T02:00:00'], warmup: 30m");
    let all = comparison.fidelity.as_ref().unwrap().overall().unwrap();
    assert_eq!((all.jobs, all.metrics[&Metric::WaitMean].recorded), (1, 300.0));
    // Five of the sixty minutes; the job of the warm-up was over.
    assert_eq!(all.metrics[&Metric::Utilization].recorded, 0.083333);
}

#[test]
fn a_record_without_starts_is_no_record_and_one_with_few_is_not_whole() {
    let none = compared(&[(0, "", "10", "COMPLETED"), (0, "", "20", "COMPLETED")], "");
    assert!(none.fidelity.is_none());
    let told = |comparison: &Comparison| {
        comparison.caveats.iter().any(|caveat| caveat.text.contains("cannot be held against the record"))
    };
    assert!(told(&none) && !none.to_terminal().contains("beside the record"));
    let half = compared(&[(0, "0", "10", "COMPLETED"), (0, "Unknown", "20", "COMPLETED")], "");
    let all = half.fidelity.as_ref().unwrap().overall().unwrap();
    assert!(
        !told(&half) && !all.metrics.contains_key(&Metric::Utilization) && !all.metrics.contains_key(&Metric::Makespan)
    );
    assert_eq!((all.started.both, all.started.left_out), (2, 2));
}
