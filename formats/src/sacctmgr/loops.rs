//! QOS that preempt each other in a circle: slurmdbd refuses them, and jobs of theirs would preempt each other for ever.
//! Source: as_mysql_qos.c, `_preemption_loop`.

use std::collections::{BTreeMap, BTreeSet};

use foresite_engine::association::Qos;
use foresite_engine::ids::QosId;

/// Circles of `Preempt` lists, as names from a QOS back to itself; each QOS is in one of them at most. O(QOS × lists).
pub(super) fn preemption_loops(qos: &[Qos]) -> Vec<Vec<&str>> {
    let mut told: BTreeSet<QosId> = BTreeSet::new();
    let mut loops = Vec::new();
    for start in (0..qos.len()).map(QosId::new) {
        if let Some(path) = way_back(qos, start).filter(|path| !path.iter().any(|id| told.contains(id))) {
            loops.push(path.iter().filter_map(|id| Some(qos.get(id.index())?.name.as_str())).collect());
            told.extend(path);
        }
    }
    loops
}

/// A shortest way from a QOS along the lists back to it.
fn way_back(qos: &[Qos], start: QosId) -> Option<Vec<QosId>> {
    let mut from: BTreeMap<QosId, QosId> = BTreeMap::new();
    let mut open = vec![start];
    while !open.is_empty() {
        let mut next = Vec::new();
        for at in open {
            for &below in qos.get(at.index()).map_or(&[][..], |it| &it.preempt) {
                if below == start {
                    let before = std::iter::successors(Some(at), |id| from.get(id).copied());
                    let mut path: Vec<QosId> = std::iter::once(start).chain(before).collect();
                    path.reverse();
                    return Some(path);
                }
                if let std::collections::btree_map::Entry::Vacant(entry) = from.entry(below) {
                    entry.insert(at);
                    next.push(below);
                }
            }
        }
        open = next;
    }
    None
}
