//! Nodes in the order in which they become ready, with the sets of those that are ready first: asking for the usable ones among
//! them is set algebra.

use crate::ids::NodeId;
use crate::node_set::NodeSet;

/// Nodes from one set of [`Ripening::ready`] to the next: few enough to be looked at one by one.
const STEP: usize = 64;

/// Nodes by the time at which they are ready, those that never are left out.
#[derive(Debug, Default)]
pub(crate) struct Ripening {
    /// In order.
    order: Vec<(i64, NodeId)>,
    /// Position by position the first [`STEP`] nodes, the first 2 × [`STEP`] and so on, as far as they are known.
    ready: Vec<NodeSet>,
    /// Sets kept for reuse.
    spare: Vec<NodeSet>,
    /// Entries that the next [`Ripening::put_all`] replaces.
    leaving: Vec<(i64, NodeId)>,
    /// Working memory: the order in the making.
    next: Vec<(i64, NodeId)>,
    /// Where the last answer was found [steps].
    hint: usize,
    n_nodes: usize,
}

impl Ripening {
    /// Forgets all nodes of a cluster.
    pub(super) fn clear(&mut self, n_nodes: usize) {
        self.order.clear();
        self.forget_from(0);
        self.leaving.clear();
        self.n_nodes = n_nodes;
    }

    /// Moves a node from one time to another; `i64::MAX` is never. O(nodes moved), a shift of memory.
    pub(super) fn put(&mut self, node: NodeId, before: i64, after: i64) {
        if before == after {
            return;
        }
        let out = self.order.binary_search(&(before, node)).ok().filter(|_| before != i64::MAX);
        let into = self.order.partition_point(|&entry| entry < (after, node));
        match (out, after != i64::MAX) {
            (Some(out), true) => {
                // One shift of what lies in between.
                let into = if out < into { into - 1 } else { into };
                if out < into {
                    self.order[out..=into].rotate_left(1);
                } else {
                    self.order[into..=out].rotate_right(1);
                }
                self.order[into] = (after, node);
                self.forget_from(out.min(into));
            }
            (Some(out), false) => {
                self.order.remove(out);
                self.forget_from(out);
            }
            (None, true) => {
                self.order.insert(into, (after, node));
                self.forget_from(into);
            }
            (None, false) => {}
        }
    }

    /// A node's entry, at its time, will be replaced by the next [`Ripening::put_all`]. O(1).
    pub(super) fn leave(&mut self, node: NodeId, before: i64) {
        if before != i64::MAX {
            self.leaving.push((before, node));
        }
    }

    /// Puts nodes in that were not there or have left; never is `i64::MAX`.
    /// O(nodes that leave or come × log nodes), and a copy of memory.
    pub(super) fn put_all(&mut self, nodes: &mut Vec<(i64, NodeId)>) {
        nodes.retain(|&(time, _)| time != i64::MAX);
        nodes.sort_unstable();
        self.leaving.sort_unstable();
        self.next.clear();
        let (mut leaving, mut coming) = (self.leaving.drain(..).peekable(), nodes.drain(..).peekable());
        let (mut done, mut first) = (0, None);
        loop {
            let leaves = leaving.next_if(|entry| coming.peek().is_none_or(|other| entry < other));
            let Some(entry) = leaves.or_else(|| coming.next()) else { break };
            // What stands between two changes is copied as it is.
            let at = done + self.order[done..].partition_point(|other| *other < entry);
            self.next.extend_from_slice(&self.order[done..at]);
            first.get_or_insert(at);
            done = at;
            if leaves.is_none() {
                self.next.push(entry);
            } else if self.order.get(at) == Some(&entry) {
                done += 1;
            }
        }
        drop((leaving, coming));
        let Some(first) = first else { return };
        self.next.extend_from_slice(&self.order[done..]);
        std::mem::swap(&mut self.order, &mut self.next);
        self.forget_from(first);
    }

