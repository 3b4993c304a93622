//! Jobs of several partitions that a test in an EXCLUSIVE one makes jobs of whole nodes in all of them, for good.
//! Source: node_scheduler.c of 22.05.8, `_resolve_shared_status`; rec p-sel1, g-pre (docs/FACTS.md, facts 67). From 23.11.6 on a test that starts
//! nobody leaves nothing behind (`select_nodes`; rec c109-24-11); a start leaves it in the job, should it be requeued, and in the rest of its
//! array's record (rec c108-23-11).

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::OverSubscribe;
use crate::ids::{JobId, NodeId, PartitionId, RequestId};
use crate::job::{JobPart, Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::scenario::Scenario;
use crate::select::shape::Shape;
use crate::simulation::Controller;

/// Which jobs have been tested there, and what their requests are to node selection since.
#[derive(Debug, Default)]
pub(crate) struct BecomesWhole {
    /// By id, and component; an array's tasks that wait are one job.
    tested: BTreeSet<(u64, Option<u32>)>,
    /// Those that came without a test there, kept from it by limits or by a partition asked before.
    came_untested: BTreeSet<(u64, Option<u32>)>,
    /// Jobs that have just started, and where, until what they leave behind is noted: not while their shapes are in use.
    started: Vec<(JobId, PartitionId)>,
    /// What requests are to plans until they are tested.
    in_parts: BTreeMap<RequestId, Box<[Shape]>>,
    shapes: BTreeMap<RequestId, Box<[Shape]>>,
}

/// Whether a request may be made one: it asks for parts of nodes in EXCLUSIVE partitions and others. O(partitions of it).
pub(super) fn may_become_whole(scenario: &Scenario, request: &Request) -> bool {
    let is_exclusive = |id: &PartitionId| is_exclusive(scenario, *id);
    !scenario.policy.select.linear
        && request.sharing != Sharing::Exclusive
        && request.partitions.iter().any(is_exclusive)
        && !request.partitions.iter().all(is_exclusive)
}

/// Whether a request asks for parts of nodes in an EXCLUSIVE partition. O(partitions of it).
fn asks_for_parts(scenario: &Scenario, request: &Request) -> bool {
    !scenario.policy.select.linear
        && request.sharing != Sharing::Exclusive
        && request.partitions.iter().any(|&partition| is_exclusive(scenario, partition))
}

fn is_exclusive(scenario: &Scenario, partition: PartitionId) -> bool {
    scenario.cluster.partitions[partition.index()].over_subscribe == OverSubscribe::Exclusive
}

impl BecomesWhole {
    /// Whether no test has made any job one of whole nodes.
    pub(super) fn is_unused(&self) -> bool {
        self.tested.is_empty()
    }
}

impl Controller<'_> {
    /// Takes out the nodes that slurmctld does not list as idle, where a job of whole nodes starts that shares with nobody: idle nodes are asked for,
    /// but of those it names, and unless there is preemption (node_scheduler.c of 24.11.5, `_get_req_features`, `_resolve_shared_status`; rec
    /// t13-24-11, w2083-24-11, w2109). They would not serve it; but nodes beyond the tasks of others seem to, and a test on all cores would go by
    /// those in use, too (rec w2224). O(nodes) where it matters.
    pub(crate) fn keep_listed_idle(&self, shape: &Shape, nodes: &mut NodeSet) {
        if !shape.whole_nodes || shape.shared_by > 1 || self.preempt.is_some() {
            return;
        }
        self.node_jobs.keep_listed_idle(nodes, &shape.required);
        if self.selector.tests_all_cores(shape) {
            let named: Vec<NodeId> = shape.required.iter().copied().filter(|&node| nodes.contains(node)).collect();
            nodes.intersect(&self.free.idle);
            named.into_iter().for_each(|node| nodes.insert(node));
        }
    }

    /// Whether tests leave in a job how it shares nodes in the partition tested.
    pub(super) fn tests_leave_sharing(&self) -> bool {
        self.scenario.policy.version < SlurmVersion::V23_11
    }

    /// The job's nodes in a partition were looked at, by the main scheduler or at its submission. O(log jobs).
    pub(crate) fn tested_in(&mut self, id: JobId, partition: PartitionId) {
        self.takes_gpu_memory_of(id, partition);
        if self.tests_leave_sharing() {
            self.leaves_sharing(id, partition);
        }
    }

    /// The job starts there.
    pub(super) fn note_start_in(&mut self, id: JobId, partition: PartitionId) {
        if !self.tests_leave_sharing() {
            self.becomes_whole.started.push((id, partition));
        }
    }

    /// The shapes of a job are back: of who has started, what it leaves behind is noted. O(1), after a start O(log jobs).
    pub(super) fn settle_start(&mut self) {
        while let Some((id, partition)) = self.becomes_whole.started.pop() {
            self.leaves_sharing(id, partition);
        }
    }

    /// How the job shares nodes there stays its way. O(log jobs).
    fn leaves_sharing(&mut self, id: JobId, partition: PartitionId) {
        self.shares_after(id, partition);
        let scenario = self.scenario;
        let request = &scenario.workload.requests[self.job(id).request.index()];
        // Who asks for nothing but such partitions is one of whole nodes from its submission on, unless limits kept it from a test then.
        let matters =
            || self.limits.active || request.sharing != Sharing::Default || may_become_whole(scenario, request);
        if is_exclusive(scenario, partition) && asks_for_parts(scenario, request) && matters() {
            self.becomes_whole.tested.insert(self.tested_as(id));
        }
    }

    /// The job is in the queue: whether it was tested first is known. O(log jobs).
    pub(super) fn note_untested(&mut self, id: JobId) {
        if !self.tests_leave_sharing() {
            return;
        }
        let scenario = self.scenario;
        let request = &scenario.workload.requests[self.job(id).request.index()];
        // Without limits the partition tested first may have been the last that was.
        let kept = self.limits.active || may_become_whole(scenario, request);
        if kept && asks_for_parts(scenario, request) && !self.has_become_whole(id) {
            let name = self.tested_as(id);
            self.becomes_whole.came_untested.insert(name);
        }
    }

    /// Whether the job came without a test in an EXCLUSIVE partition. O(log jobs).
    pub(super) fn came_untested(&self, id: JobId) -> bool {
        !self.becomes_whole.came_untested.is_empty() && self.becomes_whole.came_untested.contains(&self.tested_as(id))
    }

    /// Whether plans of the job are of parts of nodes in EXCLUSIVE partitions: it has not been tested yet. O(log jobs).
    pub(crate) fn is_planned_in_parts(&self, id: JobId) -> bool {
        self.came_untested(id) && !self.has_become_whole(id)
    }

    /// As [`Controller::take_shapes_of`], for a plan; give them back with [`Controller::put_shapes_of_plan`].
    pub(crate) fn take_shapes_of_plan(&mut self, id: JobId) -> (bool, Box<[Shape]>) {
        if !self.is_planned_in_parts(id) {
            return (false, self.take_shapes_of(id));
        }
        let request = self.job(id).request;
        let mut shapes = match self.becomes_whole.in_parts.remove(&request) {
            Some(shapes) => shapes,
            None => self.shapes_as(&self.scenario.workload.requests[request.index()], false),
        };
        self.cap_nodes(id, &mut shapes);
        (true, shapes)
    }

    /// Returns what [`Controller::take_shapes_of_plan`] took.
    pub(crate) fn put_shapes_of_plan(&mut self, id: JobId, (in_parts, mut shapes): (bool, Box<[Shape]>)) {
        if in_parts {
            self.uncap_nodes(&mut shapes);
            self.becomes_whole.in_parts.insert(self.job(id).request, shapes);
            self.settle_start();
        } else {
            self.put_shapes_of(id, shapes);
        }
        self.settle_try_to_start();
    }

    pub(super) fn tested_as(&self, id: JobId) -> (u64, Option<u32>) {
        let name = self.job(id).name;
        let component = match name.part {
            JobPart::Component(component) => Some(component),
            _ => None,
        };
        (name.id, component)
    }

    /// Whether a test has made it a job of whole nodes in all of its partitions. O(log jobs).
    pub(crate) fn has_become_whole(&self, id: JobId) -> bool {
        !self.becomes_whole.tested.is_empty() && self.becomes_whole.tested.contains(&self.tested_as(id))
    }

    /// The job's shapes, with no more nodes than its limits allow; give them back with [`Controller::put_shapes_of`].
    /// O(1) after the first call of its request without limits on nodes, else O(partitions × depth of the tree).
    pub(crate) fn take_shapes_of(&mut self, id: JobId) -> Box<[Shape]> {
        let request = self.job(id).request;
        let mut shapes = match self.has_become_whole(id) {
            true => self.take_whole_shapes(request),
            false if self.has_become_sharing(id) => self.take_sharing_shapes(request),
            false => self.take_shapes(request),
        };
        self.cap_nodes(id, &mut shapes);
        shapes
    }

    /// The shape of a job of whole nodes in one of its partitions, if it has been made and is not taken out. O(log requests).
    pub(super) fn known_whole_shape(&self, id: JobId, place: usize) -> Option<&Shape> {
        self.becomes_whole.shapes.get(&self.job(id).request)?.get(place)
    }

    fn take_whole_shapes(&mut self, request: RequestId) -> Box<[Shape]> {
        if let Some(shapes) = self.becomes_whole.shapes.remove(&request) {
            return shapes;
        }
        let asked = &self.scenario.workload.requests[request.index()];
        self.shapes_of(&Request { sharing: Sharing::Exclusive, ..asked.clone() })
    }

    /// Returns what [`Controller::take_shapes_of`] took.
    pub(crate) fn put_shapes_of(&mut self, id: JobId, mut shapes: Box<[Shape]>) {
        let request = self.job(id).request;
        let (is_whole, shares) = (self.has_become_whole(id), self.has_become_sharing(id));
        if !is_whole && !shares {
            self.put_shapes(request, shapes);
        } else {
            self.uncap_nodes(&mut shapes);
            if is_whole {
                self.becomes_whole.shapes.insert(request, shapes);
            } else {
                self.put_sharing_shapes(request, shapes);
            }
        }
        self.settle_start();
    }
}
