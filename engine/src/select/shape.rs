//! A request made ready for selection in one partition: everything that does not change while the simulation runs.

use crate::ablation::{Rule, is_off};
use crate::cluster::{Cluster, MemoryDefault, Node, OverSubscribe, Partition};
use crate::ids::{GresId, NodeId, PartitionId};
use crate::job::{FeatureExpr, GresRequest, GresScope, Memory, Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::SelectPolicy;
use crate::select::by_runs::Alike;
use crate::select::free::Geometry;
use crate::select::rows::{self, Rows};

/// Memory a job takes on each of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MemoryNeed {
    /// Memory is not a consumable resource here: a node only has to be large enough [MB].
    NotConsumed(u64),
    /// So much on every node [MB].
    PerNode(u64),
    /// So much for every allocated CPU [MB].
    PerCpu(u64),
    /// So much for every unit of the GRES that is counted for the whole job [MB], of which a node gives so many at least.
    PerUnit(u64, u32),
    /// All of the node.
    Whole,
}

/// A request in one partition.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Nodes that could serve it, alone in the world.
    pub(crate) eligible: NodeSet,
    /// These, and others that only lack its GRES: slurmctld's test of when and where looks at them, too, and waits for what
    /// runs there.
    pub(crate) tested: NodeSet,
    /// Fewest nodes.
    pub(crate) min_nodes: u32,
    /// Most nodes (at least `min_nodes`, or the request can never be met).
    pub(crate) max_nodes: u32,
    /// Nodes that selection tries to get.
    pub(crate) wanted_nodes: u32,
    /// The same two without the limits of whose job it is at the moment.
    uncapped: (u32, u32),
    /// Least CPUs of the whole job.
    pub(crate) min_cpus: u32,
    /// CPUs a task.
    pub(crate) cpus_per_task: u32,
    /// Tasks on a node at most, where asked for.
    pub(crate) tasks_per_node: Option<u32>,
    /// Tasks, at least one, and whether they were asked for.
    pub(crate) tasks: u32,
    pub(crate) tasks_are_said: bool,
    /// Tasks on a socket at most.
    pub(crate) tasks_per_socket: Option<u32>,
    /// CPUs usable of each core: threads, fewer where tasks per core or threads per core are limited.
    pub(crate) tasks_per_core: Option<u32>,
    /// Threads used per core at most.
    pub(crate) threads_per_core: Option<u32>,
    /// `--cores-per-socket`.
    pub(crate) cores_per_socket: u32,
    /// `--sockets-per-node`.
    pub(crate) sockets_per_node: u32,
    /// With select/linear and `--ntasks-per-node`: a node counts with no more CPUs than those tasks have (docs/FIDELITY.md, facts 51).
    pub(crate) most_of_whole: Option<u32>,
    /// Fewest CPUs that each node gives it.
    pub(crate) min_cpus_per_node: u32,
    /// Fewest CPUs that a node must offer: these, and room for all tasks of `--ntasks-per-node` though it may have fewer.
    pub(crate) room_per_node: u32,
    /// Fewest CPUs that a node must offer to the job's tasks, when all limits have been applied: `--mincpus`, and what memory asks for,
    /// are looked for before that (docs/FIDELITY.md, facts 50).
    pub(crate) room_for_tasks: u32,
    /// Memory.
    pub(crate) memory: MemoryNeed,
    /// GRES needed on every node.
    pub(crate) gres: Vec<(GresId, u32)>,
    /// GRES that come with each socket: `gres` has those of one.
    pub(crate) gres_of_socket: Vec<(GresId, u32)>,
    /// GRES of the whole job, where its nodes may have unlike shares.
    pub(crate) gres_of_job: Vec<GresOfJob>,
    /// The job gets whole nodes.
    pub(crate) whole_nodes: bool,
    /// Nodes used by other users' jobs are unusable.
    pub(crate) exclusive_user: bool,
    /// `--exclusive=user` itself: no node serves it whose CPUs, its partition's and free ones, `MaxCPUsPerNode` does not cover.
    pub(crate) asks_for_user: bool,
    /// `MaxCPUsPerNode` of the partition, with the partition's position among the capped ones.
    pub(crate) max_cpus_per_node: Option<(u32, u32)>,
    /// Nodes over which `--ntasks-per-node` spreads its tasks, at least.
    pub(crate) spread: u32,
    /// Nodes it must get.
    pub(crate) required: Vec<NodeId>,
    /// One run of consecutive nodes only.
    pub(crate) contiguous: bool,
    /// Which selection is used.
    pub(crate) strategy: Strategy,
    /// The rows of its partition, where jobs may share cores there.
    pub(crate) rows: Option<Rows>,
    /// How many jobs may share its cores, itself included.
    pub(crate) shared_by: u32,
    /// The same job if it shared with nobody: as such backfill tests it first, where it shares because it asks to.
    pub(crate) unshared: Option<Box<Self>>,
    /// Fill a node's sockets one after the other.
    pub(crate) block_cores: bool,
    /// `--switches`: how many leaf switches at most, and how long it waits for nodes of so few [s].
    pub(crate) leaf_wait: Option<(u32, i64)>,
    /// The job's limits leave it fewer nodes than it needs.
    pub(crate) over_limit: bool,
    /// Alternatives of `[a|b]`: all nodes of one.
    pub(crate) alternatives: Vec<NodeSet>,
    /// Parts of `a*2&b*3`.
    pub(crate) counted: Vec<(NodeSet, u32)>,
    /// Whether an empty machine could run it; filled in by the controller.
    pub(crate) feasible: bool,
    /// What an empty machine would give it, where it is feasible; filled in by the controller.
    pub(crate) alone: Alone,
    /// CPUs that an empty machine would charge it, where that counts for its size; filled in by the controller.
    pub(crate) charged_alone: Option<u32>,
    /// Whether GPUs may bring it more CPUs than it asks for: their own, or one on each node that they take.
    pub(crate) gpus_add_cpus: bool,
    /// Whether the nodes it gets decide how many CPUs it is charged, where that counts for its size; filled in by the
    /// controller.
    pub(crate) size_varies: bool,
    /// Whether an idle machine would charge it more than it asks for, and what a plan names is not taken to change that, where it
    /// counts for its size; filled in by the controller.
    pub(crate) size_grows: bool,
    /// What every node offers that offers anything, where that is known and the choice among them is plain; filled in by the
    /// controller.
    pub(crate) alike: Option<Alike>,
    /// Whether idle nodes alone will do, and each eligible one does while it is idle; filled in by the controller.
    pub(crate) idle_suffices: bool,
    /// Whether its tests of when it could run find more than there is ([`super::strays`]).
    pub(crate) strays: bool,
}

