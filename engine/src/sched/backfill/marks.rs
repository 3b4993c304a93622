//! The PLANNED flag of nodes, whose setting and clearing is a change of node records, so that the next cycle comes in time.
//! Source: backfill.c `_handle_planned` of 22.05.8 and 24.11.5; docs/FACTS.md, facts 46 and 90 (e).

use crate::ids::NodeId;
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::simulation::Controller;

/// Leaves of the nodes that a cycle has planned those that carry the flag from its end on: those without jobs, from 24.11 on those that are not full.
/// Says whether a flag was set or cleared: from 24.11.2 on those of full nodes are cleared. O(words), from 24.11 on and the nodes planned.
pub(super) fn mark(controller: &Controller<'_>, planned: &mut NodeSet) -> bool {
    let plans = !planned.is_empty();
    if !marks_full_nodes(controller) {
        planned.intersect(&controller.free.idle);
        return !planned.is_empty();
    }
    let full: Vec<NodeId> = planned.iter().filter(|&node| !has_cores(controller, node)).collect();
    full.into_iter().for_each(|node| planned.remove(node));
    plans
}

fn has_cores(controller: &Controller<'_>, node: NodeId) -> bool {
    controller.free.node_cores[node.index()] > 0
}

/// Whether a cycle with so much planned is known to leave flagged nodes behind. O(words), from 24.11 on and the nodes planned.
pub(super) fn are_left(controller: &Controller<'_>, planned: &NodeSet) -> bool {
    planned.intersects(&controller.free.idle)
        || (marks_full_nodes(controller) && planned.iter().any(|node| has_cores(controller, node)))
}

/// Whether what is planned of nodes in use is marked, too: from 24.11 on, as of 24.11.5. O(1).
pub(super) fn marks_full_nodes(controller: &Controller<'_>) -> bool {
    controller.scenario.policy.version >= SlurmVersion::V24_11
}
