//! Comparisons of small schedules: CSV in, document and its other shapes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod fidelity;

use super::statistics::{Moments, mean, percentile, rounded, sorted, student_t_975};
use super::{
    Caveat, Comparer, Comparison, Dimension, Inputs, Measured, Measures, Metric, Plan, Started, Verdict, figure,
    measure,
};
use crate::schedule_file::{COLUMNS, Schedule, read};
use crate::study_document::Gate;
use crate::summary_file::Horizon;

const HORIZON: Horizon = Horizon { window: None, cpus: 10 };

/// Rows of job, user, eligible and start; every job runs 100 s on 5 CPUs.
fn schedule(rows: &[(u64, &str, i64, Option<i64>)]) -> Schedule {
    let mut text = COLUMNS.join(",") + "\n";
    for (job, user, eligible, start) in rows {
        let ran = start
            .map_or(",,CANCELLED,0,0,,".to_owned(), |start| format!("{start},{},COMPLETED,1,5,n1,main", start + 100));
        text += &format!("{job},{user},acct,part,normal,{eligible},{eligible},{ran}\n");
    }
    read("s.csv", text.as_bytes()).0.unwrap()
}

fn baseline() -> Schedule {
    schedule(&[
        (1, "ann", 0, Some(10)),
        (2, "ann", 0, Some(20)),
        (3, "bob", 0, Some(60)),
        (4, "bob", 0, None),
        (5, "cyd", 0, None),
    ])
}

/// The baseline with everything started later.
fn later(by: i64) -> Schedule {
    schedule(&[
        (1, "ann", 0, Some(10 + by)),
        (2, "ann", 0, None),
        (3, "bob", 0, Some(60 + by)),
        (4, "bob", 0, Some(5)),
        (5, "cyd", 0, None),
    ])
}

/// Jobs 1 and 3 as in the baseline, started later; the others never.
fn moved(by: i64) -> Schedule {
    schedule(&[
        (1, "ann", 0, Some(10 + by)),
        (2, "ann", 0, None),
        (3, "bob", 0, Some(60 + by)),
        (4, "bob", 0, None),
        (5, "cyd", 0, None),
    ])
}

fn comparison(gates: &str, moves: &[i64]) -> Comparison {
    compared(gates, moves.iter().map(|by| measure((&moved(0), HORIZON), (&moved(*by), HORIZON), |_| None)).collect())
}

fn compared(gates: &str, replications: Vec<Measures>) -> Comparison {
    let gates: Vec<Gate> = serde_norway::from_str(gates).unwrap();
    let inputs =
        Inputs { name: "a | b <c>".to_owned(), replications: replications.len() as u32, seed: 1, ..Inputs::default() };
    let caveats = vec![Caveat { scenario: None, text: "Bear <it> in mind.".to_owned() }];
    let mut comparer = Comparer::new(Plan {
        inputs,
        scenarios: vec![("later & worse".to_owned(), None)],
        caveats,
        idle: Vec::new(),
        gates,
    });
    for measures in replications {
        comparer.add(Measured { scenarios: vec![measures], recorded: None });
    }
    comparer.finish()
}

#[test]
fn waits_are_of_the_jobs_that_started_in_both_and_the_others_are_counted() {
    let measures = measure((&baseline(), HORIZON), (&later(30), HORIZON), |_| None);
    let group = |by, key: &str| &measures.groups[&(by, key.to_owned())];
    let all = group(Dimension::Overall, "");
    assert_eq!(all.jobs, 5);
    assert_eq!(all.started, Started { both: 2, baseline_only: 1, scenario_only: 1, neither: 1, left_out: 0 });
    assert_eq!(all.values[&Metric::WaitMean], (35.0, 65.0));
    assert_eq!(all.values[&Metric::ResponseMean], (135.0, 165.0));
    assert_eq!(all.values[&Metric::Makespan], (160.0, 190.0));
    assert_eq!(all.values[&Metric::Utilization], (1500.0 / 1600.0, 1500.0 / 1900.0));
    assert_eq!(group(Dimension::User, "ann").values[&Metric::WaitMean], (10.0, 40.0));
    assert_eq!(all.values[&Metric::JobsUnstarted], (2.0, 2.0));
    assert_eq!(group(Dimension::User, "cyd").values.keys().collect::<Vec<_>>(), [&Metric::JobsUnstarted]);
    assert_eq!(group(Dimension::Qos, "normal").jobs, 5);
}

#[test]
fn jobs_are_paired_by_id_whatever_their_order() {
    let mut shuffled = later(30);
    shuffled.rows.reverse();
    let in_order = measure((&baseline(), HORIZON), (&later(30), HORIZON), |_| None);
    assert_eq!(in_order, measure((&baseline(), HORIZON), (&shuffled, HORIZON), |_| None));
    shuffled.rows.truncate(2);
    let of_two = measure((&baseline(), HORIZON), (&shuffled, HORIZON), |_| None);
    assert_eq!(of_two.groups[&(Dimension::Overall, String::new())].started.left_out, 3);
}

