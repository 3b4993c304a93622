//! A trace's request with its names resolved.

use std::collections::HashMap;

use foresite_engine::cluster::{GresType, MemoryDefault, OverSubscribe, Partition};
use foresite_engine::ids::{GresId, LicenseId, NodeId, PartitionId};
use foresite_engine::job::{GresRequest, Memory, Request, Sharing};
use foresite_engine::policy::{ConsumableUnit, SlurmVersion};

use super::super::model::TraceRequest;
use super::super::strings::{Strings, Symbol};
use super::features;
use super::remarks::{About, Remarked};
use crate::hostlist::{MAX_NAMES, expand};
use crate::site::Site;
use crate::slurm_conf::NOT_CONSUMED;
use crate::slurm_conf::near::did_you_mean;

/// Look-up tables over a site.
pub(super) struct RequestLowering<'s> {
    texts: &'s Strings,
    site: &'s mut Site,
    nodes: HashMap<String, NodeId>,
    /// How much memory nodes have [MB], each amount once, ascending.
    memories: Vec<u64>,
    /// Of each partition: the most threads of a core, and the CPUs that nodes have, each number once, ascending.
    sizes: Vec<(u32, Vec<u32>)>,
    /// Of each GRES: whether nodes have more of it than the engine counts.
    uncounted: Vec<bool>,
    node_lists: HashMap<Symbol, Vec<NodeId>>,
}

