//! Running jobs by expected end.

use std::ops::Range;

use crate::ids::{JobId, NodeId};
use crate::node_set::NodeSet;
use crate::select::ready::Moment;
use crate::simulation::record_age::Age;

/// A running job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    /// When its limit ends [s].
    pub(crate) end: i64,
    /// The age of its record.
    age: Age,
    /// The job.
    pub(crate) job: JobId,
    /// Its first node.
    node: NodeId,
    /// Where its node ranges stand, if it has more than that node.
    ranges: (u32, u32),
}

impl Running {
    /// Its first node.
    pub(crate) fn first_node(&self) -> NodeId {
        self.node
    }

    /// Whether it has more than that one.
    pub(crate) fn has_several(&self) -> bool {
        self.ranges.1 > 0
    }

    /// Whether it holds a node out of `nodes`, whose words are `within`, if it has several; `ranges` are those of all jobs, ascending
    /// for each. O(its ranges and their words); O(1) if it ends before the nodes or begins after them, as jobs of other partitions do.
    pub(crate) fn holds_any(&self, nodes: &NodeSet, within: &Range<usize>, ranges: &[(u32, u32)]) -> bool {
        if self.node.index() / 64 >= within.end {
            return false;
        }
        let (begin, count) = (self.ranges.0 as usize, self.ranges.1 as usize);
        let mine = &ranges[begin..begin + count];
        mine.last().is_some_and(|&(_, last)| last as usize / 64 >= within.start)
            && mine.iter().any(|&(first, last)| nodes.intersects_range(NodeId(first), NodeId(last)))
    }

    /// Whether it holds a node out of `nodes`, whose words are `within`; as above.
    pub(crate) fn is_on(&self, nodes: &NodeSet, within: &Range<usize>, ranges: &[(u32, u32)]) -> bool {
        nodes.contains(self.node) || (self.has_several() && self.holds_any(nodes, within, ranges))
    }

    /// Adds its nodes to a set; `ranges` are those of all jobs. O(its ranges and their words).
    pub(crate) fn add_nodes(&self, nodes: &mut NodeSet, ranges: &[(u32, u32)]) {
        nodes.insert(self.node);
        let (begin, count) = (self.ranges.0 as usize, self.ranges.1 as usize);
        for &(first, last) in &ranges[begin..begin + count] {
            nodes.insert_range(NodeId(first), NodeId(last));
        }
    }

    /// When it is released in a will-run test.
    pub(crate) fn moment(&self) -> Moment {
        (self.end, self.age)
    }
}

/// Entries of a chunk at most: small enough to be moved quickly, large enough to be walked quickly.
const CHUNK: usize = 512;

/// Running jobs in order of (end, age of the record), in chunks. Insertion and removal cost O(log n + chunk); a walk reads memory
/// in order.
#[derive(Debug, Default)]
pub(crate) struct RunningJobs {
    chunks: Vec<Vec<Running>>,
    version: u64,
}

impl RunningJobs {
    /// Adds a job with its first node and, if it has several, where its ranges begin and how many they are.
    pub(crate) fn insert(&mut self, (end, age): Moment, job: JobId, node: NodeId, ranges: Option<(u32, u32)>) {
        self.version += 1;
        let entry = Running { end, age, job, node, ranges: ranges.unwrap_or((0, 0)) };
        let at = self.chunk_of(entry.moment()).min(self.chunks.len().saturating_sub(1));
        let Some(chunk) = self.chunks.get_mut(at) else {
            self.chunks.push(vec![entry]);
            return;
        };
        let position = chunk.partition_point(|other| other.moment() < entry.moment());
        chunk.insert(position, entry);
        if chunk.len() > CHUNK {
            let upper = chunk.split_off(CHUNK / 2);
            self.chunks.insert(at + 1, upper);
        }
    }

    /// Removes a job.
    pub(crate) fn remove(&mut self, moment: Moment) {
        self.version += 1;
        let at = self.chunk_of(moment);
        let Some(chunk) = self.chunks.get_mut(at) else { return };
        if let Ok(position) = chunk.binary_search_by_key(&moment, Running::moment) {
            chunk.remove(position);
            if chunk.is_empty() {
                self.chunks.remove(at);
            }
        }
    }

    /// The first chunk that ends at or after a moment.
    fn chunk_of(&self, moment: Moment) -> usize {
        self.chunks.partition_point(|chunk| chunk.last().is_none_or(|last| last.moment() < moment))
    }

    /// Counts changes.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Whether none runs.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// All of them, in order of expected end.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Running> + Clone {
        self.chunks.iter().flatten()
    }

    /// Those whose limit ends after a second, in order. O(log n) to begin.
    pub(crate) fn after(&self, second: i64) -> impl Iterator<Item = &Running> + Clone {
        let (head, tail) = self.chunks_after(second);
        head.iter().chain(tail.iter().flatten())
    }

    /// Adds those whose limit ends after a second, in order. O(jobs added), a copy of memory.
    pub(crate) fn copy_after(&self, second: i64, to: &mut Vec<Running>) {
        let (head, tail) = self.chunks_after(second);
        to.extend_from_slice(head);
        for chunk in tail {
            to.extend_from_slice(chunk);
        }
    }

    fn chunks_after(&self, second: i64) -> (&[Running], &[Vec<Running>]) {
        let first = self.chunks.partition_point(|chunk| chunk.last().is_none_or(|last| last.end <= second));
        match self.chunks.get(first..).and_then(<[_]>::split_first) {
            Some((head, tail)) => (&head[head.partition_point(|entry| entry.end <= second)..], tail),
            None => (&[], &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_stand_in_order_of_end_whatever_comes_and_goes() {
        let mut running = RunningJobs::default();
        let mut plain = std::collections::BTreeSet::new();
        let mut random = 1_u64;
        for step in 0..20_000_u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let end = (random >> 40) as i64 % 3000;
            let age = Age::nth(step);
            running.insert((end, age), JobId(step), NodeId(0), None);
            plain.insert((end, age));
            if step % 3 > 0 {
                let nth = (random >> 20) as usize % plain.len().min(50);
                let gone = *plain.iter().nth(nth).unwrap_or(&(0, age));
                plain.remove(&gone);
                running.remove(gone);
            }
        }
        assert!(running.iter().map(Running::moment).eq(plain.iter().copied()));
        let late = plain.iter().copied().filter(|&(end, _)| end > 2000);
        assert!(running.after(2000).map(Running::moment).eq(late));
    }
}
