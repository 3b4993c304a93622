//! `sched_min_interval`: requests for the main scheduler that come too soon after a run are merged into one.
//! Source: slurm-semantics 1.1 (agent serialization), 1.2.

use super::Controller;
use super::events::Event;

impl Controller<'_> {
    /// Runs the main scheduler, or notes that it must run when the interval has passed.
    pub(super) fn run_main(&mut self, full: bool) {
        if self.scenario.policy.main.sched_interval.is_none() {
            // `sched_interval=-1`: it returns at once, whoever asks for it.
            return;
        }
        let interval_ms = (self.scenario.policy.main.sched_min_interval_us / 1000) as i64;
        let earliest = self.timers.last_main_run.saturating_add(interval_ms);
        if interval_ms > 0 && self.now < earliest {
            if self.timers.postponed_main.is_none() {
                self.events.push(earliest, Event::MainRequested);
            }
            self.timers.postponed_main = Some(full || self.timers.postponed_main.unwrap_or(false));
            return;
        }
        let full = full || self.timers.postponed_main.take().unwrap_or(false);
        crate::sched::main_cycle::cycle(self, full);
        self.timers.last_main_run = self.now;
    }
}
