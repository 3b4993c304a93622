//! Backfill's plan: which nodes are free of planned jobs, and when.
//! Source: slurm-semantics 3.3.

use crate::node_set::NodeSet;
use crate::sched::blocks::Blocks;

/// A stretch of time with one set of unplanned nodes.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Nodes that no plan holds. Busy nodes are included.
    pub(crate) nodes: NodeSet,
    /// How the next slot differs.
    turn: Turn,
}

/// What changes from a slot to the next; nothing after the last. A change is known by one word of the sets that shows it: most changes
/// outlast a plan, and then one word is all that is looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Some nodes are planned no longer, in this word for instance.
    grows: Option<usize>,
    /// Some nodes are planned from there on, in this word for instance.
    shrinks: Option<usize>,
    /// Other licences are left from there on (`bf_licenses`).
    licensed: bool,
}

/// The ordered slots of one backfill cycle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    /// Slots in time order, without gaps.
    pub(crate) slots: Vec<Slot>,
    /// Their first seconds, and the first second after the last [s]: what is searched.
    pub(crate) edges: Vec<i64>,
    blocks: Blocks,
    /// Slots kept for reuse, so that a cycle allocates nothing in steady state.
    spare: Vec<NodeSet>,
    resolution: i64,
    /// Slot records used so far; merged ones are not reused.
    pub(crate) records: u32,
    /// Nodes that no plan has touched.
    untouched: NodeSet,
    /// There is one of no length before the first slot: the first plan makes it that begins with the table.
    has_head: bool,
}

impl Timeline {
    /// Starts anew with one slot.
    pub(crate) fn reset(&mut self, begin: i64, end: i64, nodes: &NodeSet, resolution: i64) {
        while let Some(slot) = self.slots.pop() {
            self.spare.push(slot.nodes);
        }
        self.resolution = resolution.max(1);
        self.records = 1;
        self.has_head = false;
        self.blocks.reset(nodes);
        self.untouched.copy_from(nodes);
        let nodes = self.copy_of(nodes);
        self.slots.push(Slot { nodes, turn: Turn::default() });
        self.edges.clear();
        self.edges.extend([begin, end]);
    }

    fn copy_of(&mut self, nodes: &NodeSet) -> NodeSet {
        match self.spare.pop() {
            Some(mut spare) => {
                spare.copy_from(nodes);
                spare
            }
            None => nodes.clone(),
        }
    }

    /// Takes `nodes` out from `begin` to `end`, and licences if it is `licensed`; what lies beyond the window is lost.
    /// O(slots in between × words).
    pub(crate) fn insert(&mut self, nodes: &NodeSet, begin: i64, end: i64, licensed: bool) {
        let begin = begin.max(self.begin());
        let end = end.max(begin + self.resolution);
        let mut at = self.ended(begin);
        if at == self.slots.len() {
            return;
        }
        let mut joins_head = false;
        if self.edges[at] < begin {
            self.split(at, begin);
            at += 1;
        } else if at == 0 && !self.has_head {
            self.records += 1;
            joins_head = nodes.is_empty() && !licensed;
            self.has_head = !joins_head;
        }
        let touched = at;
        let words = nodes.extent();
        while at < self.slots.len() && self.edges[at] < end {
            if self.edges[at + 1] > end {
                self.split(at, end);
            }
            self.slots[at].nodes.subtract_within(nodes, words.clone());
            at += 1;
        }
        self.untouched.subtract_within(nodes, words.clone());
        self.blocks.take(nodes, words, touched..at);
        self.turn_again(touched, at);
        for edge in [touched, at] {
            if licensed && 0 < edge && edge < self.slots.len() {
                self.slots[edge - 1].turn.licensed = true;
            }
        }
        // At most one record goes, and slurmctld looks for it near the plan only.
        if !joins_head {
            self.merge_one(touched.saturating_sub(2)..at);
        }
    }

    /// The same nodes were taken out of the slots from `first` to before `next`. Among them no turn comes to be.
    fn turn_again(&mut self, first: usize, next: usize) {
        for index in first.saturating_sub(1)..next {
            let [slot, after, ..] = &mut self.slots[index..] else { return };
            let (begins, ends) = (index < first, index + 1 == next);
            if slot.turn.grows.is_some() || ends {
                slot.turn.grows = after.nodes.word_beyond(&slot.nodes, slot.turn.grows);
            }
            if slot.turn.shrinks.is_some() || begins {
                slot.turn.shrinks = slot.nodes.word_beyond(&after.nodes, slot.turn.shrinks);
            }
        }
    }

    /// Splits slot `at` at `time`, which lies inside it.
    fn split(&mut self, at: usize, time: i64) {
        let source = std::mem::take(&mut self.slots[at].nodes);
        let nodes = self.copy_of(&source);
        self.slots[at].nodes = source;
        let turn = std::mem::take(&mut self.slots[at].turn);
        self.slots.insert(at + 1, Slot { nodes, turn });
        self.edges.insert(at + 1, time);
        self.blocks.doubled(at, &self.slots);
        self.records += 1;
    }

