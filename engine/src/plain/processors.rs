//! Which processors are free, as a two-level bitmap, and the nodes behind them.
//!
//! Processors are numbered through the schedulable nodes in node order; a job gets the lowest free ones.

use crate::cluster::Cluster;

/// The processors of a machine.
#[derive(Debug)]
pub(super) struct Processors {
    /// How many are free.
    free: u32,
    /// A bit per processor, set while it is free.
    words: Vec<u64>,
    /// A bit per word, set while the word is not zero.
    summary: Vec<u64>,
    nodes: NodeIndex,
    /// Processor ranges `[first, last]` of running jobs, by slot; emptied ones keep their memory for the next job.
    held: Vec<Vec<(u32, u32)>>,
    /// Slots not in use.
    spare: Vec<u32>,
}

/// What a job got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allocation {
    /// Names the processors until they are given back.
    pub(super) slot: u32,
    /// How many nodes they stand on.
    pub(super) n_nodes: u32,
}

/// Processors that a plain algorithm counts: all CPUs of schedulable nodes, at most 2^32 - 2. O(nodes).
pub(super) fn capacity_of(cluster: &Cluster) -> u32 {
    let total = cluster.nodes.iter().filter(|node| node.schedulable).fold(0u64, |sum, node| sum + u64::from(node.cpus));
    u32::try_from(total).unwrap_or(u32::MAX).min(u32::MAX - 1)
}

impl Processors {
    /// All processors of the cluster's schedulable nodes, free. O(processors / 64 + nodes).
    pub(super) fn new(cluster: &Cluster) -> Self {
        let capacity = capacity_of(cluster);
        let words = all_ones(capacity as usize);
        let summary = all_ones(words.len());
        Self { free: capacity, words, summary, nodes: NodeIndex::new(cluster), held: Vec::new(), spare: Vec::new() }
    }

    /// How many are free.
    #[inline]
    pub(super) fn free(&self) -> u32 {
        self.free
    }

    /// Takes the `count` lowest free processors and appends the node ranges `[first, last]` they stand on.
    /// Takes fewer when fewer are free, which callers rule out.
    /// O(words touched + ranges); allocates nothing once the slots have grown.
    pub(super) fn take(&mut self, count: u32, node_ranges: &mut Vec<(u32, u32)>) -> Allocation {
        debug_assert!(count <= self.free, "{count} processors asked of {}", self.free);
        let slot = self.spare.pop().unwrap_or_else(|| {
            self.held.push(Vec::new());
            (self.held.len() - 1) as u32
        });
        let ranges = &mut self.held[slot as usize];
        let mut missing = count;
        for (index, group) in self.summary.iter_mut().enumerate() {
            while *group != 0 && missing > 0 {
                let word_index = index * 64 + group.trailing_zeros() as usize;
                missing -= take_from_word(&mut self.words[word_index], word_index as u32 * 64, missing, ranges);
                if self.words[word_index] == 0 {
                    *group &= *group - 1;
                }
            }
            if missing == 0 {
                break;
            }
        }
        self.free -= count - missing;
        Allocation { slot, n_nodes: self.nodes.append(ranges, node_ranges) }
    }

    /// Gives back what `slot` holds. O(words touched + ranges).
    pub(super) fn give_back(&mut self, slot: u32) {
        let ranges = &mut self.held[slot as usize];
        for (first, last) in ranges.drain(..) {
            self.free += last - first + 1;
            for word_index in first / 64..=last / 64 {
                let low = first.max(word_index * 64) % 64;
                let high = last.min(word_index * 64 + 63) % 64;
                self.words[word_index as usize] |= (u64::MAX >> (63 - (high - low))) << low;
                self.summary[word_index as usize / 64] |= 1 << (word_index % 64);
            }
        }
        self.spare.push(slot);
    }
}

