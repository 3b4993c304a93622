//! Static geometry of the cluster, as selection counts it.

use crate::cluster::Cluster;
use crate::ids::{GresId, NodeId, PartitionId};
use crate::job::{GresRequest, Request};
use crate::node_set::NodeSet;
use crate::policy::{ConsumableUnit, SelectPolicy};
use crate::select::seats::Shared;
use crate::select::shape::Shape;

/// Static geometry in the unit that is handed out.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    /// First socket of each node in [`super::free::Free::cores`]; one more entry than nodes.
    pub(crate) socket_begin: Vec<u32>,
    /// Units (cores, or CPUs under CR_Memory) of each socket.
    pub(crate) socket_cores: Vec<u32>,
    /// The same with those kept for the system.
    pub(crate) whole_sockets: Vec<u32>,
    /// Of each socket, where a partition hands out sockets, those kept: it serves nobody before a job of the partition has run (facts 43), and who has it holds them.
    pub(crate) kept_cores: Vec<u32>,
    /// How many partitions there are.
    pub(crate) n_partitions: usize,
    /// Logical CPUs that a unit counts for.
    pub(crate) cpus_per_core: Vec<u32>,
    /// All CPUs of the node that jobs may have.
    pub(crate) cpus: Vec<u32>,
    /// All CPUs of the node, those kept for the system included.
    pub(crate) all_cpus: Vec<u32>,
    /// All units of the node.
    pub(crate) cores: Vec<u32>,
    /// Memory of the node [MB].
    pub(crate) memory: Vec<u64>,
    /// GRES of each node, `n_gres` a node.
    pub(crate) gres: Vec<u32>,
    /// Number of GRES types.
    pub(crate) n_gres: usize,
    /// Whether each of them is a kind of GPU.
    pub(crate) gpus: Vec<bool>,
    /// GRES near each socket, `n_gres` a socket; empty where none is bound to sockets.
    pub(crate) near: Vec<u32>,
    /// A node offers jobs that ask for GRES only the cores they need there (select/cons_tres).
    pub(crate) cuts_to_gres: bool,
    /// For a typed GRES, the position of its name's total.
    pub(crate) gres_total: Vec<Option<usize>>,
    /// Who shares cores on an empty machine: nobody, where cores may be shared.
    pub(crate) shared: Shared,
    /// Partitions with `MaxCPUsPerNode`: their use of a node is counted apart.
    pub(crate) capped_partitions: Vec<PartitionId>,
    /// A job gets CPUs for as many tasks as it says, and not for as many as fit into the least of its nodes (from 24.11 on).
    pub(crate) lays_out_said: bool,
    /// `--ntasks-per-node` says how many tasks are laid out, whatever the job has (dist_tasks.c of 25.11.7, `_get_task_count`).
    pub(crate) lays_out_by_node: bool,
    /// Whether `--exclusive=user` takes a whole node as far as `MaxCPUsPerNode` goes; from 24.05 on it does not (cons_tres/job_test.c, `_allocate_sc`;
    /// rec c136-25-05).
    pub(crate) user_takes_whole: bool,
    /// CPUs of each GPU that the whole job counts are kept beside it where its tasks tell how many (from 23.11 on).
    pub(crate) estimates_cpus_a_unit: bool,
    /// With CR_Socket a node offers who asks for GRES all cores of its sockets, not only those that its tasks need (gres_select_filter.c of
    /// 23.02.7, `gres_select_filter_sock_core`; rec c146-25-05).
    pub(crate) offers_sockets_whole: bool,
    /// By [`GresId`]: whether nothing but its number is known.
    pub(crate) counted: Vec<bool>,
    /// Of such ones `--gpus-per-socket` comes with each core of the job (gres_select_filter.c of 22.05.8 to 23.11.11, `_get_sock_cnt`; rec c1192).
    pub(crate) takes_cores_for_sockets: bool,
    /// Whether `MaxCPUsPerNode` of a partition that has never had a job counts whatever is in use (24.11 alone; rec c136-24-11, c136-25-05).
    pub(crate) counts_others: bool,
}

impl Geometry {
    /// How much of a GRES a request asks for on so many nodes; what it asks of a type is of its name's total, too, as `gres/gpu`
    /// counts what `gres/gpu:a100` does. O(GRES asked for).
    pub(crate) fn gres_asked(&self, request: &Request, gres: GresId, nodes: u32) -> u32 {
        let of = |kind: bool| {
            let counts = move |wanted: &&GresRequest| {
                let total = self.gres_total.get(wanted.gres.index()).copied().flatten();
                if kind { total == Some(gres.index()) } else { wanted.gres == gres }
            };
            request.gres.iter().filter(counts).map(|wanted| wanted.of_job(nodes, request.tasks.max(1)))
        };
        of(false).max().unwrap_or(0).max(of(true).fold(0, u32::saturating_add))
    }

