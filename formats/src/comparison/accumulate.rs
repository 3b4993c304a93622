//! Replications to a comparison, one at a time, so that memory does not grow with their number.

use std::collections::BTreeMap;

use super::alone::Figure;
use super::fidelity::{Fidelity, Likeness, RecordedGroup, StartsSum, StartsWithin};
use super::statistics::{Moments, rounded};
use super::{
    BaselineGroup, Caveat, Change, ComparedScenario, Comparison, Controllers, Dimension, Group, Inputs, Measures,
    Metric, Started, Unstarted, Verdict, gates,
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
    /// Why a scenario may change no schedule, told where it changes none.
    pub idle: Vec<Caveat>,
    /// The gates to judge.
    pub gates: Vec<Gate>,
}

/// Takes in measured replications and ends as a comparison.
#[derive(Clone, Debug)]
pub struct Comparer {
    plan: Plan,
    scenarios: Vec<Sums>,
    recorded: Sums,
    starts: StartsSum,
}

/// One replication of all scenarios, measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Every scenario beside the baseline, in the plan's order; the baseline beside itself where there is none.
    pub scenarios: Vec<Measures>,
    /// The record beside the baseline, and how near starts are, where the trace tells.
    pub recorded: Option<(Measures, StartsWithin)>,
}

/// Of one scenario, over the replications so far.
#[derive(Clone, Debug, Default)]
struct Sums {
    groups: BTreeMap<(Dimension, String), Accumulated>,
    reasons: BTreeMap<String, i64>,
    replications: u32,
    /// Those in which the schedule is the baseline's.
    same: u32,
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
        // A baseline alone is measured beside itself.
        let scenarios = vec![Sums::default(); plan.scenarios.len().max(1)];
        Self { plan, scenarios, recorded: Sums::default(), starts: StartsSum::default() }
    }

    /// Takes in one replication. They come in their own order, for sums of floats depend on it. O(groups).
    pub fn add(&mut self, replication: Measured) {
        for (scenario, measures) in self.scenarios.iter_mut().zip(replication.scenarios) {
            scenario.add(measures);
        }
        if let Some((measures, starts)) = replication.recorded {
            self.recorded.add(measures);
            self.starts.push(starts);
        }
    }

    /// The comparison, its gates judged.
    pub fn finish(self) -> Comparison {
        let Plan { inputs, scenarios, mut caveats, idle, gates } = self.plan;
        let changed_nothing = |sums: &Sums| sums.replications > 0 && sums.same == sums.replications;
        let idle_ones = scenarios.iter().zip(&self.scenarios).filter(|(_, sums)| changed_nothing(sums));
        caveats.extend(idle_ones.map(|((name, _), _)| changed_no_schedule(name, &idle)));
        let alone = self.scenarios.first().filter(|_| scenarios.is_empty());
        let baseline = alone.into_iter().flat_map(|sums| &sums.groups).map(baseline_group).collect();
        let scenarios: Vec<ComparedScenario> = scenarios
            .into_iter()
            .zip(self.scenarios)
            .map(|((name, controllers), sums)| compared(name, controllers, sums))
            .collect();
        caveats.extend(scenarios.iter().filter_map(unpaired));
        let fidelity = (self.recorded.replications > 0).then(|| fidelity(&self.recorded, &self.starts));
        caveats.extend(fidelity.iter().flat_map(|fidelity| scenarios.iter().filter_map(|it| outweighed(it, fidelity))));
        let gates = gates::judge(&gates, &scenarios);
        Comparison { inputs, scenarios, baseline, fidelity, caveats, gates }
    }
}

impl Sums {
    fn add(&mut self, measures: Measures) {
        self.replications += 1;
        self.same += u32::from(measures.is_same);
        for (reason, jobs) in measures.reasons {
            *self.reasons.entry(reason).or_default() += jobs;
        }
        for (key, group) in measures.groups {
            let sum = self.groups.entry(key).or_default();
            sum.jobs = sum.jobs.max(group.jobs);
            sum.started.add(&group.started);
            for (metric, (before, after)) in group.values {
                let paired = sum.metrics.entry(metric).or_default();
                paired.baseline.push(before);
                paired.scenario.push(after);
                paired.difference.push(after - before);
            }
        }
    }
}

fn fidelity(sums: &Sums, starts: &StartsSum) -> Fidelity {
    let group = |((by, key), sum): (&(Dimension, String), &Accumulated)| {
        let like = |(metric, paired): (&Metric, &Paired)| {
            Some((*metric, Likeness::of(*metric, &paired.baseline, &paired.scenario, &sum.started)?))
        };
        let metrics = sum.metrics.iter().filter_map(like).collect();
        RecordedGroup { by: *by, key: key.clone(), jobs: sum.jobs, started: sum.started, metrics }
    };
    Fidelity { starts: starts.mean(), groups: sums.groups.iter().map(group).collect() }
}

