//! The comparison as one page that needs no other file and no script.

use super::{ComparedScenario, Comparison, Dimension, Group, Metric, Verdict, alone, beside_record, figure, human};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1a2330}\
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-top:1px solid #d5dae1;padding-top:1rem}\
table{border-collapse:collapse;width:100%;margin:.75rem 0}th,td{padding:.3rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid #e6e9ee}\
th:first-child,td:first-child,th:last-child,td:last-child{text-align:left}th{font-weight:600;color:#5a6472}\
.better{color:#2a7f62;font-weight:600}.worse{color:#b8442f;font-weight:600}.none{color:#5a6472}svg{width:100%;height:auto}\
code{font-size:.85em;overflow-wrap:anywhere}summary{cursor:pointer;margin:.5rem 0}";

/// The whole page.
pub(super) fn write(comparison: &Comparison) -> String {
    let inputs = &comparison.inputs;
    let name = escape(&inputs.name);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{name} – Foresite</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n\
         <p>{} replications of the baseline and of each scenario, seed {}. Differences are scenario less baseline, with 95 % intervals \
         over replications.</p>\n",
        inputs.replications, inputs.seed
    );
    out += &gates(comparison);
    if comparison.fidelity.is_some() {
        out += &format!("<h2>{}</h2>\n", beside_record::HEADING);
        out.extend(beside_record::notes(comparison).iter().map(|note| format!("<p>{}</p>\n", escape(note))));
        out.extend(beside_record::tables(comparison).iter().map(plain_table));
    }
    out.extend(alone::tables(comparison).iter().map(plain_table));
    for scenario in &comparison.scenarios {
        out += &section(scenario);
    }
    out += &caveats(comparison);
    out += "<h2>Inputs</h2>\n<table>\n<tr><th>what</th><th>SHA-256</th></tr>\n";
    let configuration = inputs.configuration.iter().map(|(name, hash)| (name.as_str(), hash.as_str()));
    let others = [("trace", inputs.trace.as_str()), ("study document", inputs.document.as_str())];
    for (name, hash) in configuration.chain(others) {
        out += &format!("<tr><td>{}</td><td><code>{}</code></td></tr>\n", escape(name), escape(hash));
    }
    out + &format!("</table>\n<p>Engine {}.</p>\n</body>\n</html>\n", escape(&inputs.engine_version))
}

fn plain_table(table: &alone::Table) -> String {
    let line = |tag: &str, cells: &[String]| {
        let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = table.rows.iter().map(|row| line("td", row)).collect();
    format!("<table>\n{}{rows}</table>\n", line("th", &table.head))
}

fn section(scenario: &ComparedScenario) -> String {
    let mut out = format!("<h2>{}</h2>\n", escape(&scenario.name));
    for note in human::notes(scenario) {
        out += &format!("<p>{}</p>\n", escape(&note));
    }
    if let Some(overall) = scenario.overall() {
        out += &table("metric", human::shown(overall).map(|(metric, _)| (metric.label(), metric, overall)));
    }
    if scenario.by(Dimension::User).next().is_some() {
        out += &figure::bars(scenario, Dimension::User);
    }
    for by in [Dimension::User, Dimension::Account, Dimension::Partition, Dimension::Qos] {
        let n_groups = scenario.by(by).count();
        out += &format!("<details><summary>mean wait by {} ({n_groups})</summary>\n", by.label());
        out += &table(by.label(), scenario.by(by).map(|group| (group.key.as_str(), Metric::WaitMean, group)));
        out += "</details>\n";
    }
    out
}

fn table<'a>(title: &str, rows: impl Iterator<Item = (&'a str, Metric, &'a Group)>) -> String {
    let mut out = format!(
        "<table>\n<tr><th>{title}</th><th>jobs</th><th>baseline</th><th>scenario</th><th>difference</th><th>95 % interval</th>\
         <th>verdict</th></tr>\n"
    );
    for (name, metric, group) in rows {
        let Some(change) = group.metrics.get(&metric) else { continue };
        let class = match change.verdict {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDetectableChange | Verdict::NotEnoughData | Verdict::NotComparable => "none",
        };
        out += &format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{}</td></tr>\n",
            escape(name),
            group.jobs,
            human::value(metric, change.baseline),
            human::value(metric, change.scenario),
            human::change(metric, change),
            human::interval(metric, change),
            change.verdict
        );
    }
    out + "</table>\n"
}

fn gates(comparison: &Comparison) -> String {
    if comparison.gates.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Gates</h2>\n<table>\n<tr><th>gate</th><th>scenario</th><th>result</th></tr>\n".to_owned();
    for gate in &comparison.gates {
        let about = escape(&format!("{} by {}: {}", gate.metric, gate.by, gate.limit));
        let scenario = escape(&gate.scenario);
        let (class, result) = if gate.is_breached() { ("worse", "breached") } else { ("better", "passed") };
        let result = match gate.reason() {
            reason if reason.is_empty() => result.to_owned(),
            reason => format!("{result}: {reason}"),
        };
        out += &format!("<tr><td>{about}</td><td>{scenario}</td><td class=\"{class}\">{}</td></tr>\n", escape(&result));
    }
    out + "</table>\n"
}

fn caveats(comparison: &Comparison) -> String {
    let mut out = "<h2>Bear in mind</h2>\n<ul>\n".to_owned();
    for caveat in &comparison.caveats {
        let about = caveat.scenario.as_ref().map(|name| format!("<b>{}</b>: ", escape(name))).unwrap_or_default();
        out += &format!("<li>{about}{}</li>\n", escape(&caveat.text));
    }
    out + "</ul>\n"
}

/// Text that XML and HTML take as text; control characters, which XML forbids, become spaces.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
