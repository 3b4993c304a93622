//! The waiting jobs as a search tree: who is next in the queue that may start in the hole there is?

use super::jobs::Rank;

/// Children of an inner node.
const FAN_OUT: usize = 16;

/// A hole in the machine. A job fits if it takes at most `free` processors, and either is expected to run for at most
/// `window` seconds, or takes at most `extra` processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// Free processors.
    pub(super) free: u32,
    /// Processors free for as long as one likes.
    pub(super) extra: u32,
    /// For how long all free ones are [s]; `None`: not even for an instant.
    pub(super) window: Option<u32>,
}

impl Hole {
    /// Whether a job fits, or, given the least of each over several jobs, whether one of them might.
    #[inline]
    pub(super) fn admits(self, procs: u32, estimate: u32) -> bool {
        procs <= self.free && (procs <= self.extra || self.window.is_some_and(|window| estimate <= window))
    }
}

/// The waiting jobs by rank. Each node knows the least processors and the least requested time below it.
/// With n ranks: insert and remove O(log n). The next fit costs O(log n) where the narrow jobs are also the short ones,
/// and in the worst case (every sixteen neighbours hold a narrow long job and a wide short one) O(queue's span).
#[derive(Debug)]
pub(super) struct FirstFit {
    /// Leaves first, the single group of the root last.
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    procs: Vec<u32>,
    estimate: Vec<u32>,
}

/// In place of a job that does not wait; no hole admits it.
const NOBODY: u32 = u32::MAX;

impl FirstFit {
    /// Nobody waits. O(n_ranks).
    pub(super) fn new(n_ranks: usize) -> Self {
        let mut levels = Vec::new();
        let mut len = n_ranks.max(1);
        loop {
            len = len.next_multiple_of(FAN_OUT);
            levels.push(Level { procs: vec![NOBODY; len], estimate: vec![NOBODY; len] });
            if len == FAN_OUT {
                return Self { levels };
            }
            len /= FAN_OUT;
        }
    }

    /// A job waits.
    pub(super) fn insert(&mut self, rank: Rank, procs: u32, estimate: u32) {
        let mut index = rank as usize;
        for level in &mut self.levels {
            let unchanged = level.procs[index] <= procs && level.estimate[index] <= estimate;
            if unchanged {
                return;
            }
            level.procs[index] = level.procs[index].min(procs);
            level.estimate[index] = level.estimate[index].min(estimate);
            index /= FAN_OUT;
        }
    }

    /// A job waits no longer.
    pub(super) fn remove(&mut self, rank: Rank) {
        let mut index = rank as usize;
        let (mut procs, mut estimate) = (NOBODY, NOBODY);
        for level in &mut self.levels {
            if level.procs[index] == procs && level.estimate[index] == estimate {
                return;
            }
            level.procs[index] = procs;
            level.estimate[index] = estimate;
            let group = index / FAN_OUT * FAN_OUT..index / FAN_OUT * FAN_OUT + FAN_OUT;
            procs = least(&level.procs[group.clone()]);
            estimate = least(&level.estimate[group]);
            index /= FAN_OUT;
        }
    }

    /// The fewest processors that a waiting job takes; `u32::MAX` if nobody waits. O(1).
    pub(super) fn narrowest(&self) -> u32 {
        self.levels.last().map_or(NOBODY, |root| least(&root.procs))
    }

    /// The first waiting job from `from` on that fits the hole.
    pub(super) fn next(&self, from: Rank, hole: Hole) -> Option<Rank> {
        let top = self.levels.len() - 1;
        let (mut level, mut index) = self.climb(0, from as usize);
        loop {
            let group_end = index / FAN_OUT * FAN_OUT + FAN_OUT;
            let nodes = &self.levels[level];
            let found = (index..group_end.min(nodes.procs.len()))
                .find(|&index| hole.admits(nodes.procs[index], nodes.estimate[index]));
            match found {
                Some(rank) if level == 0 => return Some(rank as Rank),
                Some(node) => (level, index) = (level - 1, node * FAN_OUT),
                None if level == top => return None,
                None => (level, index) = self.climb(level + 1, group_end / FAN_OUT),
            }
        }
    }

    /// The highest node that begins where `index` of `level` does, so that a whole subtree is judged at once.
    fn climb(&self, mut level: usize, mut index: usize) -> (usize, usize) {
        while index.is_multiple_of(FAN_OUT) && level + 1 < self.levels.len() {
            index /= FAN_OUT;
            level += 1;
        }
        (level, index)
    }
}

fn least(values: &[u32]) -> u32 {
    values.iter().copied().fold(NOBODY, u32::min)
}

#[cfg(test)]
mod tests;
