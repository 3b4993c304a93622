//! Backfill cycles that provably repeat the one before are accounted for, not repeated.

use crate::simulation::{Controller, seconds};

use super::Backfill;
use super::cost::CycleCost;

/// A cycle that started nothing. While nothing changes and its plan stays valid, the next one will do the same.
///
/// Proof: a cycle's decisions depend on the state (its version is compared) and on the time through these comparisons
/// only: which slots a record's first try spans, whether a planned start has come, whether a running job is overdue,
/// and where the window ends. [`Backfill::valid_until`] is the least time at which one of them turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdleCycle {
    pub(super) version: u64,
    /// Of the nodes' weights, before and after it.
    pub(super) weights: u64,
    /// Of the waiting jobs' sizes, before and after it.
    pub(super) sizes: u64,
    /// Of what slurmctld notes of why jobs wait, before and after it.
    pub(super) reasons: u64,
    pub(super) valid_until: i64,
    /// Its last stamp, and whether there may have been a later one: [`Backfill::stamped`].
    pub(super) stamped: Option<u32>,
    pub(super) tested: u32,
    pub(super) depth: u64,
    pub(super) max_test: bool,
    /// It stopped planning before the end: its counts are not the whole cycle's.
    pub(super) exhausted: bool,
    /// Records that its time counts.
    pub(super) records: u32,
}

/// If nothing has changed since a cycle that started nothing, accounts for its repetition without repeating it.
pub(super) fn repeat_idle(controller: &mut Controller<'_>, backfill: &Backfill) -> bool {
    let Some(idle) = backfill.idle else { return false };
    let weight = super::weight(controller);
    // This cycle's own time: one that would sleep or be cut short is another cycle.
    let cost = CycleCost::of_next(controller);
    let Some(duration) = cost.whole_ms(idle.records) else { return false };
    let is_marked = backfill.marked;
    let is_second_of_end = |stamped| cost.is_second_of_end(controller.now, stamped, idle.records);
    if idle.version != controller.version
        || idle.weights != controller.selector.weights.version()
        || idle.sizes != controller.sizes_version
        || idle.reasons != controller.reasons_version
        || seconds(controller.now + duration) >= idle.valid_until
        || (idle.exhausted && weight > 0)
        || (idle.exhausted && !is_marked && !idle.stamped.is_some_and(is_second_of_end))
    {
        return false;
    }
    if let Some(stamped) = idle.stamped {
        controller.timers.changed(cost.passed_at(controller.now, stamped));
    }
    controller.now += duration;
    let counters = &mut controller.counters;
    counters.backfill_cycles += 1;
    counters.backfill_tests += u64::from(idle.tested) * weight;
    counters.backfill_depth += idle.depth * weight;
    if idle.max_test {
        counters.backfill_exit_max_test += weight;
    } else {
        counters.backfill_exit_end += weight;
    }
    if is_marked {
        controller.timers.changed(controller.now);
    }
    controller.timers.backfill_ended(controller.now);
    controller.vain.backfill += 1;
    true
}