/// All that one node's answer to a shape depends on ([`super::usable`]): shapes alike in it get the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeNeed {
    eligible: NodeSet,
    room_per_node: u32,
    most_of_whole: Option<u32>,
    memory: MemoryNeed,
    gres: Vec<(GresId, u32)>,
    gres_of_socket: Vec<(GresId, u32)>,
    exclusive_user: bool,
    asks_for_user: bool,
    /// `None` if it takes whole nodes, however its tasks are spread over them.
    tasks: Option<TaskNeed>,
}

/// The part of a [`NodeNeed`] that says how tasks are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TaskNeed {
    cpus_per_task: u32,
    per_node: Option<u32>,
    per_socket: Option<u32>,
    per_core: Option<u32>,
    threads_per_core: Option<u32>,
    cores_per_socket: u32,
    sockets_per_node: u32,
    max_cpus_per_node: Option<(u32, u32)>,
    min_cpus_per_node: u32,
    room_for_tasks: u32,
}

/// What a test gave a job.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alone {
    /// Its nodes.
    pub(crate) nodes: u32,
    /// What these offer of the GRES that it counts over all of its nodes (`--gpus`): tests count them whole (rec q-gpu).
    pub(crate) units: u64,
}

/// GRES counted for the whole job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GresOfJob {
    /// Which.
    pub(crate) gres: GresId,
    /// Of all nodes together.
    pub(crate) count: u32,
    /// Fewest on a node.
    pub(crate) least: u32,
    /// They come with tasks, so many with each: then a node has as many tasks as it has units for.
    pub(crate) per_task: Option<u32>,
    /// CPUs of such a task, those of its GPUs included.
    pub(crate) task_cpus: u32,
    /// CPUs asked for with each unit that comes without a task (`--cpus-per-gpu`; not the default); 0 for none. Units go where their
    /// CPUs are then (facts 42).
    pub(crate) unit_cpus: u32,
}

