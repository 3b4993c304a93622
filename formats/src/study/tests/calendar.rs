//! A site's reservations and node events, from the files to the schedule.

use super::{Diagnostic, FileSet, Study, Unobserved, shown, study_document};

const SLURM_CONF: &str = "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n\
    NodeName=a[1-2] CPUs=4\nPartitionName=main Nodes=a[1-2] Default=YES\n";

/// As scontrol and sacctmgr print them.
const RESERVATIONS: &str = "ReservationName=course StartTime=2026-01-01T01:00:00 EndTime=2026-01-01T02:00:00 Duration=01:00:00 \
    Nodes=a1 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=4 Users=ann Groups=(null) \
    Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n";
const EVENTS: &str = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n\
    c|a2|2026-01-01T00:30:00|2026-01-01T03:00:00|DOWN*|Not responding|slurm(64030)\n\
    c||2025-12-31T00:00:00|Unknown||Cluster Registered TRES|\n";

/// Job 1 is the course's, and was held back by it; job 2 is struck by the node that goes down.
const TRACE: &str = "JobID|User|Account|Partition|QOS|Submit|Eligible|End|ElapsedRaw|State|TimelimitRaw|ReqTRES|Reservation|SubmitLine\n\
    1|ann|x|main|normal|2026-01-01T00:00:00|2026-01-01T01:00:00|2026-01-01T01:10:00|600|COMPLETED|10|cpu=4,node=1|course|sbatch -N1 -n4\n\
    2|bob|x|main|normal|2026-01-01T00:10:00|2026-01-01T00:10:00|2026-01-01T01:10:00|3000|COMPLETED|60|cpu=4,node=1||sbatch -N1 -n4\n";

fn prepared(site: &str, rest: &str) -> (Option<Study>, Vec<Diagnostic>) {
    let mut files = FileSet::default();
    for (name, text) in [("slurm.conf", SLURM_CONF), ("resv", RESERVATIONS), ("events", EVENTS), ("trace", TRACE)] {
        files.insert(name, text.as_bytes());
    }
    let text = format!(
        "name: x\nsite: {{slurm_conf: slurm.conf{site}}}\ntrace: {{file: trace, timezone: UTC}}\nreplications: 1\n{rest}"
    );
    let document = study_document::read("study.yaml", text.as_bytes()).0.unwrap();
    Study::prepare(&document, &files)
}

/// Start and end of the jobs [min after midnight], their state and nodes.
fn rows(study: &Study, scenario: usize) -> Vec<(Option<i64>, Option<i64>, String)> {
    let schedule = study.replicate(scenario, 0, &mut Unobserved).unwrap().schedule;
    let minute = |at: i64| (at - 1_767_225_600).div_euclid(60);
    let row = |row: &crate::schedule_file::ScheduleRow| {
        let state = format!("{} {}", row.state.as_str(), schedule.node_list(row));
        (row.start.map(minute), row.end.map(minute), state)
    };
    schedule.rows.iter().map(row).collect()
}

#[test]
fn the_files_of_a_site_reach_the_schedule() {
    let (study, diagnostics) = prepared(", reservations: resv, events: events", "");
    let found = shown(&diagnostics);
    for words in ["reservation", "resv:", "events:"] {
        assert!(!found.contains(words), "{found}");
    }
    let rows = rows(&study.unwrap(), 0);
    // The course begins at 60; the struck job is eligible again after 121 s, but its limit reaches into the course.
    assert_eq!(rows[0], (Some(60), Some(70), "COMPLETED a1".to_owned()));
    assert_eq!(rows[1], (Some(120), Some(170), "COMPLETED a1".to_owned()));
}

#[test]
fn a_reservation_that_is_not_known_is_named_and_its_jobs_run_as_any_other() {
    let (study, diagnostics) = prepared("", "");
    let words = "trace:2: assumed: Reservation: the reservation 'course' of 1 jobs is not known: they run as any other, from the \
                 recorded Eligible on; hand over scontrol show reservation -o of the trace's time";
    assert!(shown(&diagnostics).contains(words), "{}", shown(&diagnostics));
    let rows = rows(&study.unwrap(), 0);
    assert_eq!((rows[0].0, rows[1].0), (Some(60), Some(10)));
}

#[test]
fn a_scenario_without_the_reservation_lets_others_in() {
    let scenario = "scenarios: [{name: gone, changes: [{reservation: {remove: course}}]}]\n";
    let (study, diagnostics) = prepared(", reservations: resv, events: events", scenario);
    let study = study.unwrap_or_else(|| panic!("{}", shown(&diagnostics)));
    let rows = rows(&study, 1);
    assert_eq!(rows[1], (Some(10), Some(60), "COMPLETED a1".to_owned()));
    assert!(shown(&diagnostics).contains("in scenario `gone`: the reservation 'course' of 1 jobs is not known"));
}

#[test]
fn plain_algorithms_say_that_they_know_neither() {
    let scenario = "scenarios: [{name: plain, changes: [{scheduler: easy}]}]\n";
    let (_, diagnostics) = prepared(", reservations: resv", scenario);
    let words = "in scenario `plain`: plain algorithms know neither reservations nor outages";
    assert!(shown(&diagnostics).contains(words), "{}", shown(&diagnostics));
}
