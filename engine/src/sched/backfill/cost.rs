//! How long a cycle takes. Source: slurm-semantics 8, "parameters the engine should offer" 2.

use crate::simulation::{Controller, SECOND, seconds};

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
    /// Records of its first stretch, up to its first sleep.
    first: u64,
    /// From its begin to the end of that sleep [ms].
    first_ms: i64,
    /// Records of any other stretch.
    others: u64,
    /// How long such a stretch takes, and the sleep after it [ms].
    stretch_ms: i64,
}

/// The clock of a cycle, from its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// When it last woke up; nothing happens between its sleeps.
    pub(super) slept_ms: Option<i64>,
    /// The present.
    pub(super) now_ms: i64,
}

/// Parts of the whole in a cycle's factor.
const WHOLE: u64 = 1_000_000;

/// How long a yield is [ms]: at least one, or the clock might stand still for ever.
pub(super) fn sleep_ms(yield_sleep_us: u64) -> u64 {
    (yield_sleep_us / 1000).max(1)
}

/// Of so many of one and so many of another.
fn mean(one: u64, ones: u64, other: u64, others: u64) -> u64 {
    let sum = u128::from(one) * u128::from(ones) + u128::from(other) * u128::from(others);
    (sum / (u128::from(ones) + u128::from(others)).max(1)) as u64
}

/// Whole milliseconds.
fn ms(us: u64) -> i64 {
    (us / 1000) as i64
}

impl CycleCost {
    /// Of the next cycle: which of its records it tests is told from caps by user and partition, not by going through it. The
    /// factor is drawn by the cycle's number, so that it is the same however earlier cycles were accounted for. O(1); with `bf_max_job_part`, O(partitions).
    pub(super) fn of_next(controller: &Controller<'_>) -> Self {
        let policy = &controller.scenario.policy;
        let (cost, backfill) = (&policy.cost, &policy.backfill);
        let spread = u64::from(cost.noise_percent.min(100)) * (WHOLE / 100);
        let factor = match spread {
            0 => WHOLE,
            _ => WHOLE - spread + controller.timers.cycle_draw(controller.counters.backfill_cycles, 2 * spread + 1),
        };
        let yields = (backfill.yield_interval_us.max(1), sleep_ms(backfill.yield_sleep_us));
        let max_time_ms = i64::from(backfill.max_time.or(backfill.interval).unwrap_or(30)) * SECOND;
        if let Some(ms) = controller.timers.recorded_cycle() {
            let records = (controller.queue.len() as u64).max(1);
            return Self::new(0, ms as u64 * 1000 / records, yields, max_time_ms);
        }
        let waiting = controller.queue.len() as u64;
        let tested = controller.queue.within_caps(backfill.max_job_part) as u64;
        let record_us = cost.record_us(controller.scenario.cluster.nodes.len());
        let mean_us = match waiting.saturating_sub(tested) {
            0 => record_us,
            passed => mean(record_us, tested, cost.backfill_passed_us, passed),
        };
        let with_noise = |us: u64| (u128::from(us) * u128::from(factor) / u128::from(WHOLE)) as u64;
        Self::new(with_noise(cost.backfill_base_us), with_noise(mean_us), yields, max_time_ms)
    }

    /// Of a cycle that sleeps `sleep_ms` after every `yield_us` of work.
    fn new(base_us: u64, record_us: u64, (yield_us, sleep_ms): (u64, u64), max_time_ms: i64) -> Self {
        let each_us = record_us.max(1);
        // The work before the first record belongs to the first stretch.
        let first = yield_us.saturating_sub(base_us).div_ceil(each_us);
        let others = yield_us.div_ceil(each_us).max(1);
        let work_ms = |base_us: u64, records: u64| ms(base_us.saturating_add(record_us.saturating_mul(records)));
        let first_ms = work_ms(base_us, first).saturating_add(sleep_ms as i64);
        let stretch_ms = work_ms(0, others).saturating_add(sleep_ms as i64);
        Self { base_us, record_us, yield_us, max_time_ms, first, first_ms, others, stretch_ms }
    }

