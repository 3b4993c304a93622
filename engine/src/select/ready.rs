//! When each node could first serve a request, if its running jobs end as expected: a bound under every will-run test.
//!
//! A node's answer depends on its own jobs alone, so it is kept until one of them starts or ends.

use std::collections::HashMap;

use crate::ids::{JobId, NodeId, RequestId};
use crate::node_set::NodeSet;
use crate::select::Selector;
use crate::select::allocation::Allocation;
use crate::select::free::{ANY_USER, Free};
use crate::select::geometry::Geometry;
use crate::select::ripening::Ripening;
use crate::select::shape::{NodeNeed, Shape};
use crate::select::usable::usable_cpus;
use crate::simulation::record_age::Age;

/// When a running job's limit ends [s], and how old its record is: jobs are released in this order.
pub(crate) type Moment = (i64, Age);

/// Before all releases.
pub(crate) const NOW: Moment = (i64::MIN, Age::OLDEST);
/// After all of them.
pub(crate) const NEVER: Moment = (i64::MAX, Age::YOUNGEST);

/// A running job's part of a node.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// When it is released.
    moment: Moment,
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
    /// Jobs that refuse other users' jobs on their nodes.
    refusing: u32,
    /// Nodes on which jobs have no CPU: those beyond their tasks.
    beyond_tasks: u32,
}

/// On how many of its nodes a job has no CPU. O(nodes of the job).
fn beyond_tasks(allocation: &Allocation) -> u32 {
    allocation.shares.iter().filter(|share| share.cpus == 0).count() as u32
}

impl NodeJobs {
    /// No jobs on `n_nodes` nodes.
    pub(crate) fn new(n_nodes: usize) -> Self {
        // The log begins after its first entry, so that 0 is a position of the forgotten past.
        Self { held: vec![Vec::new(); n_nodes], log: Vec::new(), forgotten: 1, refusing: 0, beyond_tasks: 0 }
    }

    /// What is known of any node is true no more: a partition has its first job, which changes what its own jobs find in use. O(1).
    pub(crate) fn all_change(&mut self) {
        self.forgotten = self.position() + 1;
        self.log.clear();
    }

    /// A job runs on its nodes. O(nodes of the job × jobs on a node).
    pub(crate) fn insert(&mut self, geometry: &Geometry, moment: Moment, job: JobId, allocation: &Allocation) {
        self.refusing += u32::from(allocation.exclusive_user);
        self.beyond_tasks += beyond_tasks(allocation);
        let mut socket = 0;
        for (share, node) in allocation.shares.iter().map(|share| share.node).enumerate() {
            let held = &mut self.held[node.index()];
            let at = held.partition_point(|other| other.moment < moment);
            held.insert(at, Held { moment, job, share: share as u32, socket });
            socket += geometry.sockets(node).len() as u32;
            self.changed(node);
        }
    }

    /// A job runs no more. O(nodes of the job × jobs on a node).
    pub(crate) fn remove(&mut self, job: JobId, allocation: &Allocation) {
        self.refusing -= u32::from(allocation.exclusive_user);
        self.beyond_tasks -= beyond_tasks(allocation);
        for share in &allocation.shares {
            self.held[share.node.index()].retain(|held| held.job != job);
            self.changed(share.node);
        }
    }

    /// When the jobs on these nodes end, from a time [s] on, each once and in order. O(jobs on them × log jobs on them).
    pub(crate) fn on_nodes(&self, nodes: &NodeSet, from: i64, ends: &mut Vec<Moment>) {
        ends.clear();
        for node in nodes.iter() {
            let held = self.held[node.index()].iter().map(|held| held.moment);
            ends.extend(held.filter(|moment| moment.0 >= from));
        }
        ends.sort_unstable();
        ends.dedup();
    }

    /// Whether no job refuses other users' jobs on its nodes: then it does not matter who asks.
    pub(crate) fn none_refuses(&self) -> bool {
        self.refusing == 0
    }

    /// Takes out the nodes that jobs have beyond their tasks, but those `named`: nothing of them is in use. O(nodes) if there are any.
    pub(crate) fn keep_listed_idle(&self, nodes: &mut NodeSet, named: &[NodeId]) {
        if self.beyond_tasks == 0 {
            return;
        }
        let listed: Vec<NodeId> = nodes.iter().filter(|node| !self.held[node.index()].is_empty()).collect();
        listed.into_iter().filter(|node| !named.contains(node)).for_each(|node| nodes.remove(node));
    }

    /// When the first job of a node is released that is not yet at `last`. O(jobs on the node).
    fn next_after(&self, node: NodeId, last: Moment) -> Moment {
        let held = &self.held[node.index()];
        held.iter().map(|held| held.moment).find(|&moment| moment > last).unwrap_or(NEVER)
    }

