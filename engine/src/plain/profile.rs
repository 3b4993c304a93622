//! How many processors the plan leaves free, from now to the end of time.

/// Steps in a block.
const BLOCK: usize = 64;

/// A step function of time, in blocks that know their most and least free processors.
/// With n steps: finding a place O(n / block) and the blocks that might serve or hinder, changing a span O(log n + steps
/// in it); no allocation in steady state.
#[derive(Debug)]
pub(super) struct Profile {
    /// Blocks in time order, as places in `pool`; never empty.
    order: Vec<u32>,
    /// When each block begins, in the same order.
    firsts: Vec<i64>,
    /// The most processors free in each block.
    most: Vec<u32>,
    /// The least processors free in each block.
    least: Vec<u32>,
    pool: Vec<Block>,
    /// Places of `pool` not in use.
    spare: Vec<u32>,
}

/// Consecutive steps.
#[derive(Clone, Debug)]
struct Block {
    len: usize,
    /// When each step begins, ascending.
    times: [i64; BLOCK],
    /// Processors free from there to the next; the very last step has all processors free for ever.
    free: [u32; BLOCK],
}

/// A step: position of its block, and index in it.
type Step = (usize, usize);

impl Block {
    const EMPTY: Self = Self { len: 0, times: [0; BLOCK], free: [0; BLOCK] };

    fn insert(&mut self, at: usize, time: i64, free: u32) {
        self.times.copy_within(at..self.len, at + 1);
        self.free.copy_within(at..self.len, at + 1);
        self.times[at] = time;
        self.free[at] = free;
        self.len += 1;
    }

    fn remove(&mut self, at: usize) {
        self.times.copy_within(at + 1..self.len, at);
        self.free.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }
}

impl Profile {
    /// All processors free from `begin` on.
    pub(super) fn new(begin: i64, capacity: u32) -> Self {
        let mut block = Block::EMPTY;
        block.insert(0, begin, capacity);
        let (most, least) = (vec![capacity], vec![capacity]);
        Self { order: vec![0], firsts: vec![begin], most, least, pool: vec![block], spare: Vec::new() }
    }

    /// Forgets blocks that are past. Amortised O(blocks) for each block that passes.
    pub(super) fn advance(&mut self, now: i64) {
        while self.firsts.get(1).is_some_and(|&next| next <= now) {
            self.drop_block(0);
        }
    }

    /// Plans `procs` processors as taken in [from, to); they must be free.
    pub(super) fn take(&mut self, from: i64, to: i64, procs: u32) {
        self.change(from, to, |free| {
            debug_assert!(*free >= procs, "{procs} processors planned where {free} are free");
            *free -= procs;
        });
    }

    /// Takes back part of a plan: `procs` processors are free again in [from, to).
    pub(super) fn give_back(&mut self, from: i64, to: i64, procs: u32) {
        self.change(from, to, |free| *free += procs);
    }

    /// The earliest time in [from, before) at which `procs` processors are free for `seconds`, or at least until
    /// `until`, whichever comes first.
    pub(super) fn earliest(&self, procs: u32, seconds: u32, from: i64, before: i64, until: i64) -> Option<i64> {
        let mut step = self.step_at(from);
        loop {
            let (position, index) = self.next_with(step, procs, before)?;
            let start = self.block(position).times[index].max(from);
            if start >= before {
                return None;
            }
            let end = (start + i64::from(seconds)).min(until);
            match self.obstacle((position, index + 1), procs, end) {
                None => return Some(start),
                Some((position, index)) => step = (position, index + 1),
            }
        }
    }

    /// The most processors free at any time in [from, to).
    pub(super) fn most_free(&self, from: i64, to: i64) -> u32 {
        let (first, mut index) = self.step_at(from);
        let mut most = 0;
        for position in first..self.order.len() {
            let block = self.block(position);
            let steps = block.times[index..block.len].iter().zip(&block.free[index..]);
            // The first step may begin before `from` but holds there.
            let inside = steps.take_while(|&(&time, _)| time < to.max(from + 1));
            most = inside.fold(most, |most, (_, &free)| most.max(free));
            if block.times[block.len - 1] >= to {
                break;
            }
            index = 0;
        }
        most
    }

    fn block(&self, position: usize) -> &Block {
        &self.pool[self.order[position] as usize]
    }

    /// The step that holds at `time`, or the first one kept for what is past.
    fn step_at(&self, time: i64) -> Step {
        let position = self.firsts.partition_point(|&first| first <= time).saturating_sub(1);
        let block = self.block(position);
        (position, block.times[..block.len].partition_point(|&begin| begin <= time).saturating_sub(1))
    }

