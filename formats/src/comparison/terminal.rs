//! The comparison as an aligned table for a terminal.

use super::{Comparison, Dimension, Metric, alone, beside_record, human};

/// More groups than this are summed up in a line.
const GROUPS_MAX: usize = 15;

/// Every scenario's metrics, then its users, then gates and caveats.
pub(super) fn write(comparison: &Comparison) -> String {
    let inputs = &comparison.inputs;
    let mut out = format!("{}\n{} replications, seed {}\n", inputs.name, inputs.replications, inputs.seed);
    if comparison.fidelity.is_some() {
        out += &format!("\n{}\n", beside_record::HEADING);
        out.extend(beside_record::notes(comparison).iter().map(|note| format!("  {note}\n")));
        out.extend(beside_record::tables(comparison).iter().map(|it| table(&it.head, &it.rows)));
    }
    for alone::Table { head, rows } in alone::tables(comparison) {
        out += &format!("\n{}", table(&head, &rows));
    }
    for scenario in &comparison.scenarios {
        out += &format!("\n{}\n", scenario.name);
        for note in human::notes(scenario) {
            out += &format!("  {note}\n");
        }
        if let Some(overall) = scenario.overall() {
            let head = ["", "baseline", "scenario", "difference", "95 % interval", "verdict"];
            let rows = human::shown(overall).map(|(metric, change)| {
                [
                    metric.label().to_owned(),
                    human::value(metric, change.baseline),
                    human::value(metric, change.scenario),
                    human::change(metric, change),
                    human::interval(metric, change),
                    change.verdict.to_string(),
                ]
            });
            out += &table(&head, &rows.collect::<Vec<_>>());
        }
        for by in [Dimension::User, Dimension::Partition] {
            let n_groups = scenario.by(by).count();
            if n_groups < 2 {
                continue;
            }
            let title = format!("mean wait by {}", by.label());
            let head = [title.as_str(), "jobs", "baseline", "difference", "95 % interval", "verdict"];
            let rows = scenario.by(by).take(GROUPS_MAX).filter_map(|group| {
                let change = group.metrics.get(&Metric::WaitMean)?;
                Some([
                    group.key.clone(),
                    group.jobs.to_string(),
                    human::value(Metric::WaitMean, change.baseline),
                    human::change(Metric::WaitMean, change),
                    human::interval(Metric::WaitMean, change),
                    change.verdict.to_string(),
                ])
            });
            out += &table(&head, &rows.collect::<Vec<_>>());
            if n_groups > GROUPS_MAX {
                out += &format!("  … and {} more\n", n_groups - GROUPS_MAX);
            }
        }
    }
    if !comparison.gates.is_empty() {
        out += "\ngates\n";
        for gate in &comparison.gates {
            let word = if gate.is_breached() { "BREACHED" } else { "passed  " };
            out += &format!("  {word}  {}: {} by {}, {}\n", gate.scenario, gate.metric, gate.by, gate.limit);
            let reason = gate.reason();
            if !reason.is_empty() {
                out += &format!("            {reason}\n");
            }
        }
    }
    if !comparison.caveats.is_empty() {
        out += "\nbear in mind\n";
        for caveat in &comparison.caveats {
            let about = caveat.scenario.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            out += &format!("  - {about}{}\n", caveat.text);
        }
    }
    out
}

/// Columns as wide as their widest cell; the first and last to the left, the others to the right.
fn table(head: &[impl AsRef<str>], rows: &[impl AsRef<[String]>]) -> String {
    let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
    let rows = rows.iter().map(|row| row.as_ref().iter().map(String::as_str).collect());
    let lines: Vec<Vec<&str>> = std::iter::once(head).chain(rows).collect();
    let n_columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let line = |cells: &Vec<&str>| {
        let padded: Vec<String> =
            (1..)
                .zip(cells.iter().zip(&widths))
                .map(|(column, (cell, width))| {
                    if column == 1 || column == n_columns {
                        format!("{cell:<width$}")
                    } else {
                        format!("{cell:>width$}")
                    }
                })
                .collect();
        format!("  {}\n", padded.join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}
