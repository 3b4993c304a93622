//! One replication of a scenario beside the same replication of the baseline, measured per group, from the schedules alone.

use std::collections::{BTreeMap, HashMap};

use foresite_engine::job::JobName;
use foresite_engine::outcome::JobState;

use super::statistics::{mean, percentile, sorted};
use super::unstarted::{CANCELLED, Started};
use super::{Dimension, Metric};
use crate::schedule_file::{Label, Schedule, ScheduleRow};
use crate::summary_file::Horizon;

/// The groups of one replication.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// By dimension and name.
    pub groups: BTreeMap<(Dimension, String), GroupMeasures>,
    /// Jobs that do not start by reason: the scenario's less the baseline's.
    pub reasons: BTreeMap<String, i64>,
    /// Whether every job runs as in the baseline: at the same time, on the same nodes and CPUs.
    pub is_same: bool,
}

impl Measures {
    /// Adds why jobs are left PENDING on either side, by reason: schedules do not tell.
    #[must_use]
    pub fn with_pending(mut self, baseline: &BTreeMap<String, u64>, scenario: &BTreeMap<String, u64>) -> Self {
        for (counts, sign) in [(baseline, -1), (scenario, 1)] {
            for (reason, jobs) in counts {
                *self.reasons.entry(reason.clone()).or_default() += sign * i64::try_from(*jobs).unwrap_or(i64::MAX);
            }
        }
        self
    }
}

/// One group in one replication.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMeasures {
    /// Counted jobs.
    pub jobs: u64,
    /// Where they started.
    pub started: Started,
    /// Baseline's and scenario's value of each metric that both have.
    pub values: BTreeMap<Metric, (f64, f64)>,
}

/// Measures a scenario's schedule against the baseline's of the same replication. Groups are the baseline's; jobs are paired by
/// job id; waits, slowdowns and response times are of the jobs that started in both. `asked` tells the partition that the job of a row of the
/// baseline asks for first: where jobs run is itself an outcome, and a group chosen by it would differ from replication to replication, and from
/// the baseline by the choice alone. Without it the row's partition counts. O(rows × log rows).
pub fn measure<'a>(
    baseline: (&'a Schedule, Horizon),
    scenario: (&'a Schedule, Horizon),
    asked: impl Fn(usize) -> Option<&'a str>,
) -> Measures {
    let (schedule, horizon) = baseline;
    let pairs = pairs(schedule, scenario.0, horizon);
    let mut measures = Measures { is_same: is_same(schedule, scenario.0), ..Measures::default() };
    for dimension in Dimension::ALL {
        let mut members: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
        for pair in &pairs {
            let of = |label: Label| schedule.labels.name(label);
            let name = match dimension {
                Dimension::Overall => "",
                Dimension::User => of(pair.baseline.user),
                Dimension::Account => of(pair.baseline.account),
                Dimension::Partition => asked(pair.at).unwrap_or_else(|| of(pair.baseline.partition)),
                Dimension::Qos => of(pair.baseline.qos),
            };
            members.entry(name).or_default().push(pair);
        }
        for (name, members) in members {
            measures.groups.insert((dimension, name.to_owned()), group(&members));
        }
    }
    let is_cancelled = |row: &ScheduleRow| row.start.is_none() && row.state != JobState::Pending;
    let cancelled = |pair: &&Pair| pair.baseline.start.is_some() && pair.scenario.is_some_and(is_cancelled);
    let n_cancelled = pairs.iter().filter(cancelled).count();
    if n_cancelled > 0 {
        measures.reasons.insert(CANCELLED.to_owned(), n_cancelled as i64);
    }
    let whole = measures.groups.entry((Dimension::Overall, String::new())).or_default();
    if let (Some(before), Some(after)) = (horizon.utilization(schedule), scenario.1.utilization(scenario.0)) {
        whole.values.insert(Metric::Utilization, (before, after));
    }
    if let (Some(before), Some(after)) = (horizon.makespan(schedule), scenario.1.makespan(scenario.0)) {
        whole.values.insert(Metric::Makespan, (before as f64, after as f64));
    }
    measures
}

fn is_same(baseline: &Schedule, scenario: &Schedule) -> bool {
    let runs = |row: &ScheduleRow| (row.job, row.start, row.end, row.state, row.cpus);
    let same = |(before, after): (&ScheduleRow, &ScheduleRow)| {
        runs(before) == runs(after) && baseline.node_list(before) == scenario.node_list(after)
    };
    baseline.rows.len() == scenario.rows.len() && baseline.rows.iter().zip(&scenario.rows).all(same)
}

struct Pair<'a> {
    /// The position of the baseline's row.
    at: usize,
    baseline: &'a ScheduleRow,
    scenario: Option<&'a ScheduleRow>,
}

