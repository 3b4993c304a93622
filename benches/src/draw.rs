//! Draws from distributions, in whole numbers only: the same on every machine.

use foresite_engine::rng::{Purpose, Stream};

/// Parts of a probability.
const WHOLE: u64 = 10_000;

/// A distribution given by its quantiles: (share of draws at or below [1/10,000], value), both ascending, the last at 10,000.
/// Between two points values are spread evenly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantiles(pub(crate) &'static [(u64, u64)]);

/// One stream of draws.
#[derive(Clone, Debug)]
pub(crate) struct Draw(Stream);

impl Draw {
    /// The stream of a seed; streams of different numbers are independent.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        Self(Stream::new(seed, Purpose::Workload, number))
    }

    /// Evenly in `0..bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// True in `permille` of 1000 cases.
    pub(crate) fn happens(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    /// Evenly in `from..=to`.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// A value of a distribution.
    pub(crate) fn of(&mut self, quantiles: Quantiles) -> u64 {
        let share = self.below(WHOLE);
        let mut before = (0, quantiles.0.first().map_or(0, |point| point.1));
        for &(to, value) in quantiles.0 {
            if share < to {
                let width = value.saturating_sub(before.1);
                return before.1 + self.below(width + 1) * (share - before.0 + 1) / (to - before.0).max(1);
            }
            before = (to, value);
        }
        before.1
    }

    /// An index in `0..count`, small ones much likelier: half of the draws fall on the first eighth.
    pub(crate) fn skewed(&mut self, count: u64) -> u64 {
        let unit = u128::from(self.below(1 << 20));
        ((unit * unit * unit * u128::from(count)) >> 60) as u64
    }

    /// The index of a weight, in proportion to it.
    pub(crate) fn weighted(&mut self, weights: impl Iterator<Item = u64> + Clone) -> usize {
        let mut left = self.below(weights.clone().sum());
        for (index, weight) in weights.enumerate() {
            if left < weight {
                return index;
            }
            left -= weight;
        }
        0
    }
}