/// How nodes are chosen among those that can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Best fit over runs of consecutive nodes.
    Consecutive,
    /// `--spread-job`.
    Spread,
    /// `CR_LLN`, `LLN=YES`.
    LeastLoaded,
    /// `pack_serial_at_end` for one-CPU jobs.
    SerialAtEnd,
    /// topology/tree.
    Tree,
}

impl Shape {
    /// Selection takes no more nodes than `most`, if the request allows for so few. O(1).
    pub(crate) fn cap_nodes(&mut self, most: u32) {
        self.over_limit = most < self.min_nodes;
        let most = most.max(self.min_nodes);
        let (max_nodes, wanted_nodes) = self.uncapped;
        (self.max_nodes, self.wanted_nodes) = (max_nodes.min(most), wanted_nodes.min(most));
        if let Some(unshared) = &mut self.unshared {
            unshared.cap_nodes(most);
        }
    }

    /// Threads of a core that its tasks may use. O(1).
    #[inline]
    pub(crate) fn usable_threads(&self, cpus_per_core: u32) -> u32 {
        let threads = self.used_threads(cpus_per_core);
        match self.tasks_per_core {
            Some(tasks) => threads.min(tasks.saturating_mul(self.cpus_per_task).max(1)),
            None => threads,
        }
    }

    /// Threads of a core that count where memory goes by CPUs: those that `--threads-per-core` (`--hint=nomultithread`) leaves. O(1).
    #[inline]
    pub(crate) fn used_threads(&self, cpus_per_core: u32) -> u32 {
        self.threads_per_core.unwrap_or(cpus_per_core).clamp(1, cpus_per_core.max(1))
    }

    /// Whether it may leave threads of its cores unused. O(1).
    pub(crate) fn leaves_threads(&self) -> bool {
        self.threads_per_core.is_some() || self.tasks_per_core.is_some()
    }

    /// CPUs of a node taken whole that its tasks may use. O(1).
    pub(crate) fn cpus_of_whole(&self, geometry: &Geometry, node: usize) -> u32 {
        let cpus = match self.leaves_threads() {
            true => geometry.cores[node] * self.usable_threads(geometry.cpus_per_core[node]),
            false => geometry.cpus[node],
        };
        cpus.min(self.most_of_whole.unwrap_or(u32::MAX))
    }

    /// How many of a GRES come with each socket, where it is counted so. O(such GRES).
    pub(crate) fn of_each_socket(&self, gres: GresId) -> Option<u32> {
        self.gres_of_socket.iter().find(|&&(other, _)| other == gres).map(|&(_, count)| count)
    }

    /// CPUs that come with each GPU of the job; 0 where none do. O(1).
    pub(crate) fn unit_cpus(&self) -> u32 {
        self.gres_of_job.first().map_or(0, |wanted| wanted.unit_cpus)
    }

    /// Whether limits leave it fewer nodes than an idle machine would give it, or than it asks for. O(1).
    pub(crate) fn is_capped(&self) -> bool {
        self.max_nodes < self.alone.nodes || self.wanted_nodes < self.uncapped.1
    }

