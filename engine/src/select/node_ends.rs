//! When the jobs on some nodes end, kept for the next test of the same nodes: most tests of a cycle may use what the last one might.

use crate::node_set::NodeSet;
use crate::select::ready::{Moment, NodeJobs};

/// The ends of the jobs on a set of nodes.
#[derive(Debug, Default)]
pub(crate) struct NodeEnds {
    ends: Vec<Moment>,
    nodes: NodeSet,
    /// From this time [s] on.
    from: i64,
    /// How often running jobs had changed.
    of: u64,
}

impl NodeEnds {
    /// The ends of all jobs on these nodes from a time [s] on, each once and in order. O(words) if they are what was last asked for; else
    /// O(jobs on them × log jobs on them).
    pub(crate) fn of(&mut self, jobs: &NodeJobs, nodes: &NodeSet, from: i64) -> &[Moment] {
        if self.of != jobs.position() || self.from != from || self.nodes != *nodes {
            (self.of, self.from) = (jobs.position(), from);
            self.nodes.copy_from(nodes);
            jobs.on_nodes(nodes, from, &mut self.ends);
        }
        &self.ends
    }
}
