//! The comparison as Markdown, for pull requests.

use super::gates::GateOutcome;
use super::{Comparison, Dimension, GateResult, Metric, alone, beside_record, human};

/// More groups than this are summed up in a line.
const GROUPS_MAX: usize = 20;

/// Headline, one table per scenario, gates, caveats.
pub(super) fn write(comparison: &Comparison) -> String {
    let mut out = format!("## Foresite: {}\n\n", escape(&comparison.inputs.name));
    out += &format!(
        "{} replications, seed {}, engine {}. Differences are scenario less baseline, with 95 % intervals.\n",
        comparison.inputs.replications, comparison.inputs.seed, comparison.inputs.engine_version
    );
    if !comparison.gates.is_empty() {
        out += &gates(&comparison.gates);
    }
    if comparison.fidelity.is_some() {
        out += &format!("\n<details><summary>{}</summary>\n\n", beside_record::HEADING);
        out += &beside_record::notes(comparison).join(" ");
        out.push('\n');
        out.extend(beside_record::tables(comparison).iter().map(table));
        out += "\n</details>\n";
    }
    out.extend(alone::tables(comparison).iter().map(table));
    for scenario in &comparison.scenarios {
        out += &format!("\n### {}\n\n", escape(&scenario.name));
        for note in human::notes(scenario) {
            out += &format!("{}\n\n", escape(&note));
        }
        if let Some(overall) = scenario.overall() {
            out += "| metric | baseline | scenario | difference | 95 % interval | verdict |\n|---|---:|---:|---:|---:|---|\n";
            for (metric, change) in human::shown(overall) {
                out += &format!(
                    "| {} | {} | {} | {} | {} | {} |\n",
                    metric.label(),
                    human::value(metric, change.baseline),
                    human::value(metric, change.scenario),
                    human::change(metric, change),
                    human::interval(metric, change),
                    change.verdict
                );
            }
        }
        for by in [Dimension::User, Dimension::Account, Dimension::Partition, Dimension::Qos] {
            let n_groups = scenario.by(by).count();
            if n_groups < 2 {
                continue;
            }
            out += &format!("\n<details><summary>mean wait by {} ({n_groups})</summary>\n\n", by.label());
            out += &format!(
                "| {by} | jobs | baseline | difference | 95 % interval | verdict |\n|---|---:|---:|---:|---:|---|\n"
            );
            for group in scenario.by(by).take(GROUPS_MAX) {
                let Some(change) = group.metrics.get(&Metric::WaitMean) else { continue };
                out += &format!(
                    "| {} | {} | {} | {} | {} | {} |\n",
                    escape(&group.key),
                    group.jobs,
                    human::value(Metric::WaitMean, change.baseline),
                    human::change(Metric::WaitMean, change),
                    human::interval(Metric::WaitMean, change),
                    change.verdict
                );
            }
            if n_groups > GROUPS_MAX {
                out += &format!("\n{} more in the CSV.\n", n_groups - GROUPS_MAX);
            }
            out += "\n</details>\n";
        }
    }
    if !comparison.caveats.is_empty() {
        out += "\n#### Bear in mind\n\n";
        for caveat in &comparison.caveats {
            let about = caveat.scenario.as_ref().map(|name| format!("**{}**: ", escape(name))).unwrap_or_default();
            out += &format!("- {about}{}\n", escape(&caveat.text));
        }
    }
    out
}

fn table(table: &alone::Table) -> String {
    let line =
        |cells: &[String]| format!("| {} |\n", cells.iter().map(|it| escape(it)).collect::<Vec<_>>().join(" | "));
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!("\n{}|---|{}\n{rows}", line(&table.head), "---:|".repeat(table.head.len() - 1))
}

fn gates(gates: &[GateResult]) -> String {
    let mut out = "\n| gate | scenario | result |\n|---|---|---|\n".to_owned();
    for gate in gates {
        let result = match gate.outcome {
            GateOutcome::Passed => "passed",
            GateOutcome::Breached => "**breached**",
        };
        let result = match gate.reason() {
            reason if reason.is_empty() => result.to_owned(),
            reason => format!("{result}: {}", escape(&reason)),
        };
        let about = format!("{} by {}: {}", gate.metric, gate.by, gate.limit);
        out += &format!("| {} | {} | {result} |\n", escape(&about), escape(&gate.scenario));
    }
    out
}

/// Text that a table cell can hold.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            _ => out.push(letter),
        }
    }
    out
}