    /// Whether cycles take no time that could be waited out.
    pub(super) fn is_free(&self) -> bool {
        self.yield_us == u64::MAX || self.base_us == 0 && self.record_us == 0
    }

    /// Time of so many records and what comes before them [µs].
    pub(super) fn of_records(&self, records: u32) -> u64 {
        self.base_us.saturating_add(self.record_us.saturating_mul(u64::from(records)))
    }

    /// Whether a cycle has taken its time: slurmctld compares whole seconds.
    pub(super) fn is_over(&self, begin_ms: i64, now: i64) -> bool {
        seconds(now) - seconds(begin_ms) >= self.max_time_ms / SECOND
    }

    /// When a cycle that does not sleep has passed so many records [ms].
    pub(super) fn passed_at(&self, begin_ms: i64, records: u32) -> i64 {
        begin_ms + ms(self.of_records(records))
    }

    /// Whether a cycle that does not sleep passes so many records in the second in which it ends, after `length` of them.
    pub(super) fn is_second_of_end(&self, begin_ms: i64, records: u32, length: u32) -> bool {
        seconds(self.passed_at(begin_ms, records)) == seconds(self.passed_at(begin_ms, length))
    }

    /// Whether a cycle of so many records sleeps between two of them.
    pub(super) fn yields(&self, records: u32) -> bool {
        records > 0 && self.of_records(records - 1) >= self.yield_us
    }

    /// The time from the cycle's begin to its next record when it has passed so many, its sleeps included. O(1).
    pub(super) fn clock(&self, records: u64) -> Clock {
        if records < self.first || self.record_us == 0 {
            let busy_us = self.base_us.saturating_add(self.record_us.saturating_mul(records));
            return Clock { slept_ms: None, now_ms: ms(busy_us) };
        }
        let (stretches, rest) = ((records - self.first) / self.others, (records - self.first) % self.others);
        let slept_ms = self.first_ms.saturating_add(self.stretch_ms.saturating_mul(stretches as i64));
        Clock { slept_ms: Some(slept_ms), now_ms: slept_ms.saturating_add(ms(self.record_us.saturating_mul(rest))) }
    }

    /// How long a cycle of so many records takes if it neither sleeps nor runs out of time [ms].
    pub(super) fn whole_ms(&self, records: u32) -> Option<i64> {
        let ms = (self.of_records(records) / 1000) as i64;
        (!self.yields(records) && ms < self.max_time_ms - SECOND).then_some(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Record by record, as the cycle goes.
    #[test]
    fn the_clock_is_that_of_a_cycle_that_goes_record_by_record() {
        let mut seconds_slept = 0;
        for (base_us, record_us, yield_us, sleep_ms) in [
            (300, 80_690, 2_000_000, 500),
            (300, 0, 2_000_000, 500),
            (0, 2_000_000, 2_000_000, 500),
            (1_900_123, 33_333, 600_000, 7),
            (599_999, 1, 600_000, 700),
            (10, 3_500_001, 1, 0),
        ] {
            let cost = CycleCost::new(base_us, record_us, (yield_us, sleep_ms), i64::MAX);
            let (mut resumed_ms, mut busy_us, mut slept_ms) = (0, base_us, None);
            for passed in 0..200 {
                // A base longer than a stretch is slept off once.
                if busy_us >= yield_us {
                    resumed_ms += (busy_us / 1000 + sleep_ms) as i64;
                    (busy_us, slept_ms) = (0, Some(resumed_ms));
                    seconds_slept += sleep_ms / 100;
                }
                let now_ms = resumed_ms + (busy_us / 1000) as i64;
                assert_eq!(cost.clock(passed), Clock { slept_ms, now_ms }, "{passed} of {cost:?}");
                busy_us += record_us;
            }
        }
        assert!(seconds_slept > 0);
    }
}