/// That the baseline is further from the record than a scenario from the baseline.
fn outweighed(scenario: &ComparedScenario, fidelity: &Fidelity) -> Option<Caveat> {
    let (changes, likeness) = (&scenario.overall()?.metrics, &fidelity.overall()?.metrics);
    let is_off = |metric: &Metric| {
        let off = likeness.get(metric).filter(|like| like.verdict.is_off());
        let change = changes.get(metric).filter(|change| matches!(change.verdict, Verdict::Better | Verdict::Worse));
        let moved = change.and_then(|change| change.difference);
        off.zip(moved).is_some_and(|(off, moved)| moved.abs() < off.difference.abs())
    };
    let metrics: Vec<&str> = Metric::ALL.into_iter().filter(is_off).map(Metric::label).collect();
    (!metrics.is_empty()).then(|| Caveat {
        scenario: Some(scenario.name.clone()),
        text: format!(
            "The baseline is further from the record than this scenario from the baseline: {}. Trust the direction there, not the size.",
            metrics.join(", ")
        ),
    })
}

fn baseline_group(((by, key), sum): (&(Dimension, String), &Accumulated)) -> BaselineGroup {
    let figures = sum.metrics.iter();
    let metrics =
        figures.filter_map(|(metric, paired)| Some((*metric, Figure::of(*metric, &paired.baseline)?))).collect();
    BaselineGroup { by: *by, key: key.clone(), jobs: sum.jobs, metrics }
}

fn compared(name: String, controllers: Option<Controllers>, sums: Sums) -> ComparedScenario {
    let Sums { groups, reasons, replications, .. } = sums;
    let overall = groups.get(&(Dimension::Overall, String::new()));
    let unstarted = overall.and_then(|all| Unstarted::of(all.jobs, &all.started, &reasons, replications));
    let groups = groups.into_iter().map(|((by, key), sum)| group(by, key, &sum)).collect();
    ComparedScenario { name, groups, controllers, unstarted }
}

fn group(by: Dimension, key: String, sum: &Accumulated) -> Group {
    let metrics = Metric::ALL
        .into_iter()
        .filter(|metric| by == Dimension::Overall || metric.is_by_group())
        .map(|metric| (metric, change(metric, sum.metrics.get(&metric).copied().unwrap_or_default(), &sum.started)))
        .collect();
    Group { by, key, jobs: sum.jobs, started: sum.started, metrics }
}

fn change(metric: Metric, paired: Paired, started: &Started) -> Change {
    let round = |value: f64| rounded(value, metric.decimals());
    let baseline = paired.baseline.mean();
    let difference = paired.difference.mean();
    let interval = paired.difference.interval().map(|(low, high)| (round(low), round(high)));
    // Judged as shown, so that nobody reads a verdict on a difference of zero.
    let shown = |end: f64| rounded(end, metric.shown_decimals());
    let verdict = Verdict::of(interval.map(|(low, high)| (shown(low), shown(high))), metric.more_is_better());
    Change {
        baseline: baseline.map(round),
        scenario: paired.scenario.mean().map(round),
        difference: difference.map(round),
        relative: difference
            .zip(baseline)
            .filter(|(_, baseline)| *baseline != 0.0)
            .map(|(difference, baseline)| rounded(difference / baseline, 6)),
        interval,
        verdict: if metric.is_of_started() { verdict.among(started) } else { verdict },
    }
}

fn changed_no_schedule(name: &str, idle: &[Caveat]) -> Caveat {
    let about = |caveat: &&Caveat| caveat.scenario.as_deref() == Some(name);
    let reasons: Vec<&str> = idle.iter().filter(about).map(|caveat| caveat.text.as_str()).collect();
    let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    let text = format!("Changed no schedule: every job runs as in the baseline, in every replication{why}.");
    Caveat { scenario: Some(name.to_owned()), text }
}

fn unpaired(scenario: &ComparedScenario) -> Option<Caveat> {
    let started = scenario.overall()?.started;
    let others = started.baseline_only + started.scenario_only + started.neither + started.left_out;
    let left_out = match started.left_out {
        0 => String::new(),
        jobs => format!(" {jobs} others are left out by the scenario's change itself."),
    };
    let others_differ = if started.is_comparable() {
        ""
    } else {
        " More than 5 % of the jobs that start on one side do not on the other: such figures of the rest are not comparable, and gates on \
         them inconclusive."
    };
    (others > 0).then(|| Caveat {
        scenario: Some(scenario.name.clone()),
        text: format!(
            "Waits, slowdowns and response times are of the {} jobs (over all replications) that started in both; left out are {} \
             that started in the baseline only, {} in the scenario only and {} in neither \
             (`foresite simulate` says why jobs are left PENDING).{left_out}{others_differ}",
            started.both, started.baseline_only, started.scenario_only, started.neither
        ),
    })
}
