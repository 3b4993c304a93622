//! A cluster's node names prepared once, for printing millions of hostlists.

use foresite_engine::cluster::Cluster;
use foresite_engine::ids::NodeId;

use super::compress::{ListWriter, Parts};

/// Node names taken apart, with each node's rank in print order.
#[derive(Clone, Debug)]
pub struct NodeNames {
    prefixes: Vec<String>,
    /// By node: index of its prefix, and its number with the digits it is written with.
    names: Vec<(u32, Option<(u64, usize)>)>,
    /// By node: position in print order; empty where node order is print order already.
    ranks: Vec<u32>,
}

impl NodeNames {
    /// Prepares the names of nodes in node order. O(nodes × log nodes).
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let parts: Vec<Parts> = names.into_iter().map(Parts::of).collect();
        let mut prefixes: Vec<String> = parts.iter().map(|part| part.prefix.to_owned()).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let position = |prefix: &str| prefixes.binary_search_by(|known| known.as_str().cmp(prefix)).unwrap_or_default();
        let names = parts.iter().map(|part| (position(part.prefix) as u32, part.number)).collect();
        let mut ranks = Vec::new();
        if !parts.is_sorted_by(|a, b| a.print_order(b).is_le()) {
            let mut order: Vec<usize> = (0..parts.len()).collect();
            order.sort_by(|&a, &b| match (parts.get(a), parts.get(b)) {
                (Some(a), Some(b)) => a.print_order(b),
                _ => a.cmp(&b),
            });
            ranks = vec![0; parts.len()];
            for (rank, &node) in order.iter().enumerate() {
                if let Some(slot) = ranks.get_mut(node) {
                    *slot = rank as u32;
                }
            }
        }
        Self { prefixes, names, ranks }
    }

    /// The names of a cluster's nodes.
    pub fn of(cluster: &Cluster) -> Self {
        Self::new(cluster.nodes.iter().map(|node| node.name.as_str()))
    }

    /// Appends the hostlist of `nodes`, which come in node order, to `out`. O(nodes) where node order is print order,
    /// else O(nodes × log nodes). Nodes outside the cluster are left out.
    pub fn hostlist(&self, nodes: impl Iterator<Item = NodeId>, out: &mut String) {
        let mut writer = ListWriter::default();
        if self.ranks.is_empty() {
            nodes.for_each(|node| self.push(node, &mut writer, out));
        } else {
            let mut sorted: Vec<NodeId> = nodes.collect();
            sorted.sort_unstable_by_key(|node| self.ranks.get(node.index()).copied());
            sorted.into_iter().for_each(|node| self.push(node, &mut writer, out));
        }
        writer.finish(out);
    }

    fn push<'a>(&'a self, node: NodeId, writer: &mut ListWriter<'a>, out: &mut String) {
        if let Some(&(prefix, number)) = self.names.get(node.index()) {
            writer.push(self.prefixes.get(prefix as usize).map_or("", String::as_str), number, out);
        }
    }
}
