//! A cluster for a trace without slurm.conf: equal nodes, one partition, one queue.

use foresite_engine::association::{AssociationTree, Qos};
use foresite_engine::calendar::Calendar;
use foresite_engine::cluster::{Cluster, Node, Partition};
use foresite_engine::node_set::NodeSet;
use foresite_engine::policy::{ConsumableUnit, Policy, SelectPolicy};

use super::super::model::Trace;
use crate::diagnostic::Diagnostic;
use crate::hostlist::MAX_NAMES;
use crate::site::Site;

/// Memory of a node whose memory nobody stated [MB]: more than any job asks for.
const BOUNDLESS_MB: u64 = 1 << 40;

/// A site without slurm.conf: nodes `n1` … of `cpus_per_node` CPUs, by default what the SWF header says (MaxNodes,
/// MaxProcs), one partition `normal` without limits, CPUs handed out singly.
///
/// # Errors
/// Where neither the caller nor the header gives the size, or it is zero or beyond all machines.
pub fn swf_site(trace: &Trace, nodes: Option<u32>, cpus_per_node: Option<u32>) -> Result<Site, Diagnostic> {
    let sizes = node_sizes(trace, nodes, cpus_per_node)?;
    let n_nodes = sizes.len();
    let node = |(index, &cpus): (usize, &u32)| Node {
        name: format!("n{}", index + 1),
        sockets: 1,
        cores_per_socket: cpus,
        threads_per_core: 1,
        cpus,
        spec_cores: Vec::new(),
        kept_memory_mb: 0,
        tmp_disk_mb: None,
        memory_mb: BOUNDLESS_MB,
        weight: 1,
        features: Vec::new(),
        gres: Vec::new(),
        gres_near: Vec::new(),
        config_record: 0,
        schedulable: true,
    };
    let partition = Partition { is_default: true, nodes: NodeSet::full(n_nodes), ..Partition::new("normal", n_nodes) };
    let cluster = Cluster {
        name: "cluster".to_owned(),
        nodes: sizes.iter().enumerate().map(node).collect(),
        partitions: vec![partition],
        ..Cluster::default()
    };
    let select = SelectPolicy { linear: false, unit: ConsumableUnit::Cpu, memory: false, ..SelectPolicy::default() };
    Ok(Site {
        cluster,
        associations: AssociationTree::default(),
        qos: vec![Qos { name: "normal".to_owned(), ..Qos::default() }],
        policy: Policy { select, ..Policy::default() },
        calendar: Calendar::default(),
        has_accounts: false,
    })
}

/// CPUs of each node. MaxProcs is kept exactly: where it is no multiple of the nodes, the first ones have one more.
fn node_sizes(trace: &Trace, nodes: Option<u32>, cpus_per_node: Option<u32>) -> Result<Vec<u32>, Diagnostic> {
    let header = &trace.header;
    let fault = |message: String| {
        Err(Diagnostic::error(&trace.file, message).cure("give a slurm.conf, or --nodes and --cpus-per-node"))
    };
    let (count, cpus) = match (nodes, cpus_per_node, header.max_nodes, header.max_procs) {
        (Some(count), Some(cpus), _, _) => (count, u64::from(count) * u64::from(cpus)),
        (Some(count), None, _, Some(cpus)) => (count, u64::from(cpus)),
        (Some(count), None, _, None) => (count, u64::from(count)),
        (None, Some(cpus), _, Some(total)) => (total.div_ceil(cpus.max(1)), u64::from(total)),
        (None, Some(cpus), Some(count), None) => (count, u64::from(count) * u64::from(cpus)),
        (None, None, Some(count), Some(cpus)) => (count, u64::from(cpus)),
        (None, None, Some(count), None) => (count, u64::from(count)),
        (None, None, None, Some(cpus)) => (cpus, u64::from(cpus)),
        (None, _, None, None) => return fault("the trace does not say how large the cluster was".to_owned()),
    };
    if count == 0 || cpus < u64::from(count) {
        return fault(format!("{cpus} CPUs cannot be shared out among {count} nodes"));
    }
    if count as usize > MAX_NAMES {
        return fault(format!("{count} nodes are more than the {MAX_NAMES} that are supported"));
    }
    let (each, more) = (cpus / u64::from(count), cpus % u64::from(count));
    let Ok(each) = u32::try_from(each) else { return fault(format!("{each} CPUs in a node are too many")) };
    let size = |index| if u64::from(index) < more { each + 1 } else { each };
    Ok(match cpus_per_node {
        // Whole nodes, the last one perhaps smaller.
        Some(full) if full > 0 && nodes.is_none() && header.max_procs.is_some() => (0..count)
            .map(|index| full.min(u32::try_from(cpus - u64::from(index) * u64::from(full)).unwrap_or(full)))
            .collect(),
        _ => (0..count).map(size).collect(),
    })
}
