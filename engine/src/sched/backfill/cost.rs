//! How long a cycle takes. Source: slurm-semantics 8, "parameters the engine should offer" 2.

use crate::simulation::{Controller, SECOND};

/// The time one cycle takes, its own factor included.
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleCost {
    /// Before the first record [µs].
    base_us: u64,
    /// For each record [µs].
    pub(super) record_us: u64,
    /// Work between two sleeps [µs].
    yield_us: u64,
    /// The cycle ends after this [ms].
    pub(super) max_time_ms: i64,
}

/// Parts of the whole in a cycle's factor.
const WHOLE: u64 = 1_000_000;

impl CycleCost {
    /// Of the next cycle. The factor is drawn by the cycle's number, so that it is the same however earlier cycles were
    /// accounted for. O(1).
    pub(super) fn of_next(controller: &Controller<'_>) -> Self {
        let policy = &controller.scenario.policy;
        let (cost, backfill) = (&policy.cost, &policy.backfill);
        let spread = u64::from(cost.noise_percent.min(100)) * (WHOLE / 100);
        let factor = match spread {
            0 => WHOLE,
            _ => WHOLE - spread + controller.timers.cycle_draw(controller.counters.backfill_cycles, 2 * spread + 1),
        };
        if let Some(ms) = controller.timers.recorded_cycle() {
            let records = (controller.queue.len() as u64).max(1);
            return Self {
                base_us: 0,
                record_us: ms as u64 * 1000 / records,
                yield_us: u64::MAX,
                max_time_ms: i64::MAX / 4,
            };
        }
        let with_noise = |us: u64| (u128::from(us) * u128::from(factor) / u128::from(WHOLE)) as u64;
        Self {
            base_us: with_noise(cost.backfill_base_us),
            record_us: with_noise(cost.record_us(controller.scenario.cluster.nodes.len())),
            yield_us: backfill.yield_interval_us.max(1),
            max_time_ms: i64::from(backfill.max_time.or(backfill.interval).unwrap_or(30)) * SECOND,
        }
    }

    /// Whether cycles take no time that could be waited out.
    pub(super) fn is_free(&self) -> bool {
        self.yield_us == u64::MAX || self.base_us == 0 && self.record_us == 0
    }

    /// Time of so many records and what comes before them [µs].
    pub(super) fn of_records(&self, records: u32) -> u64 {
        self.base_us.saturating_add(self.record_us.saturating_mul(u64::from(records)))
    }

    /// Whether a cycle of so many records sleeps between two of them.
    pub(super) fn yields(&self, records: u32) -> bool {
        records > 0 && self.of_records(records - 1) >= self.yield_us
    }

    /// How long a cycle of so many records takes if it neither sleeps nor runs out of time [ms].
    pub(super) fn whole_ms(&self, records: u32) -> Option<i64> {
        let ms = (self.of_records(records) / 1000) as i64;
        (!self.yields(records) && ms < self.max_time_ms).then_some(ms)
    }
}
