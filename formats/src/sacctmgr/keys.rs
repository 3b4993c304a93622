//! The keys of associations and of qualities of service. Source: sacctmgr(1) of 22.05 to 25.05 and older dumps.

use super::left_out::{FLAGS, SUSPENDS};
use crate::fidelity::ByStanding;
use crate::slurm_conf::value::{self, span};

/// A key, its old names and its value's shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key {
    /// Today's name.
    pub(super) name: &'static str,
    /// Other spellings.
    aliases: &'static [&'static str],
    /// Old keys for one resource: the key and the resource.
    by_resource: &'static [(&'static str, &'static str)],
    pub(super) kind: Kind,
    /// Why nothing in the engine looks at it; `None` where it is reproduced.
    pub(super) left_out: Option<&'static str>,
}

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A whole number; -1 is none.
    Number,
    /// A decimal number of no more than a million; -1 is none.
    Factor,
    /// A time; a plain number is minutes.
    Minutes,
    /// A time; a plain number is seconds.
    Seconds,
    /// `resource=amount` pairs.
    Amounts,
    /// A list of names.
    Names,
    /// A number of shares, or `parent`.
    Shares,
    /// `OFF`, `CANCEL`, `REQUEUE`, `SUSPEND`, `GANG`, `WITHIN`, `cluster`.
    Mode,
    /// No effect on scheduling.
    Ignored,
}

impl Kind {
    /// Whether a value is allowed.
    ///
    /// # Errors
    /// A clause that says what it should be.
    pub(super) fn check(self, value: &str) -> Result<(), String> {
        let is_none = value.is_empty() || value == "-1";
        let (fits, expected) = match self {
            Self::Number => (is_none || value.parse::<u32>().is_ok() || value::is_unlimited(value), "a whole number"),
            Self::Factor => (
                is_none || value.parse::<f64>().is_ok_and(|number| (0.0..=1e6).contains(&number)),
                "a number from 0 to 1000000",
            ),
            Self::Minutes => (is_none || span(value).is_some(), "a time (minutes or days-hours:minutes:seconds)"),
            Self::Seconds => (is_none || value.parse::<u32>().is_ok() || span(value).is_some(), "a time in seconds"),
            Self::Shares => {
                (value.eq_ignore_ascii_case("parent") || value.parse::<u32>().is_ok(), "a number of shares or 'parent'")
            }
            Self::Amounts | Self::Names | Self::Mode | Self::Ignored => (true, ""),
        };
        if fits { Ok(()) } else { Err(format!("'{}' is not {expected}", value.chars().take(60).collect::<String>())) }
    }
}

/// The key of that name (letter case and blanks ignored), and the resource that an old name implies.
pub(super) fn find_key(keys: &'static [Key], name: &str) -> Option<(&'static Key, Option<&'static str>)> {
    let name: String = name.chars().filter(|character| !character.is_whitespace()).take(64).collect();
    keys.iter().find_map(|key| {
        if key.name.eq_ignore_ascii_case(&name) || key.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&name)) {
            return Some((key, None));
        }
        let old = key.by_resource.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(&name));
        old.map(|(_, resource)| (key, Some(*resource)))
    })
}

/// Whether a key's value says nothing about people: a number, a time, an amount, a list of QOS, flags or a partition.
pub(crate) fn is_harmless_key(name: &str) -> bool {
    let also = ["Partition", "AdminLevel", "Flags", "ID", "ParentID", "LFT", "RGT"];
    also.iter().any(|other| other.eq_ignore_ascii_case(name))
        || [ASSOCIATION, QOS].iter().any(|keys| find_key(keys, name).is_some_and(|(key, _)| key.kind != Kind::Ignored))
}

