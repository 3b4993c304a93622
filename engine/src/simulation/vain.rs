//! When waiting jobs are given up: nothing runs, nothing more will happen, and the schedulers have looked at them in vain.
//!
//! Looking is in vain for ever where a job asks for more nodes than are up. A scheduler that passes over jobs stamps them as
//! changed all the same, so its cycles never stop of themselves. Who would start only because ages or shares put him before such a
//! job, after more than [`PATIENCE`] cycles, is given up, too.

use super::{Controller, SECOND};

/// Cycles since a job started, ended or came, or the machine changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vain {
    /// Of the main scheduler, over the whole queue.
    pub(crate) main: u32,
    /// Of backfill.
    pub(crate) backfill: u32,
    /// When that was, reservations left aside [ms].
    pub(crate) since: i64,
}

/// So many cycles of each scheduler are enough: priority steps come in between, plans of components are remembered for two, and what
/// tests for GPUs leave behind is read by the next.
const PATIENCE: u32 = 10;

/// After so long no age grows any more by default (`PriorityMaxAge`) [s].
const LONG: i64 = 7 * 24 * 3600;

impl Controller<'_> {
    /// Something has happened that schedulers may decide otherwise by, though no record has changed.
    pub(super) fn look_again(&mut self) {
        (self.vain.main, self.vain.backfill) = (0, 0);
        self.timers.look_again();
    }

    /// Whether cycles before the next event may be left out: no waiting job will start before it, and none has for so long that
    /// neither ages nor cycles make a difference. A reservation that ends in a year would be a million of them.
    pub(super) fn is_long_stuck(&self) -> bool {
        let long = LONG.max(i64::from(self.scenario.policy.priority.max_age));
        self.now - self.vain.since > long * SECOND
            && !self.queue.is_empty()
            && !self.timers.is_imposed()
            && self.is_stuck()
    }

    /// Whether no waiting job will start, if no event is to come.
    pub(super) fn is_stuck(&self) -> bool {
        let idle = self.running.is_empty() && !self.backfill.in_progress();
        idle && self.has_looked() && !self.waits_for_time() && !self.waits_for_decay()
    }

    /// Whether both schedulers have looked since anything changed, or often enough.
    fn has_looked(&self) -> bool {
        let (timers, vain) = (&self.timers, self.vain);
        // Components may start after some cycles more, if such are to come.
        let settles = !self.components_wait() || timers.backfill_is_over();
        let main = timers.main_is_over() || vain.main >= PATIENCE || (settles && timers.full_run_since_change);
        let backfill =
            timers.backfill_is_over() || vain.backfill >= PATIENCE || (settles && timers.backfill_since_change);
        let nobody_waits = self.queue.is_empty() && !self.anyone_held();
        (main && backfill) || (settles && nobody_waits)
    }
}
