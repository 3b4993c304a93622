//! Changes to the jobs themselves, as a document writes them, and what is wrong with one in itself.

use std::fmt;

use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

use super::checks::Fault;
use super::units::Span;

/// Arrivals are not scaled beyond this.
const ARRIVALS_MAX: f64 = 100.0;
/// Time limits and estimates are not scaled beyond this.
const FACTOR_MAX: f64 = 1000.0;

/// A change to the jobs themselves. Several are made in the order they are written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadChange {
    /// More or fewer jobs: `scale_arrivals: 1.2`, or with `factor` and `jobs`.
    ScaleArrivals(ScaleArrivals),
    /// Jobs of one user become another's.
    Reassign(Reassign),
    /// Another time limit; jobs longer than it are ended by it.
    TimeLimit(TimeLimitChange),
    /// Requested times become a multiple of the run times; run times stay.
    Estimates(Estimates),
    /// Jobs go to another partition.
    Move(Move),
}

/// Which jobs are meant: those that every given field names; all where none is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Jobs of this user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Jobs charged to this account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Jobs that ask for this partition, alone or among others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Jobs of this QOS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
}

/// More or fewer jobs, by a factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScaleArrivals {
    /// Arrivals over recorded arrivals, 0 to 100.
    pub factor: f64,
    /// Which jobs.
    pub jobs: Selection,
}

/// A fraction of one user's jobs becomes another's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reassign {
    /// From this user.
    pub from: String,
    /// To this user.
    pub to: String,
    /// Which part of them, above 0 to 1.
    #[serde(default = "whole")]
    pub fraction: f64,
    /// Which of the user's jobs.
    #[serde(default)]
    pub jobs: Selection,
}

/// Another time limit: one of `limit`, `factor` and `cap`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeLimitChange {
    /// The new limit, rounded up to minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Span>,
    /// New over old limit, rounded to minutes, at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// No limit is longer than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Span>,
    /// Which part of the jobs, above 0 to 1.
    #[serde(default = "whole")]
    pub fraction: f64,
    /// Which jobs.
    #[serde(default)]
    pub jobs: Selection,
}

/// Requested times as a multiple of the run times: `factor`, or `exact: true` for 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimates {
    /// Requested time over run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// Users know how long their jobs run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Which part of the jobs, above 0 to 1.
    #[serde(default = "whole")]
    pub fraction: f64,
    /// Which jobs.
    #[serde(default)]
    pub jobs: Selection,
}

/// Jobs go to another partition; other partitions that they ask for stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// From this partition.
    pub from: String,
    /// To this partition.
    pub to: String,
    /// Which part of them, above 0 to 1.
    #[serde(default = "whole")]
    pub fraction: f64,
    /// Which of the partition's jobs.
    #[serde(default)]
    pub jobs: Selection,
}

fn whole() -> f64 {
    1.0
}

impl WorkloadChange {
    /// The word by which the document names the change.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ScaleArrivals(_) => "scale_arrivals",
            Self::Reassign(_) => "reassign",
            Self::TimeLimit(_) => "time_limit",
            Self::Estimates(_) => "estimates",
            Self::Move(_) => "move",
        }
    }

    /// Which jobs are meant.
    pub const fn jobs(&self) -> &Selection {
        match self {
            Self::ScaleArrivals(ScaleArrivals { jobs, .. })
            | Self::Reassign(Reassign { jobs, .. })
            | Self::TimeLimit(TimeLimitChange { jobs, .. })
            | Self::Estimates(Estimates { jobs, .. })
            | Self::Move(Move { jobs, .. }) => jobs,
        }
    }

    /// Which part of them, above 0 to 1.
    pub const fn fraction(&self) -> f64 {
        match self {
            Self::ScaleArrivals(_) => 1.0,
            Self::Reassign(Reassign { fraction, .. })
            | Self::TimeLimit(TimeLimitChange { fraction, .. })
            | Self::Estimates(Estimates { fraction, .. })
            | Self::Move(Move { fraction, .. }) => *fraction,
        }
    }
}

