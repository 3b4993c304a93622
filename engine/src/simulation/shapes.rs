//! What requests are to node selection: a shape for each of their partitions, made once and taken out while it is used.

use crate::cluster::{Cluster, MemoryDefault, OverSubscribe, Partition};
use crate::ids::{JobId, PartitionId, RequestId};
use crate::job::{FeatureExpr, Request, Sharing};
use crate::policy::{ConsumableUnit, SlurmVersion};
use crate::scenario::Scenario;
use crate::sched::queue::Record;
use crate::select::first_that_fits::counted_over_nodes;
use crate::select::shape::memory_limit::with_cpus_of_memory;
use crate::select::shape::{OnEmpty, Shape, Strategy};
use crate::simulation::Controller;

impl Controller<'_> {
    /// The shape of a request in one of its partitions; made once. O(1) after the first call.
    pub(crate) fn shape_ready(&mut self, request: RequestId) {
        if self.shapes[request.index()].is_none() {
            let scenario = self.scenario;
            self.shapes[request.index()] = Some(self.shapes_of(&scenario.workload.requests[request.index()]));
        }
    }

    /// Makes the shapes of a request, one a partition. O(nodes × partitions).
    pub(super) fn shapes_of(&mut self, request: &Request) -> Box<[Shape]> {
        self.shapes_as(request, true)
    }

    /// The same; `looked_at` as for [`Shape::of`]. O(nodes × partitions).
    pub(super) fn shapes_as(&mut self, request: &Request, looked_at: bool) -> Box<[Shape]> {
        self.shapes_in(&self.scenario.cluster, request, looked_at)
    }

    /// The same in a cluster of the same nodes and partitions, whose partitions may have other nodes. O(nodes × partitions).
    pub(crate) fn shapes_in(&mut self, cluster: &Cluster, request: &Request, looked_at: bool) -> Box<[Shape]> {
        let select = &self.scenario.policy.select;
        let lays_out_said = self.scenario.policy.version >= SlurmVersion::V24_11;
        self.selector.most_leaves = None;
        // A test whether it could ever run is made in a look at these nodes.
        let unseen = self.selector.weights.take_unseen();
        let mut shapes: Box<[Shape]> = request
            .partitions
            .iter()
            .map(|&partition| {
                let changed = lays_out_said.then(|| with_cpus_of_memory(cluster, select, partition, request)).flatten();
                let changed = changed.or_else(|| counted_over_nodes(&self.scenario.policy, request));
                let mut shape = Shape::of(cluster, select, partition, changed.as_ref().unwrap_or(request), looked_at);
                if let Some(changed) = changed.filter(|changed| changed.tasks > 0 && changed.ntasks_per_node.is_none())
                {
                    // Fewer than its tasks have together.
                    shape.min_cpus = changed.min_cpus.max(shape.min_nodes);
                }
                shape
            })
            .collect();
        let by_node = self.scenario.policy.version >= SlurmVersion::V23_11 && request.gres.is_empty() && !select.linear;
        for shape in &mut shapes {
            shape.counts_tasks_by_node = by_node;
            shape.of_each_weight =
                self.scenario.policy.version >= SlurmVersion::V25_05 && shape.strategy == Strategy::Spread;
            if self.scenario.policy.version >= SlurmVersion::V26_05 && request.tasks > 0 {
                shape.cap_nodes_said(request.max_nodes.unwrap_or(request.tasks), request.max_nodes.is_some());
            }
            if let Some(binding) =
                shape.binding.as_mut().filter(|_| self.scenario.policy.version >= SlurmVersion::V25_11)
            {
                // However many sockets it takes (gres_sock_list.c of 25.11.7, `_build_sock_gres_by_topo`; rec u7-25-11).
                binding.most_sockets = u32::MAX;
            }
            shape.let_past_tasks(cluster, &self.scenario.policy, request, looked_at);
            if lays_out_said && request.overcommit_gives_cpus && !select.linear {
                (shape.nodes_with_tasks, shape.one_task_a_node) = (None, None);
                shape.tasks_to_place = request.overcommitted;
            } else if lays_out_said
                && request.tasks > 0
                && request.max_nodes.is_none()
                && shape.min_nodes > request.tasks
            {
                // Nodes beyond its tasks, for a partition's `MinNodes`, hold nothing (dist_tasks.c of 24.11.5; rec c111-24-11).
                shape.nodes_with_tasks = shape.nodes_with_tasks.or(Some(request.tasks));
            }
            match &mut shape.unshared {
                Some(unshared) => unshared.counts_tasks_by_node = by_node,
                None if request.features == FeatureExpr::Any => shape.unshared = shape.on_dedicated_nodes(),
                None => {}
            }
            if !self.selector.keeps_cores {
                shape.idle_suffices = self.selector.idle_suffices(&self.empty, shape);
                shape.alike = self.selector.offers_alike(shape);
                debug_assert!(self.selector.is_alike_as_said(&self.empty, shape), "{shape:?}");
            }
            let found = self.on_empty(shape);
            shape.set_on_empty(found);
            // Whether it could ever run is asked without laying it out.
            shape.parts_hold_tasks = lays_out_said
                && shape.tasks_are_said
                && request.overcommitted.is_none()
                && request.ntasks_per_node.is_none()
                && !select.linear;
            shape.first_part_fails = shape.parts_hold_tasks && !shape.feasible && self.first_part_fails(shape);
            // Nodes that `MaxCPUsPerNode` cuts may count with a part of a task, and have no room for it, and where memory makes the CPUs of tasks,
            // nodes are chosen for fewer than all of them need (dist_tasks.c of 24.11.5, `_dist_tasks_compute_c_b`: ESLURM_BAD_TASK_COUNT; rec
            // c1199-24-11, t10-24-11).
            // Sockets kept for nodes to come leave parts of tasks unless they hold whole ones (rec t20-24-11).
            let kept = |node| u32::from(self.selector.geometry.kept(shape, node));
            let leaves_part = |node| !kept(node).is_multiple_of(shape.cpus_per_task.max(1));
            let by_socket =
                shape.unit == ConsumableUnit::Socket && shape.spread > 1 && shape.eligible.iter().any(leaves_part);
            let are_cut = (shape.max_cpus_per_node.is_some() || by_socket) && shape.cpus_per_task > 1;
            let of_memory = || with_cpus_of_memory(cluster, select, shape.partition, request).is_some();
            if shape.parts_hold_tasks && (are_cut || of_memory()) {
                shape.tasks_to_place = Some(request.tasks);
            }
            // One task gets the CPUs of one, but as many as `--ntasks-per-node` says are laid out: where it shares nodes it never starts
            // (dist_tasks.c of 25.11.7, `_get_task_count`; rec c1252-25-11).
            if self.scenario.policy.version >= SlurmVersion::V25_11
                && request.tasks == 1
                && !shape.whole_nodes
                && !select.linear
            {
                shape.tasks_to_place = request.ntasks_per_node.filter(|&tasks| tasks > 1).or(shape.tasks_to_place);
                shape.parts_hold_tasks |= shape.tasks_to_place.is_some();
            }
        }
        if self.sizes_vary {
            let alike = shapes.windows(2).all(|pair| pair[0].charged_alone == pair[1].charged_alone);
            for shape in &mut shapes {
                // A job of several tasks may get them on one socket or on two.
                shape.size_varies = match shape.whole_nodes || shape.exclusive_partition {
                    true => !(alike && self.selector.charges_always_alike(shape)),
                    false => {
                        !alike
                            || shape.unit == ConsumableUnit::Socket
                            || shape.overcommitted.is_some()
                            || (!shape.counted.is_empty() && !select.linear)
                            || self.selector.charges_by_node(shape)
                    }
                };
            }
            // What the last test charges stands, in whatever partition it was made (rec c158).
            let any = shapes.iter().any(|shape| shape.size_varies);
            for shape in &mut shapes {
                shape.size_varies = any;
                // With select/linear its submission says it, and again a test when the job has run (rec w2113).
                shape.size_grows = !any && shape.charged_alone.is_some_and(|cpus| cpus != request.min_cpus);
            }
        }
        if let Some(unseen) = unseen {
            self.selector.weights.unseen(&unseen);
        }
        shapes
    }

    /// Whether the first part of a constraint that counts nodes could have its nodes, but not hold all tasks on them (node_scheduler.c of
    /// 24.11.5, `_get_req_features`; rec c1192-24-11). As [`crate::select::Selector::fits`].
    fn first_part_fails(&mut self, shape: &Shape) -> bool {
        let mut first = shape.clone();
        first.counted.truncate(1);
        let has_nodes = !first.counted.is_empty() && self.selector.fits_alone(&self.empty, &first, 0, &shape.eligible);
        has_nodes && !self.selector.fits(&self.empty, &first, 0, &shape.eligible)
    }

    /// What an empty machine would do for it. As [`crate::select::Selector::fits`].
    pub(crate) fn on_empty(&mut self, shape: &Shape) -> OnEmpty {
        let sizes_count = self.scenario.policy.priority.counts_sizes() || self.limits.active;
        if !self.selector.fits_alone(&self.empty, shape, 0, &shape.eligible) {
            return OnEmpty::default();
        }
        let alone = self.selector.alone_on(&self.empty, shape);
        (true, alone, sizes_count.then(|| self.selector.charged_cpus(&self.empty, shape)).flatten())
    }

    /// The shape of a request in one of its partitions, if it has been made and is not taken out. O(1).
    pub(crate) fn known_shape_of_request(&self, request: RequestId, place: usize) -> Option<&Shape> {
        self.shapes[request.index()].as_ref()?.get(place)
    }

    /// The shape of a record, if it has been made and is not taken out. O(1), mostly without its job.
    pub(crate) fn known_shape_of_record(&self, record: Record) -> Option<&Shape> {
        if self.becomes_whole.is_unused() && self.becomes_sharing.is_unused() {
            return self.known_shape_of_request(record.request, record.place as usize);
        }
        self.known_shape(record.job, record.place as usize)
    }

    /// The same of a job, which may have become one of whole nodes, or one that shares. O(log jobs).
    pub(crate) fn known_shape(&self, id: JobId, place: usize) -> Option<&Shape> {
        // Until the former has been asked for, the latter says as much of an EXCLUSIVE partition.
        let whole = self.has_become_whole(id).then(|| self.known_whole_shape(id, place)).flatten();
        let shares = whole.is_none() && self.has_become_sharing(id);
        let sharing = shares.then(|| self.known_sharing_shape(id, place)).flatten();
        whole.or(sharing).or_else(|| self.known_shape_of_request(self.job(id).request, place))
    }

    /// Takes the shape out of the cache so that the state can be changed while it is read; give it back with
    /// [`Controller::put_shapes`].
    pub(crate) fn take_shapes(&mut self, request: RequestId) -> Box<[Shape]> {
        self.shape_ready(request);
        self.shapes[request.index()].take().unwrap_or_default()
    }

    /// Returns what [`Controller::take_shapes`] took.
    pub(crate) fn put_shapes(&mut self, request: RequestId, mut shapes: Box<[Shape]>) {
        self.uncap_nodes(&mut shapes);
        self.shapes[request.index()] = Some(shapes);
    }
}

