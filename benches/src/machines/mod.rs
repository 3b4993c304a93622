//! The published machines and their workloads. What is not published is chosen, and said to be.

mod curie;
mod edison;
mod growth;
mod huge;
mod random;
mod rush;
mod stampede2;

pub(crate) use curie::curie;
pub(crate) use edison::edison;
pub(crate) use growth::{Growth, growth};
pub(crate) use huge::huge;
pub(crate) use random::random;
pub(crate) use rush::rush;
pub(crate) use stampede2::stampede2;

use crate::draw::Quantiles;

const DAY: u64 = 86_400;

/// Sizes of batches: most people submit one job or a few, some a script's hundreds.
const BATCHES: Quantiles = Quantiles(&[
    (3500, 1),
    (5000, 2),
    (6500, 4),
    (7800, 10),
    (8700, 25),
    (9300, 100),
    (9750, 300),
    (9950, 800),
    (10_000, 2000),
]);

/// Run times from seconds to days, before they are stretched: median ten minutes, a heavy tail [s].
const RUNS: Quantiles = Quantiles(&[
    (500, 10),
    (1500, 60),
    (3000, 200),
    (5000, 700),
    (7000, 2500),
    (8500, 9000),
    (9400, 30_000),
    (9800, 80_000),
    (10_000, 250_000),
]);
