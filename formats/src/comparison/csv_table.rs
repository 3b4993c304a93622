//! The comparison as CSV: one row per scenario, group and metric.

use super::{Comparison, Metric};
use crate::study_document::BASELINE;

const COLUMNS: [&str; 13] = [
    "scenario",
    "by",
    "key",
    "jobs",
    "metric",
    "baseline",
    "scenario_value",
    "difference",
    "relative",
    "interval_low",
    "interval_high",
    "verdict",
    "recorded",
];

/// CSV with a header and `\n` line ends; absent numbers are empty. Rows of the `baseline` have its values only, or, where the trace tells when
/// jobs started, stand beside the record: the difference is to that, and the interval the range of replications.
pub(super) fn write(comparison: &Comparison) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    for group in comparison.fidelity.iter().flat_map(|fidelity| &fidelity.groups) {
        for metric in Metric::ALL {
            let Some(like) = group.metrics.get(&metric) else { continue };
            rows.push([
                BASELINE.to_owned(),
                group.by.as_str().to_owned(),
                group.key.clone(),
                group.jobs.to_string(),
                metric.as_str().to_owned(),
                like.baseline.to_string(),
                String::new(),
                like.difference.to_string(),
                number(like.relative),
                number(like.range.map(|range| range.0)),
                number(like.range.map(|range| range.1)),
                like.verdict.as_str().to_owned(),
                like.recorded.to_string(),
            ]);
        }
    }
    for group in comparison.baseline.iter().filter(|_| comparison.fidelity.is_none()) {
        for metric in Metric::ALL {
            let Some(figure) = group.metrics.get(&metric) else { continue };
            let (jobs, mean) = (group.jobs.to_string(), figure.mean.to_string());
            let known = [BASELINE, group.by.as_str(), &group.key, &jobs, metric.as_str(), &mean];
            rows.push(std::array::from_fn(|column| known.get(column).copied().unwrap_or_default().to_owned()));
        }
    }
    for scenario in &comparison.scenarios {
        for group in &scenario.groups {
            for metric in Metric::ALL {
                let Some(change) = group.metrics.get(&metric) else { continue };
                rows.push([
                    scenario.name.clone(),
                    group.by.as_str().to_owned(),
                    group.key.clone(),
                    group.jobs.to_string(),
                    metric.as_str().to_owned(),
                    number(change.baseline),
                    number(change.scenario),
                    number(change.difference),
                    number(change.relative),
                    number(change.interval.map(|interval| interval.0)),
                    number(change.interval.map(|interval| interval.1)),
                    change.verdict.as_str().to_owned(),
                    String::new(),
                ]);
            }
        }
    }
    // Writing to memory cannot fail, and every field was a String.
    let is_written = rows.iter().all(|row| writer.write_record(row).is_ok());
    let bytes = writer.into_inner().unwrap_or_default();
    if is_written { String::from_utf8(bytes).unwrap_or_default() } else { String::new() }
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
