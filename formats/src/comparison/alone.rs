//! The baseline alone: what a study without scenarios shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::statistics::{Moments, rounded};
use super::{Comparison, Dimension, Metric, human};

/// Groups of a dimension beyond these are summed up in a row.
pub(super) const GROUPS_MAX: usize = 20;

/// The jobs of one user, account, partition or QOS, or all, in a baseline without scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineGroup {
    /// What the jobs have in common.
    pub by: Dimension,
    /// Its name; empty for all jobs.
    pub key: String,
    /// Counted jobs of a replication.
    pub jobs: u64,
    /// The metrics, by name; those that no job has are left out.
    pub metrics: BTreeMap<Metric, Figure>,
}

/// One metric over replications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// Its 95 % interval (Student's t); absent below two replications.
    pub interval: Option<(f64, f64)>,
}

impl Figure {
    /// `None` where no replication has the metric.
    pub(super) fn of(metric: Metric, moments: &Moments) -> Option<Self> {
        let round = |value: f64| rounded(value, metric.decimals());
        let interval = moments.interval().map(|(low, high)| (round(low), round(high)));
        moments.mean().map(|mean| Self { mean: round(mean), interval })
    }
}

/// A table for people: the first column's cells to the left, the others' to the right.
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// All metrics, then the mean wait by group where there are several; nothing where there are scenarios, or a record that the baseline stands
/// beside.
pub(super) fn tables(comparison: &Comparison) -> Vec<Table> {
    if comparison.fidelity.is_some() {
        return Vec::new();
    }
    let of = |by: Dimension| comparison.baseline.iter().filter(move |group| group.by == by);
    let cells = |group: &BaselineGroup, metric: Metric| {
        let value = |value: f64| human::value(metric, Some(value));
        let figure = group.metrics.get(&metric)?;
        let interval = figure.interval.map(|(low, high)| format!("{} … {}", value(low), value(high)));
        Some([value(figure.mean), interval.unwrap_or_else(|| "–".to_owned())])
    };
    let mut tables = Vec::new();
    for all in of(Dimension::Overall) {
        let shown = Metric::ALL.into_iter().filter(|metric| {
            *metric != Metric::JobsUnstarted || all.metrics.get(metric).is_some_and(|figure| figure.mean > 0.0)
        });
        let row = |metric: Metric| Some([&[metric.label().to_owned()][..], &cells(all, metric)?].concat());
        let head = ["", "baseline", "95 % interval"].map(str::to_owned).to_vec();
        tables.push(Table { head, rows: shown.filter_map(row).collect() });
    }
    for by in Dimension::ALL.into_iter().filter(|by| *by != Dimension::Overall && of(*by).count() > 1) {
        let row = |group: &BaselineGroup| {
            let cells = cells(group, Metric::WaitMean).unwrap_or_else(|| ["–", "–"].map(str::to_owned));
            [&[group.key.clone(), group.jobs.to_string()][..], &cells].concat()
        };
        let title = format!("mean wait by {}", by.label());
        let head = [title.as_str(), "jobs", "baseline", "95 % interval"].map(str::to_owned).to_vec();
        let mut rows: Vec<Vec<String>> = of(by).take(GROUPS_MAX).map(row).collect();
        let more = of(by).count().saturating_sub(GROUPS_MAX);
        if more > 0 {
            rows.push([format!("… and {more} more").as_str(), "", "", ""].map(str::to_owned).to_vec());
        }
        tables.push(Table { head, rows });
    }
    tables
}
