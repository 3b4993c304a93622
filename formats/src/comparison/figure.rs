//! Figures as SVG: how the mean wait of each group changes, with its interval.

use super::html::escape;
use super::{ComparedScenario, Comparison, Dimension, Metric, Verdict, human};

/// More bars than this do not fit; the largest changes are drawn.
const BARS_MAX: usize = 30;
const WIDTH: f64 = 760.0;
const LEFT: f64 = 160.0;
const RIGHT: f64 = 150.0;
const BAR: f64 = 22.0;

const FIGURES: [(&str, Dimension); 4] = [
    ("wait-by-user", Dimension::User),
    ("wait-by-account", Dimension::Account),
    ("wait-by-partition", Dimension::Partition),
    ("wait-by-qos", Dimension::Qos),
];

/// The names of a comparison's figures: `wait-by-user-1` is the first scenario's users.
pub fn names(comparison: &Comparison) -> Vec<String> {
    (1..=comparison.scenarios.len())
        .flat_map(|number| FIGURES.iter().map(move |(name, _)| format!("{name}-{number}")))
        .collect()
}

/// The figure of that name; `None` if there is none.
pub fn svg(comparison: &Comparison, name: &str) -> Option<String> {
    let (kind, number) = name.rsplit_once('-')?;
    let (_, by) = FIGURES.iter().find(|(known, _)| *known == kind)?;
    let scenario = comparison.scenarios.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
    Some(bars(scenario, *by))
}

struct Bar<'a> {
    key: &'a str,
    difference: f64,
    interval: (f64, f64),
    verdict: Verdict,
}

/// Bars of the change of the mean wait of each group of a dimension.
pub(super) fn bars(scenario: &ComparedScenario, by: Dimension) -> String {
    let mut bars: Vec<Bar> = scenario
        .by(by)
        .filter_map(|group| {
            let change = group.metrics.get(&Metric::WaitMean)?;
            let difference = change.difference?;
            let interval = change.interval.unwrap_or((difference, difference));
            Some(Bar { key: &group.key, difference, interval, verdict: change.verdict })
        })
        .collect();
    let n_groups = bars.len();
    if n_groups > BARS_MAX {
        bars.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()));
        bars.truncate(BARS_MAX);
    }
    let low = bars.iter().map(|bar| bar.interval.0.min(bar.difference)).fold(0.0, f64::min);
    let high = bars.iter().map(|bar| bar.interval.1.max(bar.difference)).fold(0.0, f64::max);
    let extent = if high > low { high - low } else { 1.0 };
    let x = |value: f64| LEFT + (value - low) / extent * (WIDTH - LEFT - RIGHT);
    let height = 48.0 + BAR * bars.len() as f64 + 26.0;
    let title = format!("Change of the mean wait by {}: {}", by.label(), scenario.name);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" font-family=\"system-ui, sans-serif\" \
         font-size=\"12\">\n<title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"20\" font-size=\"14\" font-weight=\"600\" fill=\"#1a2330\">{0}</text>\n",
        escape(&title)
    );
    for (index, bar) in bars.iter().enumerate() {
        let top = 36.0 + BAR * index as f64;
        let middle = top + BAR / 2.0;
        let (from, to) = (x(bar.difference.min(0.0)), x(bar.difference.max(0.0)));
        let colour = match bar.verdict {
            Verdict::Better => "#2a7f62",
            Verdict::Worse => "#b8442f",
            Verdict::NoDetectableChange | Verdict::NotEnoughData | Verdict::NotComparable => "#8a94a3",
        };
        out += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#1a2330\">{}</text>\n",
            LEFT - 10.0,
            middle + 4.0,
            escape(&shortened(bar.key))
        );
        out += &format!(
            "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>\n",
            top + 4.0,
            (to - from).max(0.5),
            BAR - 8.0
        );
        let (low, high) = (x(bar.interval.0), x(bar.interval.1));
        out += &format!("<path d=\"M{low:.1} {middle:.1}H{high:.1}\" stroke=\"#1a2330\"/>\n");
        out += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#1a2330\">{}</text>\n",
            WIDTH - RIGHT + 10.0,
            middle + 4.0,
            human::difference(Metric::WaitMean, bar.difference)
        );
    }
    let bottom = 36.0 + BAR * bars.len() as f64;
    out += &format!("<path d=\"M{0:.1} 32V{bottom:.1}\" stroke=\"#1a2330\"/>\n", x(0.0));
    let note = if n_groups > BARS_MAX { format!("the {BARS_MAX} largest of {n_groups}; ") } else { String::new() };
    out += &format!(
        "<text x=\"8\" y=\"{:.1}\" fill=\"#5a6472\">{note}thin lines: 95 % intervals; left is shorter, right is longer</text>\n</svg>\n",
        bottom + 22.0
    );
    out
}

fn shortened(key: &str) -> String {
    if key.chars().count() <= 22 { key.to_owned() } else { key.chars().take(21).chain(['…']).collect() }
}
