//! select/linear where nodes are shared: a start that finds too few idle nodes looks for a job to share all of its nodes with, before it
//! looks for nodes one by one. Source: select_linear.c of 22.05.8, `_run_now`, `_find_job_mate`; rec c1019, c1051.

use std::sync::Arc;

use crate::ids::NodeId;
use crate::node_set::NodeSet;
use crate::select::Selector;
use crate::select::allocation::Allocation;
use crate::select::free::Free;
use crate::select::seats::{Cores, Seat};
use crate::select::shape::Shape;
use crate::simulation::record_age::Age;

/// A running job.
#[derive(Clone, Debug)]
pub(super) struct Mate {
    age: Age,
    nodes: Vec<NodeId>,
    /// CPUs of all of them.
    cpus: u32,
    contiguous: bool,
    cores: Arc<Cores>,
}

impl Mate {
    /// Of a job that starts, where others may join it. O(its nodes).
    pub(super) fn of(allocation: &Allocation) -> Option<Self> {
        let seat = allocation.seat.as_ref()?;
        Some(Self {
            age: seat.age,
            nodes: allocation.shares.iter().map(|share| share.node).collect(),
            cpus: allocation.cpus(),
            contiguous: seat.contiguous?,
            cores: Arc::clone(&seat.cores),
        })
    }

    /// Whether it sits there.
    pub(super) fn is(&self, seat: &Seat) -> bool {
        Arc::ptr_eq(&self.cores, &seat.cores)
    }
}

impl Selector {
    /// Whether the request fits on all nodes of one running job of as many nodes, and of CPUs enough: of the oldest such record. `view` has what
    /// is free on nodes that have room for one more job. O(running jobs × their nodes) and a test.
    pub(super) fn fits_with_mate(
        &mut self,
        view: &Free,
        mates: &[Mate],
        shape: &Shape,
        (user, admitted): (u32, &NodeSet),
    ) -> bool {
        let has_room = |&node: &NodeId| admitted.contains(node) && view.open.contains(node);
        let suits = |mate: &&Mate| {
            mate.nodes.len() == shape.wanted_nodes as usize
                && mate.cpus >= shape.min_cpus
                && mate.contiguous == shape.contiguous
                && mate.nodes.iter().all(has_room)
                && shape.required.iter().all(|node| mate.nodes.contains(node))
        };
        let Some(oldest) = mates.iter().filter(suits).min_by_key(|mate| mate.age) else { return false };
        let nodes = NodeSet::from_nodes(view.jobs.len(), oldest.nodes.iter().copied());
        let count = oldest.nodes.len();
        // How many tasks a node may have is not asked (rec c1071).
        let mut alike;
        let mut asked = shape;
        if shape.most_of_whole.is_some() {
            alike = shape.clone();
            (alike.most_of_whole, alike.spread) = (None, shape.min_nodes);
            asked = &alike;
        }
        self.fits_idle(view, asked, user, &nodes) && self.chosen.len() == count
    }
}
