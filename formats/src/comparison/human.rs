//! Numbers as people read them.

use super::statistics::rounded;
use super::{Change, ComparedScenario, Group, Metric, Unstarted};

/// A duration in the two largest units: `2 d 3 h`, `5 min 10 s`, `4.2 s`.
pub(super) fn duration(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "−" } else { "" };
    let whole = seconds.abs();
    if whole < 9.95 {
        return format!("{sign}{whole:.1} s");
    }
    let whole = whole.round() as u64;
    let (days, hours, minutes, rest) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60, whole % 60);
    let words = if days > 0 {
        two(days, "d", hours, "h")
    } else if hours > 0 {
        two(hours, "h", minutes, "min")
    } else if minutes > 0 {
        two(minutes, "min", rest, "s")
    } else {
        format!("{rest} s")
    };
    format!("{sign}{words}")
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{large} {large_unit}") } else { format!("{large} {large_unit} {small} {small_unit}") }
}

/// A metric's value.
pub(super) fn value(metric: Metric, value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if metric.is_seconds() => duration(value),
        Some(value) if metric == Metric::Utilization => format!("{:.1} %", value * 100.0),
        Some(value) if metric == Metric::JobsUnstarted => count(value),
        Some(value) => format!("{value:.2}"),
    }
}

/// A mean number of jobs.
pub(super) fn count(jobs: f64) -> String {
    let text = format!("{jobs:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The metrics of a scenario's table: how many jobs never start only where some do not.
pub(super) fn shown(group: &Group) -> impl Iterator<Item = (Metric, &Change)> {
    let is_shown = |(metric, change): &(Metric, &Change)| {
        *metric != Metric::JobsUnstarted || change.baseline != Some(0.0) || change.scenario != Some(0.0)
    };
    Metric::ALL.into_iter().filter_map(|metric| Some((metric, group.metrics.get(&metric)?))).filter(is_shown)
}

/// What stands under a scenario's name, before its table.
pub(super) fn notes(scenario: &ComparedScenario) -> impl Iterator<Item = String> {
    let controllers = scenario.controllers.as_ref().map(controllers);
    controllers.into_iter().chain(scenario.unstarted.as_ref().map(Unstarted::words))
}

/// A difference, its sign always written.
pub(super) fn difference(metric: Metric, difference: f64) -> String {
    let words = if metric == Metric::Utilization {
        format!("{:.1} points", difference.abs() * 100.0)
    } else {
        value(metric, Some(difference.abs()))
    };
    format!("{}{words}", sign(difference, metric.shown_decimals()))
}

/// The sign of a number that is shown with so many decimals.
fn sign(number: f64, decimals: u32) -> &'static str {
    match rounded(number, decimals) {
        number if number > 0.0 => "+",
        number if number < 0.0 => "−",
        _ => "±",
    }
}

/// Difference and per cent: `+5 min 10 s (+12.0 %)`.
pub(super) fn change(metric: Metric, change: &Change) -> String {
    change.difference.map_or_else(|| "–".to_owned(), |difference| moved(metric, difference, change.relative))
}

/// As [`change`], of a difference and its share of what it is to.
pub(super) fn moved(metric: Metric, by: f64, relative: Option<f64>) -> String {
    let share = |part: f64| format!(" ({}{:.1} %)", sign(part, 3), part.abs() * 100.0);
    format!("{}{}", difference(metric, by), relative.map(share).unwrap_or_default())
}

/// The interval: `−2 min … +5 min`.
pub(super) fn interval(metric: Metric, change: &Change) -> String {
    change.interval.map_or_else(
        || "–".to_owned(),
        |(low, high)| format!("{} … {}", difference(metric, low), difference(metric, high)),
    )
}

/// A group's key, or the word for all jobs.
pub(super) fn key(key: &str) -> &str {
    if key.is_empty() { "all jobs" } else { key }
}

/// What became of the jobs where the scenario has several controllers: one sentence for the top of its table.
fn controllers(controllers: &super::Controllers) -> String {
    let names = controllers.names.join(", ");
    let mut out = format!("{} controllers ({names}): {} jobs fit several", controllers.names.len(), controllers.either);
    if controllers.rejected > 0 {
        out += &format!(", {} fit none and were refused: waits compare the other jobs only", controllers.rejected);
    }
    if controllers.cut > 0 {
        out += &format!(", {} fit none and were cut to the largest", controllers.cut);
    }
    out
}
