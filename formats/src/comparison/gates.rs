//! Gates judged on a comparison: on the unfavourable end of each interval.

use serde::{Deserialize, Serialize};

use super::statistics::rounded;
use super::{ComparedScenario, Dimension, Group, Metric, human};
use crate::study_document::Gate;
use crate::study_document::gate::OnInconclusive;
use crate::study_document::units::Threshold;

/// One gate's result for one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// The scenario.
    pub scenario: String,
    /// The metric judged.
    pub metric: Metric,
    /// The groups judged.
    pub by: Dimension,
    /// The limits in words.
    pub limit: String,
    /// Whether the gate holds.
    pub outcome: GateOutcome,
    /// Groups judged.
    pub judged: u64,
    /// Groups left out for having too few jobs.
    pub too_few_jobs: u64,
    /// Groups without an interval.
    pub inconclusive: Vec<String>,
    /// Groups in which too many jobs start on one side only ([`super::Started::is_comparable`]).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_comparable: Vec<String>,
    /// Groups that moved too far.
    pub breaches: Vec<Breach>,
}

/// Whether a gate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// It holds.
    Passed,
    /// A group moved too far, or is inconclusive and the gate fails then.
    Breached,
}

/// A group that moved too far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breach {
    /// The group's name; empty for all jobs.
    pub key: String,
    /// The baseline's value.
    pub baseline: f64,
    /// The unfavourable end of the interval of the difference.
    pub unfavourable: f64,
    /// The difference allowed.
    pub allowed: f64,
}

impl GateResult {
    /// Whether the gate does not hold.
    pub fn is_breached(&self) -> bool {
        self.outcome == GateOutcome::Breached
    }
}

/// Judges every gate for every scenario, in that order.
pub fn judge(gates: &[Gate], scenarios: &[ComparedScenario]) -> Vec<GateResult> {
    gates.iter().flat_map(|gate| scenarios.iter().map(move |scenario| result(gate, scenario))).collect()
}

fn result(gate: &Gate, scenario: &ComparedScenario) -> GateResult {
    let mut result = GateResult {
        scenario: scenario.name.clone(),
        metric: gate.metric,
        by: gate.by,
        limit: limit(gate),
        outcome: GateOutcome::Passed,
        judged: 0,
        too_few_jobs: 0,
        inconclusive: Vec::new(),
        not_comparable: Vec::new(),
        breaches: Vec::new(),
    };
    let wanted = |group: &&Group| gate.key.as_ref().is_none_or(|key| *key == group.key);
    for group in scenario.by(gate.by).filter(wanted) {
        if group.jobs < gate.min_jobs.unwrap_or(0) {
            result.too_few_jobs += 1;
            continue;
        }
        let change = group.metrics.get(&gate.metric);
        match change.and_then(|change| Some((change.baseline?, change.interval?))) {
            None => result.inconclusive.push(group.key.clone()),
            Some((baseline, interval)) => {
                result.judged += 1;
                // Per cent of jobs that do not start are of all jobs: of none that do not start, there is none.
                let whole = if gate.metric == Metric::JobsUnstarted { group.jobs as f64 } else { baseline };
                let found = breaches(gate, &group.key, (baseline, whole), interval);
                if found.is_empty() && gate.metric.is_of_started() && !group.started.is_comparable() {
                    result.not_comparable.push(group.key.clone());
                }
                result.breaches.extend(found);
            }
        }
    }
    // A gate that judged nothing has shown nothing.
    let unsure = !result.inconclusive.is_empty()
        || !result.not_comparable.is_empty()
        || (result.judged == 0 && result.too_few_jobs == 0);
    if !result.breaches.is_empty() || (unsure && gate.on_inconclusive == OnInconclusive::Fail) {
        result.outcome = GateOutcome::Breached;
    }
    result
}

/// `whole` is what per cent are of.
fn breaches(gate: &Gate, key: &str, (baseline, whole): (f64, f64), interval: (f64, f64)) -> Vec<Breach> {
    let ignored = gate.ignore_below.map_or(0.0, |span| span.0 as f64);
    let exceeds = |limit: Option<Threshold>, moved: f64| {
        limit.map(|limit| limit.allowance(whole)).filter(|allowed| moved > *allowed && moved >= ignored)
    };
    let breach = |unfavourable: f64, allowed: f64| Breach {
        key: key.to_owned(),
        baseline,
        unfavourable,
        allowed: rounded(allowed, gate.metric.decimals()) + 0.0,
    };
    let (low, high) = interval;
    let grown = exceeds(gate.max_increase, high).map(|allowed| breach(high, allowed));
    let shrunk = exceeds(gate.max_decrease, -low).map(|allowed| breach(low, -allowed));
    grown.into_iter().chain(shrunk).collect()
}

fn limit(gate: &Gate) -> String {
    let mut words = Vec::new();
    for (field, limit) in [("max_increase", gate.max_increase), ("max_decrease", gate.max_decrease)] {
        let Some(limit) = limit else { continue };
        words.push(match limit {
            Threshold::Number(seconds) if gate.metric.is_seconds() => {
                format!("{field} {}", Threshold::Seconds(seconds))
            }
            Threshold::Percent(_) if gate.metric == Metric::JobsUnstarted => format!("{field} {limit} of the jobs"),
            _ => format!("{field} {limit}"),
        });
    }
    if let Some(span) = gate.ignore_below {
        words.push(format!("ignore_below {span}"));
    }
    if let Some(jobs) = gate.min_jobs {
        words.push(format!("min_jobs {jobs}"));
    }
    if let Some(key) = &gate.key {
        words.push(format!("key {key}"));
    }
    words.join(", ")
}

impl GateResult {
    /// Why the gate does not hold, or holds though it could not be judged everywhere, for people; empty if it simply holds.
    pub fn reason(&self) -> String {
        let is_empty = self.judged == 0 && self.too_few_jobs == 0;
        let is_conclusive = self.inconclusive.is_empty() && self.not_comparable.is_empty() && !is_empty;
        if !self.is_breached() && is_conclusive {
            return String::new();
        }
        let mut reasons: Vec<String> = self
            .breaches
            .iter()
            .map(|breach| {
                format!(
                    "{} may move by {}, allowed {}",
                    human::key(&breach.key),
                    human::difference(self.metric, breach.unfavourable),
                    human::difference(self.metric, breach.allowed)
                )
            })
            .collect();
        let keys = |keys: &[String]| keys.iter().map(|key| human::key(key)).collect::<Vec<_>>().join(", ");
        if reasons.is_empty() && !self.not_comparable.is_empty() {
            let about = keys(&self.not_comparable);
            reasons.push(format!("not comparable for {about}: more than 5 % of the jobs start on one side only"));
        }
        if reasons.is_empty() && !self.inconclusive.is_empty() {
            reasons.push(format!("not enough data for {}", keys(&self.inconclusive)));
        }
        if reasons.is_empty() {
            reasons.push("there is no group to judge".to_owned());
        }
        reasons.join("; ")
    }
}
