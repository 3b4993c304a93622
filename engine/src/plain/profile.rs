//! How many processors the plan leaves free, from now to the end of time.

/// A step function of time. With n steps: finding a place O(log n + steps looked at), changing a span O(n) (a memory
/// move of the steps behind it).
#[derive(Debug)]
pub(super) struct Profile {
    /// Where each step begins, ascending.
    times: Vec<i64>,
    /// Processors free from there to the next; the last step has all processors free for ever.
    free: Vec<u32>,
    /// The step that holds now; those before are past.
    current: usize,
}

impl Profile {
    /// All processors free from `begin` on.
    pub(super) fn new(begin: i64, capacity: u32) -> Self {
        Self { times: vec![begin], free: vec![capacity], current: 0 }
    }

    /// Forgets what is past. Amortised O(1) for each step that passes.
    pub(super) fn advance(&mut self, now: i64) {
        while self.times.get(self.current + 1).is_some_and(|&next| next <= now) {
            self.current += 1;
        }
        if self.current > 64 && self.current * 2 > self.times.len() {
            self.times.drain(..self.current);
            self.free.drain(..self.current);
            self.current = 0;
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
            let (times, free) = (&self.times[step..], &self.free[step..]);
            let fits = free.iter().position(|&free| free >= procs)?;
            let start = times[fits].max(from);
            if start >= before {
                return None;
            }
            let end = (start + i64::from(seconds)).min(until);
            let rest = times[fits + 1..].iter().zip(&free[fits + 1..]);
            let obstacle = rest.take_while(|&(&time, _)| time < end).position(|(_, &free)| free < procs);
            match obstacle {
                None => return Some(start),
                Some(steps) => step += fits + 1 + steps + 1,
            }
        }
    }

    /// The most processors free at any time in [from, to).
    pub(super) fn most_free(&self, from: i64, to: i64) -> u32 {
        let first = self.step_at(from);
        let steps = self.times[first + 1..].partition_point(|&time| time < to) + 1;
        self.free[first..first + steps].iter().copied().fold(0, u32::max)
    }

    /// The step that holds `time`, or the current one for what is past.
    fn step_at(&self, time: i64) -> usize {
        let later = self.times[self.current + 1..].partition_point(|&begin| begin <= time);
        self.current + later
    }

    fn change(&mut self, from: i64, to: i64, change: impl Fn(&mut u32)) {
        if from >= to {
            return;
        }
        let first = self.split(from);
        let end = self.split(to);
        self.free[first..end].iter_mut().for_each(change);
        self.merge(end);
        self.merge(first);
    }

    /// Makes a step begin at `time`, and says which.
    fn split(&mut self, time: i64) -> usize {
        let step = self.step_at(time);
        if self.times[step] >= time {
            return step;
        }
        self.times.insert(step + 1, time);
        self.free.insert(step + 1, self.free[step]);
        step + 1
    }

    /// Joins a step with the one before it where they are equal.
    fn merge(&mut self, step: usize) {
        if step > self.current && self.free[step] == self.free[step - 1] {
            self.times.remove(step);
            self.free.remove(step);
        }
    }
}

#[cfg(test)]
mod tests;
