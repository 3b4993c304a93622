//! Slots of a timeline in blocks of neighbours, each with the nodes unplanned throughout: a stretch over many slots is asked
//! block by block. Plans take nodes out of a block as they take them out of its slots, so nothing is counted anew.

use std::ops::Range;

use crate::node_set::NodeSet;
use crate::sched::timeline::Slot;

/// Slots of a block at most; a larger one becomes two.
const MOST: usize = 12;

/// Neighbouring slots.
#[derive(Clone, Debug)]
struct Block {
    /// The first of them; the next block begins after the last.
    first: usize,
    /// The intersection of their sets.
    nodes: NodeSet,
}

/// The blocks of all slots, in order and none empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    spare: Vec<NodeSet>,
}

impl Blocks {
    /// One slot with these nodes. O(words).
    pub(super) fn reset(&mut self, nodes: &NodeSet) {
        self.spare.extend(self.blocks.drain(..).map(|block| block.nodes));
        let nodes = self.copy_of(nodes);
        self.blocks.push(Block { first: 0, nodes });
    }

    fn copy_of(&mut self, nodes: &NodeSet) -> NodeSet {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.copy_from(nodes);
        copy
    }

    /// The block of a slot.
    fn of(&self, slot: usize) -> usize {
        self.blocks.partition_point(|block| block.first <= slot).saturating_sub(1)
    }

    /// Where a block ends.
    fn end(&self, block: usize, slots: usize) -> usize {
        self.blocks.get(block + 1).map_or(slots, |next| next.first)
    }

    /// A slot has become two of equal content. O(blocks), now and then O(words × [`MOST`]).
    pub(super) fn doubled(&mut self, slot: usize, slots: &[Slot]) {
        let block = self.of(slot);
        for later in &mut self.blocks[block + 1..] {
            later.first += 1;
        }
        let (first, end) = (self.blocks[block].first, self.end(block, slots.len()));
        if end - first > MOST {
            let middle = first.midpoint(end);
            let nodes = self.copy_of(&slots[middle].nodes);
            self.blocks.insert(block + 1, Block { first: middle, nodes });
            self.gather(block, slots);
            self.gather(block + 1, slots);
        }
    }

    /// Works a block out from its slots.
    fn gather(&mut self, block: usize, slots: &[Slot]) {
        let (first, end) = (self.blocks[block].first, self.end(block, slots.len()));
        let nodes = &mut self.blocks[block].nodes;
        nodes.copy_from(&slots[first].nodes);
        for slot in &slots[first + 1..end] {
            nodes.intersect(&slot.nodes);
        }
    }

    /// A slot was the same as the one before it, and is gone. O(blocks), now and then O(words × [`MOST`]).
    pub(super) fn removed(&mut self, slot: usize, slots: &[Slot]) {
        let block = self.of(slot);
        let was_first = self.blocks[block].first == slot;
        for later in &mut self.blocks[block + 1..] {
            later.first -= 1;
        }
        if was_first && self.end(block, slots.len()) == slot {
            self.spare.push(self.blocks.remove(block).nodes);
        } else if was_first {
            self.gather(block, slots);
        }
    }

    /// These nodes, which lie in these words, were taken out of some slots. O(blocks of them × words).
    pub(super) fn take(&mut self, nodes: &NodeSet, words: Range<usize>, slots: Range<usize>) {
        if slots.is_empty() {
            return;
        }
        for block in self.of(slots.start)..=self.of(slots.end - 1) {
            self.blocks[block].nodes.subtract_within(nodes, words.clone());
        }
    }

    /// Sets whose intersection is that of the slots in a range: of blocks where they lie in it, else of slots.
    pub(super) fn factors<'t>(
        &'t self,
        slots: &'t [Slot],
        range: Range<usize>,
    ) -> impl Iterator<Item = &'t NodeSet> + Clone {
        let (mut at, mut block) = (range.start, self.of(range.start));
        std::iter::from_fn(move || {
            if at >= range.end {
                return None;
            }
            let end = self.end(block, slots.len());
            let set = if self.blocks[block].first == at && end <= range.end {
                at = end;
                &self.blocks[block].nodes
            } else {
                at += 1;
                &slots[at - 1].nodes
            };
            block += usize::from(at == end);
            Some(set)
        })
    }
}