#[test]
fn verdicts_need_an_interval_on_one_side_of_zero() {
    for (moved, verdict) in [
        (&[30, 32, 34][..], Verdict::Worse),
        (&[-3, -4, -5], Verdict::Better),
        (&[-5, 5, 1], Verdict::NoDetectableChange),
        (&[30], Verdict::NotEnoughData),
    ] {
        let comparison = comparison("[]", moved);
        assert_eq!(comparison.scenarios[0].overall().unwrap().metrics[&Metric::WaitMean].verdict, verdict, "{moved:?}");
    }
    assert_eq!(Verdict::of(Some((0.1, 0.2)), true), Verdict::Better);
    assert_eq!(Verdict::of(Some((-0.2, -0.1)), true), Verdict::Worse);
    let nobody = comparison("[]", &[1, 2]).scenarios[0].by(Dimension::User).last().unwrap().clone();
    assert_eq!(nobody.metrics[&Metric::WaitMean].verdict, Verdict::NotEnoughData);
}

#[test]
fn there_is_no_verdict_on_a_difference_that_is_shown_as_zero() {
    // Every job is allocated 500 CPU-seconds; in the scenario the last ends later, by one second in a hundred thousand.
    let of = |by: i64| schedule(&[(1, "ann", 0, Some(0)), (2, "ann", 0, Some(100_000 + by))]);
    let text = compared("[]", (0..3).map(|_| measure((&of(0), HORIZON), (&of(1), HORIZON), |_| None)).collect());
    let utilization = text.scenarios[0].overall().unwrap().metrics[&Metric::Utilization];
    assert!(utilization.interval.unwrap().1 <= 0.0);
    assert_eq!(utilization.verdict, Verdict::NoDetectableChange);
    let line = text.to_terminal().lines().find(|line| line.contains("utilisation")).unwrap().to_owned();
    assert!(line.contains("±0.0 points (±0.0 %)") && line.contains("±0.0 points … ±0.0 points"), "{line}");
}

#[test]
fn intervals_are_students_over_replications() {
    let change = comparison("[]", &[30, 32, 34]).scenarios[0].overall().unwrap().metrics[&Metric::WaitMean];
    // Mean 32, standard deviation 2, n 3: 32 ± 4.302653 × 2 / √3.
    assert_eq!((change.baseline, change.difference), (Some(35.0), Some(32.0)));
    assert_eq!(change.interval, Some((27.032, 36.968)));
    assert_eq!(change.relative, Some(0.914286));
}

#[test]
fn gates_are_judged_on_the_unfavourable_end() {
    // The end is at 36.968 s of 35 s.
    for (gate, breached) in [
        ("{metric: wait_seconds.mean, max_increase: 37s}", false),
        ("{metric: wait_seconds.mean, max_increase: 36s}", true),
        ("{metric: wait_seconds.mean, max_increase: 106%}", false),
        ("{metric: wait_seconds.mean, max_increase: 105%}", true),
        ("{metric: wait_seconds.mean, max_increase: 5%, ignore_below: 60s}", false),
        ("{metric: wait_seconds.mean, max_increase: 5%, min_jobs: 6}", false),
        ("{metric: wait_seconds.mean, max_decrease: 1%}", false),
        ("{metric: utilization, max_decrease: 1%}", true),
        ("{metric: wait_seconds.mean, by: user, key: cyd, max_increase: 5%}", true),
        ("{metric: wait_seconds.mean, by: user, key: cyd, max_increase: 5%, on_inconclusive: pass}", false),
        ("{metric: wait_seconds.mean, by: user, key: ann, max_increase: 1h}", false),
    ] {
        let comparison = comparison(&format!("[{gate}]"), &[30, 32, 34]);
        assert_eq!(comparison.is_breached(), breached, "{gate} {:?}", comparison.gates);
    }
    let gate = &comparison("[{metric: wait_seconds.mean, max_increase: 30s}]", &[30, 32, 34]).gates[0];
    assert_eq!(gate.reason(), "all jobs may move by +37 s, allowed +30 s");
}

/// A hundred jobs of ann's that waited 100 s, and 10 s where `refused` of them are; 7 more never start on either side.
fn refusing(refused: u64) -> Measures {
    let with = |wait: i64, refused: u64| {
        let rows: Vec<_> = (0..107).map(|job| (job, "ann", 0, (job >= 7 + refused).then_some(wait))).collect();
        schedule(&rows)
    };
    let left = |jobs: u64| [("Limit".to_owned(), jobs)].into_iter().collect();
    let measures = measure((&with(100, 0), HORIZON), (&with(10, refused), HORIZON), |_| None);
    measures.with_pending(&left(7), &left(7 + refused))
}

