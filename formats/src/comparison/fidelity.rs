//! The baseline beside the site's own record: how far the simulation is from what happened, for all jobs and by group.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::statistics::{Moments, mean, rounded};
use super::{Dimension, Metric, Started};
use crate::schedule_file::Schedule;
use crate::summary_file::Horizon;

/// Deviations up to this share of the recorded value are none.
const TOLERANCE: f64 = 0.05;

/// The simulated baseline beside what the trace says became of the same jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// How near simulated starts are to recorded ones.
    pub starts: StartsWithin,
    /// Overall first, then users, accounts, partitions and QOS, each by name.
    pub groups: Vec<RecordedGroup>,
}

/// Shares of the jobs that start in both whose simulated start is at most so far from the recorded one, means over replications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StartsWithin {
    /// A minute.
    pub minute: f64,
    /// Ten minutes.
    pub ten_minutes: f64,
    /// An hour.
    pub hour: f64,
}

/// The jobs of one user, account, partition or QOS, or all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedGroup {
    /// What the jobs have in common.
    pub by: Dimension,
    /// Its name; empty for all jobs.
    pub key: String,
    /// Counted jobs of a replication.
    pub jobs: u64,
    /// Where they started, over all replications; the record stands in the scenario's place. `left_out`: the trace tells no start of theirs.
    pub started: Started,
    /// The metrics, by name; those that either side lacks are left out.
    pub metrics: BTreeMap<Metric, Likeness>,
}

/// One metric of one group on both sides. Waits, slowdowns and response times are of the jobs that started in both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Likeness {
    /// In the record.
    pub recorded: f64,
    /// In the baseline: the mean over replications.
    pub baseline: f64,
    /// Baseline less record.
    pub difference: f64,
    /// Difference over record; absent where the record is 0.
    pub relative: Option<f64>,
    /// Where one more replication would lie with 95 % probability (Student's t); absent below two replications.
    pub range: Option<(f64, f64)>,
    /// The word for it.
    pub verdict: LikenessVerdict,
}

/// The word for how the baseline stands to the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LikenessVerdict {
    /// The record lies in the range of replications, or at most 5 % or [`Metric::negligible`] from their mean.
    #[serde(rename = "as recorded")]
    AsRecorded,
    /// The baseline has more.
    #[serde(rename = "more than recorded")]
    More,
    /// The baseline has less.
    #[serde(rename = "less than recorded")]
    Less,
    /// Too many jobs start on one side only ([`Started::is_comparable`]).
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl LikenessVerdict {
    /// Whether the baseline is known to be apart from the record.
    pub const fn is_off(self) -> bool {
        matches!(self, Self::More | Self::Less)
    }

    /// The word in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AsRecorded => "as recorded",
            Self::More => "more than recorded",
            Self::Less => "less than recorded",
            Self::NotComparable => "not comparable",
        }
    }
}

impl fmt::Display for LikenessVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Likeness {
    /// `None` where either side lacks the metric.
    pub(super) fn of(metric: Metric, baseline: &Moments, recorded: &Moments, started: &Started) -> Option<Self> {
        let (simulated, recorded) = (baseline.mean()?, recorded.mean()?);
        let difference = simulated - recorded;
        let range = baseline.range();
        let is_like = difference.abs() <= metric.negligible()
            || difference.abs() <= TOLERANCE * recorded.abs()
            || range.is_some_and(|(low, high)| (low..=high).contains(&recorded));
        let verdict = match metric {
            Metric::JobsUnstarted if started.is_comparable() => LikenessVerdict::AsRecorded,
            _ if metric.is_of_started() && !started.is_comparable() => LikenessVerdict::NotComparable,
            _ if is_like => LikenessVerdict::AsRecorded,
            _ if difference > 0.0 => LikenessVerdict::More,
            _ => LikenessVerdict::Less,
        };
        let round = |value: f64| rounded(value, metric.decimals());
        Some(Self {
            recorded: round(recorded),
            baseline: round(simulated),
            difference: round(difference),
            relative: (recorded != 0.0).then(|| rounded(difference / recorded, 6)),
            range: range.map(|(low, high)| (round(low), round(high))),
            verdict,
        })
    }
}

impl Fidelity {
    /// The group of all jobs.
    pub fn overall(&self) -> Option<&RecordedGroup> {
        self.groups.iter().find(|group| group.by == Dimension::Overall)
    }
}

impl StartsWithin {
    /// Of one replication: its schedule and the recorded one, rows in the same order. `None` where no counted job starts in both. O(rows).
    pub fn of((simulated, horizon): (&Schedule, Horizon), recorded: &Schedule) -> Option<Self> {
        let mut records = recorded.rows.iter().peekable();
        let mut apart = Vec::with_capacity(recorded.rows.len());
        for row in &simulated.rows {
            let record = records.next_if(|record| record.job == row.job);
            let starts = record.and_then(|record| row.start.zip(record.start)).filter(|_| horizon.counts(row.submit));
            apart.extend(starts.map(|(start, recorded)| start.abs_diff(recorded)));
        }
        let within = |seconds: u64| {
            let hits: Vec<f64> = apart.iter().map(|&it| f64::from(u8::from(it <= seconds))).collect();
            mean(&hits)
        };
        Some(Self { minute: within(60)?, ten_minutes: within(600)?, hour: within(3600)? })
    }
}

/// [`StartsWithin`] over replications.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartsSum([Moments; 3]);

impl StartsSum {
    pub(super) fn push(&mut self, starts: StartsWithin) {
        let values = [starts.minute, starts.ten_minutes, starts.hour];
        self.0.iter_mut().zip(values).for_each(|(sum, value)| sum.push(value));
    }

    pub(super) fn mean(&self) -> StartsWithin {
        let [minute, ten_minutes, hour] = self.0.map(|sum| rounded(sum.mean().unwrap_or_default(), 6));
        StartsWithin { minute, ten_minutes, hour }
    }
}
