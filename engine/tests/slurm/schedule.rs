//! Runs a scenario and compares its schedule with what is expected.
//!
//! A schedule has a line a job: `name eligible start end state nodes started-by`, times in seconds after
//! [`dsl::T0`], `-` for what never was. In expected text a cell may also be `*` (anything), and a time may be
//! `a..b` (both included), `+a` or `+a..b` (after the job's own start), or `j.end+a..b`, `j.start+a..b`
//! (after another job's end or start).

use foresite_engine::ids::JobId;
use foresite_engine::observer::Unobserved;
use foresite_engine::outcome::Outcome;
use foresite_engine::scenario::Scenario;
use foresite_engine::{Draws, simulate, simulate_every_cycle};

use crate::dsl::{self, T0};
use crate::pins::{expect_pinned, fingerprint};

/// Seeds every expectation must hold for: other tick, backfill, scan and priority phases.
const SEEDS: std::ops::Range<u64> = 0..16;

/// One replication's schedule, a row a job in submit order.
pub(crate) fn rows(scenario: &Scenario, outcome: &Outcome) -> Vec<[String; 7]> {
    let time = |time: Option<i64>| time.map_or("-".to_owned(), |time| (time - T0).to_string());
    let row = |index: usize| {
        let record = &outcome.records[index];
        let nodes: Vec<&str> =
            outcome.nodes(JobId::new(index)).map(|node| scenario.cluster.nodes[node.index()].name.as_str()).collect();
        [
            scenario.workload.jobs[index].name.to_string(),
            time(record.eligible),
            time(record.start),
            time(record.end),
            record.state.as_str().to_owned(),
            if nodes.is_empty() { "-".to_owned() } else { nodes.join(",") },
            record.started_by.map_or("-", |by| by.as_str()).to_owned(),
        ]
    };
    (0..outcome.records.len()).map(row).collect()
}

/// Rows as aligned text.
pub(crate) fn text(rows: &[[String; 7]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let line = |row: &[String; 7]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Simulates one replication of a scenario's text.
pub(crate) fn run(text: &str, seed: u64) -> (Scenario, Outcome) {
    let parsed = dsl::parse(text);
    let draws = Draws { seed, boot_offset: parsed.boot_offset };
    let outcome = simulate(&parsed.scenario, draws, &mut Unobserved).unwrap();
    (parsed.scenario, outcome)
}

/// Asserts that going through every cycle gives the same outcome, counters included.
#[track_caller]
pub(crate) fn expect_equal_with_every_cycle(text: &str, seed: u64) {
    let parsed = dsl::parse(text);
    let draws = Draws { seed, boot_offset: parsed.boot_offset };
    let quick = simulate(&parsed.scenario, draws, &mut Unobserved).unwrap();
    let whole = simulate_every_cycle(&parsed.scenario, draws, &mut Unobserved).unwrap();
    assert_eq!(quick, whole, "seed {seed} of\n{text}");
}

/// Asserts that the scenario's schedule is as expected, whatever the seed, and the same with every cycle gone through.
#[track_caller]
pub(crate) fn expect(scenario: &str, expected: &str) {
    let mut outcomes = 0;
    for seed in SEEDS {
        let (parsed, outcome) = run(scenario, seed);
        outcomes = fingerprint(&outcome).wrapping_add(u64::wrapping_mul(outcomes, 31));
        expect_equal_with_every_cycle(scenario, seed);
        let actual = rows(&parsed, &outcome);
        let wanted: Vec<Vec<&str>> = expected
            .lines()
            .map(|line| line.split_whitespace().collect())
            .filter(|row: &Vec<&str>| !row.is_empty())
            .collect();
        let mismatch = if wanted.len() == actual.len() {
            actual.iter().zip(&wanted).find_map(|(actual_row, wanted)| difference(&actual, actual_row, wanted))
        } else {
            Some(format!("{} jobs expected", wanted.len()))
        };
        if let Some(mismatch) = mismatch {
            panic!("seed {seed}: {mismatch}\nexpected:\n{expected}\nfound:\n{}", text(&actual));
        }
    }
    expect_pinned(scenario, outcomes);
}

/// The first cell of a row that is not as expected.
fn difference(all: &[[String; 7]], actual: &[String; 7], wanted: &[&str]) -> Option<String> {
    assert_eq!(wanted.len(), 7, "seven columns: {wanted:?}");
    let columns = ["job", "eligible", "start", "end", "state", "nodes", "started by"];
    (0..7).find_map(|column| {
        let is_time = (1..=3).contains(&column);
        let agrees = wanted[column] == "*"
            || actual[column] == wanted[column]
            || (is_time && within(all, &actual[2], &actual[column], wanted[column]));
        (!agrees)
            .then(|| format!("job {}: {} is {}, not {}", actual[0], columns[column], actual[column], wanted[column]))
    })
}

/// Whether a time lies within its bounds.
fn within(all: &[[String; 7]], own_start: &str, actual: &str, wanted: &str) -> bool {
    let Some((origin, bounds)) = wanted.rsplit_once('+') else { return in_range(actual, "0", wanted) };
    let origin = match origin.split_once('.') {
        None => own_start,
        Some((job, which)) => {
            let row = all.iter().find(|row| row[0] == job).unwrap_or_else(|| panic!("no job {job}"));
            if which == "end" { &row[3] } else { &row[2] }
        }
    };
    in_range(actual, origin, bounds)
}

fn in_range(actual: &str, origin: &str, bounds: &str) -> bool {
    let (first, last) = bounds.split_once("..").unwrap_or((bounds, bounds));
    let numbers = [actual, origin, first, last].map(|text| text.parse::<i64>().ok());
    let [Some(actual), Some(origin), Some(first), Some(last)] = numbers else { return false };
    (origin + first..=origin + last).contains(&actual)
}

/// Asserts that `actual` is the content of `golden/<name>.txt`; `UPDATE_EXPECT=1` rewrites the file instead.
#[track_caller]
pub(crate) fn expect_file(name: &str, actual: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm/golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{} differs (UPDATE_EXPECT=1 rewrites it); found:\n{actual}", path.display());
}
