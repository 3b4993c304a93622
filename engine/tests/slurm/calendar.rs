//! What holds for every set of reservations and outages, on the clusters and workloads of [`crate::invariants`].

use foresite_engine::calendar::OutageKind;
use foresite_engine::ids::JobId;
use foresite_engine::job::TimeLimit;
use foresite_engine::node_set::NodeSet;
use foresite_engine::outcome::Outcome;
use foresite_engine::scenario::Scenario;
use proptest::prelude::*;

use crate::invariants::{scenario, word};
use crate::schedule::{expect_equal_with_every_cycle, run};

/// One node of one to five: where there are fewer, the last.
fn node() -> impl Strategy<Value = u32> {
    1..=5u32
}

fn reservation() -> impl Strategy<Value = String> {
    (
        0..3000u32,
        60..2000u32,
        prop::option::of(node()),
        word(&["", "", "created=500", "daily=2"]),
        word(&["", "maint", "flex", "overlap", "no_hold", "all_nodes", "p=p part_nodes"]),
        word(&["", "users=a", "users=-a", "accounts=x"]),
    )
        .prop_map(|(at, length, node, when, flag, who)| {
            let nodes = node.map_or(String::new(), |node| format!("nodes=n{node}"));
            // What is created after it has ended never was.
            let at = if when == "created=500" { at + 501 } else { at };
            format!("at={at} for={length} {nodes} {when} {flag} {who}")
        })
}

fn outage() -> impl Strategy<Value = String> {
    (node(), 0..3000u32, 1..3000u32, word(&["", "drain"]))
        .prop_map(|(node, at, length, kind)| format!("outage n{node} at={at} for={length} {kind}"))
}

/// A scenario with reservations, some jobs in them, and outages.
fn with_calendar() -> impl Strategy<Value = String> {
    (
        scenario(&["", "array=1-6", "array=1-6%2"]),
        prop::collection::vec(reservation(), 0..4),
        prop::collection::vec(outage(), 0..4),
        prop::collection::vec(0..12u32, 50),
    )
        .prop_map(|(text, reservations, outages, choices)| {
            let n_nodes: u32 = text.split_once(']').unwrap().0.rsplit_once('-').unwrap().1.parse().unwrap();
            let existing =
                |line: String| (n_nodes + 1..=5).fold(line, |line, node| line.replace(&format!("n{node}"), "n1"));
            let mut whole = String::new();
            for (line, &choice) in text.lines().zip(choices.iter().cycle()) {
                whole += line;
                if line.starts_with("job ") && choice < 3 && (choice as usize) < reservations.len() {
                    whole += &format!(" resv=r{choice}");
                }
                whole.push('\n');
            }
            for (index, reservation) in reservations.into_iter().enumerate() {
                whole += &existing(format!("reservation r{index} {reservation}\n"));
            }
            for outage in outages {
                whole += &existing(format!("{outage}\n"));
            }
            whole
        })
}

/// Nodes of the job's record.
fn nodes(scenario: &Scenario, outcome: &Outcome, index: usize) -> NodeSet {
    NodeSet::from_nodes(scenario.cluster.nodes.len(), outcome.nodes(JobId::new(index)))
}

/// A job that ran, against every outage and reservation.
fn check_job(scenario: &Scenario, outcome: &Outcome, index: usize) {
    let (job, record) = (&scenario.workload.jobs[index], &outcome.records[index]);
    let (Some(start), Some(end)) = (record.start, record.end) else { return };
    let held = nodes(scenario, outcome, index);
    let name = job.name;
    for outage in scenario.calendar.outages.iter().filter(|outage| outage.nodes.intersects(&held)) {
        assert!(!(outage.start..outage.end).contains(&start), "{name} started on a node that was out: {record:?}");
        let went_down = outage.kind == OutageKind::Down && (start..end).contains(&outage.start);
        assert!(!went_down, "{name} outlived its node: {record:?}");
    }
    let Some(TimeLimit::Minutes(limit)) = job.time_limit else { panic!("every job has a limit") };
    let expected_end = start + i64::from(limit) * 60;
    let named = scenario.workload.requests[job.request.index()].reservation.as_ref();
    let own = scenario.calendar.reservations.iter().find(|reservation| named == Some(&reservation.name));
    let is_freed =
        own.is_some_and(|own| own.flags.no_hold_jobs_after && own.windows.last().is_some_and(|last| start >= last.1));
    let own = own.filter(|_| !is_freed);
    if let Some(own) = own.filter(|own| !own.flags.flex) {
        let window = own.windows.iter().find(|window| (window.0..window.1).contains(&start));
        // One that recurs has its next time as soon as any job is tested after its end, and then lets its jobs go on.
        let recurs = |window: &(i64, i64)| own.windows.last().is_some_and(|last| window.1 < last.1);
        let is_in = window.is_some_and(|window| recurs(window) || end <= window.1 + 32);
        assert!(is_in, "{name} is not in its reservation: {record:?}");
        assert!(held.is_subset(&own.nodes), "{name} left its reservation");
    }
    for other in scenario.calendar.reservations.iter().filter(|other| own.is_none_or(|own| own.name != other.name)) {
        let may_share = own.is_some_and(|own| own.flags.maint || (own.flags.overlap && !other.flags.maint));
        let mut known = other.created;
        for &(from, to) in &other.windows {
            let exists = known <= start;
            known = to;
            let overlaps = from < expected_end && start < to;
            assert!(
                may_share || !exists || !overlaps || !other.nodes.intersects(&held),
                "{name} could reach into {}: {record:?}",
                other.name
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_job_starts_where_it_may_not(text in with_calendar(), seed in 0u64..1000) {
        let (scenario, outcome) = run(&text, seed);
        for index in 0..outcome.records.len() {
            check_job(&scenario, &outcome, index);
        }
    }

    #[test]
    fn skipped_cycles_would_have_changed_nothing(text in with_calendar(), seed in 0u64..1000) {
        expect_equal_with_every_cycle(&text, seed);
    }
}

/// The first test of job 2 in its FLEX reservation tells that it takes more nodes than that has, and the cycles behind it pass it over uncounted.
#[test]
fn a_count_of_nodes_for_a_reservation_changes_the_next_cycle() {
    for seed in 0..24 {
        expect_equal_with_every_cycle(
            "node n[1-2]
             qos normal max_jobs_per_user=1
             set enforce=limits
             job 1 run=100 t=5 user=c
             job 2 N=2 user=c resv=r
             reservation r nodes=n1 at=830 created=500 flex
             reservation s at=343",
            seed,
        );
    }
}