/// Clears the lowest `wanted` set bits of `word`, adds them to `ranges`, and says how many there were.
fn take_from_word(word: &mut u64, base: u32, wanted: u32, ranges: &mut Vec<(u32, u32)>) -> u32 {
    let mut taken = 0;
    while *word != 0 && taken < wanted {
        let low = word.trailing_zeros();
        let run = (*word >> low).trailing_ones().min(wanted - taken);
        *word &= !((u64::MAX >> (64 - run)) << low);
        let (first, last) = (base + low, base + low + run - 1);
        match ranges.last_mut() {
            Some(previous) if previous.1 + 1 == first => previous.1 = last,
            _ => ranges.push((first, last)),
        }
        taken += run;
    }
    taken
}

fn all_ones(bits: usize) -> Vec<u64> {
    let mut words = vec![u64::MAX; bits.div_ceil(64)];
    if let Some(last) = words.last_mut()
        && !bits.is_multiple_of(64)
    {
        *last = (1 << (bits % 64)) - 1;
    }
    words
}

/// From processors to nodes.
#[derive(Debug)]
struct NodeIndex {
    /// The first processor of each schedulable node that has any, ascending.
    first_processor: Vec<u64>,
    /// The node it belongs to.
    node: Vec<u32>,
    /// Processors of every such node, where all have equally many.
    uniform: Option<u32>,
}

impl NodeIndex {
    fn new(cluster: &Cluster) -> Self {
        let mut index = Self { first_processor: Vec::new(), node: Vec::new(), uniform: None };
        let usable = || (0u32..).zip(&cluster.nodes).filter(|(_, node)| node.schedulable && node.cpus > 0);
        let mut next = 0u64;
        for (position, node) in usable() {
            index.first_processor.push(next);
            index.node.push(position);
            next += u64::from(node.cpus);
        }
        index.uniform = usable().next().map(|(_, node)| node.cpus);
        if usable().any(|(_, node)| Some(node.cpus) != index.uniform) {
            index.uniform = None;
        }
        index
    }

    /// The position of a processor's node among those listed. O(1), or O(log nodes) where nodes differ.
    #[inline]
    fn position_of(&self, processor: u32) -> usize {
        match self.uniform {
            Some(1) => processor as usize,
            Some(cpus) => (processor / cpus) as usize,
            None => self.first_processor.partition_point(|&first| first <= u64::from(processor)) - 1,
        }
    }

    /// Appends the nodes of ascending processor ranges as node ranges, and says how many nodes they are.
    fn append(&self, processors: &[(u32, u32)], node_ranges: &mut Vec<(u32, u32)>) -> u32 {
        let begin = node_ranges.len();
        let mut n_nodes = 0;
        for &(first, last) in processors {
            let positions = self.position_of(first)..=self.position_of(last);
            for position in self.contiguous_starts(positions) {
                let (first, last) = position;
                match node_ranges.last_mut().filter(|_| n_nodes > 0) {
                    Some(previous) if previous.1 >= first => {
                        n_nodes += last - previous.1;
                        previous.1 = last;
                    }
                    Some(previous) if previous.1 + 1 == first => {
                        n_nodes += last - first + 1;
                        previous.1 = last;
                    }
                    _ => {
                        n_nodes += last - first + 1;
                        node_ranges.push((first, last));
                    }
                }
            }
        }
        debug_assert!(n_nodes == 0 || node_ranges.len() > begin);
        n_nodes
    }

    /// The node ranges of a range of positions: one, unless unschedulable nodes stand between.
    fn contiguous_starts(&self, positions: std::ops::RangeInclusive<usize>) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (mut next, last) = (*positions.start(), *positions.end());
        std::iter::from_fn(move || {
            if next > last {
                return None;
            }
            let first = self.node[next];
            // Where node numbers and positions advance alike, nothing is left out between.
            let end = if self.node[last] - first == (last - next) as u32 {
                last
            } else {
                let gap = (next..last).find(|&position| self.node[position] + 1 != self.node[position + 1]);
                gap.unwrap_or(last)
            };
            next = end + 1;
            Some((first, self.node[end]))
        })
    }
}

#[cfg(test)]
mod tests;
