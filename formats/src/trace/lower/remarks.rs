//! What lowering has to say, counted by kind and name.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Severity};

/// Names reported of one kind; the rest is counted.
const NAMES_KEPT: usize = 100;

/// What a remark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// A partition the site does not have.
    Partition,
    /// No partition named and no default.
    NoDefaultPartition,
    /// `--tmp`, and nodes without `TmpDisk`.
    TmpDisk,
    /// `--gres-flags=enforce-binding` with select/cons_res.
    Binding,
    /// A QOS the site does not have.
    Qos,
    /// An account the site does not have.
    Account,
    /// A user without association in the account.
    User,
    /// A feature no node has.
    Feature,
    /// A constraint that cannot be read.
    Constraint,
    /// A generic resource no node has.
    Gres,
    /// A generic resource of which nodes have more than the engine counts.
    GresUncounted,
    /// A node the site does not have.
    Node,
    /// A node the site does not have, on which jobs ran when the simulation begins.
    FormerNode,
    /// A licence the site does not have.
    Licence,
    /// A dependency on jobs outside the trace.
    DependencyOutside,
    /// A dependency on jobs that never became eligible.
    DependencyNever,
    /// A reservation the site does not have.
    Reservation,
    /// All CPUs of nodes, and `--exclusive` nowhere.
    WholeNodes,
    /// No limit, and a run that its partition's default does not explain.
    LimitOfRun,
}

/// Remarks of one trace.
pub(super) struct Remarks {
    file: String,
    has_accounts: bool,
    found: BTreeMap<About, BTreeMap<String, Counted>>,
    more: BTreeMap<About, u64>,
}

struct Counted {
    jobs: u64,
    line: u64,
    cure: String,
}

/// Remarks about some jobs, the first of which stands on a line.
pub(super) struct Remarked<'r> {
    remarks: &'r mut Remarks,
    jobs: u64,
    line: u64,
}

impl Remarks {
    pub(super) fn new(file: &str, has_accounts: bool) -> Self {
        Self { file: file.to_owned(), has_accounts, found: BTreeMap::new(), more: BTreeMap::new() }
    }

    pub(super) fn of(&mut self, jobs: u64, line: u64) -> Remarked<'_> {
        Remarked { remarks: self, jobs, line }
    }

    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for (about, names) in &self.found {
            if about.is_made() && !self.has_accounts {
                diagnostics.extend(self.summary(*about, names));
                continue;
            }
            for (name, counted) in names {
                let (severity, field, message) = about.words(name, counted.jobs, self.has_accounts);
                let cure = if counted.cure.is_empty() { about.cure(self.has_accounts) } else { &counted.cure };
                diagnostics
                    .push(Diagnostic::new(severity, &self.file, message).at(counted.line).field(field).cure(cure));
            }
        }
        for (about, jobs) in &self.more {
            let (severity, field, _) = about.words("", 0, self.has_accounts);
            let message = format!("more unknown names than can be listed, of {jobs} jobs");
            diagnostics.push(Diagnostic::new(severity, &self.file, message).field(field));
        }
        diagnostics
    }
}

impl Remarks {
    /// Without an accounting dump every name is unknown: they are counted, not listed.
    fn summary(&self, about: About, names: &BTreeMap<String, Counted>) -> Option<Diagnostic> {
        let first = names.values().min_by_key(|counted| counted.line)?;
        let jobs: u64 = names.values().map(|counted| counted.jobs).sum();
        let (severity, field, _) = about.words("", 0, false);
        let what = match about {
            About::Qos => "QOS: taken with priority 0 and no limits",
            About::Account => "accounts: taken with one share each under root, and one share for each of their users",
            _ => "associations: taken with one share each",
        };
        let message = format!("no accounting dump was given for {} {what} ({jobs} jobs)", names.len());
        Some(Diagnostic::new(severity, &self.file, message).at(first.line).field(field).cure(about.cure(false)))
    }
}

impl Remarked<'_> {
    /// Says something about a name.
    pub(super) fn say(&mut self, about: About, name: &str) {
        self.say_with(about, name, String::new);
    }

    /// Says something about a name, with a cure of its own.
    pub(super) fn say_with(&mut self, about: About, name: &str, cure: impl FnOnce() -> String) {
        let names = self.remarks.found.entry(about).or_default();
        if let Some(counted) = names.get_mut(name) {
            counted.jobs += self.jobs;
            counted.line = counted.line.min(self.line);
        } else if names.len() < NAMES_KEPT || (about.is_made() && !self.remarks.has_accounts) {
            names.insert(name.to_owned(), Counted { jobs: self.jobs, line: self.line, cure: cure() });
        } else {
            *self.remarks.more.entry(about).or_default() += self.jobs;
        }
    }
}

