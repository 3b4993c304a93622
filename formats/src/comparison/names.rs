//! The closed lists of dimensions, metrics and verdicts, with the words users see.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Started;

/// What the jobs of a group have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// All jobs.
    #[default]
    Overall,
    /// The user.
    User,
    /// The account.
    Account,
    /// The first partition asked for, wherever a job runs.
    Partition,
    /// The QOS.
    Qos,
}

impl Dimension {
    /// The word in texts for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Qos => "QOS",
            other => other.as_str(),
        }
    }

    /// All, in the order of documents.
    pub const ALL: [Self; 5] = [Self::Overall, Self::User, Self::Account, Self::Partition, Self::Qos];

    /// The word in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overall => "overall",
            Self::User => "user",
            Self::Account => "account",
            Self::Partition => "partition",
            Self::Qos => "qos",
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A metric of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Metric {
    /// Bounded slowdown (10 s), mean.
    #[serde(rename = "bounded_slowdown.mean")]
    BoundedSlowdownMean,
    /// Jobs that never start.
    #[serde(rename = "jobs_unstarted")]
    JobsUnstarted,
    /// First submit to last end [s].
    #[serde(rename = "makespan_seconds")]
    Makespan,
    /// End less eligible time, mean [s].
    #[serde(rename = "response_seconds.mean")]
    ResponseMean,
    /// Allocated over available core-seconds.
    #[serde(rename = "utilization")]
    Utilization,
    /// Start less eligible time, mean [s].
    #[serde(rename = "wait_seconds.mean")]
    WaitMean,
    /// Its median [s].
    #[serde(rename = "wait_seconds.median")]
    WaitMedian,
    /// Its 95th percentile [s].
    #[serde(rename = "wait_seconds.p95")]
    WaitP95,
}

impl Metric {
    /// All, in the order in which people read them.
    pub const ALL: [Self; 8] = [
        Self::WaitMean,
        Self::WaitMedian,
        Self::WaitP95,
        Self::BoundedSlowdownMean,
        Self::ResponseMean,
        Self::Utilization,
        Self::Makespan,
        Self::JobsUnstarted,
    ];

    /// The name in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BoundedSlowdownMean => "bounded_slowdown.mean",
            Self::JobsUnstarted => "jobs_unstarted",
            Self::Makespan => "makespan_seconds",
            Self::ResponseMean => "response_seconds.mean",
            Self::Utilization => "utilization",
            Self::WaitMean => "wait_seconds.mean",
            Self::WaitMedian => "wait_seconds.median",
            Self::WaitP95 => "wait_seconds.p95",
        }
    }

    /// The words of tables.
    pub const fn label(self) -> &'static str {
        match self {
            Self::BoundedSlowdownMean => "bounded slowdown",
            Self::JobsUnstarted => "jobs never started",
            Self::Makespan => "makespan",
            Self::ResponseMean => "mean response time",
            Self::Utilization => "utilisation",
            Self::WaitMean => "mean wait",
            Self::WaitMedian => "median wait",
            Self::WaitP95 => "95th percentile wait",
        }
    }

    /// Whether it is a duration in seconds.
    pub const fn is_seconds(self) -> bool {
        !matches!(self, Self::BoundedSlowdownMean | Self::Utilization | Self::JobsUnstarted)
    }

    /// Whether more of it is better.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::Utilization)
    }

    /// Whether it exists for parts of the jobs.
    pub const fn is_by_group(self) -> bool {
        !matches!(self, Self::Utilization | Self::Makespan)
    }

    /// Whether it is a figure of the jobs that started, and so says little where others start on the other side.
    pub const fn is_of_started(self) -> bool {
        !matches!(self, Self::Utilization | Self::JobsUnstarted)
    }

    /// A difference between simulation and record that nobody minds, whatever it is a share of: a minute, a tenth of a slowdown, a point.
    pub const fn negligible(self) -> f64 {
        match self {
            Self::Utilization => 0.01,
            Self::BoundedSlowdownMean => 0.1,
            Self::JobsUnstarted => 0.0,
            _ => 60.0,
        }
    }

    /// Decimals in documents: 3 for seconds, 6 for ratios.
    pub const fn decimals(self) -> u32 {
        if self.is_seconds() { 3 } else { 6 }
    }

    /// Decimals that people are shown of a small value: tenths of a second, of a per cent, of a job.
    pub const fn shown_decimals(self) -> u32 {
        match self {
            Self::Utilization => 3,
            Self::BoundedSlowdownMean => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The word for a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The whole interval lies on the good side of 0.
    #[serde(rename = "better")]
    Better,
    /// The whole interval lies on the bad side of 0.
    #[serde(rename = "worse")]
    Worse,
    /// The interval holds 0.
    #[serde(rename = "no detectable change")]
    NoDetectableChange,
    /// There is no interval.
    #[serde(rename = "not enough data")]
    NotEnoughData,
    /// Too many jobs start on one side only ([`super::Started::is_comparable`]).
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl Verdict {
    /// The word in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDetectableChange => "no detectable change",
            Self::NotEnoughData => "not enough data",
            Self::NotComparable => "not comparable",
        }
    }

    /// The verdict on a rounded interval of differences.
    pub fn of(interval: Option<(f64, f64)>, more_is_better: bool) -> Self {
        match interval {
            None => Self::NotEnoughData,
            Some((low, _)) if low > 0.0 => {
                if more_is_better {
                    Self::Better
                } else {
                    Self::Worse
                }
            }
            Some((_, high)) if high < 0.0 => {
                if more_is_better {
                    Self::Worse
                } else {
                    Self::Better
                }
            }
            Some(_) => Self::NoDetectableChange,
        }
    }

    /// The verdict on a figure of the jobs that started. Who refuses jobs shortens the waits of the others: that is not better. Longer
    /// waits of fewer jobs are worse all the same.
    #[must_use]
    pub fn among(self, started: &Started) -> Self {
        match self {
            Self::NotEnoughData => self,
            _ if started.is_comparable() => self,
            Self::Worse if started.baseline_only > started.scenario_only => self,
            _ => Self::NotComparable,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
