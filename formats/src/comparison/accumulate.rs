//! Replications to a comparison, one at a time, so that memory does not grow with their number.

use std::collections::BTreeMap;

use super::statistics::{Moments, rounded};
use super::{
    Caveat, Change, ComparedScenario, Comparison, Controllers, Dimension, Group, Inputs, Measures, Metric, Started,
    Verdict, gates,
};
use crate::study_document::Gate;

/// What a comparison says besides its measures.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What is compared.
    pub inputs: Inputs,
    /// Each scenario's name, and how it shares out jobs if it has several controllers.
    pub scenarios: Vec<(String, Option<Controllers>)>,
    /// Caveats known beforehand.
    pub caveats: Vec<Caveat>,
    /// The gates to judge.
    pub gates: Vec<Gate>,
}

/// Takes in measured replications and ends as a comparison.
#[derive(Clone, Debug)]
pub struct Comparer {
    plan: Plan,
    scenarios: Vec<BTreeMap<(Dimension, String), Accumulated>>,
}

#[derive(Clone, Debug, Default)]
struct Accumulated {
    jobs: u64,
    started: Started,
    metrics: BTreeMap<Metric, Paired>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Paired {
    baseline: Moments,
    scenario: Moments,
    difference: Moments,
}

impl Comparer {
    /// A comparison of nothing yet.
    pub fn new(plan: Plan) -> Self {
        let scenarios = plan.scenarios.iter().map(|_| BTreeMap::new()).collect();
        Self { plan, scenarios }
    }

    /// Takes in one replication: the measures of every scenario, in the plan's order. Replications come in their own order, for
    /// sums of floats depend on it. O(groups).
    pub fn add(&mut self, replication: Vec<Measures>) {
        for (scenario, measures) in self.scenarios.iter_mut().zip(replication) {
            for (key, group) in measures.groups {
                let sum = scenario.entry(key).or_default();
                sum.jobs = sum.jobs.max(group.jobs);
                sum.started.both += group.started.both;
                sum.started.baseline_only += group.started.baseline_only;
                sum.started.scenario_only += group.started.scenario_only;
                sum.started.neither += group.started.neither;
                for (metric, (before, after)) in group.values {
                    let paired = sum.metrics.entry(metric).or_default();
                    paired.baseline.push(before);
                    paired.scenario.push(after);
                    paired.difference.push(after - before);
                }
            }
        }
    }

    /// The comparison, its gates judged.
    pub fn finish(self) -> Comparison {
        let Plan { inputs, scenarios, mut caveats, gates } = self.plan;
        let scenarios: Vec<ComparedScenario> = scenarios
            .into_iter()
            .zip(self.scenarios)
            .map(|((name, controllers), groups)| ComparedScenario {
                name,
                groups: groups.into_iter().map(|((by, key), sum)| group(by, key, &sum)).collect(),
                controllers,
            })
            .collect();
        caveats.extend(scenarios.iter().filter_map(unpaired));
        let gates = gates::judge(&gates, &scenarios);
        Comparison { inputs, scenarios, caveats, gates }
    }
}

fn group(by: Dimension, key: String, sum: &Accumulated) -> Group {
    let metrics = Metric::ALL
        .into_iter()
        .filter(|metric| by == Dimension::Overall || metric.is_by_group())
        .map(|metric| (metric, change(metric, sum.metrics.get(&metric).copied().unwrap_or_default())))
        .collect();
    Group { by, key, jobs: sum.jobs, started: sum.started, metrics }
}

fn change(metric: Metric, paired: Paired) -> Change {
    let round = |value: f64| rounded(value, metric.decimals());
    let baseline = paired.baseline.mean();
    let difference = paired.difference.mean();
    // Judged as rounded, so that noise far below the stated precision is no change.
    let interval = paired.difference.interval().map(|(low, high)| (round(low), round(high)));
    Change {
        baseline: baseline.map(round),
        scenario: paired.scenario.mean().map(round),
        difference: difference.map(round),
        relative: difference
            .zip(baseline)
            .filter(|(_, baseline)| *baseline != 0.0)
            .map(|(difference, baseline)| rounded(difference / baseline, 6)),
        interval,
        verdict: Verdict::of(interval, metric.more_is_better()),
    }
}

fn unpaired(scenario: &ComparedScenario) -> Option<Caveat> {
    let started = scenario.overall()?.started;
    let others = started.baseline_only + started.scenario_only + started.neither;
    (others > 0).then(|| Caveat {
        scenario: Some(scenario.name.clone()),
        text: format!(
            "Waits, slowdowns and response times are of the {} jobs (over all replications) that started in both; left out are {} \
             that started in the baseline only, {} in the scenario only and {} in neither \
             (`foresite simulate` says why jobs are left PENDING).",
            started.both, started.baseline_only, started.scenario_only, started.neither
        ),
    })
}
