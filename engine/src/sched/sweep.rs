//! The nodes unplanned throughout a stretch of time that moves on, slot by slot.

use crate::node_set::NodeSet;
use crate::sched::timeline::Timeline;

/// The intersection of the slots `first..next` of a timeline, for growing bounds: suffixes of a front part, which are
/// taken off one by one, and the product of the rest. Moving over all slots costs O(slots × words) altogether.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    first: usize,
    /// Slots `first..middle` are in `suffixes`, the last suffix being that of `first`.
    middle: usize,
    next: usize,
    suffixes: Vec<NodeSet>,
    spare: Vec<NodeSet>,
    rest: NodeSet,
}

impl Sweep {
    /// Begins before the slot `first`, with nothing in the stretch. `all` is the set of all nodes.
    pub(crate) fn begin(&mut self, first: usize, all: &NodeSet) {
        (self.first, self.middle, self.next) = (first, first, first);
        self.spare.append(&mut self.suffixes);
        self.rest.copy_from(all);
    }

    /// Moves on to these slots, neither bound of which goes back, and narrows `usable` to the nodes in all of
    /// them.
    pub(crate) fn narrow(
        &mut self,
        timeline: &Timeline,
        slots: std::ops::Range<usize>,
        usable: &mut NodeSet,
        all: &NodeSet,
    ) {
        let (first, next) = (slots.start, slots.end);
        while self.next < next {
            self.rest.intersect(&timeline.slots[self.next].nodes);
            self.next += 1;
        }
        if first >= self.middle {
            // The front is used up: the rest from `first` on becomes the front.
            self.spare.append(&mut self.suffixes);
            for slot in (first..self.next).rev() {
                let mut suffix = self.spare.pop().unwrap_or_default();
                suffix.copy_from(&timeline.slots[slot].nodes);
                if let Some(later) = self.suffixes.last() {
                    suffix.intersect(later);
                }
                self.suffixes.push(suffix);
            }
            self.rest.copy_from(all);
            self.middle = self.next;
        } else {
            for _ in self.first..first {
                self.spare.extend(self.suffixes.pop());
            }
        }
        self.first = first;
        if let Some(suffix) = self.suffixes.last() {
            usable.intersect(suffix);
        }
        usable.intersect(&self.rest);
    }
}