/// The keys of associations and of QOS, by what becomes of them.
pub(crate) fn keys_by_standing() -> [(&'static str, ByStanding); 2] {
    [("Associations (`sacctmgr dump`)", ASSOCIATION), ("QOS (`sacctmgr show qos`)", QOS)].map(|(title, keys)| {
        let mut by = ByStanding::default();
        for key in keys {
            match (key.left_out, key.kind) {
                (Some(reason), _) => by.left_out.push((key.name.to_owned(), reason)),
                (None, Kind::Ignored) => by.harmless.push(key.name),
                (None, _) => by.modelled.push(key.name),
            }
        }
        if title.starts_with("QOS") {
            let flags = FLAGS.iter().map(|(flag, reason)| (format!("Flags={flag}"), *reason));
            by.left_out.extend(flags);
            by.left_out.push(("PreemptMode=SUSPEND".to_owned(), SUSPENDS));
        }
        (title, by)
    })
}

const fn key(name: &'static str, kind: Kind, aliases: &'static [&'static str]) -> Key {
    Key { name, aliases, by_resource: &[], kind, left_out: None }
}

const fn amounts(
    name: &'static str,
    aliases: &'static [&'static str],
    by_resource: &'static [(&'static str, &'static str)],
) -> Key {
    Key { name, aliases, by_resource, kind: Kind::Amounts, left_out: None }
}

impl Key {
    /// Read and checked, but without effect, for this reason.
    const fn left_out(self, reason: &'static str) -> Self {
        Self { left_out: Some(reason), ..self }
    }
}

const RUN_MINUTES: &str = "Slurm does not enforce it for associations either: use GrpTRESRunMins";

/// Limits that associations and QOS share.
macro_rules! with_common_limits {
    ($($own:expr),+ $(,)?) => {
        &[
            key("GrpJobs", Kind::Number, &[]),
            key("GrpJobsAccrue", Kind::Number, &[]),
            key("GrpSubmitJobs", Kind::Number, &["GrpSubmit"]),
            key("GrpWall", Kind::Minutes, &[]),
            amounts("GrpTRES", &[], &[("GrpCPUs", "cpu"), ("GrpCPU", "cpu"), ("GrpMem", "mem"), ("GrpMemory", "mem"), ("GrpNodes", "node"), ("GrpNode", "node")]),
            amounts("GrpTRESMins", &[], &[("GrpCPUMins", "cpu")]),
            amounts("GrpTRESRunMins", &[], &[("GrpCPURunMins", "cpu")]),
            amounts("MaxTRESPerJob", &["MaxTRES", "MaxTRESPJ"], &[("MaxCPUs", "cpu"), ("MaxCPUsPerJob", "cpu"), ("MaxNodes", "node"), ("MaxNodesPerJob", "node")]),
            amounts("MaxTRESPerNode", &["MaxTRESPN"], &[]),
            amounts("MaxTRESMinsPerJob", &["MaxTRESMins", "MaxTRESMinsPJ"], &[("MaxCPUMins", "cpu"), ("MaxCPUMinsPerJob", "cpu")]),
            key("MaxWallDurationPerJob", Kind::Minutes, &["MaxWall", "MaxWallDuration", "MaxWallPJ"]),
            key("MinPrioThreshold", Kind::Number, &["MinPrioThresh", "MinPrio"]),
            key("Priority", Kind::Number, &[]),
            key("Description", Kind::Ignored, &["Descr"]),
            key("ID", Kind::Ignored, &[]),
            key("Deleted", Kind::Ignored, &[]),
            $($own),+
        ]
    };
}

/// Keys of accounts, users and the cluster's root.
pub(super) static ASSOCIATION: &[Key] = with_common_limits![
    key("Fairshare", Kind::Shares, &["Share", "Shares"]),
    key("MaxJobs", Kind::Number, &["MaxJobsPerUser"]),
    key("MaxJobsAccrue", Kind::Number, &[]),
    key("MaxSubmitJobs", Kind::Number, &["MaxSubmit"]),
    key("DefaultQOS", Kind::Names, &["DefQOS"]),
    key("QOS", Kind::Names, &["QosLevel", "QosList"]),
    key("AdminLevel", Kind::Ignored, &["Admin"]),
    key("Cluster", Kind::Ignored, &[]),
    key("Classification", Kind::Ignored, &[]),
    key("Comment", Kind::Ignored, &[]),
    key("Coordinator", Kind::Ignored, &["Coordinators", "Coord"]),
    key("DefaultAccount", Kind::Names, &["DefAcct", "DefaultAcct"]),
    key("DefaultWCKey", Kind::Ignored, &["DefWCKey"]),
    key("Features", Kind::Ignored, &[]),
    key("Federation", Kind::Ignored, &[]),
    key("Flags", Kind::Ignored, &[]),
    key("LFT", Kind::Ignored, &[]),
    key("Lineage", Kind::Ignored, &[]),
    key("Organization", Kind::Ignored, &["Org"]),
    key("ParentID", Kind::Ignored, &["ParID"]),
    key("RGT", Kind::Ignored, &[]),
    key("WCKeys", Kind::Ignored, &["WCKey"]),
    key("WithDeleted", Kind::Ignored, &[]),
    key("MaxTRESRunMins", Kind::Amounts, &["MaxCPURunMins"]).left_out(RUN_MINUTES),
];

/// Keys of a QOS.
pub(super) static QOS: &[Key] = with_common_limits![
    key("Flags", Kind::Names, &[]),
    key("GraceTime", Kind::Seconds, &[]),
    key("LimitFactor", Kind::Factor, &[]),
    key("MaxJobsAccruePerAccount", Kind::Number, &["MaxJobsAccruePA"]),
    key("MaxJobsAccruePerUser", Kind::Number, &["MaxJobsAccruePU"]),
    key("MaxJobsPerAccount", Kind::Number, &["MaxJobsPA"]),
    key("MaxJobsPerUser", Kind::Number, &["MaxJobsPU", "MaxJobs"]),
    key("MaxSubmitJobsPerAccount", Kind::Number, &["MaxSubmitPA", "MaxSubmitJobsPA"]),
    key("MaxSubmitJobsPerUser", Kind::Number, &["MaxSubmitPU", "MaxSubmitJobsPU", "MaxSubmitJobs", "MaxSubmit"]),
    amounts("MaxTRESPerAccount", &["MaxTRESPA"], &[("MaxCPUsPerAccount", "cpu"), ("MaxNodesPerAccount", "node")]),
    amounts(
        "MaxTRESPerUser",
        &["MaxTRESPU"],
        &[("MaxCPUsPerUser", "cpu"), ("MaxNodesPerUser", "node"), ("MaxCPUsPU", "cpu"), ("MaxNodesPU", "node")]
    ),
    amounts(
        "MinTRESPerJob",
        &["MinTRES", "MinTRESPJ"],
        &[("MinCPUs", "cpu"), ("MinCPUsPerJob", "cpu"), ("MinNodes", "node")]
    ),
    key("Preempt", Kind::Names, &[]),
    key("PreemptExemptTime", Kind::Minutes, &[]),
    key("PreemptMode", Kind::Mode, &[]),
    key("UsageFactor", Kind::Factor, &[]),
    key("UsageThreshold", Kind::Factor, &["UsageThres"]),
    key("MaxTRESRunMinsPerAccount", Kind::Amounts, &["MaxTRESRunMinsPA"]),
    key("MaxTRESRunMinsPerUser", Kind::Amounts, &["MaxTRESRunMinsPU"]),
];