impl Estimates {
    /// Requested time over run time.
    pub fn multiple(&self) -> f64 {
        self.factor.unwrap_or(1.0)
    }
}

/// What is wrong with a change in itself; `here` is its JSON pointer.
pub(super) fn faults(here: &str, change: &WorkloadChange) -> Vec<Fault> {
    let mut faults = Vec::new();
    let here = format!("{here}/workload/{}", change.kind());
    let mut push = |field: &str, message: &str, cure: &str| {
        faults.push((format!("{here}{field}"), message.to_owned(), cure.to_owned()));
    };
    let is_within = |value: f64, most: f64| value.is_finite() && value > 0.0 && value <= most;
    if !is_within(change.fraction(), 1.0) {
        push("/fraction", "not a fraction", "write a number above 0, at most 1");
    }
    match change {
        WorkloadChange::ScaleArrivals(ScaleArrivals { factor, .. }) => {
            if !(is_within(*factor, ARRIVALS_MAX) || *factor == 0.0) {
                push("", "not a factor of arrivals", "write a number of 0 to 100, such as 1.2 for a fifth more jobs");
            }
        }
        WorkloadChange::Reassign(Reassign { from, to, jobs, .. }) => {
            if from == to {
                push("/to", "the jobs are that user's already", "name another user");
            }
            if jobs.user.is_some() {
                push("/jobs/user", "`from` names the user", "leave it out");
            }
        }
        WorkloadChange::TimeLimit(TimeLimitChange { limit, factor, cap, .. }) => {
            let given = [limit.is_some(), factor.is_some(), cap.is_some()];
            if given.iter().filter(|is_given| **is_given).count() != 1 {
                push("", "not exactly one of `limit`, `factor` and `cap`", "write one, such as `factor: 0.5`");
            }
            if factor.is_some_and(|factor| !is_within(factor, FACTOR_MAX)) {
                push("/factor", "not a factor of time limits", "write a number above 0, at most 1000");
            }
            for (field, span) in [("/limit", limit), ("/cap", cap)] {
                if span.is_some_and(|span| !(60..=u64::from(u32::MAX - 60)).contains(&span.0)) {
                    push(field, "not a time limit", "Slurm knows whole minutes: write at least 1m");
                }
            }
        }
        WorkloadChange::Estimates(Estimates { factor, exact, .. }) => {
            if factor.is_some() == *exact {
                push("", "neither or both of `factor` and `exact`", "write `factor: 2` or `exact: true`");
            }
            if factor.is_some_and(|factor| !is_within(factor, FACTOR_MAX)) {
                push("/factor", "not a factor of run times", "write a number above 0, at most 1000");
            }
        }
        WorkloadChange::Move(Move { from, to, .. }) => {
            if from == to {
                push("/to", "the jobs are in that partition already", "name another partition");
            }
        }
    }
    faults
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScaleArrivalsMap {
    factor: f64,
    #[serde(default)]
    jobs: Selection,
}

struct FactorOrMap;

impl<'de> Visitor<'de> for FactorOrMap {
    type Value = ScaleArrivals;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or `factor` and `jobs`")
    }

    fn visit_f64<E: de::Error>(self, factor: f64) -> Result<ScaleArrivals, E> {
        Ok(ScaleArrivals { factor, jobs: Selection::default() })
    }

    fn visit_u64<E: de::Error>(self, factor: u64) -> Result<ScaleArrivals, E> {
        self.visit_f64(factor as f64)
    }

    fn visit_i64<E: de::Error>(self, factor: i64) -> Result<ScaleArrivals, E> {
        self.visit_f64(factor as f64)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<ScaleArrivals, M::Error> {
        let ScaleArrivalsMap { factor, jobs } = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ScaleArrivals { factor, jobs })
    }
}

impl<'de> Deserialize<'de> for ScaleArrivals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FactorOrMap)
    }
}