#[test]
fn refusing_jobs_does_not_make_waits_better() {
    let gate = "[{metric: wait_seconds.mean, max_increase: 5%}]";
    for (refused, verdict, line) in [
        (0, Verdict::Better, None),
        (
            5,
            Verdict::Better,
            Some("12 of 107 jobs never start (mean per replication), 5 of them in this scenario only: "),
        ),
        (
            6,
            Verdict::NotComparable,
            Some("13 of 107 jobs never start (mean per replication), 6 of them in this scenario only: "),
        ),
    ] {
        let comparison = compared(gate, vec![refusing(refused), refusing(refused)]);
        let scenario = &comparison.scenarios[0];
        let metrics = &scenario.overall().unwrap().metrics;
        assert_eq!(metrics[&Metric::WaitMean].verdict, verdict, "{refused}");
        assert_eq!(comparison.is_breached(), verdict == Verdict::NotComparable, "{refused}: {:?}", comparison.gates);
        let reason = format!("Cancelled {refused} (they left the queue first, or fit no controller), ")
            + &format!("Limit {refused} (at or above a limit of their association or QOS)");
        let line = line.map(|line| line.to_owned() + &reason);
        assert_eq!(scenario.unstarted.as_ref().map(|it| it.words()), line, "{refused}");
        let Some(line) = line else { continue };
        for text in [comparison.to_terminal(), comparison.to_markdown(), comparison.to_html()] {
            assert!(text.contains(&line), "{text}");
        }
        let again: Comparison = serde_json::from_str(&comparison.to_json()).unwrap();
        assert_eq!(again, comparison);
    }
}

#[test]
fn longer_waits_of_fewer_jobs_are_worse_and_of_more_jobs_are_not_comparable() {
    let more = Started { both: 50, scenario_only: 50, ..Started::default() };
    let fewer = Started { both: 50, baseline_only: 50, ..Started::default() };
    for (verdict, of_fewer, of_more) in [
        (Verdict::Worse, Verdict::Worse, Verdict::NotComparable),
        (Verdict::Better, Verdict::NotComparable, Verdict::NotComparable),
        (Verdict::NoDetectableChange, Verdict::NotComparable, Verdict::NotComparable),
        (Verdict::NotEnoughData, Verdict::NotEnoughData, Verdict::NotEnoughData),
    ] {
        assert_eq!((verdict.among(&fewer), verdict.among(&more)), (of_fewer, of_more), "{verdict}");
    }
}

#[test]
fn gates_count_jobs_that_never_start_and_pass_no_waits_that_are_not_comparable() {
    for (gate, breached, reason) in [
        ("{metric: jobs_unstarted, max_increase: 1}", true, "all jobs may move by +6, allowed +1"),
        ("{metric: jobs_unstarted, max_increase: 6}", false, ""),
        // Per cent of the 107 jobs.
        ("{metric: jobs_unstarted, max_increase: 1%}", true, "all jobs may move by +6, allowed +1.1"),
        ("{metric: jobs_unstarted, by: user, max_increase: 6%}", false, ""),
        (
            "{metric: wait_seconds.mean, max_increase: 1h}",
            true,
            "not comparable for all jobs: more than 5 % of the jobs start on one side only",
        ),
        (
            "{metric: wait_seconds.mean, by: user, max_increase: 1h, on_inconclusive: pass}",
            false,
            "not comparable for ann: more than 5 % of the jobs start on one side only",
        ),
        ("{metric: utilization, max_decrease: 50%}", false, ""),
    ] {
        let comparison = compared(&format!("[{gate}]"), vec![refusing(6), refusing(6)]);
        let result = &comparison.gates[0];
        assert_eq!((result.is_breached(), result.reason().as_str()), (breached, reason), "{gate}");
    }
}

#[test]
fn the_document_says_the_same_again_when_it_is_read() {
    let comparison = comparison("[{metric: wait_seconds.mean, by: user, max_increase: 5%}]", &[30, 32, 34]);
    let json = comparison.to_json();
    assert_eq!(serde_json::from_str::<Comparison>(&json).unwrap(), comparison);
    assert!(json.contains("\"wait_seconds.mean\": {\n"));
    assert!(json.contains("\"verdict\": \"no detectable change\"") || json.contains("\"verdict\": \"worse\""));
}

