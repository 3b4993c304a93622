//! The baseline beside the record, for people: the same tables in a terminal, in Markdown and on a page.

use super::alone::{GROUPS_MAX, Table};
use super::fidelity::{Likeness, RecordedGroup};
use super::{Comparison, Dimension, Metric, human};

/// The heading of this part.
pub(super) const HEADING: &str = "the baseline beside the record";

/// What the numbers cannot say for themselves; nothing where the trace tells no starts.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
    let Some(fidelity) = &comparison.fidelity else { return Vec::new() };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let starts = fidelity.starts;
    let mut notes = vec![format!(
        "Simulated starts within a minute of the recorded ones: {}; ten minutes: {}; an hour: {}.",
        percent(starts.minute),
        percent(starts.ten_minutes),
        percent(starts.hour)
    )];
    let Some(all) = fidelity.overall() else { return notes };
    let (started, n) = (all.started, u64::from(comparison.inputs.replications.max(1)));
    let others = [
        (started.baseline_only, "start in the baseline only"),
        (started.scenario_only, "start in the record only"),
        (started.left_out, "have no recorded start"),
    ];
    let others: Vec<String> = others
        .into_iter()
        .filter(|(jobs, _)| *jobs > 0)
        .map(|(jobs, words)| format!("{} {words}", human::count(jobs as f64 / n as f64)))
        .collect();
    if !others.is_empty() {
        notes.push(format!(
            "Of {} jobs {}: waits, slowdowns and response times are of the rest.",
            all.jobs,
            others.join(", ")
        ));
    }
    notes
}

/// All metrics, then the mean wait by group where there are several.
pub(super) fn tables(comparison: &Comparison) -> Vec<Table> {
    let Some(fidelity) = &comparison.fidelity else { return Vec::new() };
    let of = |by: Dimension| fidelity.groups.iter().filter(move |group| group.by == by);
    let mut tables = Vec::new();
    for all in of(Dimension::Overall) {
        let shown = Metric::ALL.into_iter().filter_map(|metric| Some((metric, all.metrics.get(&metric)?)));
        let shown =
            shown.filter(|(metric, like)| *metric != Metric::JobsUnstarted || like.baseline + like.recorded > 0.0);
        let rows = shown.map(|(metric, like)| [&[metric.label().to_owned()][..], &cells(metric, like)].concat());
        tables.push(Table { head: head(&[""]), rows: rows.collect() });
    }
    for by in Dimension::ALL.into_iter().filter(|by| *by != Dimension::Overall && of(*by).count() > 1) {
        let row = |group: &RecordedGroup| {
            let like = group.metrics.get(&Metric::WaitMean);
            let cells = like.map_or_else(|| [(); 5].map(|()| "–".to_owned()), |like| cells(Metric::WaitMean, like));
            [&[group.key.clone(), group.jobs.to_string()][..], &cells].concat()
        };
        let mut rows: Vec<Vec<String>> = of(by).take(GROUPS_MAX).map(row).collect();
        let more = of(by).count().saturating_sub(GROUPS_MAX);
        if more > 0 {
            let mut last = vec![String::new(); 7];
            last.splice(..1, [format!("… and {more} more")]);
            rows.push(last);
        }
        tables.push(Table { head: head(&[&format!("mean wait by {}", by.label()), "jobs"]), rows });
    }
    tables
}

fn head(first: &[&str]) -> Vec<String> {
    let rest = ["recorded", "baseline", "difference", "95 % of replications", "verdict"];
    first.iter().chain(&rest).map(|cell| (*cell).to_owned()).collect()
}

fn cells(metric: Metric, like: &Likeness) -> [String; 5] {
    let value = |value: f64| human::value(metric, Some(value));
    [
        value(like.recorded),
        value(like.baseline),
        human::moved(metric, like.difference, like.relative),
        like.range.map_or_else(|| "–".to_owned(), |(low, high)| format!("{} … {}", value(low), value(high))),
        like.verdict.to_string(),
    ]
}