    /// Releases on one node what its jobs up to `last` hold; says which was the last release. O(jobs on the node).
    pub(crate) fn release<'a>(
        &self,
        geometry: &Geometry,
        future: &mut Free,
        node: NodeId,
        last: Moment,
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) -> Moment {
        let mut latest = NOW;
        for held in self.held[node.index()].iter().take_while(|held| held.moment <= last) {
            if let Some(allocation) = allocation(held.job) {
                future.give_back_share(geometry, allocation, held.share as usize, held.socket as usize);
            }
            latest = held.moment;
        }
        latest
    }

    fn changed(&mut self, node: NodeId) {
        if self.log.len() > 4 * self.held.len() + 64 {
            self.forgotten += self.log.len() as u64;
            self.log.clear();
        }
        self.log.push(node);
    }

    /// Counts the changes of nodes.
    pub(crate) fn position(&self) -> u64 {
        self.forgotten + self.log.len() as u64
    }
}

/// What a node offers a shape in a stretch of releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// From this release on.
    pub(crate) from: Moment,
    /// Until this one, when it may offer more.
    pub(crate) until: Moment,
    /// CPUs.
    pub(crate) cpus: u32,
}

impl Level {
    /// Nothing, ever.
    const NONE: Self = Self { from: NEVER, until: NEVER, cpus: 0 };

    /// Whether it is the one when jobs up to `last` have been released.
    fn holds(&self, last: Moment) -> bool {
        self.from <= last && last < self.until
    }
}

/// The same of the first stretch, in what a walk through many nodes reads: until which second, and how many CPUs.
#[derive(Clone, Copy, Debug)]
struct Steady {
    until: i64,
    cpus: u32,
}

impl From<Level> for Steady {
    fn from(level: Level) -> Self {
        Self { until: level.until.0, cpus: level.cpus }
    }
}

/// When each node could first serve one shape.
#[derive(Debug, Default)]
pub(crate) struct ReadyTimes {
    /// Position in the log up to which this is true.
    seen: u64,
    /// What each node offers when it first offers something.
    first: Vec<Level>,
    /// Of these what is read most.
    steady: Vec<Steady>,
    /// What it offered when it was asked about later times, in order of time.
    later: Vec<Vec<Level>>,
    /// The eligible nodes that ever could, in order of time.
    ripening: Ripening,
    /// Those that could now.
    pub(crate) now: NodeSet,
}

impl ReadyTimes {
    /// Sets `ripe` to the usable nodes that are ready when jobs up to `last` have been released.
    /// O(words + nodes that become ready about then).
    pub(crate) fn narrow_to(&mut self, last: Moment, usable: &NodeSet, ripe: &mut NodeSet) {
        self.ripening.narrow_to(last.0, usable, ripe);
        for node in self.ripening.at(last.0) {
            if self.first[node.index()].from > last {
                ripe.remove(node);
            }
        }
    }

    /// CPUs of a node that is ready, when jobs up to `last` have been released, whoever asks. O(1) if it was asked of the
    /// same level before; else a release of the node's jobs.
    #[inline]
    pub(crate) fn cpus<'a>(
        &mut self,
        selector: &Selector,
        jobs: &NodeJobs,
        states: (&Free, &mut Free),
        (shape, node): (&Shape, NodeId),
        last: Moment,
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) -> u32 {
        let steady = self.steady[node.index()];
        if last.0 < steady.until {
            return steady.cpus;
        }
        self.cpus_later(selector, jobs, states, (shape, node), last, allocation)
    }

    /// The same where that is not what it offers first, or may not be.
    fn cpus_later<'a>(
        &mut self,
        selector: &Selector,
        jobs: &NodeJobs,
        (free, future): (&Free, &mut Free),
        (shape, node): (&Shape, NodeId),
        last: Moment,
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) -> u32 {
        let first = &self.first[node.index()];
        if first.holds(last) {
            return first.cpus;
        }
        let later = &mut self.later[node.index()];
        let at = later.partition_point(|level| level.until <= last);
        if let Some(known) = later.get(at).filter(|level| level.from <= last) {
            return known.cpus;
        }
        free.restore_node(&selector.geometry, future, node);
        let from = jobs.release(&selector.geometry, future, node, last, allocation);
        let cpus = usable_cpus(&selector.geometry, future, shape, ANY_USER, node);
        later.insert(at, Level { from, until: jobs.next_after(node, last), cpus });
        cpus
    }

    /// CPUs of one of the nodes of [`ReadyTimes::now`]. O(1).
    pub(crate) fn cpus_now(&self, node: NodeId) -> u32 {
        self.first[node.index()].cpus
    }

    /// Forgets all nodes of a cluster.
    fn clear(&mut self, n_nodes: usize) {
        self.first.clear();
        self.first.resize(n_nodes, Level::NONE);
        self.steady.clear();
        self.steady.resize(n_nodes, Level::NONE.into());
        self.later.iter_mut().for_each(Vec::clear);
        self.later.resize_with(n_nodes, Vec::new);
        self.ripening.clear(n_nodes);
        self.now = NodeSet::empty(n_nodes);
    }

    /// Notes what a node offers first, its place in the order apart; says when that was and is [s]. O(1).
    fn note(&mut self, node: NodeId, level: Level) -> (i64, i64) {
        let before = std::mem::replace(&mut self.first[node.index()], level);
        self.steady[node.index()] = level.into();
        self.later[node.index()].clear();
        if level.from == NOW {
            self.now.insert(node);
        } else {
            self.now.remove(node);
        }
        (before.from.0, level.from.0)
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
    /// Working memory of [`Ready::refresh`].
    moved: Vec<(i64, NodeId)>,
}