    /// When so many nodes out of `usable` are ready [s]. O(words × log nodes), more when nodes have moved.
    pub(super) fn when(&mut self, needed: usize, usable: &NodeSet) -> Option<i64> {
        // The first `few` steps hold too few usable nodes, the first `many` enough. Requests for as much follow each other.
        let (mut few, mut held) = (0, 0);
        let mut many = self.order.len() / STEP + 1;
        let (mut probe, mut stride) = (self.hint, 1);
        while few + 1 < many {
            if probe <= few || probe >= many {
                probe = few.midpoint(many);
            }
            let count = self.first_nodes(probe).intersection_len_up_to(usable, needed);
            if count < needed {
                (few, held) = (probe, count);
                probe += stride;
            } else {
                many = probe;
                probe = probe.saturating_sub(stride);
            }
            stride *= 2;
        }
        self.hint = many;
        let mut missing = needed - held;
        self.order.get(few * STEP..)?.iter().find_map(|&(time, node)| {
            missing -= usize::from(usable.contains(node));
            (missing == 0).then_some(time)
        })
    }

    /// Sets `ripe` to the nodes out of `usable` that are ready at a time [s]. O(words), more when nodes have moved.
    pub(super) fn narrow_to(&mut self, time: i64, usable: &NodeSet, ripe: &mut NodeSet) {
        let end = self.order.partition_point(|entry| entry.0 <= time);
        let steps = end / STEP;
        if steps == 0 {
            ripe.clear();
        } else {
            ripe.copy_from(self.first_nodes(steps));
            ripe.intersect(usable);
        }
        for &(_, node) in &self.order[steps * STEP..end] {
            if usable.contains(node) {
                ripe.insert(node);
            }
        }
    }

    /// The nodes that become ready at a time [s]. O(log nodes) and the nodes.
    pub(super) fn at(&self, time: i64) -> impl Iterator<Item = NodeId> + '_ {
        let begin = self.order.partition_point(|entry| entry.0 < time);
        self.order[begin..].iter().take_while(move |entry| entry.0 == time).map(|&(_, node)| node)
    }

    /// The first `steps` × [`STEP`] nodes; at least one step. O(words a step) when nodes have moved.
    fn first_nodes(&mut self, steps: usize) -> &NodeSet {
        while self.ready.len() < steps {
            let mut set = self.spare.pop().unwrap_or_else(|| NodeSet::empty(self.n_nodes));
            match self.ready.last() {
                Some(before) => set.copy_from(before),
                None => set.clear(),
            }
            let begin = self.ready.len() * STEP;
            for &(_, node) in &self.order[begin..begin + STEP] {
                set.insert(node);
            }
            self.ready.push(set);
        }
        &self.ready[steps - 1]
    }

    /// What was known of the order from a position on is not true any more.
    fn forget_from(&mut self, position: usize) {
        self.spare.extend(self.ready.drain((position / STEP).min(self.ready.len())..));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_as_a_list_would() {
        const NODES: usize = 700;
        let mut random = 5_u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        let mut ripening = Ripening::default();
        ripening.clear(NODES);
        let mut times = vec![i64::MAX; NODES];
        for round in 0..2000 {
            let mut drawn = || if draw(5) == 0 { i64::MAX } else { draw(300) as i64 };
            if round % 7 == 0 {
                let nodes: Vec<usize> = (0..NODES).step_by(round % 11 + 2).collect();
                let mut moved = Vec::new();
                for node in nodes {
                    let after = drawn();
                    if after != times[node] {
                        ripening.leave(NodeId::new(node), times[node]);
                        times[node] = after;
                        moved.push((after, NodeId::new(node)));
                    }
                }
                ripening.put_all(&mut moved);
            } else {
                let (node, after) = (round * 31 % NODES, drawn());
                ripening.put(NodeId::new(node), times[node], after);
                times[node] = after;
            }
            let usable = NodeSet::from_nodes(NODES, (0..NODES).filter(|_| draw(3) > 0).map(NodeId::new));
            let mut sorted: Vec<i64> = usable.iter().map(|node| times[node.index()]).collect();
            sorted.sort_unstable();
            let needed = draw(NODES as u64) as usize + 1;
            let expected = sorted.get(needed - 1).copied().filter(|&time| time != i64::MAX);
            assert_eq!(ripening.when(needed, &usable), expected, "round {round}");
            let time = draw(320) as i64;
            let mut ripe = NodeSet::full(NODES);
            ripening.narrow_to(time, &usable, &mut ripe);
            let expected = usable.iter().filter(|node| times[node.index()] <= time);
            assert_eq!(ripe, NodeSet::from_nodes(NODES, expected), "round {round}");
            assert!(ripening.at(time).eq((0..NODES).filter(|&node| times[node] == time).map(NodeId::new)));
        }
    }
}
