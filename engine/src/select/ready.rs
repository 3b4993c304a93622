//! When each node could first serve a request, if its running jobs end as expected: a bound under every will-run test.
//!
//! A node's answer depends on its own jobs alone, so it is kept until one of them starts or ends.

use std::collections::HashMap;

use crate::ids::{JobId, NodeId, RequestId};
use crate::node_set::NodeSet;
use crate::select::Selector;
use crate::select::free::{ANY_USER, Allocation, Free, Geometry};
use crate::select::shape::{NodeNeed, Shape};
use crate::select::usable::usable_cpus;
use crate::simulation::jobs::LiveJobs;

/// A running job's part of a node.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// When its limit ends [s].
    end: i64,
    job: JobId,
    /// Position of the node in its allocation.
    share: u32,
    /// Where its sockets begin there.
    socket: u32,
}

/// Running jobs node by node, and which nodes have changed since when.
#[derive(Debug)]
pub(crate) struct NodeJobs {
    /// Jobs of each node in order of end.
    held: Vec<Vec<Held>>,
    /// Nodes in the order in which they changed; what is older than `forgotten` entries is gone.
    log: Vec<NodeId>,
    forgotten: u64,
}

impl NodeJobs {
    /// No jobs on `n_nodes` nodes.
    pub(crate) fn new(n_nodes: usize) -> Self {
        // The log begins after its first entry, so that 0 is a position of the forgotten past.
        Self { held: vec![Vec::new(); n_nodes], log: Vec::new(), forgotten: 1 }
    }

    /// A job runs on its nodes. O(nodes of the job × jobs on a node).
    pub(crate) fn insert(&mut self, geometry: &Geometry, end: i64, job: JobId, allocation: &Allocation) {
        let mut socket = 0;
        for (share, node) in allocation.shares.iter().map(|share| share.node).enumerate() {
            let held = &mut self.held[node.index()];
            let at = held.partition_point(|other| (other.end, other.job) < (end, job));
            held.insert(at, Held { end, job, share: share as u32, socket });
            socket += geometry.sockets(node).len() as u32;
            self.changed(node);
        }
    }

    /// A job runs no more. O(nodes of the job × jobs on a node).
    pub(crate) fn remove(&mut self, job: JobId, allocation: &Allocation) {
        for share in &allocation.shares {
            self.held[share.node.index()].retain(|held| held.job != job);
            self.changed(share.node);
        }
    }

    /// Releases on one node what its jobs up to `last` (end, job) hold. O(jobs on the node).
    pub(crate) fn release<'a>(
        &self,
        geometry: &Geometry,
        future: &mut Free,
        node: NodeId,
        last: (i64, JobId),
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) {
        for held in self.held[node.index()].iter().take_while(|held| (held.end, held.job) <= last) {
            if let Some(allocation) = allocation(held.job) {
                future.give_back_share(geometry, allocation, held.share as usize, held.socket as usize);
            }
        }
    }

    /// Whether a job on the node holds it whole. O(jobs on the node).
    pub(crate) fn holds_whole(&self, node: NodeId, live: &LiveJobs) -> bool {
        let whole = |held: &Held| live.get(held.job).is_some_and(|live| live.allocation.whole_nodes);
        self.held[node.index()].iter().any(whole)
    }

    fn changed(&mut self, node: NodeId) {
        if self.log.len() > 4 * self.held.len() + 64 {
            self.forgotten += self.log.len() as u64;
            self.log.clear();
        }
        self.log.push(node);
    }

    fn position(&self) -> u64 {
        self.forgotten + self.log.len() as u64
    }
}

/// Never, as far as running jobs tell.
const NEVER: i64 = i64::MAX;
/// It could at once.
const NOW: i64 = i64::MIN;

/// When a node could first serve a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadyNode {
    /// The time [s].
    pub(crate) time: i64,
    /// When the next of its jobs is expected to end, so that it may offer more [s].
    pub(crate) next_end: i64,
    /// CPUs it offers in between.
    pub(crate) cpus: u32,
}

/// When each node could first serve one shape.
#[derive(Debug, Default)]
pub(crate) struct ReadyTimes {
    /// Position in the log up to which this is true.
    seen: u64,
    /// By node.
    at: Vec<ReadyNode>,
    /// The eligible nodes that ever could, in order of time.
    order: Vec<(i64, NodeId)>,
}

impl ReadyTimes {
    /// Sets `ripe` to the usable nodes that are ready by a time [s]. O(words + the lesser of nodes ready and nodes usable).
    pub(crate) fn narrow_to(&self, time: i64, usable: &NodeSet, ripe: &mut NodeSet) {
        ripe.clear();
        let end = self.order.partition_point(|entry| entry.0 <= time);
        if 2 * end < usable.len() {
            self.order[..end]
                .iter()
                .filter(|(_, node)| usable.contains(*node))
                .for_each(|(_, node)| ripe.insert(*node));
        } else {
            usable.iter().filter(|node| self.at[node.index()].time <= time).for_each(|node| ripe.insert(node));
        }
    }

    /// When and how a node is ready.
    pub(crate) fn node(&self, node: NodeId) -> ReadyNode {
        self.at[node.index()]
    }

    /// Forgets all nodes of a cluster.
    fn clear(&mut self, n_nodes: usize) {
        self.at.clear();
        self.at.resize(n_nodes, ReadyNode { time: NEVER, next_end: NEVER, cpus: 0 });
        self.order.clear();
    }

