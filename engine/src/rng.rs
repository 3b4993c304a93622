//! Labelled, portable random streams: a stream's key is (seed, purpose, entity), so a new draw in one place
//! leaves every other stream unchanged and policies are compared on common random numbers.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a stream is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Seconds between the controller's start and the first submission.
    BootOffset,
    /// Phase of the controller's one-second tick and its length.
    Tick,
    /// Length of scheduling cycles.
    CycleLength,
    /// Which controller takes a job that fits several.
    Controller,
    /// Changes to the workload.
    Workload,
}

/// One stream of 64-bit draws (ChaCha with eight rounds: the same numbers on every machine).
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a seed, a purpose and an entity (0 where there is only one).
    pub fn new(seed: u64, purpose: Purpose, entity: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = purpose as u8;
        key[16..24].copy_from_slice(&entity.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A draw in `0..bound`; 0 if `bound` is 0. The bias is below 2⁻³² for bounds below 2³².
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}
