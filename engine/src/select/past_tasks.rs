//! More nodes than tasks, from 24.05 on: where no choice of at most as many nodes as tasks has the GPUs of a job, the next one may take more.
//! With 24.05 each node then has a task. From 24.11 on as many tasks are laid out as said, and nodes beyond them hold nothing: a job can only
//! start there where they hold something all the same, as whole nodes and with CPUs for each GPU. Whoever else needs them is accepted, waits, and blocks.
//! Source: topology/common/common_topo.c of 24.05.8 and 24.11.5, `common_topo_choose_nodes`; dist_tasks.c, `_get_task_count`; rec t2-24-11,
//! t3-24-11, t2-24-05, t3-24-05 (docs/FACTS.md, facts 96).

use super::Selector;
use super::free::Free;
use super::shape::{Shape, gres};
use crate::cluster::{Cluster, OverSubscribe};
use crate::ids::PartitionId;
use crate::job::{GresScope, Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::{Policy, SelectPolicy, SlurmVersion};

/// A job with more nodes than tasks.
#[derive(Clone, Debug)]
pub(crate) struct PastTasks {
    /// The job as it is chosen there.
    shape: Box<Shape>,
    /// Whether it can start there.
    starts: bool,
}

/// Whether a request may need more nodes than it has tasks. O(its GRES).
fn may_need_more(version: SlurmVersion, select: &SelectPolicy, request: &Request) -> bool {
    (SlurmVersion::V24_05..SlurmVersion::V26_05).contains(&version)
        && !select.linear
        && request.tasks > 0
        && request.max_nodes.is_none()
        && request.overcommitted.is_none()
        && request.gres.iter().any(|gres| gres.scope == GresScope::PerJob && gres.count > request.tasks)
}

/// Whether a request may start on more nodes than it has tasks. O(its GRES and partitions).
pub(crate) fn may_start_on_more(cluster: &Cluster, policy: &Policy, request: &Request) -> bool {
    let (version, select) = (policy.version, &policy.select);
    let holds_there = |&id: &PartitionId| {
        let partition = &cluster.partitions[id.index()];
        partition.over_subscribe == OverSubscribe::Exclusive
            || gres::cpus_per_gpu(request, partition, select).is_some_and(|cpus| cpus > 0)
    };
    may_need_more(version, select, request)
        && (version < SlurmVersion::V24_11
            || request.sharing == Sharing::Exclusive
            || request.partitions.iter().any(holds_there))
}

impl Shape {
    /// Lets it take more nodes than tasks, if its request may; `looked_at` as for [`Shape::of`]. O(nodes).
    pub(crate) fn let_past_tasks(&mut self, cluster: &Cluster, policy: &Policy, request: &Request, looked_at: bool) {
        let (version, select) = (policy.version, &policy.select);
        let most = cluster.partitions[self.partition.index()].max_nodes.unwrap_or(500_000);
        if !may_need_more(version, select, request) || most <= self.max_nodes {
            return;
        }
        // As who says no tasks, but for those that are laid out.
        let on_more = Request { tasks: 0, ..request.clone() };
        let mut shape = Self::of(cluster, select, self.partition, &on_more, looked_at);
        shape.counts_tasks_by_node = self.counts_tasks_by_node;
        if version >= SlurmVersion::V24_11 {
            (shape.tasks, shape.tasks_are_said) = (self.tasks, self.tasks_are_said);
        }
        let starts = version < SlurmVersion::V24_11 || shape.whole_nodes || shape.unit_cpus() > 0;
        // What one node alone cannot give, several may.
        self.eligible.clone_from(&shape.eligible);
        self.past_tasks = Some(PastTasks { shape: Box::new(shape), starts });
    }

    /// The job on more nodes than tasks, to be capped as it is. O(1).
    pub(super) fn past_tasks_mut(&mut self) -> Option<&mut Self> {
        self.past_tasks.as_mut().map(|past| &mut *past.shape)
    }

    /// The job as it is chosen on more nodes than tasks, where it can start there. O(1).
    fn on_more_nodes(&self) -> Option<&Self> {
        self.past_tasks.as_ref().filter(|past| past.starts).map(|past| &*past.shape)
    }

    /// Whether it may get more nodes than it has tasks, which bound them here and not in slurmctld. O(1).
    pub(crate) fn goes_past_tasks(&self) -> bool {
        self.past_tasks.is_some()
    }

    /// Most nodes on which it can start. O(1).
    pub(super) fn most_nodes(&self) -> u32 {
        self.on_more_nodes().map_or(self.max_nodes, |shape| shape.max_nodes)
    }

    /// The job as so many nodes were chosen for it. O(1).
    pub(super) fn as_chosen(&self, nodes: usize) -> &Self {
        self.on_more_nodes().filter(|_| nodes > self.max_nodes as usize).unwrap_or(self)
    }

    /// The same as a test asks for it whether it could ever run. O(1).
    pub(super) fn start_past_tasks(&mut self) {
        if let Some(past) = &mut self.past_tasks {
            past.starts = true;
        }
    }

    /// Whether that is another question than whether it can start. O(1).
    pub(super) fn only_tests_past_tasks(&self) -> bool {
        self.past_tasks.as_ref().is_some_and(|past| !past.starts)
    }
}

impl Selector {
    /// Whether the request fits, on more nodes than tasks if need be. As [`Selector::fits`].
    pub(super) fn fits_free(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        self.fits_on_free(free, shape, user, candidates)
            || shape.on_more_nodes().is_some_and(|more| self.fits_on_free(free, more, user, candidates))
    }
}
