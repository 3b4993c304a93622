//! The simulator: a pure function (scenario, draws) -> outcome. No I/O, clock, threads or logging.
//!
//! Reading order: [`cluster`], [`association`], [`job`], [`policy`], [`calendar`], [`scenario`], then [`simulation`] and [`sched`].

pub mod ablation;
pub mod association;
pub mod calendar;
pub mod cluster;
pub mod ids;
pub mod job;
pub mod moments;
pub mod node_set;
pub mod observer;
pub mod outcome;
pub mod plain;
pub mod policy;
pub mod rng;
pub mod scenario;

mod limits;
mod preempt;
mod priority;
mod sched;
mod select;
mod simulation;
mod wide;

use moments::Moments;
use observer::{Interrupted, Observer};
use outcome::Outcome;
use scenario::Scenario;

/// What a real controller leaves to chance, for one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// Seed of every stream.
    pub seed: u64,
    /// Seconds between the controller's start and the first submission; drawn from the seed if `None`, and with it how the trace's
    /// times stand on the minutes of the controller's clock (`bf_resolution`).
    pub boot_offset: Option<u32>,
}

/// Simulates one replication.
///
/// # Errors
/// [`Interrupted`] when the observer asked to stop.
pub fn simulate(scenario: &Scenario, draws: Draws, observer: &mut impl Observer) -> Result<Outcome, Interrupted> {
    simulation::dispatch(scenario, draws, false, observer)
}

/// As [`simulate`], at the moments at which a recorded controller acted.
///
/// # Errors
/// [`Interrupted`] when the observer asked to stop.
pub fn simulate_at(
    scenario: &Scenario,
    draws: Draws,
    moments: &Moments,
    observer: &mut impl Observer,
) -> Result<Outcome, Interrupted> {
    simulation::run_at(scenario, draws, moments, observer)
}

/// As [`simulate`], with every scheduling cycle gone through, also those that provably repeat the one before.
/// Slower, and the same outcome: what `foresite simulate --check` and the tests compare.
///
/// # Errors
/// [`Interrupted`] when the observer asked to stop.
pub fn simulate_every_cycle(
    scenario: &Scenario,
    draws: Draws,
    observer: &mut impl Observer,
) -> Result<Outcome, Interrupted> {
    simulation::dispatch(scenario, draws, true, observer)
}