    /// Notes when a node is ready, its place in the order apart; says the time.
    fn note(&mut self, node: NodeId, ready: ReadyNode) -> i64 {
        self.at[node.index()] = ready;
        ready.time
    }

    /// Notes when a node is ready, where few nodes change. O(nodes moved).
    fn set(&mut self, node: NodeId, ready: ReadyNode) {
        let before = std::mem::replace(&mut self.at[node.index()], ready).time;
        if before == ready.time {
            return;
        }
        if let Ok(at) = self.order.binary_search(&(before, node)) {
            self.order.remove(at);
        }
        if ready.time != NEVER {
            let at = self.order.partition_point(|&entry| entry < (ready.time, node));
            self.order.insert(at, (ready.time, node));
        }
    }

    /// Notes when each of many nodes is ready, which may stand there twice. O(nodes).
    fn set_all(&mut self, mut changed: Vec<(i64, NodeId)>) {
        changed.sort_unstable();
        changed.dedup();
        let at = &self.at;
        changed.retain(|&(time, _)| time != NEVER);
        self.order
            .retain(|(time, node)| at[node.index()].time == *time && changed.binary_search(&(*time, *node)).is_err());
        self.order.append(&mut changed);
        // A stable sort finds the two runs and merges them.
        self.order.sort();
    }
}

/// More changed nodes than this are not put into order one by one.
const FEW: u64 = 8;

/// Ready times of the shapes that were asked for. Shapes that ask the same of a node share them.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    times: Vec<ReadyTimes>,
    /// Positions in `times`.
    of_need: HashMap<NodeNeed, u32>,
    /// Positions in `times`, by request and partition; [`UNKNOWN`] until first asked for.
    of_shape: Vec<Vec<u32>>,
}

/// No position yet.
const UNKNOWN: u32 = u32::MAX;

impl Ready {
    /// What the last [`Ready::bound`] of this request and partition found.
    pub(crate) fn times(&self, request: RequestId, place: usize) -> Option<&ReadyTimes> {
        self.times.get(*self.of_shape.get(request.index())?.get(place)? as usize)
    }

    /// Where the ready times of a shape are. O(1) after the first call for a request.
    fn position(&mut self, request: RequestId, place: usize, shape: &Shape) -> usize {
        if self.of_shape.len() <= request.index() {
            self.of_shape.resize_with(request.index() + 1, Vec::new);
        }
        let places = &mut self.of_shape[request.index()];
        if places.len() <= place {
            places.resize(place + 1, UNKNOWN);
        }
        if places[place] == UNKNOWN {
            let next = self.times.len() as u32;
            places[place] = *self.of_need.entry(shape.node_need()).or_insert(next);
            if places[place] == next {
                self.times.push(ReadyTimes::default());
            }
        }
        places[place] as usize
    }

    /// Before this time [s] the request cannot be met on `usable`; `i64::MIN` if now, `i64::MAX` if never.
    /// O(nodes that changed since the shape was last asked for × jobs on a node + nodes in order of time).
    pub(crate) fn bound<'a>(
        &mut self,
        selector: &Selector,
        jobs: &NodeJobs,
        (free, future): (&Free, &mut Free),
        (request, place, shape): (RequestId, usize, &Shape),
        usable: &NodeSet,
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) -> i64 {
        let position = self.position(request, place, shape);
        let times = &mut self.times[position];
        let ready = |future: &mut Free, node: NodeId| {
            free.restore_node(&selector.geometry, future, node);
            let serves = |future: &Free| usable_cpus(&selector.geometry, selector.unit, future, shape, ANY_USER, node);
            let held = &jobs.held[node.index()];
            let mut ready = ReadyNode { time: NOW, next_end: i64::MAX, cpus: serves(future) };
            for (position, held) in held.iter().enumerate() {
                if ready.cpus > 0 {
                    ready.next_end = held.end;
                    break;
                }
                if let Some(allocation) = allocation(held.job) {
                    let (share, socket) = (held.share as usize, held.socket as usize);
                    future.give_back_share(&selector.geometry, allocation, share, socket);
                }
                // On nodes that are handed out whole only the last end counts.
                if !shape.whole_nodes || position + 1 == jobs.held[node.index()].len() {
                    (ready.time, ready.cpus) = (held.end, serves(future));
                }
            }
            if ready.cpus == 0 {
                ready.time = NEVER;
            }
            ready
        };
        if times.seen < jobs.forgotten || jobs.position() - times.seen > jobs.held.len() as u64 {
            times.clear(jobs.held.len());
            let eligible = shape.eligible.iter();
            let all = eligible.map(|node| (times.note(node, ready(future, node)), node)).collect();
            times.set_all(all);
        } else {
            let changed = &jobs.log[(times.seen - jobs.forgotten) as usize..];
            let changed = changed.iter().copied().filter(|&node| shape.eligible.contains(node));
            if jobs.position() - times.seen <= FEW {
                changed.for_each(|node| times.set(node, ready(future, node)));
            } else {
                let all = changed.map(|node| (times.note(node, ready(future, node)), node)).collect();
                times.set_all(all);
            }
        }
        times.seen = jobs.position();
        let needed = if shape.counted.is_empty() { shape.min_nodes.max(1) as usize } else { 1 };
        let mut on_usable = times.order.iter().filter(|(_, node)| usable.contains(*node));
        on_usable.nth(needed - 1).map_or(NEVER, |&(time, _)| time)
    }
}
