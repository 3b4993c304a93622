//! Preparing a request for a partition.

use super::{Alone, MemoryNeed, Shape, Strategy};
use super::{gres, memory_limit};
use crate::ablation::{Rule, is_off};
use crate::cluster::{Cluster, MemoryDefault, Node, OverSubscribe, Partition};
use crate::ids::{GresId, NodeId, PartitionId};
use crate::job::{FeatureExpr, GresScope, Memory, Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::{ConsumableUnit, SelectPolicy};
use crate::select::rows;

impl Shape {
    /// Prepares a request for a partition; `looked_at` says whether its nodes have been looked at in an EXCLUSIVE partition: before, a job that
    /// does not itself ask for whole nodes is planned there with parts of idle ones. O(nodes).
    pub(crate) fn of(
        cluster: &Cluster,
        select: &SelectPolicy,
        partition_id: PartitionId,
        request: &Request,
        looked_at: bool,
    ) -> Self {
        let partition = &cluster.partitions[partition_id.index()];
        let select = &select.of(partition);
        let n_nodes = cluster.nodes.len();
        let mut cpus_per_task = request.cpus_per_task.max(1);
        let mut memory = request.memory;
        let limit = memory_limit::limit(select, partition, request);
        let held = memory_limit::held(cluster, select, partition_id, memory);
        if let (Memory::PerCpu(asked), Some(MemoryDefault::PerCpu(most))) = (held, limit)
            && asked > most
            && most > 0
        {
            let factor = asked.div_ceil(most);
            cpus_per_task = cpus_per_task.saturating_mul(factor as u32);
            memory = Memory::PerCpu(asked.div_ceil(factor));
        }
        let of_tasks = request.tasks.saturating_mul(cpus_per_task);
        // Tasks of GPUs may be more than the CPUs asked for are for (job_mgr.c of 22.05.8, `validate_job_create_req`), but where the memory a CPU is
        // limited (`_valid_pn_min_mem`).
        // So may those of --overcommit, which asks for a CPU of each node (rec c1315).
        let asks_for_less = request.ntasks_per_gpu.is_some() || request.overcommitted.is_some();
        let counts_tasks = !asks_for_less || cpus_per_task > request.cpus_per_task.max(1);
        let asked_cpus = if counts_tasks { request.min_cpus.max(of_tasks) } else { request.min_cpus };
        let mut min_cpus = asked_cpus.max(1);
        // CPUs that the memory of a CPU makes of a task's are none that a node must give (job_mgr.c, `_valid_pn_min_mem`; rec c1021).
        let mut min_cpus_per_node = request.min_cpus_per_node.unwrap_or(1).max(request.cpus_per_task.max(1));
        let of_memory = memory_limit::cpus_of(cluster, select, partition_id, request);
        let cpus_of_memory = of_memory.filter(|&cpus| cpus > min_cpus_per_node).unwrap_or(0);
        min_cpus_per_node = min_cpus_per_node.max(cpus_of_memory);
        if let Some(per_node) = request.ntasks_per_node.filter(|_| cpus_of_memory > 0) {
            // They come with the tasks of the node, though the job asked for fewer CPUs (job_mgr.c, `_valid_pn_min_mem`; rec c1021).
            cpus_per_task = cpus_of_memory.div_ceil(per_node.max(1));
        }
        let tasks = request.tasks.max(1);
        let mut room = 1;
        // node_scheduler.c of 22.05.8, `get_node_cnts`.
        let least = if request.past_min_nodes { 0 } else { partition.min_nodes };
        let min_nodes = request.min_nodes.max(1).max(least);
        let mut spread = min_nodes;
        if let Some(per_node) = request.ntasks_per_node {
            spread = spread.max(tasks.div_ceil(per_node.max(1)));
            // A single task does not get the CPUs of those that are not there (observed on 22.05.8; docs/FACTS.md, facts 37).
            if tasks > 1 {
                room = per_node.saturating_mul(cpus_per_task);
            }
        }
        // Counted by all tasks, though `--overcommit` asks for fewer CPUs (cons_common/job_test.c of 22.05.8, `_select_nodes`; rec bf-c102).
        if let (Some(per_node), Some(tasks)) = (request.overcommitted_per_node, request.overcommitted)
            && !select.linear
        {
            spread = spread.max(tasks.div_ceil(per_node.max(1)));
        }
        let most = partition.max_nodes.unwrap_or(500_000);
        // No more nodes of a range than GPUs of the job (gres.c of 22.05.8, `_test_gres_cnt`; rec bf-c60).
        let of_job = request.gres.iter().filter(|gres| gres.scope == GresScope::PerJob).map(|gres| gres.count);
        let asked_most = request.max_nodes.map(|most| of_job.fold(most, u32::min));
        let mut max_nodes = match asked_most {
            Some(asked) if request.past_max_nodes => asked.min(500_000),
            asked => asked.unwrap_or(most).min(most),
        };
        // Who counts GPUs alone gets them from as many nodes as it takes.
        let counts_gpus_alone = request.tasks == 0 && request.gres.iter().any(|gres| gres.scope == GresScope::PerJob);
        if request.max_nodes.is_none() && !counts_gpus_alone && !select.linear {
            // With --overcommit the least loaded nodes may be as many as tasks, where GPUs of the job ask for them (cons_tres/job_test.c of 22.05.8,
            // `_eval_nodes_lln`; rec bb-gpu); elsewhere one node is taken if it has them (rec av-gpu).
            let least_loaded = (select.least_loaded_nodes || partition.least_loaded_nodes) && !select.cons_res;
            let overcommitted = request.overcommitted.filter(|_| least_loaded).unwrap_or(0);
            // A constraint that counts nodes asks for as many, be they more than tasks (rec c1003).
            let counted = match &request.features {
                FeatureExpr::Counted(parts) => parts.iter().fold(0, |all: u32, &(_, count)| all.saturating_add(count)),
                _ => 0,
            };
            max_nodes = max_nodes.min(tasks.max(overcommitted).max(spread).max(counted));
        }
        let wanted_nodes = match asked_most {
            Some(most) if !request.use_min_nodes => most.min(max_nodes).max(min_nodes),
            _ => min_nodes,
        };
        let asks_for_all = (partition.over_subscribe == OverSubscribe::Exclusive && looked_at)
            || request.sharing == Sharing::Exclusive;
        let whole_nodes = select.linear || (asks_for_all && !is_off(Rule::Exclusive)) || is_off(Rule::Cores);
        // select/linear looks at smaller nodes too, if only to see that they differ in size.
        let of_task = if select.cons_res { 1 } else { cpus_per_task };
        // With --overcommit, too (`can_job_run_on_node` of 22.05.8, which asks for --ntasks-per-node first; rec at-qos).
        let per_node = request.ntasks_per_node.or(request.overcommitted_per_node);
        let tasks_room = per_node.filter(|_| !select.linear).unwrap_or(1).saturating_mul(of_task);
        let least_cpus = min_cpus_per_node.max(room).max(tasks_room);
        // A node must have room for the tasks of one socket, or of one core.
        let of_socket = request.ntasks_per_socket.or(request.ntasks_per_core).or(select.one_task_per_core.then_some(1));
        // Or for its share of those of `--ntasks-per-gpu` (cons_tres/job_test.c of 22.05.8, `_select_cores`; rec az-gpu3).
        let counts_alone = of_socket.or(request.ntasks_per_node).is_none() && !select.linear && !select.cons_res;
        let share = tasks / request.min_nodes.max(1);
        let tasks_of_gpus = request.ntasks_per_gpu.filter(|_| counts_alone).map(|_| share);
        let least_tasks = if request.ntasks_per_node.is_some() || select.linear || select.cons_res {
            1
        } else {
            of_socket.or(tasks_of_gpus).unwrap_or(1)
        };
        // select/cons_res looks at nodes that have too few CPUs for a job of one node, too (`can_job_run_on_node`).
        // select/cons_tres asks for the CPUs of all tasks before memory; of what memory leaves only for those of a socket or a core, where
        // tasks are counted by these (cons_tres/job_test.c of 22.05.8, `can_job_run_on_node`, `_select_cores`; rec ax-pre).
        let mut room_of_one = 0;
        if request.ntasks_per_node.is_none() && max_nodes == 1 && !select.linear && !select.cons_res {
            let counted = request.ntasks_per_socket.or(request.ntasks_per_core).is_some() || select.one_task_per_core;
            let by_cpu = matches!(memory_need(memory, (1, &[]), partition, select), MemoryNeed::PerCpu(_));
            if counted && by_cpu && !whole_nodes && request.gres.is_empty() {
                room_of_one = min_cpus;
            } else {
                room = room.max(min_cpus);
            }
        }
        min_cpus = min_cpus.max(min_nodes);
        // --overcommit asks for a CPU of each node, whatever a task takes (rec c108-24-11 job 106).
        let asked_cpus = request.overcommitted.map_or(min_cpus, |_| request.min_cpus.max(min_nodes));
        // select/linear knows nothing of --spread-job, least loaded nodes and serial jobs (src; rec ar-lin).
        let strategy = if request.spread && !select.linear {
            Strategy::Spread
        } else if (select.least_loaded_nodes || partition.least_loaded_nodes) && !select.linear {
            Strategy::LeastLoaded
        } else if select.pack_serial_at_end && asked_cpus == 1 && max_nodes == 1 && !select.linear {
            Strategy::SerialAtEnd
        } else if select.topology_tree
            && !cluster.switches.is_empty()
            && (!request.contiguous || select.cons_res)
            && (!select.topology_optional || request.switches.is_some())
        {
            Strategy::Tree
        } else {
            Strategy::Consecutive
        };
        // select/linear makes it a wish for whole nodes (node_scheduler.c of 22.05.8, `_resolve_shared_status`; rec at-lin).
        let asks_for_user = request.sharing == Sharing::ExclusiveUser && !select.linear;
        // Where tasks are counted by the core, one node has as many as its CPUs make, and GRES for each (gres_select_filter.c of 22.05.8,
        // `_build_tasks_per_node_sock`; rec at-gpu).
        let by_core = request.ntasks_per_core.is_some() && request.ntasks_per_node.is_none();
        let by_task = by_core && request.gres.iter().all(|wanted| wanted.scope == GresScope::PerTask);
        let over_nodes = (max_nodes > 1 || by_task) && !select.linear;
        let mut gres = gres::per_node_gres(request, tasks, spread, over_nodes);
        gres.retain(|_| !is_off(Rule::Gres));
        let gpus = gres::gpus_per_node(cluster, &gres);
        let cpus_a_gpu = gres::cpus_per_gpu(request, partition, select).unwrap_or(0);
        if cpus_a_gpu > 0 {
            let cpus = cpus_a_gpu;
            room = room.max(cpus.saturating_mul(gpus));
            min_cpus = min_cpus.max(cpus.saturating_mul(gres::gpus_of_job(cluster, request, gpus, (spread, tasks))));
        }
        // GPUs have room for their tasks, though these may bring fewer CPUs (gres_select_filter.c of 22.05.8, `gres_select_filter_remove_unusable`).
        let says_cpus = request.cpus_per_gpu.is_some_and(|cpus| cpus > 0);
        let tasks_per_gpu = request.ntasks_per_gpu.filter(|_| !says_cpus && !select.linear && !select.cons_res);
        let room_a_gpu = tasks_per_gpu.map_or(cpus_a_gpu, |tasks| tasks.saturating_mul(cpus_per_task));
        let room_of_gpus = match tasks_per_gpu {
            Some(_) if max_nodes == 1 => of_tasks.max(room_a_gpu.saturating_mul(gpus)),
            Some(_) => room_a_gpu.saturating_mul(gpus),
            None => 0,
        };
        let mut by_default = false;
        let asked_cpus = asked_cpus.max(min_nodes);
        if memory == Memory::Default
            && gpus > 0
            && let Some(mb) = partition.default_memory_per_gpu.or(select.default_memory_per_gpu)
            && !select.linear
            && !select.cons_res
        {
            memory = Memory::PerGpu(mb);
            by_default = request.partitions.iter().any(|other| {
                let other = &cluster.partitions[other.index()];
                other.default_memory_per_gpu.or(select.default_memory_per_gpu).is_none_or(|mb| mb == 0)
            });
        }
        let gres_of_job =
            if over_nodes { gres::gres_of_job(request, tasks, (cpus_per_task, cpus_a_gpu)) } else { Vec::new() };
        min_cpus_per_node = min_cpus_per_node.max(room);
        let gres_of_socket = gres::gres_of_socket(request);
        for &(of_socket, count) in &gres_of_socket {
            gres.iter_mut().filter(|(gres, _)| *gres == of_socket).for_each(|(_, of_node)| *of_node = count);
        }
        let with_room = |tasks_room: u32| match select.cons_res {
            true => tasks_room,
            false => room.max(tasks_room).max(least_tasks.saturating_mul(cpus_per_task)).max(room_of_gpus),
        };
        let room_for_tasks = with_room(tasks_room);
        let room_left = if request.overcommitted_per_node.is_some() { with_room(of_task) } else { room_for_tasks };
        let unit_memory = match memory {
            _ if select.linear || select.cons_res || !select.memory || is_off(Rule::Memory) => 0,
            Memory::PerGpu(mb) => mb,
            _ => partition.default_memory_per_gpu.or(select.default_memory_per_gpu).unwrap_or(0),
        };
        let mut gres_least = gres::gres_of_least_tasks(request, least_tasks);
        if !over_nodes && !select.linear && !select.cons_res {
            gres_least.extend(gres::gres_of_cpus(request, min_cpus));
        }
        let mut shape = Self {
            unit_memory,
            partition: partition_id,
            eligible: NodeSet::empty(n_nodes),
            tested: NodeSet::empty(n_nodes),
            min_nodes,
            max_nodes,
            most_by_tasks: match request.overcommitted.unwrap_or(request.tasks) {
                0 => u32::MAX,
                tasks => tasks,
            },
            wanted_nodes,
            uncapped: (max_nodes, wanted_nodes),
            min_cpus,
            tasks,
            tasks_are_said: request.tasks > 0,
            nodes_are_said: request.max_nodes.is_some(),
            counts_tasks_by_node: false,
            cpus_per_task,
            tasks_per_node: request.ntasks_per_node,
            overcommitted_per_node: request.overcommitted_per_node,
            most_of_whole: request
                .ntasks_per_node
                .filter(|_| select.linear)
                .map(|tasks| tasks.saturating_mul(cpus_per_task)),
            tasks_per_socket: request.ntasks_per_socket.filter(|_| !select.linear),
            tasks_per_core: request
                .ntasks_per_core
                .or(select.one_task_per_core.then_some(1))
                .filter(|_| !select.linear),
            threads_per_core: request.threads_per_core.filter(|_| !select.linear),
            gpus_count_threads: select.one_task_per_core && cpus_a_gpu > 0,
            cores_per_socket: request.cores_per_socket.unwrap_or(0),
            sockets_per_node: request.sockets_per_node.unwrap_or(0),
            min_cpus_per_node,
            cpus_of_memory,
            room_per_node: min_cpus_per_node.max(room_for_tasks),
            room_of_one,
            room_for_tasks,
            room_left,
            memory: memory_need(memory, (gpus.max(1), &gres_of_job), partition, select),
            gres,
            gres_least,
            cpus_a_gpu: room_a_gpu.min(u32::from(u16::MAX)),
            tasks_per_gpu,
            tasks_of_gpus,
            tasks_bound_cpus: (cpus_a_gpu == 0 || tasks_per_gpu.is_some())
                && (cpus_per_task > 1 || !select.one_task_per_core),
            binding: gres::binding(request, asked_cpus.max(of_tasks), tasks)
                .filter(|_| !select.linear && !select.cons_res),
            gres_of_socket,
            gres_of_job,
            unit: select.unit,
            whole_nodes,
            exclusive_partition: partition.over_subscribe == OverSubscribe::Exclusive,
            exclusive_user: partition.exclusive_user || asks_for_user,
            asks_for_user,
            max_cpus_per_node: partition.max_cpus_per_node.filter(|_| !select.linear).map(|most| {
                let before = cluster.partitions[..partition_id.index()].iter();
                (before.filter(|other| other.max_cpus_per_node.is_some()).count() as u32, most)
            }),
            spread,
            required: request.required_nodes.clone(),
            contiguous: request.contiguous,
            packs_parts: !select.linear
                && select.pack_serial_at_end
                && matches!(strategy, Strategy::Consecutive | Strategy::Tree),
            overcommitted: request.overcommitted.filter(|_| select.cons_res),
            one_task_a_node: request.overcommitted.filter(|_| !select.cons_res && !select.linear),
            tasks_to_place: None,
            past_tasks: None,
            nodes_with_tasks: request.overcommitted.filter(|_| !select.cons_res && !whole_nodes),
            cons_res: select.cons_res,
            strategy,
            rows: rows::rows_of(cluster, select, partition_id),
            shared_by: rows::shared_by(partition, request),
            asks_to_share: request.sharing == Sharing::OverSubscribe && !whole_nodes,
            unshared: None,
            is_unshared: false,
            parts_hold_tasks: false,
            first_part_fails: false,
            by_default: None,
            block_cores: request.plane.is_some() || request.block_cores.unwrap_or(select.block_cores),
            plane: request.plane.map(|tasks| tasks.max(1)),
            leaf_wait: leaf_wait(request, cluster, select).filter(|_| strategy == Strategy::Tree),
            over_limit: false,
            alternatives: Vec::new(),
            counted: Vec::new(),
            as_many: true,
            of_each_weight: false,
            unlayable: false,
            feasible: false,
            alone: Alone::default(),
            charged_alone: None,
            uncapped_alone: None,
            capped_alone: Vec::new(),
            gpus_add_cpus: !select.linear
                && (min_cpus > asked_cpus
                    || (over_nodes || request.enforces_binding || tasks_per_gpu.is_some()) && !request.gres.is_empty()),
            nodes_add_cpus: !select.linear && request.min_cpus < min_nodes,
            size_varies: false,
            size_grows: false,
            alike: None,
            idle_suffices: false,
            strays: false,
        };
        // They may be all but a few.
        let excluded = NodeSet::from_nodes(n_nodes, request.excluded_nodes.iter().copied());
        for (index, node) in cluster.nodes.iter().enumerate() {
            let id = NodeId::new(index);
            if partition.nodes.contains(id)
                && !excluded.contains(id)
                && could_have(&request.features, node)
                && is_large_enough(request, least_cpus, memory, shape.memory, node)
            {
                shape.tested.insert(id);
                let has = |&(gres, count): &(GresId, u32)| node.gres.get(gres.index()).is_some_and(|&has| has >= count);
                let holds_tasks = select.linear || sockets_hold_tasks(request, node);
                if shape.gres.iter().all(has) && shape.could_bind(node) && holds_tasks {
                    shape.eligible.insert(id);
                }
            }
        }
        let nodes_with = |expr: &FeatureExpr| {
            let having = cluster.nodes.iter().enumerate().filter(|(_, node)| could_have(expr, node));
            NodeSet::from_nodes(n_nodes, having.map(|(index, _)| NodeId::new(index)))
        };
        match &request.features {
            FeatureExpr::MatchingOr(parts) => shape.alternatives = parts.iter().map(nodes_with).collect(),
            FeatureExpr::Counted(parts) => {
                shape.counted = parts.iter().map(|(expr, count)| (nodes_with(expr), *count)).collect();
            }
            _ => {}
        }
        if rows::asks_to_share(partition, request) && !select.linear && request.features == FeatureExpr::Any {
            shape.unshared = Some(Box::new(Self { shared_by: 1, is_unshared: true, ..shape.clone() }));
        }
        if by_default {
            let memory = memory_need(Memory::Default, (1, &[]), partition, select);
            shape.by_default = Some(Box::new(Self { memory, ..shape.clone() }));
        }
        shape.unlayable = request.overcommitted.is_none() && shape.is_unlayable(cluster);
        let most = shape.most_of_whole.unwrap_or(u32::MAX);
        shape.strays = select.linear && shape.may_stray(|node| cluster.nodes[node.index()].all_cpus().min(most));
        shape
    }
}

impl Shape {
    /// Whether every node that could serve it gives more CPUs (for memory above `MaxMemPerCPU`, say) than `--ntasks-per-socket` has tasks for
    /// on its sockets: "sync loop not progressing, holding" (cons_common/dist_tasks.c of 22.05.8, `_cyclic_sync_core_bitmap`; rec t-sock,
    /// ay-share). Whose tasks take all that is left of one node keeps that (cons_tres/job_test.c, `_cpus_to_use`; rec t-core). O(nodes).
    fn is_unlayable(&self, cluster: &Cluster) -> bool {
        let Some(tasks) = self.tasks_per_socket else { return false };
        if self.whole_nodes || self.block_cores || self.unit == ConsumableUnit::Cpu {
            return false;
        }
        let lacks = |id: NodeId| {
            let node = &cluster.nodes[id.index()];
            let threads = self.used_threads(node.threads_per_core).max(1);
            let cores = tasks.saturating_mul(self.cpus_per_task).div_ceil(threads);
            let left = cores.saturating_mul(threads).saturating_mul(node.sockets);
            self.min_cpus_per_node > left && (self.min_nodes > 1 || self.min_cpus < left)
        };
        !self.eligible.is_empty() && self.eligible.iter().all(lacks)
    }
}

impl Shape {
    /// Whether a socket of the node has what `--gres-flags=enforce-binding` asks of each.
    fn could_bind(&self, node: &Node) -> bool {
        let bound = |&(gres, count): &(GresId, u32)| {
            node.gres_near.get(gres.index()).is_some_and(|near| near.iter().any(|&units| units >= count))
        };
        self.binding.as_ref().is_none_or(|binding| binding.of_socket.iter().all(bound))
    }
}

/// Whether a node, as configured, has the CPUs, the memory, the disk and the sockets that are asked for on each node.
fn is_large_enough(request: &Request, least_cpus: u32, asked: Memory, memory: MemoryNeed, node: &Node) -> bool {
    let enough_memory = match memory {
        _ if matches!(asked, Memory::PerGpu(_)) => true,
        MemoryNeed::NotConsumed(mb) | MemoryNeed::PerNode(mb) => mb <= node.memory_mb,
        MemoryNeed::PerCpu(mb) => mb.saturating_mul(u64::from(least_cpus)) <= node.memory_mb,
        MemoryNeed::PerUnit(..) | MemoryNeed::Whole => true,
    };
    enough_memory
        && node.tmp_disk_mb.is_none_or(|disk| request.tmp_disk_mb <= disk)
        && least_cpus <= node.all_cpus()
        && request.sockets_per_node.is_none_or(|sockets| sockets <= node.sockets)
        && request.cores_per_socket.is_none_or(|cores| cores <= node.cores_per_socket)
        && request.threads_per_core.is_none_or(|threads| threads <= node.threads_per_core)
}

/// Whether a socket of the node, as configured, has a CPU for each of `--ntasks-per-socket`, whatever `--cpus-per-task` says (observed on 22.05.8
/// and 24.11.5; rec t7, t8; docs/FACTS.md, facts 96 (f)).
fn sockets_hold_tasks(request: &Request, node: &Node) -> bool {
    request.ntasks_per_socket.is_none_or(|tasks| tasks <= node.cores_per_socket.saturating_mul(node.threads_per_core))
}

/// Whether a node satisfies the constraint; for alternatives and counts, whether it could serve one of the parts.
fn could_have(expr: &FeatureExpr, node: &Node) -> bool {
    match expr {
        FeatureExpr::Any => true,
        FeatureExpr::Has(feature) => node.features.contains(feature),
        FeatureExpr::Unknown(_) => false,
        FeatureExpr::And(parts) => parts.iter().all(|part| could_have(part, node)),
        FeatureExpr::Or(parts) | FeatureExpr::MatchingOr(parts) => parts.iter().any(|part| could_have(part, node)),
        // Whoever counts nodes of one kind gets any besides those (`_valid_features`; rec ar-qos1).
        FeatureExpr::Counted(parts) => parts.len() <= 1 || parts.iter().any(|(part, _)| could_have(part, node)),
    }
}

/// How many leaf switches a request is for, and how long it waits for so few [s].
fn leaf_wait(request: &Request, cluster: &Cluster, select: &SelectPolicy) -> Option<(u32, i64)> {
    let (count, wait) = request.switches?;
    let most = select.max_switch_wait;
    let has_tree = select.topology_tree && !cluster.switches.is_empty();
    // Whoever asks for two is taken to ask for none where leaves are used in turn.
    let is_asked = count == 1 || (count > 0 && !select.topology_dragonfly);
    (has_tree && is_asked).then(|| (count, i64::from(wait.map_or(most, |wait| wait.min(most)))))
}

/// What the job takes of a node's memory, given defaults.
fn memory_need(
    memory: Memory,
    (gpus, of_job): (u32, &[gres::GresOfJob]),
    partition: &Partition,
    select: &SelectPolicy,
) -> MemoryNeed {
    if !select.memory || is_off(Rule::Memory) {
        return match memory {
            Memory::PerNode(mb) => MemoryNeed::NotConsumed(mb),
            _ => MemoryNeed::NotConsumed(0),
        };
    }
    match memory {
        Memory::PerNode(mb) => MemoryNeed::PerNode(mb),
        Memory::PerCpu(mb) => MemoryNeed::PerCpu(mb),
        Memory::PerGpu(mb) => match of_job.first() {
            Some(wanted) if mb > 0 => MemoryNeed::PerUnit(mb, wanted.least),
            _ => MemoryNeed::PerNode(mb.saturating_mul(u64::from(gpus))),
        },
        Memory::WholeNode => MemoryNeed::Whole,
        Memory::Default if is_off(Rule::MemoryDefaults) => MemoryNeed::PerNode(0),
        Memory::Default => match partition.default_memory.or(select.default_memory) {
            Some(MemoryDefault::PerNode(mb)) if mb > 0 => MemoryNeed::PerNode(mb),
            Some(MemoryDefault::PerCpu(mb)) if mb > 0 => MemoryNeed::PerCpu(mb),
            _ => MemoryNeed::Whole,
        },
    }
}
