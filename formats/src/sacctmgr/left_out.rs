//! Limits and flags that the dump sets and the engine does not look at.

use std::collections::BTreeMap;

use super::keys::Kind;
use super::{Field, Fields, Sacctmgr};
use crate::diagnostic::{Diagnostic, Severity};

/// Flags of a QOS that are not reproduced, and what happens instead.
pub(super) const FLAGS: [(&str, &str); 2] =
    [("Relative", "limits are absolute"), ("RequiresReservation", "reservations are not simulated")];

/// What happens where a QOS suspends its victims.
pub(super) const SUSPENDS: &str = "jobs are not suspended, so those of this QOS are not preempted";

/// What slurm.conf puts in force of what the accounting says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InForce {
    /// Limits are enforced.
    pub(crate) limits: bool,
    /// Some jobs preempt others.
    pub(crate) preemption: bool,
}

/// Settings alike: what they are called, why they are left out, how many rows have them, and the first of them.
struct Found<'a> {
    reason: &'static str,
    count: usize,
    first: &'a Field,
}

impl Sacctmgr {
    /// A remark for every limit and flag that is in force and not reproduced, with the number of rows that set it.
    /// O(rows).
    pub(crate) fn left_out(&self, in_force: InForce) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let associations = std::iter::once(&self.root).chain(self.rows.iter().map(|row| &row.fields));
        for (fields, rows) in [(collect(associations, in_force), "associations"), (self.of_qos(in_force), "QOS")] {
            for (name, found) in fields {
                let message = format!("{name} of {} {rows}: {}", found.count, found.reason);
                diagnostics.push(found.first.place.remark(Severity::NotModelled, name, message));
            }
        }
        diagnostics
    }

    fn of_qos(&self, in_force: InForce) -> BTreeMap<&'static str, Found<'_>> {
        let mut all = collect(self.qos.iter().map(|qos| &qos.fields), in_force);
        for field in self.qos.iter().filter_map(|qos| qos.fields.get("Flags")) {
            for (name, reason) in flags_left_out(&field.value) {
                if in_force.limits {
                    all.entry(name).or_insert(Found { reason, count: 0, first: field }).count += 1;
                }
            }
        }
        let modes = self.qos.iter().filter_map(|qos| qos.fields.get("PreemptMode"));
        for field in modes.filter(|field| in_force.preemption && suspends(&field.value)) {
            all.entry("PreemptMode").or_insert(Found { reason: SUSPENDS, count: 0, first: field }).count += 1;
        }
        all
    }
}

fn collect<'a>(rows: impl Iterator<Item = &'a Fields>, in_force: InForce) -> BTreeMap<&'static str, Found<'a>> {
    let mut all: BTreeMap<&'static str, Found> = BTreeMap::new();
    for field in rows.flat_map(|fields| fields.values()).filter(|field| !is_void(field)) {
        let Some(reason) = field.key.left_out else { continue };
        let is_in_force = if is_about_preemption(field) { in_force.preemption } else { in_force.limits };
        if is_in_force {
            all.entry(field.key.name).or_insert(Found { reason, count: 0, first: field }).count += 1;
        }
    }
    all
}

/// Whether a `PreemptMode` pauses jobs.
fn suspends(mode: &str) -> bool {
    mode.split(',').any(|word| ["SUSPEND", "GANG"].iter().any(|known| known.eq_ignore_ascii_case(word.trim())))
}

fn is_about_preemption(field: &Field) -> bool {
    field.key.name.starts_with("Preempt") || field.key.name == "GraceTime"
}

/// Whether a value sets nothing, as sacctmgr prints it for what was never set.
fn is_void(field: &Field) -> bool {
    let value = field.value.trim();
    let number = value.parse::<f64>().ok();
    match field.key.kind {
        Kind::Mode => ["", "cluster", "off"].iter().any(|word| value.eq_ignore_ascii_case(word)),
        // A factor of 1 changes nothing.
        Kind::Factor => value.is_empty() || number.is_some_and(|number| number <= 0.0 || number == 1.0),
        Kind::Seconds | Kind::Minutes => value.bytes().all(|byte| matches!(byte, b'0' | b':' | b'-')) || value == "-1",
        Kind::Number if field.key.name == "MinPrioThreshold" => number.is_none_or(|number| number <= 0.0),
        // No submission at all is a limit, too.
        Kind::Number => number.is_none_or(|number| number < 0.0),
        _ => value.is_empty() || value == "-1",
    }
}

/// The flags of a list that are not reproduced.
pub(super) fn flags_left_out(list: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let words: Vec<String> = list.split(',').map(|word| word.trim().to_ascii_lowercase()).collect();
    FLAGS.into_iter().filter(move |(name, _)| words.contains(&name.to_ascii_lowercase()))
}

/// Why a what-if of this key would show nothing.
pub(super) fn why_unseen(key: &super::Key, before: &str, after: &str) -> Option<(&'static str, &'static str)> {
    // Lists of QOS say which may be named at submission.
    if key.name == "QOS" {
        return Some((key.name, "a job's QOS is the one that the trace records"));
    }
    if let Some(reason) = key.left_out {
        return Some((key.name, reason));
    }
    if key.name != "Flags" {
        return None;
    }
    let (before, after): (Vec<_>, Vec<_>) = (flags_left_out(before).collect(), flags_left_out(after).collect());
    let only_after = after.iter().find(|flag| !before.contains(flag));
    only_after.or_else(|| before.iter().find(|flag| !after.contains(flag))).copied()
}