impl About {
    /// Whether what is unknown was made for the trace.
    fn is_made(self) -> bool {
        matches!(self, Self::Qos | Self::Account | Self::User)
    }

    fn words(self, name: &str, jobs: u64, has_accounts: bool) -> (Severity, &'static str, String) {
        let made = if has_accounts { Severity::Warning } else { Severity::Assumed };
        match self {
            Self::Partition => {
                (Severity::Error, "Partition", format!("the partition '{name}' of {jobs} jobs is not in slurm.conf"))
            }
            Self::TmpDisk => (
                Severity::Assumed,
                "SubmitLine",
                format!("{jobs} jobs ask for local disk (--tmp): nodes without TmpDisk are taken to have enough"),
            ),
            Self::Binding => (
                Severity::NotModelled,
                "SubmitLine",
                format!("--gres-flags=enforce-binding of {jobs} jobs has no effect with select/cons_res"),
            ),
            Self::NoDefaultPartition => (
                Severity::Error,
                "Partition",
                format!("{jobs} jobs name no partition, and slurm.conf has no default one"),
            ),
            Self::Qos => (
                made,
                "QOS",
                format!("the QOS '{name}' of {jobs} jobs is not known: taken with priority 0 and no limits"),
            ),
            Self::Account => (
                made,
                "Account",
                format!("the account '{name}' of {jobs} jobs is not known: taken with one share under root"),
            ),
            Self::User => {
                (made, "User", format!("'{name}' of {jobs} jobs is no known association: taken with one share"))
            }
            Self::Feature => (
                Severity::Warning,
                "Constraints",
                format!("no node has the feature '{name}' that {jobs} jobs ask for: they never start"),
            ),
            Self::Constraint => (
                Severity::Warning,
                "Constraints",
                format!("the constraint '{name}' of {jobs} jobs cannot be read: they never start"),
            ),
            Self::Gres => (
                Severity::Warning,
                "ReqTRES",
                format!("no node has the GRES '{name}' that {jobs} jobs ask for: they never start"),
            ),
            Self::GresUncounted => (
                Severity::NotModelled,
                "ReqTRES",
                format!(
                    "nodes have 4294967295 or more of the GRES '{name}', which is not counted: what {jobs} jobs ask of it is left out"
                ),
            ),
            Self::Node => (
                Severity::Warning,
                "SubmitLine",
                format!("the node '{name}' that {jobs} jobs name is not in slurm.conf: ignored"),
            ),
            Self::FormerNode => (
                Severity::Warning,
                "NodeList",
                format!(
                    "the node '{name}' of {jobs} jobs that run from the beginning is not in slurm.conf: they run on others"
                ),
            ),
            Self::Licence => (
                Severity::Warning,
                "Licenses",
                format!("the licence '{name}' of {jobs} jobs is not in slurm.conf: ignored"),
            ),
            Self::Reservation => (
                Severity::Assumed,
                "Reservation",
                format!(
                    "the reservation '{name}' of {jobs} jobs is not known: they run as any other, from the recorded Eligible on"
                ),
            ),
            Self::WholeNodes => (
                Severity::Assumed,
                "AllocTRES",
                format!(
                    "{jobs} jobs were given all CPUs of their nodes, and asked for fewer: taken to have asked for whole nodes (--exclusive in the script?)"
                ),
            ),
            Self::LimitOfRun => (
                Severity::Assumed,
                "TimelimitRaw",
                format!(
                    "{jobs} jobs without a recorded limit timed out at another than their partition's default, or ran longer: taken to have asked for as long as they ran"
                ),
            ),
            Self::DependencyNever => (
                Severity::Assumed,
                "SubmitLine",
                format!(
                    "{jobs} jobs depend on jobs that sacct does not list, as they were never eligible: they never start"
                ),
            ),
            Self::DependencyOutside => (
                Severity::Assumed,
                "SubmitLine",
                format!("{jobs} jobs depend on jobs outside the trace: the recorded Eligible taken as release time"),
            ),
        }
    }

    fn cure(self, has_accounts: bool) -> &'static str {
        match self {
            Self::Partition | Self::Feature | Self::Gres => "hand over the slurm.conf of the trace's time",
            Self::TmpDisk => "set TmpDisk on the NodeName lines",
            Self::NoDefaultPartition => "set Default=YES on a partition",
            Self::Reservation => "hand over scontrol show reservation -o of the trace's time",
            Self::Account | Self::User | Self::Qos if has_accounts => "hand over a sacctmgr dump of the trace's time",
            Self::Account | Self::User | Self::Qos => {
                "hand over a sacctmgr dump for the site's shares, limits and priorities"
            }
            _ => "",
        }
    }
}