/// Whether each node gives it tasks of `--ntasks-per-node`, which together may be more than it asks for (rec u6-25-11). O(1).
fn fills_nodes(request: &Request) -> bool {
    let is_range = request.max_nodes.is_some_and(|most| most != request.min_nodes);
    request.ntasks_per_node.is_some_and(|tasks| is_range || (tasks > 1 && !request.tasks.is_multiple_of(tasks)))
}

/// Whether jobs may be charged more CPUs than they ask for (those of whole nodes, sockets, cores with threads, GPUs, or a node more), and priorities or
/// limits heed it. O(nodes + partitions + requests).
pub(super) fn sizes_vary(scenario: &Scenario, limited: bool) -> bool {
    let cluster = &scenario.cluster;
    let select = &scenario.policy.select;
    let is_exclusive = |partition: &Partition| partition.over_subscribe == OverSubscribe::Exclusive;
    let of_whole_nodes = select.linear
        || cluster.partitions.iter().any(is_exclusive)
        || scenario.workload.requests.iter().any(|request| request.sharing == Sharing::Exclusive);
    let of_sockets = !select.linear
        && cluster.partitions.iter().any(|partition| select.of(partition).unit == ConsumableUnit::Socket);
    let of_threads = cluster.nodes.iter().any(|node| node.threads_per_core > 1);
    let of_gpus = !select.linear && scenario.workload.requests.iter().any(|request| !request.gres.is_empty());
    let per_cpu = |most: Option<MemoryDefault>| matches!(most, Some(MemoryDefault::PerCpu(_)));
    let of_least = !select.linear
        && (per_cpu(select.max_memory)
            || cluster.partitions.iter().any(|partition| per_cpu(partition.max_memory))
            || scenario.workload.requests.iter().any(|it| it.min_cpus_per_node.is_some() || fills_nodes(it)));
    let of_counted =
        !select.linear && scenario.workload.requests.iter().any(|it| matches!(it.features, FeatureExpr::Counted(_)));
    let least_nodes = |id: &PartitionId| cluster.partitions[id.index()].min_nodes;
    let gets_nodes = |it: &Request| it.partitions.iter().map(least_nodes).max().max(Some(it.min_nodes));
    let of_nodes = !select.linear && scenario.workload.requests.iter().any(|it| gets_nodes(it) > Some(it.min_cpus));
    let of_parts = of_sockets || of_threads || of_gpus || of_least || of_counted || of_nodes;
    (scenario.policy.priority.counts_sizes() || limited) && (of_whole_nodes || of_parts)
}