    /// Joins the first of these slots that has a neighbour of equal content behind it with that. O(slots).
    fn merge_one(&mut self, slots: std::ops::Range<usize>) {
        let next = slots.end.min(self.slots.len() - 1);
        let changes_nothing = |turn: Turn| turn.grows.is_none() && turn.shrinks.is_none() && !turn.licensed;
        if let Some(at) = (slots.start..next).find(|&at| changes_nothing(self.slots[at].turn)) {
            let removed = self.slots.remove(at + 1);
            self.edges.remove(at + 1);
            self.slots[at].turn = removed.turn;
            self.blocks.removed(at + 1, &self.slots);
            self.spare.push(removed.nodes);
        }
    }

    /// The slots that a stretch from `begin` to `end`, both included, touches. O(log slots).
    pub(crate) fn touched(&self, begin: i64, end: i64) -> std::ops::Range<usize> {
        let first = self.ended(begin);
        first..self.edges.partition_point(|&edge| edge <= end).min(self.slots.len()).max(first)
    }

    /// How many slots have ended at a time. O(log slots).
    fn ended(&self, time: i64) -> usize {
        self.edges.partition_point(|&edge| edge <= time).saturating_sub(1)
    }

    /// The end of the first slot from `first` on after which more of `wanted` become unplanned, within a stretch that
    /// ends before slot `next`. O(slots looked at), and words where any nodes become unplanned.
    pub(crate) fn later(&self, first: usize, next: usize, wanted: &NodeSet) -> Option<i64> {
        let mut pairs = self.slots[first.min(self.slots.len())..].windows(2).take((next + 1).saturating_sub(first));
        let grows = |pair: &[Slot]| {
            let word = pair[0].turn.grows;
            word.is_some_and(|word| pair[0].nodes.lacks_some_of(&pair[1].nodes, wanted, word))
        };
        pairs.position(grows).map(|slot| self.edges[first + slot + 1])
    }

    /// The end of a slot, unless it is the last [s]. O(1).
    pub(crate) fn end_of_inner(&self, slot: usize) -> Option<i64> {
        self.edges.get(slot + 1).copied().filter(|_| slot + 1 < self.slots.len())
    }

    /// Sets whose intersection is what is unplanned in all of these slots. O(log slots) to begin.
    pub(crate) fn factors(&self, touched: std::ops::Range<usize>) -> impl Iterator<Item = &NodeSet> + Clone {
        self.blocks.factors(&self.slots, touched)
    }

    /// Narrows `usable` to the nodes unplanned in all of these slots. O(blocks of them × words).
    pub(crate) fn narrow(&self, usable: &mut NodeSet, touched: std::ops::Range<usize>) {
        for nodes in self.factors(touched) {
            usable.intersect(nodes);
        }
    }

    /// By how much both times could grow without touching other slots than these. O(1).
    pub(crate) fn slack(&self, touched: &std::ops::Range<usize>, begin: i64, end: i64) -> i64 {
        let edge = |at: usize, from: i64| self.edges.get(at).map_or(i64::MAX, |edge| edge - from);
        let until_first_ends = edge(touched.start + 1, begin);
        let until_next_begins = if touched.end < self.slots.len() { edge(touched.end, end) } else { i64::MAX };
        until_first_ends.min(until_next_begins)
    }

    /// When the first slot begins in which a plan holds any of the nodes [s], before `until`, but neither at `now` nor a minute before: `_reset_job_time_limit`
    /// of backfill.c, which reckons in whole minutes. O(slots × words).
    pub(crate) fn first_planned(&self, nodes: &NodeSet, now: i64, until: i64) -> Option<i64> {
        let words = nodes.extent();
        let mut slots = self
            .edges
            .iter()
            .zip(&self.slots)
            .filter(|(begin, _)| **begin != now && (now - 59..until).contains(*begin));
        slots.find(|(_, slot)| !nodes.is_subset_within(&slot.nodes, words.clone())).map(|(&begin, _)| begin)
    }

    /// The nodes that are unplanned in all slots, since no plan of the cycle has touched them.
    pub(crate) fn untouched(&self) -> &NodeSet {
        &self.untouched
    }

    /// First second of the table.
    pub(crate) fn begin(&self) -> i64 {
        self.edges.first().copied().unwrap_or(i64::MIN)
    }

    /// First second after the window.
    pub(crate) fn end(&self) -> i64 {
        self.edges.last().copied().unwrap_or(i64::MIN)
    }

    /// Whether all of `nodes` are unplanned throughout [`begin`, `end`). O(blocks × words between the first node and the last).
    pub(crate) fn is_free(&self, nodes: &NodeSet, begin: i64, end: i64) -> bool {
        let first = self.ended(begin);
        let next = self.edges.partition_point(|&edge| edge < end).min(self.slots.len()).max(first);
        let words = nodes.extent();
        self.factors(first..next).all(|unplanned| nodes.is_subset_within(unplanned, words.clone()))
    }
}
