//! Nodes out of service: what `sacctmgr show event -P` prints and what a study drains, lowered to the engine's calendar.
//! Source: sacctmgr(1), slurm-semantics 7.6.

mod read;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use foresite_engine::calendar::{Outage, OutageKind};
use foresite_engine::cluster::Cluster;

use crate::diagnostic::{Diagnostic, Severity};
use crate::reservations::Place;
use crate::reservations::nodes_named;

pub use read::{is_header, read};

/// Nodes that are out of service for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEvent {
    /// Where it is written.
    pub place: Place,
    /// The cluster it is of; empty if that is not said.
    pub cluster: String,
    /// Which nodes (hostlist).
    pub nodes: String,
    /// From [Unix s].
    pub start: i64,
    /// To [Unix s]; `None` if it lasts.
    pub end: Option<i64>,
    /// What becomes of their jobs.
    pub kind: OutageKind,
}

/// Outages of a cluster; events of other clusters are left out, and counted. O(events × log nodes).
pub(crate) fn lower(events: &[NodeEvent], cluster: &Cluster) -> (Vec<Outage>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut outages = Vec::new();
    let mut others: BTreeMap<String, (u64, &Place)> = BTreeMap::new();
    for event in events {
        let is_other =
            !event.cluster.is_empty() && !cluster.name.is_empty() && !event.cluster.eq_ignore_ascii_case(&cluster.name);
        if is_other {
            others.entry(event.cluster.to_ascii_lowercase()).or_insert((0, &event.place)).0 += 1;
            continue;
        }
        let what = if event.place.pointer.is_some() { "the drain" } else { "an event" };
        let nodes = nodes_named(&event.nodes, cluster, &event.place, "Nodes", what, &mut diagnostics);
        if !nodes.is_empty() {
            outages.push(Outage { start: event.start, end: event.end.unwrap_or(i64::MAX), nodes, kind: event.kind });
        }
    }
    for (name, (count, place)) in others {
        let message =
            format!("{count} rows of the cluster '{name}' are left out: slurm.conf is that of '{}'", cluster.name);
        let remark = place.remark(Severity::Warning, "Cluster", message);
        diagnostics.push(remark.cure(format!("export with sacctmgr show event Clusters={} -P", cluster.name)));
    }
    let file = diagnostics.first().map(|it: &Diagnostic| it.file.clone()).unwrap_or_default();
    (outages, crate::diagnostic::bounded(diagnostics, &file))
}