#[test]
fn csv_has_a_row_per_scenario_group_and_metric() {
    let csv = comparison("[]", &[30, 32, 34]).to_csv();
    let lines: Vec<&str> = csv.lines().collect();
    // Eight metrics overall, six of each of three users, one account, one partition and one QOS.
    assert_eq!(lines.len(), 1 + 8 + 6 * 6);
    assert_eq!(
        lines[0],
        "scenario,by,key,jobs,metric,baseline,scenario_value,difference,relative,interval_low,interval_high,verdict,recorded"
    );
    assert_eq!(lines[1], "later & worse,overall,,5,wait_seconds.mean,35,67,32,0.914286,27.032,36.968,worse,");
    assert!(csv.contains("later & worse,user,cyd,1,wait_seconds.mean,,,,,,,not enough data,\n"));
}

#[test]
fn names_cannot_break_markdown_html_xml_or_svg() {
    let comparison = comparison("[{metric: wait_seconds.mean, max_increase: 5%}]", &[30, 32, 34]);
    assert!(comparison.to_markdown().starts_with("## Foresite: a \\| b &lt;c>\n"));
    let html = comparison.to_html();
    assert!(
        html.contains("<h1>a | b &lt;c&gt;</h1>")
            && html.contains("Bear &lt;it&gt; in mind.")
            && html.contains("<svg ")
    );
    assert!(!html.contains("<script") && !html.contains("src="));
    let junit = comparison.to_junit();
    assert!(junit.contains("tests=\"1\" failures=\"1\"") && junit.contains("classname=\"later &amp; worse\""));
    assert!(junit.contains("<failure message=\"all jobs may move by +37 s, allowed +1.8 s\"/>"));
}

#[test]
fn figures_are_found_by_name() {
    let comparison = comparison("[]", &[30, 32, 34]);
    assert_eq!(figure::names(&comparison)[0], "wait-by-user-1");
    for name in figure::names(&comparison) {
        let svg = figure::svg(&comparison, &name).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
    assert!(figure::svg(&comparison, "wait-by-user-1").unwrap().contains("ann</text>"));
    for name in ["wait-by-user-2", "wait-by-user-0", "wait-by-user", "x-1", "", "-"] {
        assert_eq!(figure::svg(&comparison, name), None, "{name}");
    }
}

#[test]
fn the_terminal_table_is_aligned() {
    let text = comparison("[{metric: wait_seconds.mean, max_increase: 5%}]", &[30, 32, 34]).to_terminal();
    let lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().position(|line| line.contains("baseline")).unwrap();
    let column_of = |line: &str, word: &str| line.find(word).map(|at| line[..at].chars().count());
    let verdicts = column_of(lines[head], "verdict");
    assert!(lines[head + 1].starts_with("  mean wait "), "{text}");
    assert_eq!(column_of(lines[head + 1], "worse"), verdicts, "{text}");
    assert_eq!(column_of(lines[head + 6], "worse"), verdicts, "{text}");
    assert!(text.contains("BREACHED  later & worse: wait_seconds.mean by overall, max_increase 5%"), "{text}");
}

#[test]
fn statistics_are_as_defined() {
    assert_eq!((mean(&[]), mean(&[1.0, 2.0])), (None, Some(1.5)));
    let values = sorted(vec![4.0, 1.0, 3.0, 2.0]);
    assert_eq!(percentile(&values, 50), Some(2.5));
    assert_eq!(percentile(&values[..3], 50), Some(2.0));
    assert_eq!((percentile(&values, 95), percentile(&values, 25)), (Some(4.0), Some(1.0)));
    assert_eq!((percentile(&[], 50), percentile(&[], 95), percentile(&[7.0], 95)), (None, None, Some(7.0)));
    assert_eq!(rounded(1.000_5, 3), 1.001);
    assert!(rounded(-0.000_1, 3).is_sign_positive());
    assert_eq!(rounded(1e300, 3), 1e300);
    let mut moments = Moments::default();
    [2.0, 4.0].into_iter().for_each(|value| moments.push(value));
    let (low, high) = moments.interval().unwrap();
    assert!((low - (3.0 - 12.706_204_74)).abs() < 1e-6 && (high - (3.0 + 12.706_204_74)).abs() < 1e-6);
    // One more value varies about the mean as each did, and the mean itself is uncertain: √(1 + ½) standard deviations of √2.
    let (low, high) = moments.range().unwrap();
    let half = 12.706_204_74 * 3f64.sqrt();
    assert!((low - (3.0 - half)).abs() < 1e-6 && (high - (3.0 + half)).abs() < 1e-6);
}

#[test]
fn students_t_is_that_of_published_tables() {
    for (freedom, value) in
        [(1, 12.7062), (2, 4.3027), (9, 2.2622), (11, 2.2010), (19, 2.0930), (29, 2.0452), (99, 1.9842), (999, 1.9623)]
    {
        assert!((student_t_975(freedom) - value).abs() < 1e-4, "{freedom}: {}", student_t_975(freedom));
    }
}
