//! How much of what a request needs has come together, counted node by node while jobs are released.

use crate::ids::NodeId;
use crate::node_set::NodeSet;
use crate::select::free::Free;
use crate::select::shape::Shape;
use crate::select::{Selector, usable};

/// Nodes that could serve a request and their CPUs: a lower bound on what selection needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathered {
    nodes: usize,
    cpus: u64,
}

impl Gathered {
    /// Adds a node that offers so many CPUs.
    #[inline]
    pub(crate) fn add(&mut self, cpus: u32) {
        self.nodes += usize::from(cpus > 0);
        self.cpus += u64::from(cpus);
    }

    /// Whether selection could succeed. If not, it fails, on these nodes and on any subset of them.
    #[inline]
    pub(crate) fn may_suffice(self, shape: &Shape) -> bool {
        if !shape.counted.is_empty() {
            return self.nodes > 0;
        }
        self.nodes >= shape.min_nodes as usize && self.cpus >= u64::from(shape.min_cpus)
    }
}

/// What some nodes would offer if their jobs that end soon had ended.
#[derive(Debug)]
pub(crate) struct Soon {
    /// The nodes.
    pub(crate) nodes: NodeSet,
    /// True on these nodes only.
    pub(crate) free: Free,
}

impl Selector {
    /// Whether the request could be met by what is free on `candidates`, and what `soon` adds: necessary, cheap, and
    /// monotone in all of them. O(candidates looked at until there are enough).
    pub(crate) fn may_fit(
        &self,
        (free, soon): (&Free, Option<&Soon>),
        shape: &Shape,
        user: u32,
        candidates: &NodeSet,
    ) -> bool {
        let mut gathered = Gathered::default();
        let mut suffices = |free: &Free, node: NodeId| {
            let cpus = usable::usable_cpus(&self.geometry, free, shape, user, node);
            gathered.add(cpus);
            cpus > 0 && gathered.may_suffice(shape)
        };
        let idle_only = shape.idle_suffices && !free.shared.any();
        candidates.iter_common(if idle_only { &free.idle } else { &free.open }).any(|node| suffices(free, node))
            || soon.is_some_and(|soon| candidates.iter_common(&soon.nodes).any(|node| suffices(&soon.free, node)))
    }

    /// CPUs that a request could use on a node. O(sockets + GRES).
    pub(crate) fn usable_cpus(&self, free: &Free, shape: &Shape, user: u32, node: NodeId) -> u32 {
        usable::usable_cpus(&self.geometry, free, shape, user, node)
    }

    /// Whether a request for one node could be met by this one. O(sockets + GRES).
    pub(crate) fn may_serve(&self, free: &Free, shape: &Shape, user: u32, node: NodeId) -> bool {
        free.open.contains(node)
            && usable::usable_cpus(&self.geometry, free, shape, user, node) >= shape.min_cpus.max(1)
    }

    /// Begins to count: what is on offer on `candidates`. O(candidates × (sockets + GRES)).
    pub(crate) fn gather(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> Gathered {
        self.round += 1;
        let mut gathered = Gathered::default();
        for node in candidates.iter_common(&free.open) {
            self.regather(&mut gathered, free, shape, user, node);
        }
        gathered
    }

    /// Counts a node again, of which something was given back. O(sockets + GRES).
    #[inline]
    pub(crate) fn regather(&mut self, gathered: &mut Gathered, free: &Free, shape: &Shape, user: u32, node: NodeId) {
        let cpus = match free.open.contains(node) {
            true => usable::usable_cpus(&self.geometry, free, shape, user, node),
            false => 0,
        };
        let (round, before) = std::mem::replace(&mut self.offered[node.index()], (self.round, cpus));
        let before = if round == self.round { before } else { 0 };
        gathered.nodes = gathered.nodes + usize::from(cpus > 0) - usize::from(before > 0);
        gathered.cpus = gathered.cpus + u64::from(cpus) - u64::from(before);
    }
}