impl<'s> RequestLowering<'s> {
    pub(super) fn new(texts: &'s Strings, site: &'s mut Site) -> Self {
        let nodes = site
            .cluster
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (node.name.clone(), NodeId::new(index)))
            .collect();
        let beyond = |gres: usize| site.cluster.nodes.iter().any(|node| node.gres.get(gres) == Some(&u32::MAX));
        let uncounted = (0..site.cluster.gres.len()).map(beyond).collect();
        let mut memories: Vec<u64> = site.cluster.nodes.iter().map(|node| node.memory_mb).collect();
        memories.sort_unstable();
        memories.dedup();
        let sizes_of = |partition: &Partition| {
            let kinds = || partition.nodes.iter().filter_map(|node| site.cluster.nodes.get(node.index()));
            let mut cpus: Vec<u32> = kinds().map(|node| node.cpus).collect();
            cpus.sort_unstable();
            cpus.dedup();
            (kinds().map(|node| node.threads_per_core).max().unwrap_or(1), cpus)
        };
        let sizes = site.cluster.partitions.iter().map(sizes_of).collect();
        Self { texts, site, nodes, memories, sizes, uncounted, node_lists: HashMap::new() }
    }

    /// The engine's request.
    pub(super) fn request(&mut self, asked: &TraceRequest, about: &mut Remarked<'_>) -> Request {
        let partitions = self.partitions(asked.partitions, about);
        if asked.tmp_disk_mb > 0 && self.site.cluster.nodes.iter().any(|node| node.tmp_disk_mb.is_none()) {
            about.say(About::TmpDisk, "");
        }
        if asked.enforces_binding && self.site.policy.select.cons_res {
            about.say(About::Binding, "");
        }
        let memory = self.memory(asked, partitions.first().copied());
        // Who names no nodes is recorded with the least `MinNodes` of the partitions, and may have more (job_mgr.c of 22.05.8, `_valid_job_part`;
        // rec ar-core1, ar-qos1).
        let partition = |id: &PartitionId| self.site.cluster.partitions.get(id.index());
        let least = partitions.iter().filter_map(partition).map(|partition| partition.min_nodes).min();
        let is_raised = asked.nodes_are_recorded && least == Some(asked.min_nodes);
        // From 23.02 on a list of more nodes than are needed says where they may be (job_mgr.c of 24.11.5; rec t9-24-11).
        let is_choice = !asked.candidate_nodes.is_empty() && self.site.policy.version >= SlurmVersion::V23_02;
        let candidates = if is_choice { self.node_list(asked.candidate_nodes, about) } else { Vec::new() };
        let mut excluded_nodes = self.node_list(asked.excluded_nodes, about);
        if is_choice {
            let others = (0..self.site.cluster.nodes.len())
                .map(NodeId::new)
                .filter(|node| candidates.binary_search(node).is_err());
            excluded_nodes.extend(others);
            excluded_nodes.sort_unstable();
            excluded_nodes.dedup();
        }
        let has_whole_nodes = self.has_whole_nodes(asked, &partitions);
        if has_whole_nodes {
            about.say(About::WholeNodes, "");
        }
        let sharing = if has_whole_nodes { Sharing::Exclusive } else { asked.sharing };
        let nodes = u32::try_from(self.site.cluster.nodes.len()).unwrap_or(u32::MAX).max(asked.min_nodes);
        let most = |most: u32| if asked.spread { most.min(nodes) } else { most };
        Request {
            partitions,
            min_nodes: if is_choice { asked.least_candidates } else { asked.min_nodes }.max(1),
            max_nodes: asked.max_nodes.filter(|_| !is_raised).map(most).or_else(|| self.most_of_spread(asked)),
            tasks: asked.tasks,
            cpus_per_task: asked.cpus_per_task.max(1),
            min_cpus: asked.min_cpus.max(1),
            cpus_per_gpu: asked.cpus_per_gpu,
            ntasks_per_node: asked.ntasks_per_node,
            ntasks_per_socket: asked.ntasks_per_socket,
            ntasks_per_core: asked.ntasks_per_core,
            ntasks_per_gpu: asked.ntasks_per_gpu,
            threads_per_core: asked.threads_per_core,
            cores_per_socket: asked.cores_per_socket,
            sockets_per_node: asked.sockets_per_node,
            min_cpus_per_node: asked.min_cpus_per_node,
            memory,
            features: features::parse(self.texts.text(asked.constraints), &self.site.cluster.features, about),
            gres: self.gres(asked, about),
            enforces_binding: asked.enforces_binding,
            tmp_disk_mb: asked.tmp_disk_mb,
            sharing,
            required_nodes: if is_choice { Vec::new() } else { self.node_list(asked.required_nodes, about) },
            excluded_nodes,
            contiguous: asked.contiguous,
            spread: asked.spread,
            use_min_nodes: asked.use_min_nodes,
            overcommitted: asked.overcommitted,
            overcommitted_per_node: asked.overcommitted_per_node,
            overcommit_gives_cpus: asked.overcommit_gives_cpus,
            past_min_nodes: false,
            past_max_nodes: false,
            past_memory_limits: false,
            block_cores: asked.block_cores,
            plane: asked.plane,
            switches: asked.switches,
            licenses: self.licenses(asked.licenses, about),
            reservation: self.reservation(asked.reservation, about),
        }
    }

    /// `--spread-job` without a number of nodes may have one for each task, of all that the cluster has: also where the partition allows fewer,
    /// and it then waits for ever (job_mgr.c of 22.05.8, `_copy_job_desc_to_job_record`; rec aq-sock).
    fn most_of_spread(&self, asked: &TraceRequest) -> Option<u32> {
        let nodes = u32::try_from(self.site.cluster.nodes.len()).unwrap_or(u32::MAX);
        (asked.spread && asked.tasks > 0).then(|| nodes.min(asked.tasks))
    }

    fn reservation(&self, name: Symbol, about: &mut Remarked<'_>) -> Option<String> {
        if name.is_empty() {
            return None;
        }
        let name = self.texts.text(name);
        if self.site.calendar.reservations.iter().any(|reservation| reservation.name == name) {
            return Some(name.to_owned());
        }
        about.say(About::Reservation, name);
        None
    }

    fn partitions(&self, names: Symbol, about: &mut Remarked<'_>) -> Vec<PartitionId> {
        let cluster = &self.site.cluster;
        let mut found = Vec::new();
        let text = self.texts.text(names);
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match cluster.partition_named(name) {
                Some(id) => found.push(id),
                None => about.say_with(About::Partition, name, || {
                    let names = cluster.partitions.iter().map(|partition| partition.name.as_str());
                    did_you_mean(name, names, "hand over the slurm.conf of the trace's time, or add the partition")
                }),
            }
        }
        if text.is_empty() {
            match cluster.default_partition() {
                Some(id) => found.push(id),
                None => about.say(About::NoDefaultPartition, ""),
            }
        }
        // Those that take no jobs are dropped from a list at submission (job_mgr.c of 22.05.8, `_alt_part_test`; rec w2009).
        let accepts = |id: &PartitionId| cluster.partitions.get(id.index()).is_some_and(|found| found.state.accepts());
        if found.iter().any(accepts) {
            found.retain(accepts);
        }
        found
    }

    /// A recorded amount that is just what the site's defaults give was no wish: it is left to the defaults, so that
    /// changes of them apply.
    fn memory(&self, asked: &TraceRequest, partition: Option<PartitionId>) -> Memory {
        if !asked.memory_is_recorded {
            return asked.memory;
        }
        let partition = partition.and_then(|id| self.site.cluster.partitions.get(id.index()));
        let select = &self.site.policy.select;
        let default = partition.and_then(|partition| partition.default_memory).or(select.default_memory);
        let (nodes, cpus) = (u64::from(asked.min_nodes.max(1)), u64::from(asked.min_cpus.max(1)));
        let is_default = match (asked.memory, default) {
            (Memory::PerCpu(amount), Some(MemoryDefault::PerCpu(default))) => amount == default,
            (Memory::PerNode(amount), Some(MemoryDefault::PerNode(default))) => amount == default,
            (Memory::PerNode(amount), Some(MemoryDefault::PerCpu(default))) => {
                amount == default.saturating_mul(cpus).div_ceil(nodes)
            }
            // Without a default a job gets all memory of its nodes, and that is what is recorded: in all, of all that it was given.
            (Memory::PerNode(amount), None) if !select.memory || self.memories.binary_search(&amount).is_ok() => true,
            // What two such amounts are may be as much by the CPU (rec c1452).
            (Memory::PerCpu(amount), None) if self.is_all_by_cpu(asked, amount) => true,
            (Memory::PerNode(_) | Memory::PerCpu(_), None) => {
                !select.memory || asked.memory_allocated.is_some_and(|(total, nodes)| self.is_all_memory(total, nodes))
            }
            _ => false,
        };
        if is_default { Memory::Default } else { asked.memory }
    }

    /// Whether it got all CPUs of its nodes, and more than those of the cores that it asked for, where partitions share nodes and cores are handed
    /// out: `--exclusive` then stood in the script, which nobody recorded. O(partitions × log kinds of nodes).
    fn has_whole_nodes(&self, asked: &TraceRequest, asked_of: &[PartitionId]) -> bool {
        let Some((cpus, nodes)) = asked.cpus_allocated.filter(|&(cpus, nodes)| cpus.is_multiple_of(nodes)) else {
            return false;
        };
        let cluster = &self.site.cluster;
        let partitions: Vec<_> = asked_of.iter().filter_map(|id| cluster.partitions.get(id.index())).collect();
        let select = &self.site.policy.select;
        // CPUs come with memory beyond what one may have, and with GPUs.
        let by_memory = |most: &Option<MemoryDefault>| matches!(most, Some(MemoryDefault::PerCpu(_)));
        let hands_out_cores = |partition: &&Partition| {
            let select = select.of(partition);
            !select.linear
                && select.unit != ConsumableUnit::Socket
                && partition.over_subscribe != OverSubscribe::Exclusive
                && !by_memory(&partition.max_memory)
                && partition.default_cpus_per_gpu.is_none()
        };
        let by_others = asked.cpus_per_gpu.is_some_and(|cpus| cpus > 0)
            || matches!(asked.memory, Memory::PerCpu(_))
            || asked.min_cpus_per_node.is_some()
            || select.default_cpus_per_gpu.is_some()
            || by_memory(&select.max_memory);
        let just_as_large = |id: &PartitionId| {
            self.sizes.get(id.index()).is_some_and(|(threads, sizes)| {
                cpus > asked.min_cpus.saturating_mul(*threads) && sizes.binary_search(&(cpus / nodes)).is_ok()
            })
        };
        !by_others && partitions.iter().all(hands_out_cores) && asked_of.iter().any(just_as_large)
    }

    /// Whether so much memory [MB] for each CPU asked for is all that a kind of node has, and for each CPU given all of the nodes given. O(kinds²).
    fn is_all_by_cpu(&self, asked: &TraceRequest, amount: u64) -> bool {
        let of_node = amount.saturating_mul(u64::from(asked.min_cpus)) / u64::from(asked.min_nodes.max(1));
        let all = |(cpus, nodes)| self.is_all_memory(amount.saturating_mul(u64::from(cpus)), nodes);
        self.memories.binary_search(&of_node).is_ok() && asked.cpus_allocated.is_some_and(all)
    }

    /// Whether so many nodes of one kind, or of two, have just so much memory [MB]. O(kinds²).
    fn is_all_memory(&self, total: u64, nodes: u32) -> bool {
        let nodes = u64::from(nodes);
        self.memories.iter().enumerate().any(|(at, &least)| {
            let Some(above) = total.checked_sub(least.saturating_mul(nodes)) else { return false };
            let of_larger = |most: &u64| above.is_multiple_of(most - least) && above / (most - least) <= nodes;
            above == 0 || self.memories.iter().skip(at + 1).any(of_larger)
        })
    }

    fn gres(&mut self, asked: &TraceRequest, about: &mut Remarked<'_>) -> Vec<GresRequest> {
        let mut found = Vec::with_capacity(asked.gres.len());
        for gres in &asked.gres {
            let label = self.texts.text(gres.label);
            let known = self.site.cluster.gres.iter().position(|known| known.label().eq_ignore_ascii_case(label));
            let index = known.unwrap_or_else(|| self.add_gres(label));
            if self.uncounted.get(index) == Some(&true) {
                about.say(About::GresUncounted, label);
                continue;
            }
            if self.site.cluster.nodes.iter().all(|node| node.gres.get(index).is_none_or(|&count| count == 0)) {
                about.say(About::Gres, label);
            }
            let count = u32::try_from(gres.count).unwrap_or(u32::MAX);
            let mut counts = self.site.cluster.nodes.iter().filter_map(|node| node.gres.get(index));
            let count = if counts.any(|&count| count == NOT_CONSUMED) { count.min(1) } else { count };
            found.push(GresRequest { gres: GresId::new(index), count, scope: gres.scope });
        }
        found
    }

    /// A resource that no node has: whoever asks for it waits for ever, as the record of the site would have it.
    fn add_gres(&mut self, label: &str) -> usize {
        let (name, kind) = match label.split_once(':') {
            Some((name, kind)) => (name, Some(kind.to_owned())),
            None => (label, None),
        };
        let cluster = &mut self.site.cluster;
        cluster.gres.push(GresType { name: name.to_owned(), kind, counted: false });
        for node in &mut cluster.nodes {
            node.gres.resize(cluster.gres.len(), 0);
        }
        cluster.gres.len() - 1
    }

    fn node_list(&mut self, list: Symbol, about: &mut Remarked<'_>) -> Vec<NodeId> {
        if list.is_empty() {
            return Vec::new();
        }
        if let Some(nodes) = self.node_lists.get(&list) {
            return nodes.clone();
        }
        let text = self.texts.text(list);
        let names = expand(text, MAX_NAMES).unwrap_or_else(|_| vec![text.to_owned()]);
        let mut nodes = Vec::new();
        for name in &names {
            match self.nodes.get(name) {
                Some(&id) => nodes.push(id),
                None => about.say(About::Node, name),
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        self.node_lists.insert(list, nodes.clone());
        nodes
    }

    /// `matlab:2,ansys@server=3`.
    fn licenses(&self, list: Symbol, about: &mut Remarked<'_>) -> Vec<(LicenseId, u32)> {
        let known = &self.site.cluster.licenses;
        let mut found = Vec::new();
        for item in self.texts.text(list).split([',', ';']).filter(|item| !item.is_empty()) {
            let (name, count) = match item.rsplit_once([':', '=']) {
                Some((name, count)) => (name, count.parse().ok()),
                None => (item, Some(1)),
            };
            match (known.iter().position(|(licence, _)| licence == name), count) {
                (Some(index), Some(count)) => found.push((LicenseId::new(index), count)),
                _ => about.say(About::Licence, item),
            }
        }
        found
    }
}
