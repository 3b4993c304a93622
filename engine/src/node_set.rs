//! A set of nodes as a bitmap: 64 nodes a word, so 10,000 nodes are 157 words.

use crate::ids::NodeId;
use crate::wide::wide;

/// The nodes of a word of a set ([`NodeSet::word`]), in node order.
#[inline]
pub(crate) fn nodes_of(index: usize, mut word: u64) -> impl Iterator<Item = NodeId> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(NodeId(index as u32 * 64 + bit))
    })
}

/// Words that are counted before a count is looked at.
const CHUNK: usize = 8;

/// A set of nodes of one cluster. All sets of a cluster have the same capacity.
/// Set algebra costs one pass over the words; iteration is in node order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// The empty set of a cluster with `n_nodes` nodes.
    pub fn empty(n_nodes: usize) -> Self {
        Self { words: vec![0; n_nodes.div_ceil(64)] }
    }

    /// The set of all `n_nodes` nodes.
    pub fn full(n_nodes: usize) -> Self {
        let mut set = Self { words: vec![u64::MAX; n_nodes.div_ceil(64)] };
        if let Some(last) = set.words.last_mut()
            && !n_nodes.is_multiple_of(64)
        {
            *last = (1 << (n_nodes % 64)) - 1;
        }
        set
    }

    /// The set of the given nodes.
    pub fn from_nodes(n_nodes: usize, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut set = Self::empty(n_nodes);
        for node in nodes {
            set.insert(node);
        }
        set
    }

    /// Whether this is a set of a cluster with `n_nodes` nodes. O(words).
    pub fn is_of(&self, n_nodes: usize) -> bool {
        self.words.len() == n_nodes.div_ceil(64) && self.is_subset(&Self::full(n_nodes))
    }

    /// Adds a node. O(1).
    #[inline]
    pub fn insert(&mut self, node: NodeId) {
        self.words[node.index() / 64] |= 1 << (node.0 % 64);
    }

    /// Adds the nodes from `first` to `last`. O(words in between).
    pub(crate) fn insert_range(&mut self, first: NodeId, last: NodeId) {
        let (begin, end) = (first.index() / 64, last.index() / 64);
        let from = u64::MAX << (first.0 % 64);
        let to = u64::MAX >> (63 - last.0 % 64);
        if begin == end {
            self.words[begin] |= from & to;
        } else {
            self.words[begin] |= from;
            self.words[begin + 1..end].fill(u64::MAX);
            self.words[end] |= to;
        }
    }

    /// Removes a node. O(1).
    #[inline]
    pub fn remove(&mut self, node: NodeId) {
        self.words[node.index() / 64] &= !(1 << (node.0 % 64));
    }

    /// Becomes equal to `other` on one node. O(1).
    pub(crate) fn copy_node(&mut self, other: &Self, node: NodeId) {
        if other.contains(node) {
            self.insert(node);
        } else {
            self.remove(node);
        }
    }

    /// Becomes what all of these have in common. O(words).
    pub(crate) fn become_common(&mut self, sets: [&Self; 3]) {
        let [first, second, third] = sets;
        let words = first.words.iter().zip(&second.words).zip(&third.words);
        self.words.clear();
        let common = || self.words.extend(words.map(|((first, second), third)| first & second & third));
        wide(first.words.len(), common);
    }

    /// Whether the node is in the set. O(1).
    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        self.words[node.index() / 64] >> (node.0 % 64) & 1 == 1
    }

    /// Which of these nodes, 64 at most, are in the set: a bit each, in their order. O(nodes).
    pub(crate) fn mask_of(&self, nodes: &[NodeId]) -> u64 {
        let with = |mask: u64, node: NodeId| mask << 1 | u64::from(self.contains(node));
        let Ok(nodes) = <&[NodeId; 64]>::try_from(nodes) else {
            return nodes.iter().rev().fold(0, |mask, &node| with(mask, node));
        };
        // Four quarters side by side: none waits for another.
        let mut quarters = [0; 4];
        for at in (0..16).rev() {
            for (quarter, mask) in quarters.iter_mut().enumerate() {
                *mask = with(*mask, nodes[16 * quarter + at]);
            }
        }
        quarters.iter().rev().fold(0, |mask, quarter| mask << 16 | quarter)
    }

    /// How many nodes are in the set. O(words).
    #[inline]
    pub fn len(&self) -> usize {
        let count = || self.words.iter().map(|word| word.count_ones() as usize).sum();
        wide(self.words.len(), count)
    }

    /// Whether no node is in the set. O(words).
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Removes every node. O(words).
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Becomes the empty set of the cluster of `other`. O(words).
    pub(crate) fn become_empty_like(&mut self, other: &Self) {
        self.words.clear();
        self.words.resize(other.words.len(), 0);
    }

    /// Becomes a copy of `other` without allocating. O(words).
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
    }

    /// Becomes a copy of `other`, and adds the words that change to a list, with the nodes that come or go, as long as they are no more than
    /// `most`; says whether they are. O(words).
    pub(crate) fn change_to(&mut self, other: &Self, most: usize, changed: &mut Vec<(u32, u64)>) -> bool {
        let room = changed.len() + most;
        if self.words.len() != other.words.len() {
            self.copy_from(other);
            return false;
        }
        for (index, (word, now)) in (0..).zip(self.words.iter_mut().zip(&other.words)) {
            let differs = *word ^ now;
            if differs != 0 {
                if changed.len() == room {
                    self.copy_from(other);
                    return false;
                }
                changed.push((index, differs));
                *word = *now;
            }
        }
        true
    }

    /// Keeps only the nodes that are also in `other`. O(words).
    #[inline]
    pub fn intersect(&mut self, other: &Self) {
        let words = self.words.len();
        let intersect = || {
            for (word, other) in self.words.iter_mut().zip(&other.words) {
                *word &= other;
            }
        };
        wide(words, intersect);
    }

    /// Adds the nodes of `other`. O(words).
    #[inline]
    pub fn union(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Removes the nodes of `other`. O(words).
    #[inline]
    pub fn subtract(&mut self, other: &Self) {
        let words = self.words.len();
        let subtract = || {
            for (word, other) in self.words.iter_mut().zip(&other.words) {
                *word &= !other;
            }
        };
        wide(words, subtract);
    }

    /// Removes the nodes of `other` that lie in these words. O(words named).
    #[inline]
    pub(crate) fn subtract_within(&mut self, other: &Self, words: std::ops::Range<usize>) {
        let n_words = words.len();
        let subtract = || {
            for (word, other) in self.words[words.clone()].iter_mut().zip(&other.words[words]) {
                *word &= !other;
            }
        };
        wide(n_words, subtract);
    }

    /// A word with a node that is not in `other`: the one named, if it has one. O(1) then, else O(words).
    #[inline]
    pub(crate) fn word_beyond(&self, other: &Self, word: Option<usize>) -> Option<usize> {
        word.filter(|&word| self.words[word] & !other.words[word] != 0)
            .or_else(|| self.words.iter().zip(&other.words).position(|(a, b)| a & !b != 0))
    }

    /// How many nodes both sets hold. O(words).
    #[inline]
    pub fn intersection_len(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Whether the set holds so many nodes. O(words looked at until it does).
    #[inline]
    pub(crate) fn has(&self, nodes: usize) -> bool {
        let has = || {
            let mut held = 0;
            for words in self.words.chunks(CHUNK) {
                held += words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
                if held >= nodes {
                    return true;
                }
            }
            false
        };
        nodes == 0 || wide(self.words.len(), has)
    }

    /// How many nodes both sets hold, or some number from `most` on. O(words looked at until it is reached).
    #[inline]
    pub(crate) fn intersection_len_up_to(&self, other: &Self, most: usize) -> usize {
        let count = || {
            let mut held = 0;
            for (words, others) in self.words.chunks(CHUNK).zip(other.words.chunks(CHUNK)) {
                held += words.iter().zip(others).map(|(a, b)| (a & b).count_ones() as usize).sum::<usize>();
                if held >= most {
                    break;
                }
            }
            held
        };
        wide(self.words.len(), count)
    }

    /// Whether the sets share a node. O(words).
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Whether the sets share a node in these words. O(words named).
    #[inline]
    pub(crate) fn intersects_within(&self, other: &Self, words: std::ops::Range<usize>) -> bool {
        self.words[words.clone()].iter().zip(&other.words[words]).any(|(a, b)| a & b != 0)
    }

    /// Whether the set holds a node from `first` to `last`. O(words in between).
    #[inline]
    pub(crate) fn intersects_range(&self, first: NodeId, last: NodeId) -> bool {
        let (begin, end) = (first.index() / 64, last.index() / 64);
        let from = u64::MAX << (first.0 % 64);
        let to = u64::MAX >> (63 - last.0 % 64);
        if begin == end {
            return self.words[begin] & from & to != 0;
        }
        self.words[begin] & from != 0
            || self.words[end] & to != 0
            || self.words[begin + 1..end].iter().any(|&word| word != 0)
    }

    /// Whether every node of this set is in `other`. O(words).
    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// The words from the first with a node to the last. O(words).
    pub(crate) fn extent(&self) -> std::ops::Range<usize> {
        let begin = self.words.iter().position(|&word| word != 0).unwrap_or(0);
        begin..self.words.iter().rposition(|&word| word != 0).map_or(begin, |last| last + 1)
    }

    /// Whether every node of this set in these words is in `other`. O(words named).
    #[inline]
    pub(crate) fn is_subset_within(&self, other: &Self, words: std::ops::Range<usize>) -> bool {
        self.words[words.clone()].iter().zip(&other.words[words]).all(|(a, b)| a & !b == 0)
    }

    /// Whether `other` ∩ `within` holds a node that is not in this set; one word is looked at first. O(words).
    #[inline]
    pub(crate) fn lacks_some_of(&self, other: &Self, within: &Self, first: usize) -> bool {
        other.words[first] & within.words[first] & !self.words[first] != 0
            || self.words.iter().zip(&other.words).zip(&within.words).any(|((a, b), c)| b & c & !a != 0)
    }

    /// The nodes of 64 neighbours, a bit each; word `index` begins with node 64 × `index`. O(1).
    #[inline]
    pub(crate) fn word(&self, index: usize) -> u64 {
        self.words[index]
    }

    /// How many words there are.
    #[inline]
    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    /// The nodes in node order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| nodes_of(index, word))
    }

    /// The nodes in both sets, in node order. O(words + nodes found).
    #[inline]
    pub fn iter_common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = NodeId> + 'a {
        self.words.iter().zip(&other.words).enumerate().flat_map(|(index, (a, b))| nodes_of(index, a & b))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Sets of few words and of many, which are worked on otherwise ([`wide`]).
    #[test]
    fn set_algebra_is_that_of_sets() {
        let mut random = 7_u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for n_nodes in [1, 64, 300, 2047, 2048, 2100, 5000, 10_000] {
            for dense in [1, 2, 7] {
                let mut drawn = || (0..n_nodes as u32).filter(|_| draw(8) < dense).map(NodeId).collect::<BTreeSet<_>>();
                let [a, b, c] = [drawn(), drawn(), drawn()];
                let [one, two, three] = [&a, &b, &c].map(|set| NodeSet::from_nodes(n_nodes, set.iter().copied()));
                let both = &a & &b;
                let set_of = |set: &NodeSet| set.iter().collect::<BTreeSet<_>>();
                let mut set = one.clone();
                set.intersect(&two);
                assert_eq!(set_of(&set), both);
                set.become_common([&one, &two, &three]);
                assert_eq!(set_of(&set), &both & &c);
                set.copy_from(&one);
                set.subtract(&two);
                assert_eq!(set_of(&set), &a - &b);
                set.copy_from(&one);
                set.subtract_within(&two, 0..one.n_words());
                assert_eq!(set_of(&set), &a - &b);
                assert_eq!((one.len(), one.intersection_len(&two)), (a.len(), both.len()));
                for most in [0, 1, both.len(), both.len() + 1] {
                    assert_eq!(set.has(most), (&a - &b).len() >= most);
                    let counted = one.intersection_len_up_to(&two, most);
                    assert!(counted == both.len() || (counted >= most && counted < both.len()));
                }
                let mut changed = Vec::new();
                set.copy_from(&one);
                assert!(set.change_to(&two, one.n_words(), &mut changed));
                let nodes = changed.iter().flat_map(|&(word, nodes)| nodes_of(word as usize, nodes));
                assert_eq!((set, nodes.collect()), (two.clone(), &a ^ &b));
                let mut set = one.clone();
                assert_eq!(set.change_to(&two, changed.len().saturating_sub(1), &mut Vec::new()), changed.is_empty());
                assert_eq!(set, two);
            }
        }
    }
}
