//! Whether a request could ever run on some nodes, all of them idle; and cutting it to what they hold.

use foresite_engine::cluster::{Cluster, Node};
use foresite_engine::ids::NodeId;
use foresite_engine::job::{FeatureExpr, GresScope, Memory, Request};
use foresite_engine::node_set::NodeSet;

/// Nodes of a cluster that one controller has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) nodes: &'a NodeSet,
    /// By partition: whether the controller serves it.
    pub(super) served: &'a [bool],
}

/// Whether the request fits in one of its partitions there. O(partitions × nodes).
pub(super) fn fits(request: &Request, share: Share) -> bool {
    partitions(request, share).any(|candidates| suffices(request, &candidates))
}

/// The request made small enough; `None` where even that does not fit. Tasks are cut in proportion to nodes.
pub(super) fn cut(request: &Request, share: Share) -> Option<Request> {
    partitions(request, share).find_map(|candidates| {
        let n_nodes = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
        let cpus = cpus_of(&candidates, request.max_nodes);
        let mut smaller = request.clone();
        if n_nodes < request.min_nodes {
            let part = |count: u32| {
                let cut = u64::from(count) * u64::from(n_nodes) / u64::from(request.min_nodes);
                u32::try_from(cut).unwrap_or(u32::MAX).max(count.min(1))
            };
            smaller.min_nodes = n_nodes;
            smaller.max_nodes = request.max_nodes.map(|most| most.min(n_nodes));
            smaller.tasks = part(request.tasks);
            smaller.min_cpus = part(request.min_cpus);
        }
        let tasks = cpus / u64::from(request.cpus_per_task.max(1));
        // No tasks are those of GPUs alone.
        smaller.tasks = smaller.tasks.min(u32::try_from(tasks).unwrap_or(u32::MAX)).max(request.tasks.min(1));
        smaller.min_cpus = smaller.min_cpus.min(u32::try_from(cpus).unwrap_or(u32::MAX)).max(1);
        suffices(&smaller, &candidates).then_some(smaller)
    })
}

/// For each partition asked for and served: the nodes there that can take a part of the job.
fn partitions<'a>(request: &'a Request, share: Share<'a>) -> impl Iterator<Item = Vec<&'a Node>> + 'a {
    let served = move |index: usize| share.served.get(index).copied().unwrap_or(false);
    request.partitions.iter().filter(move |id| served(id.index())).filter_map(move |id| {
        let partition = share.cluster.partitions.get(id.index())?;
        let node = |id: NodeId| share.cluster.nodes.get(id.index());
        let usable = |id: &NodeId| {
            partition.nodes.contains(*id)
                // Sorted, and all but a few where `-w` is a choice.
                && request.excluded_nodes.binary_search(id).is_err()
                && node(*id).is_some_and(|node| node.schedulable && takes_part(request, node))
        };
        let has_required = request.required_nodes.iter().all(|id| share.nodes.contains(*id) && usable(id));
        has_required.then(|| share.nodes.iter().filter(usable).filter_map(node).collect())
    })
}

fn takes_part(request: &Request, node: &Node) -> bool {
    let cpus = request.min_cpus_per_node.unwrap_or(1).max(request.cpus_per_task);
    let tasks = request.ntasks_per_node.unwrap_or(1).max(1);
    let memory = match request.memory {
        Memory::Default | Memory::WholeNode | Memory::PerGpu(_) => 0,
        Memory::PerNode(memory) => memory,
        Memory::PerCpu(memory) => memory.saturating_mul(u64::from(cpus)),
    };
    let gres = request.gres.iter().filter(|gres| gres.scope == GresScope::PerNode);
    cpus.max(tasks.saturating_mul(request.cpus_per_task)) <= node.cpus
        && memory <= node.memory_mb
        && node.tmp_disk_mb.is_none_or(|disk| request.tmp_disk_mb <= disk)
        && has_features(&request.features, node)
        && gres.into_iter().all(|gres| node.gres.get(gres.gres.index()).is_some_and(|count| *count >= gres.count))
}

/// Whether the node can serve some part of the expression.
fn has_features(features: &FeatureExpr, node: &Node) -> bool {
    match features {
        FeatureExpr::Any => true,
        FeatureExpr::Has(feature) => node.features.contains(feature),
        FeatureExpr::Unknown(_) => false,
        FeatureExpr::And(all) => all.iter().all(|part| has_features(part, node)),
        FeatureExpr::Or(some) | FeatureExpr::MatchingOr(some) => some.iter().any(|part| has_features(part, node)),
        FeatureExpr::Counted(counted) => counted.iter().any(|(part, _)| has_features(part, node)),
    }
}

fn suffices(request: &Request, candidates: &[&Node]) -> bool {
    let cpus = u64::from(request.tasks) * u64::from(request.cpus_per_task);
    let gres_of_job = request.gres.iter().filter(|gres| gres.scope == GresScope::PerJob).all(|gres| {
        let held: u64 =
            candidates.iter().filter_map(|node| node.gres.get(gres.gres.index())).map(|n| u64::from(*n)).sum();
        held >= u64::from(gres.count)
    });
    !candidates.is_empty()
        && candidates.len() >= request.min_nodes as usize
        && cpus_of(candidates, request.max_nodes) >= cpus.max(u64::from(request.min_cpus))
        && gres_of_job
}

/// CPUs of the largest candidates, at most `most` of them.
fn cpus_of(candidates: &[&Node], most: Option<u32>) -> u64 {
    let mut cpus: Vec<u32> = candidates.iter().map(|node| node.cpus).collect();
    cpus.sort_unstable_by(|a, b| b.cmp(a));
    cpus.into_iter().take(most.unwrap_or(u32::MAX) as usize).map(u64::from).sum()
}