/// No position yet.
const UNKNOWN: u32 = u32::MAX;

impl Ready {
    /// What the last [`Ready::bound`] of this request and partition found.
    pub(crate) fn times(&mut self, request: RequestId, place: usize) -> Option<&mut ReadyTimes> {
        self.times.get_mut(*self.of_shape.get(request.index())?.get(place)? as usize)
    }

    /// What a request asks of each node in one of its partitions, as a number; `None` before the first [`Ready::bound`] of it.
    pub(crate) fn need(&self, request: RequestId, place: usize) -> Option<usize> {
        let position = *self.of_shape.get(request.index())?.get(place)?;
        (position != UNKNOWN).then_some(position as usize)
    }

    /// How many nodes a bound of the shape waits for.
    pub(crate) fn needed(shape: &Shape) -> usize {
        if shape.counted.is_empty() { shape.min_nodes.max(1) as usize } else { 1 }
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
    /// O(nodes that changed since the shape was last asked for × jobs on a node + words × log nodes).
    pub(crate) fn bound<'a>(
        &mut self,
        selector: &Selector,
        jobs: &NodeJobs,
        states: (&Free, &mut Free),
        (request, place, shape): (RequestId, usize, &Shape),
        usable: &NodeSet,
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) -> i64 {
        let needed = Self::needed(shape);
        let times = self.refresh(selector, jobs, states, (request, place, shape), allocation);
        times.ripening.when(needed, usable).unwrap_or(NEVER.0)
    }

    /// The ready times of a request, brought up to date.
    /// O(nodes that changed since the shape was last asked for × jobs on a node), and O(nodes) if they were many.
    pub(crate) fn refresh<'a>(
        &mut self,
        selector: &Selector,
        jobs: &NodeJobs,
        (free, future): (&Free, &mut Free),
        (request, place, shape): (RequestId, usize, &Shape),
        allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    ) -> &mut ReadyTimes {
        let position = self.position(request, place, shape);
        let times = &mut self.times[position];
        let level = |future: &mut Free, node: NodeId| {
            free.restore_node(&selector.geometry, future, node);
            let serves = |future: &Free| usable_cpus(&selector.geometry, future, shape, ANY_USER, node);
            let held = &jobs.held[node.index()];
            let mut level = Level { from: NOW, until: NEVER, cpus: serves(future) };
            for (position, held) in held.iter().enumerate() {
                if level.cpus > 0 {
                    level.until = held.moment;
                    break;
                }
                if let Some(allocation) = allocation(held.job) {
                    let (share, socket) = (held.share as usize, held.socket as usize);
                    future.give_back_share(&selector.geometry, allocation, share, socket);
                }
                // On nodes that are handed out whole only the last end counts.
                if !shape.whole_nodes || position + 1 == jobs.held[node.index()].len() {
                    (level.from, level.cpus) = (held.moment, serves(future));
                }
            }
            if level.cpus == 0 { Level::NONE } else { level }
        };
        let moved = &mut self.moved;
        moved.clear();
        if times.seen < jobs.forgotten || jobs.position() - times.seen > jobs.held.len() as u64 {
            times.clear(jobs.held.len());
            moved.extend(shape.eligible.iter().map(|node| (times.note(node, level(future, node)).1, node)));
            times.ripening.put_all(moved);
        } else if times.seen < jobs.position() {
            let changed = &jobs.log[(times.seen - jobs.forgotten) as usize..];
            let changed = changed.iter().copied().filter(|&node| shape.eligible.contains(node));
            if jobs.position() - times.seen <= FEW {
                for node in changed {
                    let (before, after) = times.note(node, level(future, node));
                    times.ripening.put(node, before, after);
                }
            } else {
                for node in changed {
                    let (before, after) = times.note(node, level(future, node));
                    if before != after {
                        // A node that changed twice is noted twice, the second time without a difference.
                        times.ripening.leave(node, before);
                        moved.push((after, node));
                    }
                }
                times.ripening.put_all(moved);
            }
        }
        times.seen = jobs.position();
        times
    }
}