fn pairs<'a>(baseline: &'a Schedule, scenario: &'a Schedule, horizon: Horizon) -> Vec<Pair<'a>> {
    let counted = baseline.rows.iter().enumerate().filter(|(_, row)| horizon.counts(row.submit));
    let same_order = baseline.rows.len() == scenario.rows.len()
        && baseline.rows.iter().zip(&scenario.rows).all(|(before, after)| before.job == after.job);
    if same_order {
        return counted.map(|(at, row)| Pair { at, baseline: row, scenario: scenario.rows.get(at) }).collect();
    }
    let by_name: HashMap<JobName, &ScheduleRow> = scenario.rows.iter().map(|row| (row.job, row)).collect();
    counted.map(|(at, row)| Pair { at, baseline: row, scenario: by_name.get(&row.job).copied() }).collect()
}

fn group(members: &[&Pair]) -> GroupMeasures {
    let mut started = Started::default();
    let mut both: Vec<(&ScheduleRow, &ScheduleRow)> = Vec::with_capacity(members.len());
    for pair in members {
        let Some(after) = pair.scenario else {
            started.left_out += 1;
            continue;
        };
        match (pair.baseline.start.is_some(), Some(after).filter(|row| row.start.is_some())) {
            (true, Some(after)) => {
                started.both += 1;
                both.push((pair.baseline, after));
            }
            (true, None) => started.baseline_only += 1,
            (false, Some(_)) => started.scenario_only += 1,
            (false, None) => started.neither += 1,
        }
    }
    let mut values = BTreeMap::new();
    let before = (started.scenario_only + started.neither) as f64;
    let after = (started.baseline_only + started.neither) as f64;
    put(&mut values, Metric::JobsUnstarted, Some(before), Some(after));
    let waits = columns(&both, |row| row.wait().map(|wait| wait as f64));
    let waits = (sorted(waits.0), sorted(waits.1));
    put(&mut values, Metric::WaitMean, mean(&waits.0), mean(&waits.1));
    put(&mut values, Metric::WaitMedian, percentile(&waits.0, 50), percentile(&waits.1, 50));
    put(&mut values, Metric::WaitP95, percentile(&waits.0, 95), percentile(&waits.1, 95));
    let slowdowns = columns(&both, ScheduleRow::bounded_slowdown);
    put(&mut values, Metric::BoundedSlowdownMean, mean(&slowdowns.0), mean(&slowdowns.1));
    let responses = columns(&both, |row| row.response().map(|time| time as f64));
    put(&mut values, Metric::ResponseMean, mean(&responses.0), mean(&responses.1));
    GroupMeasures { jobs: members.len() as u64, started, values }
}

/// A figure of the pairs that have it on both sides.
fn columns(
    pairs: &[(&ScheduleRow, &ScheduleRow)],
    figure: impl Fn(&ScheduleRow) -> Option<f64>,
) -> (Vec<f64>, Vec<f64>) {
    pairs.iter().filter_map(|(before, after)| figure(before).zip(figure(after))).unzip()
}

fn put(values: &mut BTreeMap<Metric, (f64, f64)>, metric: Metric, before: Option<f64>, after: Option<f64>) {
    if let (Some(before), Some(after)) = (before, after) {
        values.insert(metric, (before, after));
    }
}
