//! How a controller comes up: when its threads begin, and how its background loop beats.
//! Source: controller.c `_slurmctld_background` of 22.05.8 and 23.11.11; recordings (docs/FACTS.md, facts 90 (d)).

use super::{SECOND, seconds};
use crate::policy::SlurmVersion;
use crate::rng::Stream;

/// Until 23.11 the loop sleeps for a second and works a little, so its phase drifts: the mean of the recordings, whose controllers are busy as
/// those of [`crate::policy::CostModel::RECORDED`] (an idle one's, at real time, is 1.003 s).
const DRIFTING_TICK_MS: i64 = 1017;

/// From 23.11 on it sleeps until the next second begins, and comes to the main scheduler so much later [ms].
const INTO_SECOND_MS: i64 = 5;

/// When the threads of one controller begin [ms].
#[derive(Clone, Copy, Debug)]
pub(super) struct Startup {
    /// Backfill's thread.
    pub(super) backfill: i64,
    /// The priority thread.
    pub(super) priority: i64,
    /// The background loop: a wake-up that the others are counted from.
    pub(super) tick_zero: i64,
    /// Between two wake-ups of it.
    pub(super) tick: i64,
}

impl Startup {
    /// Of a controller that is started at `boot`, as often as recordings were.
    pub(super) fn drawn(version: SlurmVersion, boot: i64, phase: &mut Stream) -> Self {
        // Nearer to the longest than to the shortest in most recordings: the longest of three draws.
        let mut longest = |spread: u64| (0..3).map(|_| phase.below(spread) as i64).max().unwrap_or(0);
        // Backfill's thread comes first, then the background loop and the priority thread (20 to 27 s after the start in all recordings of 22.05,
        // most of them 24 to 26, backfill at 73 % of it). From 24.05 on nobody waits for slurmdbd (1.1 to 5.7 s, most of them 1.4 to 2.8).
        let (backfill, begun) = if version >= SlurmVersion::V24_05 {
            let begun = 2_900 - longest(1_600);
            (begun + 120, begun)
        } else {
            let begun = 20_500 + longest(6_000);
            (begun * 73 / 100, begun)
        };
        let (tick_zero, tick) = if version >= SlurmVersion::V23_11 {
            (seconds(boot + begun) * SECOND + INTO_SECOND_MS, SECOND)
        } else {
            (boot + begun, DRIFTING_TICK_MS)
        };
        Self { backfill: boot + backfill, priority: boot + begun, tick_zero, tick }
    }
}