    /// Reads the cluster. O(nodes × sockets).
    pub(crate) fn new(cluster: &Cluster, select: &SelectPolicy) -> Self {
        let mut geometry = Self {
            socket_begin: vec![0],
            socket_cores: Vec::new(),
            whole_sockets: Vec::new(),
            kept_cores: Vec::new(),
            n_partitions: cluster.partitions.len(),
            lays_out_said: false,
            lays_out_by_node: false,
            user_takes_whole: true,
            offers_sockets_whole: false,
            estimates_cpus_a_unit: false,
            takes_cores_for_sockets: true,
            counted: cluster
                .gres
                .iter()
                .map(|gres| {
                    cluster.gres.iter().all(|other| other.name != gres.name || (other.counted && other.kind.is_none()))
                })
                .collect(),
            counts_others: false,
            cpus_per_core: Vec::new(),
            cpus: Vec::new(),
            all_cpus: Vec::new(),
            cores: Vec::new(),
            memory: Vec::new(),
            gres: Vec::new(),
            n_gres: cluster.gres.len(),
            gpus: cluster.gres.iter().map(|gres| gres.name == "gpu").collect(),
            near: Vec::new(),
            cuts_to_gres: select.cuts_to_gres,
            gres_total: cluster
                .gres
                .iter()
                .map(|gres| {
                    let is_total = |other: &crate::cluster::GresType| other.kind.is_none() && other.name == gres.name;
                    gres.kind.as_ref().and_then(|_| cluster.gres.iter().position(is_total))
                })
                .collect(),
            shared: Shared::default(),
            capped_partitions: cluster
                .partitions
                .iter()
                .enumerate()
                .filter(|(_, partition)| partition.max_cpus_per_node.is_some())
                .map(|(index, _)| PartitionId::new(index))
                .collect(),
        };
        let by_socket = |partition| select.of(partition).unit == ConsumableUnit::Socket;
        let any_by_socket = select.unit == ConsumableUnit::Socket || cluster.partitions.iter().any(by_socket);
        for node in &cluster.nodes {
            let cpus_per_core = if select.unit == ConsumableUnit::Memory { 1 } else { node.cpus_per_core() };
            // select/linear knows nothing of cores kept for the system (rec p-speclin).
            let kept = if select.linear { &[] } else { node.spec_cores.as_slice() };
            let cpus = if select.linear { node.all_cpus() } else { node.cpus };
            let units = node.all_cpus() / cpus_per_core;
            let sockets = node.sockets.clamp(1, units.max(1));
            let first = geometry.socket_cores.len();
            for socket in 0..sockets {
                // Units that do not divide evenly go to the first sockets.
                let units = units / sockets + u32::from(socket < units % sockets);
                let kept = kept.get(socket as usize).map_or(0, |cores| cores * (node.cpus_per_core() / cpus_per_core));
                geometry.whole_sockets.push(units);
                geometry.kept_cores.push(if any_by_socket { kept } else { 0 });
                geometry.socket_cores.push(units.saturating_sub(kept));
            }
            let units: u32 = geometry.socket_cores[first..].iter().sum();
            let mut sockets = geometry.socket_cores[first..].iter().zip(&geometry.kept_cores[first..]);
            let all_serve = select.unit != ConsumableUnit::Socket;
            let serves = sockets.any(|(units, kept)| *units > 0 && (all_serve || *kept == 0));
            geometry.socket_begin.push(geometry.socket_cores.len() as u32);
            geometry.cpus_per_core.push(cpus_per_core);
            geometry.cpus.push(if serves { cpus } else { 0 });
            geometry.all_cpus.push(node.all_cpus());
            geometry.cores.push(units);
            geometry.memory.push(node.memory_mb);
            for gres in 0..geometry.n_gres {
                geometry.gres.push(node.gres.get(gres).copied().unwrap_or(0));
            }
        }
        geometry.shared = Shared::new(cluster, select.spare_rows, &geometry.socket_cores);
        if cluster.nodes.iter().any(|node| !node.gres_near.is_empty()) {
            for (node, sockets) in cluster.nodes.iter().zip(geometry.socket_begin.windows(2)) {
                for socket in 0..(sockets[1] - sockets[0]) as usize {
                    let near = |gres: usize| node.gres_near.get(gres).and_then(|units| units.get(socket));
                    geometry.near.extend((0..geometry.n_gres).map(|gres| near(gres).copied().unwrap_or(0)));
                }
            }
        }
        geometry
    }

    /// Whether sockets keep cores for the system that are handed out by the socket. O(sockets).
    pub(crate) fn keeps_cores(&self) -> bool {
        self.kept_cores.iter().any(|&kept| kept > 0)
    }

    /// Nodes with a unit for jobs. O(nodes).
    pub(super) fn serving(&self) -> NodeSet {
        let mut serving = NodeSet::empty(self.cores.len());
        for (index, _) in self.cores.iter().enumerate().filter(|(_, cores)| **cores > 0) {
            serving.insert(NodeId::new(index));
        }
        serving
    }

    /// CPUs that a node still needed is sure to get, of those that a shape uses: a core's, with CR_Socket a socket's.
    /// Source: slurm-semantics 6.7.
    #[inline]
    pub(crate) fn kept(&self, shape: &Shape, node: NodeId) -> u16 {
        let (of_core, unit) = (self.cpus_per_core[node.index()], shape.unit);
        if unit != ConsumableUnit::Socket && !shape.leaves_threads() {
            return of_core.min(u32::from(u16::MAX)) as u16;
        }
        let of_socket = || self.whole_sockets[self.sockets(node)].iter().copied().max().unwrap_or(1);
        let cores = if unit == ConsumableUnit::Socket { of_socket() } else { 1 };
        (cores * shape.usable_threads(of_core)).min(u32::from(u16::MAX)) as u16
    }

    /// The sockets of a node, as positions in the per-socket arrays.
    #[inline]
    pub(crate) fn sockets(&self, node: NodeId) -> std::ops::Range<usize> {
        self.socket_begin[node.index()] as usize..self.socket_begin[node.index() + 1] as usize
    }
}
