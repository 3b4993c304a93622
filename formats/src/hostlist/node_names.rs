//! A cluster's node names prepared once, for printing millions of hostlists.

use foresite_engine::cluster::Cluster;

use super::compress::{ListWriter, Parts, same_width};

/// Node names taken apart, with each node's rank in print order.
#[derive(Clone, Debug)]
pub struct NodeNames {
    prefixes: Vec<String>,
    /// By node: index of its prefix, and its number with the digits it is written with.
    names: Vec<(u32, Option<(u64, usize)>)>,
    /// By node: the last of the nodes from it on whose numbers follow each other, so that a range of nodes is one of numbers.
    run_ends: Vec<u32>,
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
        let mut run_ends: Vec<u32> = (0..parts.len() as u32).collect();
        for node in (1..parts.len()).rev() {
            if let (Some(before), Some(after), Some(&end)) = (parts.get(node - 1), parts.get(node), run_ends.get(node))
                && follows(before, after)
                && let Some(slot) = run_ends.get_mut(node - 1)
            {
                *slot = end;
            }
        }
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
        Self { prefixes, names, run_ends, ranks }
    }

    /// The names of a cluster's nodes.
    pub fn of(cluster: &Cluster) -> Self {
        Self::new(cluster.nodes.iter().map(|node| node.name.as_str()))
    }

    /// Appends the hostlist of node ranges [first, last], ascending, to `out`. O(ranges) where node order is print order and numbers
    /// follow each other, else O(nodes × log nodes). Nodes outside the cluster are left out.
    pub fn hostlist(&self, ranges: &[(u32, u32)], out: &mut String) {
        let mut writer = ListWriter::default();
        if self.ranks.is_empty() {
            for &(mut first, last) in ranges {
                while first <= last {
                    let Some(&end) = self.run_ends.get(first as usize) else { break };
                    let end = end.min(last);
                    self.push(first, &mut writer, out);
                    writer.extend(end - first);
                    first = end + 1;
                }
            }
        } else {
            let mut sorted: Vec<u32> = ranges.iter().flat_map(|&(first, last)| first..=last).collect();
            sorted.sort_unstable_by_key(|&node| self.ranks.get(node as usize));
            sorted.into_iter().for_each(|node| self.push(node, &mut writer, out));
        }
        writer.finish(out);
    }

    fn push<'a>(&'a self, node: u32, writer: &mut ListWriter<'a>, out: &mut String) {
        if let Some(&(prefix, number)) = self.names.get(node as usize) {
            writer.push(self.prefixes.get(prefix as usize).map_or("", String::as_str), number, out);
        }
    }
}

/// Whether the second name's number is the first one's next, and can stand in one bracket with it.
fn follows(before: &Parts, after: &Parts) -> bool {
    let (Some((number, width)), Some((next, next_width))) = (before.number, after.number) else { return false };
    before.prefix == after.prefix && number.checked_add(1) == Some(next) && same_width(width, next, next_width)
}
