//! Changes to the jobs themselves: what chance decides, and what stays.

use std::collections::BTreeSet;

use super::{on_threads, study};
use crate::schedule_file::Schedule;
use foresite_engine::observer::Unobserved;

fn scenarios(changes: &[&str]) -> String {
    let mut text = "scenarios:\n".to_owned();
    for (number, change) in changes.iter().enumerate() {
        text.push_str(&format!("  - {{name: s{number}, changes: [{{workload: {change}}}]}}\n"));
    }
    text
}

fn schedule(study: &super::Study, scenario: usize, replication: u32) -> Schedule {
    study.replicate(scenario, replication, &mut Unobserved).unwrap().schedule
}

fn jobs_of(schedule: &Schedule, user: &str) -> BTreeSet<u64> {
    schedule.rows.iter().filter(|row| schedule.labels.name(row.user) == user).map(|row| row.job.id).collect()
}

#[test]
fn a_larger_fraction_holds_the_smaller_and_replications_differ() {
    let fraction = |part: &str| format!("{{reassign: {{from: ann, to: bob, fraction: {part}}}}}");
    let study = study(&scenarios(&[&fraction("0.2"), &fraction("0.5"), &fraction("1")]));
    let left = |scenario, replication| jobs_of(&schedule(&study, scenario, replication), "ann");
    for replication in 0..3 {
        let (recorded, few, half) = (left(0, replication), left(1, replication), left(2, replication));
        assert!(recorded.is_superset(&few) && few.is_superset(&half) && half.len() < few.len());
        assert!(left(3, replication).is_empty());
    }
    assert_ne!(left(2, 0), left(2, 1), "another replication draws anew");
}

#[test]
fn copies_have_ids_of_their_own_and_come_before_the_next_recorded_job() {
    let study = study(&scenarios(&["{scale_arrivals: 2}", "{scale_arrivals: 1.5}", "{scale_arrivals: 0.5}"]));
    let doubled = schedule(&study, 1, 0);
    let ids: Vec<u64> = doubled.rows.iter().map(|row| row.job.id).collect();
    let expected: Vec<u64> = (1..=60).flat_map(|id| [id, 100 + id]).collect();
    assert_eq!(ids, expected, "each copy follows its original");
    for pair in doubled.rows.chunks(2).take(59) {
        assert!((0..120).contains(&(pair[1].submit - pair[0].submit)), "recorded jobs come every two minutes");
    }
    let (more, fewer) = (schedule(&study, 2, 0), schedule(&study, 3, 0));
    assert!((75..105).contains(&more.rows.len()), "{}", more.rows.len());
    assert!((15..45).contains(&fewer.rows.len()), "{}", fewer.rows.len());
    // Who is doubled at 1.5 is kept at 0.5: the same draw decides.
    let copied: BTreeSet<u64> =
        more.rows.iter().map(|row| row.job.id).filter(|id| *id > 100).map(|id| id - 100).collect();
    let kept: BTreeSet<u64> = fewer.rows.iter().map(|row| row.job.id).collect();
    assert_eq!(copied, kept);
}

#[test]
fn a_change_of_nothing_changes_nothing() {
    let changes =
        ["{scale_arrivals: 1}", "{time_limit: {factor: 1}}", "{time_limit: {cap: 10h}}", "{time_limit: {limit: 1h}}"];
    let study = study(&scenarios(&changes));
    for scenario in 1..=changes.len() {
        assert!(schedule(&study, scenario, 1) == schedule(&study, 0, 1), "{}", changes[scenario - 1]);
    }
}

#[test]
fn changes_are_made_in_order_and_each_draws_for_itself() {
    let study = study(
        "scenarios:\n  - {name: s, changes: [{workload: {reassign: {from: ann, to: bob, fraction: 0.5}}}, \
         {workload: {reassign: {from: ann, to: cyd, fraction: 0.5}}}, {workload: {time_limit: {limit: 5m, jobs: {user: cyd}}}}]}\n",
    );
    let changed = schedule(&study, 1, 0);
    let (ann, bob, cyd) = (jobs_of(&changed, "ann"), jobs_of(&changed, "bob"), jobs_of(&changed, "cyd"));
    assert!(ann.len() < 12 && bob.len() > 22 && cyd.len() > 22, "{} {} {}", ann.len(), bob.len(), cyd.len());
    let longest = |user: &BTreeSet<u64>| {
        let rows = changed.rows.iter().filter(|row| user.contains(&row.job.id));
        rows.filter_map(|row| row.end.zip(row.start)).map(|(end, start)| end - start).max().unwrap()
    };
    assert!(longest(&cyd) <= 331, "jobs longer than the new limit are ended by it, within a scan of 30 s");
    assert!(longest(&bob) > 331);
}

#[test]
fn separate_controllers_take_the_changed_jobs() {
    let study = study(
        "scenarios:\n  - {name: s, changes: [{workload: {scale_arrivals: 2}}, {workload: {move: {from: left, to: main}}}, \
         {separate_controllers: {controllers: {a: {nodes: 'a[1-2]'}, b: {nodes: 'b[1-3]'}}}}]}\n",
    );
    let changed = schedule(&study, 1, 0);
    assert_eq!(changed.rows.len(), 120);
    assert!(changed.rows.iter().all(|row| changed.labels.name(row.partition) == "main"));
    assert!(changed.rows.iter().any(|row| row.job.id > 100 && changed.node_list(row).starts_with('a')));
}

#[test]
fn threads_make_no_difference_and_what_is_drawn_is_said() {
    let study = study(&scenarios(&["{scale_arrivals: 1.3}", "{time_limit: {factor: 0.5, fraction: 0.5}}"]));
    let (one, schedules) = on_threads(&study, 1);
    let (two, same) = on_threads(&study, 2);
    assert_eq!((one.to_json(), schedules), (two.to_json(), same));
    let said = |scenario: &str, words: &str| {
        one.caveats.iter().any(|it| it.scenario.as_deref() == Some(scenario) && it.text.contains(words))
    };
    assert!(said("s0", "drawn anew") && said("s0", "copies of jobs") && said("s1", "drawn anew"));
    assert!(said("s1", "ended by it") && !said("s1", "copies of jobs"));
    assert_eq!(one.scenarios[0].overall().unwrap().jobs, 60, "recorded jobs are compared");
}
