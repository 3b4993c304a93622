//! The baseline beside the record: words, ranges, and what is said of jobs that one side lacks.

use super::*;
use crate::comparison::fidelity::{Fidelity, LikenessVerdict, StartsWithin};

/// A hundred jobs of ann's and one of bob's; all wait `wait` seconds, the first `left_out` of them have no row.
fn jobs(wait: i64, left_out: u64) -> Schedule {
    let rows: Vec<_> = (left_out..101).map(|job| (job, if job < 100 { "ann" } else { "bob" }, 0, Some(wait))).collect();
    schedule(&rows)
}

fn measured(simulated: &Schedule, recorded: &Schedule) -> Measured {
    let measures = measure((simulated, HORIZON), (recorded, HORIZON), |_| None);
    let starts = StartsWithin::of((simulated, HORIZON), recorded).unwrap();
    let scenario = measure((simulated, HORIZON), (&later_than(simulated, 30), HORIZON), |_| None);
    Measured { scenarios: vec![scenario], recorded: Some((measures, starts)) }
}

fn later_than(schedule: &Schedule, by: i64) -> Schedule {
    let mut later = schedule.clone();
    later.rows.iter_mut().for_each(|row| row.start = row.start.map(|start| start + by));
    later
}

/// Replications that wait so long, beside one record.
fn beside(waits: &[i64], recorded: &Schedule) -> Comparison {
    let inputs = Inputs { name: "beside".to_owned(), replications: waits.len() as u32, seed: 1, ..Inputs::default() };
    let mut comparer = Comparer::new(Plan { inputs, scenarios: vec![("later".to_owned(), None)], ..Plan::default() });
    waits.iter().for_each(|&wait| comparer.add(measured(&jobs(wait, 0), recorded)));
    comparer.finish()
}

fn fidelity(comparison: &Comparison) -> &Fidelity {
    comparison.fidelity.as_ref().unwrap()
}

#[test]
fn the_baseline_is_as_recorded_within_the_range_of_replications_or_five_per_cent_or_a_minute() {
    for (waits, recorded, verdict) in [
        // Mean 1,100, standard deviation 100, n 3: 1,100 ± 4.302653 × 100 × √(4/3) is 603 to 1,597.
        (&[1_000, 1_100, 1_200][..], 604, LikenessVerdict::AsRecorded),
        (&[1_000, 1_100, 1_200], 603, LikenessVerdict::More),
        (&[1_000, 1_100, 1_200], 1_597, LikenessVerdict::Less),
        (&[2_100, 2_100], 2_000, LikenessVerdict::AsRecorded),
        (&[2_101, 2_101], 2_000, LikenessVerdict::More),
        (&[1_899], 2_000, LikenessVerdict::Less),
        (&[60, 60], 0, LikenessVerdict::AsRecorded),
        (&[61, 61], 0, LikenessVerdict::More),
    ] {
        let comparison = beside(waits, &jobs(recorded, 0));
        let like = fidelity(&comparison).overall().unwrap().metrics[&Metric::WaitMean];
        assert_eq!(like.verdict, verdict, "{waits:?} beside {recorded}: {like:?}");
    }
    let comparison = beside(&[1_000, 1_100, 1_200], &jobs(2_000, 0));
    let like = fidelity(&comparison).overall().unwrap().metrics[&Metric::WaitMean];
    assert_eq!((like.recorded, like.baseline, like.difference, like.relative), (2_000.0, 1_100.0, -900.0, Some(-0.45)));
    assert_eq!(like.range, Some((603.172, 1_596.828)));
}

#[test]
fn a_scenario_that_moves_less_than_the_baseline_is_off_is_told() {
    let said = |recorded| {
        let comparison = beside(&[1_000, 1_000], &jobs(recorded, 0));
        let about = comparison.caveats.into_iter().find(|caveat| caveat.text.starts_with("The baseline is further"));
        about.map(|caveat| (caveat.scenario.unwrap(), caveat.text))
    };
    assert_eq!(said(1_000), None);
    let (scenario, text) = said(2_000).unwrap();
    assert_eq!(scenario, "later");
    assert!(
        text.contains("mean wait, median wait, 95th percentile wait, bounded slowdown") && !text.contains("response"),
        "{text}"
    );
}

#[test]
fn jobs_without_a_recorded_start_are_counted_and_left_out() {
    let comparison = beside(&[1_000, 1_000], &jobs(1_000, 40));
    let all = fidelity(&comparison).overall().unwrap();
    assert_eq!((all.jobs, all.started), (101, Started { both: 122, left_out: 80, ..Started::default() }));
    let words = "Of 101 jobs 40 have no recorded start: waits, slowdowns and response times are of the rest.";
    for text in [comparison.to_terminal(), comparison.to_markdown(), comparison.to_html()] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn waits_are_not_comparable_where_other_jobs_start() {
    let mut recorded = jobs(1_000, 0);
    recorded.rows.iter_mut().take(10).for_each(|row| row.start = None);
    let comparison = beside(&[1_000, 1_000], &recorded);
    let metrics = &fidelity(&comparison).overall().unwrap().metrics;
    assert_eq!(metrics[&Metric::WaitMean].verdict, LikenessVerdict::NotComparable);
    assert_eq!(metrics[&Metric::JobsUnstarted].verdict, LikenessVerdict::Less);
    assert!(comparison.to_terminal().contains("Of 101 jobs 10 start in the baseline only: "));
}

#[test]
fn shares_of_starts_near_the_recorded_ones_are_of_the_counted_jobs() {
    let simulated =
        schedule(&[(1, "a", 0, Some(60)), (2, "a", 0, Some(600)), (3, "a", 0, Some(3_601)), (4, "a", 0, None)]);
    let recorded = schedule(&[(1, "a", 0, Some(0)), (2, "a", 0, Some(0)), (3, "a", 0, Some(0)), (4, "a", 0, Some(0))]);
    let thirds = |n: i32| f64::from(n) / 3.0;
    let within = StartsWithin { minute: thirds(1), ten_minutes: thirds(2), hour: thirds(2) };
    assert_eq!(StartsWithin::of((&simulated, HORIZON), &recorded), Some(within));
    let outside = Horizon { window: Some((1, 2)), ..HORIZON };
    assert_eq!(StartsWithin::of((&simulated, outside), &recorded), None);
}

#[test]
fn every_shape_of_the_document_has_the_record() {
    let comparison = beside(&[1_000, 1_010], &jobs(1_100, 0));
    let json = comparison.to_json();
    assert!(json.contains("\"verdict\": \"as recorded\""), "{json}");
    assert_eq!(serde_json::from_str::<Comparison>(&json).unwrap(), comparison);
    let csv = comparison.to_csv();
    let row = csv.lines().find(|line| line.starts_with("baseline,overall,,101,wait_seconds.mean,")).unwrap();
    assert_eq!(row, "baseline,overall,,101,wait_seconds.mean,1005,,-95,-0.086364,894.961,1115.039,as recorded,1100");
    for text in [comparison.to_terminal(), comparison.to_markdown(), comparison.to_html()] {
        assert!(text.contains("the baseline beside the record") && text.contains("mean wait by user"), "{text}");
    }
}
