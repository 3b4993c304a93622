//! The one table of slurm.conf's parameters: it decides what is known, what is modelled, what a value may be, and what `set`
//! and `scale` accept. Sources: slurm.conf(5) of 22.05 to 25.05, and older editions for parameters since removed.

mod effect;
mod global;
mod harmless;
mod kind;
mod node;
mod partition;
mod scheduler;

pub use kind::Kind;
pub(crate) use kind::weights;

/// Where a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// A line of its own.
    Global,
    /// An option inside `SchedulerParameters`.
    SchedulerParameters,
    /// An option inside `PreemptParameters`.
    PreemptParameters,
    /// A key of a `PartitionName` line.
    Partition,
    /// A key of a `NodeName` line.
    Node,
    /// Not Slurm's: a setting of the simulator, accepted by `set` only.
    Simulator,
}

/// What the simulator does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its effect on scheduling is reproduced.
    Modelled,
    /// It has none (logs, ports, paths, authentication, …).
    Harmless,
    /// It has one, which is not reproduced, for this reason.
    NotModelled(&'static str),
    /// Its effect is reproduced where cycles take time (`CostModel`); elsewhere not, for this reason.
    WithTime(&'static str),
}

/// One parameter of slurm.conf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Where it is written.
    pub scope: Scope,
    /// Its name as slurm.conf(5) spells it.
    pub name: &'static str,
    /// The name that has replaced this one.
    pub alias_of: Option<&'static str>,
    /// What its value may be.
    pub kind: Kind,
    /// The unit of its value; empty without one.
    pub unit: &'static str,
    /// What Slurm 22.05 takes where it is not set; `=NAME` is the value of another parameter.
    pub default: &'static str,
    /// What it means, in a clause.
    pub meaning: &'static str,
    /// What the simulator does with it.
    pub status: Status,
    /// Words that a modelled parameter may hold but whose effect is not reproduced, and what happens instead.
    pub words_left_out: &'static [(&'static str, &'static str)],
}

impl Parameter {
    const fn modelled(
        scope: Scope,
        name: &'static str,
        kind: Kind,
        unit: &'static str,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            scope,
            name,
            alias_of: None,
            kind,
            unit,
            default,
            meaning,
            status: Status::Modelled,
            words_left_out: &[],
        }
    }

    const fn alias(scope: Scope, name: &'static str, of: &'static str, kind: Kind) -> Self {
        let meaning = "old name of another parameter";
        Self {
            scope,
            name,
            alias_of: Some(of),
            kind,
            unit: "",
            default: "",
            meaning,
            status: Status::Modelled,
            words_left_out: &[],
        }
    }

    const fn not_modelled(scope: Scope, name: &'static str, default: &'static str, reason: &'static str) -> Self {
        let status = Status::NotModelled(reason);
        Self {
            scope,
            name,
            alias_of: None,
            kind: Kind::Text,
            unit: "",
            default,
            meaning: reason,
            status,
            words_left_out: &[],
        }
    }

    const fn harmless(scope: Scope, name: &'static str, meaning: &'static str) -> Self {
        let status = Status::Harmless;
        Self {
            scope,
            name,
            alias_of: None,
            kind: Kind::Text,
            unit: "",
            default: "",
            meaning,
            status,
            words_left_out: &[],
        }
    }

    /// Looked at by the engine only where cycles take time; for this reason.
    const fn with_time(self, reason: &'static str) -> Self {
        Self { status: Status::WithTime(reason), ..self }
    }

    /// Why it has no effect, where it has one in Slurm.
    pub(crate) fn why_not(&self, cycles_take_time: bool) -> Option<&'static str> {
        match self.status {
            Status::NotModelled(reason) => Some(reason),
            Status::WithTime(reason) if !cycles_take_time => Some(reason),
            Status::WithTime(_) | Status::Modelled | Status::Harmless => None,
        }
    }

    /// Modelled but for these words of its value.
    const fn but_for(self, words_left_out: &'static [(&'static str, &'static str)]) -> Self {
        Self { words_left_out, ..self }
    }

    /// Whether `set` and `scale` accept it.
    pub fn is_modelled(&self) -> bool {
        self.status == Status::Modelled
    }

    /// The parameter under its present name.
    pub(crate) fn canonical(&'static self) -> &'static Self {
        self.alias_of.and_then(|name| find(self.scope, name)).unwrap_or(self)
    }

    /// How `set` names it.
    pub fn key(&self) -> String {
        match self.scope {
            Scope::Global | Scope::Simulator => self.name.to_owned(),
            Scope::SchedulerParameters => format!("SchedulerParameters.{}", self.name),
            Scope::PreemptParameters => format!("PreemptParameters.{}", self.name),
            Scope::Partition => format!("partition.NAME.{}", self.name),
            Scope::Node => format!("node.HOSTLIST.{}", self.name),
        }
    }
}

/// Words of `PreemptMode` without effect, the cluster's and a partition's.
const PREEMPT_WORDS_LEFT_OUT: &[(&str, &str)] = &[
    ("SUSPEND", "jobs are not suspended: nobody is preempted where this is the mode"),
    ("GANG", "jobs do not share nodes in time slices"),
    ("PRIORITY", "priorities do not limit who preempts whom"),
];

/// Every parameter known, scope by scope.
pub fn parameters() -> impl Iterator<Item = &'static Parameter> {
    [global::MODELLED, global::NOT_MODELLED, scheduler::PARAMETERS, partition::PARAMETERS, node::PARAMETERS]
        .into_iter()
        .chain(harmless::GROUPS.iter().copied())
        .flatten()
}

/// The parameter of that name (letter case ignored). O(parameters).
pub(crate) fn find(scope: Scope, name: &str) -> Option<&'static Parameter> {
    parameters().find(|parameter| parameter.scope == scope && parameter.name.eq_ignore_ascii_case(name))
}

/// The names of a scope.
pub(crate) fn names(scope: Scope) -> impl Iterator<Item = &'static str> {
    parameters().filter(move |parameter| parameter.scope == scope).map(|parameter| parameter.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_parameter_stands_twice_and_every_default_fits_its_kind() {
        let mut seen = std::collections::BTreeSet::new();
        for parameter in parameters() {
            assert!(seen.insert((parameter.scope, parameter.name.to_lowercase())), "{} twice", parameter.key());
            let is_plain = !parameter.default.is_empty() && !parameter.default.starts_with('=');
            if parameter.is_modelled() && is_plain {
                assert_eq!(parameter.kind.check(parameter.default), Ok(()), "{}", parameter.key());
            }
            if let Some(canonical) = parameter.alias_of {
                assert!(find(parameter.scope, canonical).is_some(), "{canonical}");
            }
        }
    }
}