    /// Prepares a request for a partition. O(nodes).
    pub(crate) fn new(cluster: &Cluster, select: &SelectPolicy, partition_id: PartitionId, request: &Request) -> Self {
        let partition = &cluster.partitions[partition_id.index()];
        let n_nodes = cluster.nodes.len();
        let mut cpus_per_task = request.cpus_per_task.max(1);
        let mut memory = request.memory;
        let limit = partition.max_memory.or(select.max_memory);
        if let (Memory::PerCpu(asked), Some(MemoryDefault::PerCpu(most))) = (memory, limit)
            && asked > most
            && most > 0
        {
            let factor = asked.div_ceil(most);
            cpus_per_task = cpus_per_task.saturating_mul(factor as u32);
            memory = Memory::PerCpu(asked.div_ceil(factor));
        }
        let mut min_cpus = request.min_cpus.max(request.tasks.saturating_mul(cpus_per_task)).max(1);
        let mut min_cpus_per_node = request.min_cpus_per_node.unwrap_or(1).max(cpus_per_task);
        if let (Memory::PerNode(asked), Some(MemoryDefault::PerCpu(most))) = (memory, limit)
            && most > 0
        {
            min_cpus_per_node = min_cpus_per_node.max(asked.div_ceil(most) as u32);
        }
        let tasks = request.tasks.max(1);
        let mut room = 1;
        // node_scheduler.c of 22.05.8, `get_node_cnts`.
        let least = if request.past_min_nodes { 0 } else { partition.min_nodes };
        let min_nodes = request.min_nodes.max(1).max(least);
        let mut spread = min_nodes;
        if let Some(per_node) = request.ntasks_per_node {
            spread = spread.max(tasks.div_ceil(per_node.max(1)));
            // A single task does not get the CPUs of those that are not there (observed on 22.05.8; docs/FIDELITY.md, facts 37).
            if tasks > 1 {
                room = per_node.saturating_mul(cpus_per_task);
            }
        }
        let most = partition.max_nodes.unwrap_or(500_000);
        let mut max_nodes = match request.max_nodes {
            Some(asked) if request.past_max_nodes => asked.min(500_000),
            asked => asked.unwrap_or(most).min(most),
        };
        // Who counts GPUs alone gets them from as many nodes as it takes.
        let counts_gpus_alone = request.tasks == 0 && request.gres.iter().any(|gres| gres.scope == GresScope::PerJob);
        if request.max_nodes.is_none() && !counts_gpus_alone && !select.linear {
            max_nodes = max_nodes.min(tasks.max(min_nodes));
        }
        let wanted_nodes = match request.max_nodes {
            Some(most) if !request.use_min_nodes => most.min(max_nodes).max(min_nodes),
            _ => min_nodes,
        };
        let asks_for_all =
            partition.over_subscribe == OverSubscribe::Exclusive || request.sharing == Sharing::Exclusive || {
                // Its submission is tried in the first partition first, and then it is a job of whole nodes everywhere
                // (node_scheduler.c of 22.05.8, `_resolve_shared_status`; rec p-sel1).
                let first = request.partitions.first().filter(|_| !select.linear);
                first.is_some_and(|id| cluster.partitions[id.index()].over_subscribe == OverSubscribe::Exclusive)
            };
        let whole_nodes = select.linear || (asks_for_all && !is_off(Rule::Exclusive)) || is_off(Rule::Cores);
        // select/linear looks at smaller nodes too, if only to see that they differ in size.
        let tasks_room = request.ntasks_per_node.filter(|_| !select.linear).unwrap_or(1).saturating_mul(cpus_per_task);
        let least_cpus = min_cpus_per_node.max(room).max(tasks_room);
        // A node must have room for the tasks of one socket, or of one core.
        let of_socket = request.ntasks_per_socket.or(request.ntasks_per_core).unwrap_or(1);
        let least_tasks = if request.ntasks_per_node.is_some() || select.linear { 1 } else { of_socket };
        if request.ntasks_per_node.is_none() && max_nodes == 1 && !select.linear {
            room = room.max(min_cpus);
        }
        min_cpus = min_cpus.max(min_nodes);
        let strategy = if request.spread {
            Strategy::Spread
        } else if select.least_loaded_nodes || partition.least_loaded_nodes {
            Strategy::LeastLoaded
        } else if select.pack_serial_at_end && min_cpus == 1 && max_nodes == 1 {
            Strategy::SerialAtEnd
        } else if select.topology_tree
            && !cluster.switches.is_empty()
            && !request.contiguous
            && (!select.topology_optional || request.switches.is_some())
        {
            Strategy::Tree
        } else {
            Strategy::Consecutive
        };
        let over_nodes = max_nodes > 1 && !select.linear;
        let mut gres = per_node_gres(request, tasks, spread, over_nodes);
        gres.retain(|_| !is_off(Rule::Gres));
        let gpus = gpus_per_node(cluster, &gres);
        let cpus_a_gpu = cpus_per_gpu(request, partition, select).unwrap_or(0);
        if cpus_a_gpu > 0 {
            let cpus = cpus_a_gpu;
            room = room.max(cpus.saturating_mul(gpus));
            min_cpus = min_cpus.max(cpus.saturating_mul(gpus_of_job(cluster, request, gpus, (spread, tasks))));
        }
        let asked_cpus = request.min_cpus.max(request.tasks.saturating_mul(cpus_per_task)).max(min_nodes);
        if memory == Memory::Default
            && gpus > 0
            && let Some(mb) = partition.default_memory_per_gpu.or(select.default_memory_per_gpu)
            && !select.linear
        {
            memory = Memory::PerGpu(mb);
        }
        let gres_of_job =
            if over_nodes { gres_of_job(request, tasks, (cpus_per_task, cpus_a_gpu)) } else { Vec::new() };
        min_cpus_per_node = min_cpus_per_node.max(room);
        let too_much_memory = match (memory, limit) {
            (Memory::PerNode(asked), Some(MemoryDefault::PerNode(most))) => asked > most,
            (Memory::PerCpu(asked), Some(MemoryDefault::PerNode(most))) => {
                asked.saturating_mul(u64::from(min_cpus_per_node)) > most
            }
            _ => false,
        };
        let gres_of_socket = gres_of_socket(request, whole_nodes);
        for &(of_socket, count) in &gres_of_socket {
            gres.iter_mut().filter(|(gres, _)| *gres == of_socket).for_each(|(_, of_node)| *of_node = count);
        }
        let room_for_tasks = room.max(tasks_room).max(least_tasks.saturating_mul(cpus_per_task));
        let mut shape = Self {
            eligible: NodeSet::empty(n_nodes),
            tested: NodeSet::empty(n_nodes),
            min_nodes,
            max_nodes,
            wanted_nodes,
            uncapped: (max_nodes, wanted_nodes),
            min_cpus,
            tasks,
            tasks_are_said: request.tasks > 0,
            cpus_per_task,
            tasks_per_node: request.ntasks_per_node,
            most_of_whole: request
                .ntasks_per_node
                .filter(|_| select.linear)
                .map(|tasks| tasks.saturating_mul(cpus_per_task)),
            tasks_per_socket: request.ntasks_per_socket,
            tasks_per_core: request
                .ntasks_per_core
                .or(select.one_task_per_core.then_some(1))
                .filter(|_| !select.linear),
            threads_per_core: request.threads_per_core.filter(|_| !select.linear),
            cores_per_socket: request.cores_per_socket.unwrap_or(0),
            sockets_per_node: request.sockets_per_node.unwrap_or(0),
            min_cpus_per_node,
            room_per_node: min_cpus_per_node.max(room_for_tasks),
            room_for_tasks,
            memory: memory_need(memory, (gpus.max(1), &gres_of_job), partition, select),
            gres,
            gres_of_socket,
            gres_of_job,
            whole_nodes,
            exclusive_user: partition.exclusive_user || request.sharing == Sharing::ExclusiveUser,
            asks_for_user: request.sharing == Sharing::ExclusiveUser,
            max_cpus_per_node: partition.max_cpus_per_node.filter(|_| !select.linear).map(|most| {
                let before = cluster.partitions[..partition_id.index()].iter();
                (before.filter(|other| other.max_cpus_per_node.is_some()).count() as u32, most)
            }),
            spread,
            required: request.required_nodes.clone(),
            contiguous: request.contiguous,
            strategy,
            rows: rows::rows_of(cluster, partition_id),
            shared_by: rows::shared_by(partition, request),
            unshared: None,
            block_cores: request.block_cores.unwrap_or(select.block_cores),
            leaf_wait: leaf_wait(request, cluster, select),
            over_limit: false,
            alternatives: Vec::new(),
            counted: Vec::new(),
            feasible: false,
            alone: Alone::default(),
            charged_alone: None,
            gpus_add_cpus: !select.linear && (min_cpus > asked_cpus || over_nodes && !request.gres.is_empty()),
            size_varies: false,
            size_grows: false,
            alike: None,
            idle_suffices: false,
            strays: false,
        };
        for (index, node) in cluster.nodes.iter().enumerate() {
            let id = NodeId::new(index);
            if !too_much_memory
                && partition.nodes.contains(id)
                && !request.excluded_nodes.contains(&id)
                && could_have(&request.features, node)
                && is_large_enough(request, least_cpus, memory, shape.memory, node)
            {
                shape.tested.insert(id);
                let has = |&(gres, count): &(GresId, u32)| node.gres.get(gres.index()).is_some_and(|&has| has >= count);
                if shape.gres.iter().all(has) {
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
            shape.unshared = Some(Box::new(Self { shared_by: 1, ..shape.clone() }));
        }
        let most = shape.most_of_whole.unwrap_or(u32::MAX);
        shape.strays = select.linear && shape.may_stray(|node| cluster.nodes[node.index()].all_cpus().min(most));
        shape
    }

    /// `--ntasks-per-node`, where a node counts with no more than that: for jobs that share cores (slurm-semantics 6.5).
    pub(crate) fn tasks_a_node_counts(&self) -> Option<u32> {
        self.tasks_per_node.filter(|_| self.shared_by > 1)
    }

    /// What one node's answer depends on.
    pub(crate) fn node_need(&self) -> NodeNeed {
        NodeNeed {
            eligible: self.eligible.clone(),
            room_per_node: self.room_per_node,
            most_of_whole: self.most_of_whole,
            memory: self.memory,
            gres: self.gres.clone(),
            gres_of_socket: self.gres_of_socket.clone(),
            exclusive_user: self.exclusive_user,
            asks_for_user: self.asks_for_user,
            tasks: (!self.whole_nodes).then_some(TaskNeed {
                cpus_per_task: self.cpus_per_task,
                per_node: self.tasks_a_node_counts(),
                per_socket: self.tasks_per_socket,
                per_core: self.tasks_per_core,
                threads_per_core: self.threads_per_core,
                cores_per_socket: self.cores_per_socket,
                sockets_per_node: self.sockets_per_node,
                max_cpus_per_node: self.max_cpus_per_node,
                min_cpus_per_node: self.min_cpus_per_node,
                room_for_tasks: self.room_for_tasks,
            }),
        }
    }
}

/// Whether a node, as configured, has the CPUs, the memory and the sockets that are asked for on each node.
fn is_large_enough(request: &Request, least_cpus: u32, asked: Memory, memory: MemoryNeed, node: &Node) -> bool {
    let enough_memory = match memory {
        _ if matches!(asked, Memory::PerGpu(_)) => true,
        MemoryNeed::NotConsumed(mb) | MemoryNeed::PerNode(mb) => mb <= node.memory_mb,
        MemoryNeed::PerCpu(mb) => mb.saturating_mul(u64::from(least_cpus)) <= node.memory_mb,
        MemoryNeed::PerUnit(..) | MemoryNeed::Whole => true,
    };
    enough_memory
        && least_cpus <= node.all_cpus()
        && request.sockets_per_node.is_none_or(|sockets| sockets <= node.sockets)
        && request.cores_per_socket.is_none_or(|cores| cores <= node.cores_per_socket)
        && request.threads_per_core.is_none_or(|threads| threads <= node.threads_per_core)
}

/// Whether a node satisfies the constraint; for alternatives and counts, whether it could serve one of the parts.
fn could_have(expr: &FeatureExpr, node: &Node) -> bool {
    match expr {
        FeatureExpr::Any => true,
        FeatureExpr::Has(feature) => node.features.contains(feature),
        FeatureExpr::Unknown(_) => false,
        FeatureExpr::And(parts) => parts.iter().all(|part| could_have(part, node)),
        FeatureExpr::Or(parts) | FeatureExpr::MatchingOr(parts) => parts.iter().any(|part| could_have(part, node)),
        FeatureExpr::Counted(parts) => parts.iter().any(|(part, _)| could_have(part, node)),
    }
}

/// GRES needed on each node; counts per job and task may go `over_nodes` as they come, else they are spread over the fewest nodes.
fn per_node_gres(request: &Request, tasks: u32, min_nodes: u32, over_nodes: bool) -> Vec<(GresId, u32)> {
    request
        .gres
        .iter()
        .map(|wanted| {
            let count = match wanted.scope {
                GresScope::PerNode => wanted.count,
                GresScope::PerJob if over_nodes => wanted.count.min(1),
                GresScope::PerTask if over_nodes => wanted.count,
                GresScope::PerJob => wanted.count.div_ceil(min_nodes),
                GresScope::PerTask => wanted.count.saturating_mul(tasks).div_ceil(min_nodes),
                GresScope::PerSocket => wanted.count.saturating_mul(request.sockets_per_node.unwrap_or(1)),
            };
            (wanted.gres, count)
        })
        .filter(|&(_, count)| count > 0)
        .collect()
}

/// GRES that a job gets with each of its sockets: a node needs those of one (docs/FIDELITY.md, facts 51).
fn gres_of_socket(request: &Request, whole_nodes: bool) -> Vec<(GresId, u32)> {
    let of_socket = |wanted: &&GresRequest| wanted.scope == GresScope::PerSocket && wanted.count > 0;
    let wanted = request.gres.iter().filter(of_socket).filter(|_| !whole_nodes && !is_off(Rule::Gres));
    wanted.map(|wanted| (wanted.gres, wanted.count)).collect()
}

/// GRES that go over the job's nodes as they come.
fn gres_of_job(request: &Request, tasks: u32, (cpus_per_task, cpus_a_gpu): (u32, u32)) -> Vec<GresOfJob> {
    let of = |wanted: &GresRequest| {
        let (least, per_task) = match wanted.scope {
            GresScope::PerJob => (1, None),
            GresScope::PerTask => (wanted.count, Some(wanted.count)),
            GresScope::PerNode | GresScope::PerSocket => return None,
        };
        let task_cpus = cpus_per_task.max(cpus_a_gpu.saturating_mul(least));
        let unit_cpus = request.cpus_per_gpu.filter(|_| per_task.is_none()).unwrap_or(0);
        Some(GresOfJob { gres: wanted.gres, count: wanted.of_job(1, tasks), least, per_task, task_cpus, unit_cpus })
    };
    let counted = request.gres.iter().filter(|wanted| wanted.count > 0 && !is_off(Rule::Gres));
    counted.filter_map(of).collect()
}

/// How many leaf switches a request is for, and how long it waits for so few [s].
fn leaf_wait(request: &Request, cluster: &Cluster, select: &SelectPolicy) -> Option<(u32, i64)> {
    let (count, wait) = request.switches?;
    let most = select.max_switch_wait;
    let has_tree = select.topology_tree && !cluster.switches.is_empty();
    (has_tree && count > 0).then(|| (count, i64::from(wait.map_or(most, |wait| wait.min(most)))))
}

/// CPUs that come with each GPU: those asked for, or the default where no CPUs per task were asked for.
fn cpus_per_gpu(request: &Request, partition: &Partition, select: &SelectPolicy) -> Option<u32> {
    let default = || partition.default_cpus_per_gpu.or(select.default_cpus_per_gpu);
    let cpus = request.cpus_per_gpu.or_else(|| default().filter(|_| request.cpus_per_task <= 1));
    cpus.filter(|_| !select.linear)
}

/// GPUs of the whole job, given those of each of its nodes.
fn gpus_of_job(cluster: &Cluster, request: &Request, on_node: u32, (nodes, tasks): (u32, u32)) -> u32 {
    let is_gpu = |gres: &GresRequest| cluster.gres.get(gres.gres.index()).is_some_and(|kind| kind.name == "gpu");
    let of_job = |gres: &&GresRequest| matches!(gres.scope, GresScope::PerJob | GresScope::PerTask);
    let of_job = request.gres.iter().filter(|gres| is_gpu(gres)).find(of_job);
    of_job.map_or(on_node.saturating_mul(nodes), |gres| gres.of_job(nodes, tasks))
}

/// GPUs needed on a node: a request names their total, their types, or both.
fn gpus_per_node(cluster: &Cluster, gres: &[(GresId, u32)]) -> u32 {
    let of = |typed: bool| {
        let gpus = gres.iter().filter(|(id, _)| {
            cluster.gres.get(id.index()).is_some_and(|gres| gres.name == "gpu" && gres.kind.is_some() == typed)
        });
        gpus.fold(0, |sum: u32, &(_, count)| sum.saturating_add(count))
    };
    of(false).max(of(true))
}

/// What the job takes of a node's memory, given defaults.
fn memory_need(
    memory: Memory,
    (gpus, of_job): (u32, &[GresOfJob]),
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