    /// The first step from `step` on with that many processors free; `None` also where that is in a block that begins
    /// at `before` or later.
    fn next_with(&self, (position, mut index): Step, procs: u32, before: i64) -> Option<Step> {
        for position in position..self.order.len() {
            if self.firsts[position] >= before {
                return None;
            }
            if self.most[position] >= procs {
                let block = self.block(position);
                let found = block.free[index..block.len].iter().position(|&free| free >= procs);
                if let Some(steps) = found {
                    return Some((position, index + steps));
                }
            }
            index = 0;
        }
        None
    }

    /// The first step from `step` on that begins before `end` and has fewer processors free.
    fn obstacle(&self, (position, mut index): Step, procs: u32, end: i64) -> Option<Step> {
        for position in position..self.order.len() {
            if self.firsts[position] >= end {
                return None;
            }
            if self.least[position] < procs {
                let block = self.block(position);
                let found = block.free[index..block.len].iter().position(|&free| free < procs);
                if let Some(steps) = found {
                    let index = index + steps;
                    return (block.times[index] < end).then_some((position, index));
                }
            }
            index = 0;
        }
        None
    }

    fn change(&mut self, from: i64, to: i64, change: impl Fn(&mut u32)) {
        if from >= to {
            return;
        }
        self.split_at(to);
        self.split_at(from);
        let (first, mut index) = self.step_at(from);
        for position in first..self.order.len() {
            if self.firsts[position] >= to {
                break;
            }
            let block = &mut self.pool[self.order[position] as usize];
            let len = block.len;
            let steps = if block.times[len - 1] < to { len } else { block.times[..len].partition_point(|&t| t < to) };
            block.free[index..steps].iter_mut().for_each(&change);
            self.summarise(position);
            index = 0;
        }
        self.merge_at(to);
        self.merge_at(from);
    }

    /// Makes a step begin at `time`.
    fn split_at(&mut self, time: i64) {
        let (mut position, mut index) = self.step_at(time);
        if self.block(position).times[index] >= time {
            return;
        }
        if self.block(position).len == BLOCK {
            self.halve(position);
            (position, index) = self.step_at(time);
        }
        // What is inserted is there already: neither most nor least change.
        let block = &mut self.pool[self.order[position] as usize];
        block.insert(index + 1, time, block.free[index]);
    }

    /// Joins the step that begins at `time` with the one before it where they are equal.
    fn merge_at(&mut self, time: i64) {
        let (position, index) = self.step_at(time);
        let before = match (position, index) {
            (0, 0) => return,
            (_, 0) => {
                let block = self.block(position - 1);
                block.free[block.len - 1]
            }
            _ => self.block(position).free[index - 1],
        };
        let block = &mut self.pool[self.order[position] as usize];
        if block.times[index] != time || block.free[index] != before {
            return;
        }
        block.remove(index);
        if block.len == 0 {
            self.drop_block(position);
        } else if index == 0 {
            self.firsts[position] = block.times[0];
            self.summarise(position);
        }
    }

    fn summarise(&mut self, position: usize) {
        let block = self.block(position);
        let free = &block.free[..block.len];
        let most = free.iter().copied().fold(0, u32::max);
        let least = free.iter().copied().fold(u32::MAX, u32::min);
        (self.most[position], self.least[position]) = (most, least);
    }

    /// Moves the upper half of a full block into a new one behind it.
    fn halve(&mut self, position: usize) {
        const HALF: usize = BLOCK / 2;
        let lower = &mut self.pool[self.order[position] as usize];
        let mut upper = Block::EMPTY;
        upper.times[..BLOCK - HALF].copy_from_slice(&lower.times[HALF..]);
        upper.free[..BLOCK - HALF].copy_from_slice(&lower.free[HALF..]);
        upper.len = BLOCK - HALF;
        lower.len = HALF;
        let place = self.spare.pop().unwrap_or_else(|| {
            self.pool.push(Block::EMPTY);
            (self.pool.len() - 1) as u32
        });
        self.order.insert(position + 1, place);
        self.firsts.insert(position + 1, upper.times[0]);
        self.most.insert(position + 1, 0);
        self.least.insert(position + 1, 0);
        self.pool[place as usize] = upper;
        self.summarise(position);
        self.summarise(position + 1);
    }

    fn drop_block(&mut self, position: usize) {
        self.spare.push(self.order.remove(position));
        self.firsts.remove(position);
        self.most.remove(position);
        self.least.remove(position);
    }
}

#[cfg(test)]
mod tests;
