//! What may happen while a cycle sleeps: a bound on what could be free when it comes to a record.

use crate::ids::JobId;
use crate::node_set::NodeSet;
use crate::select::gathered::Soon;
use crate::simulation::Controller;
use crate::simulation::events::Event;

use super::Cycle;

/// What running jobs give back before a cycle that sleeps has ended, as far as the search for candidates has come.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// When running jobs end [ms], in order.
    ends: Vec<(i64, JobId)>,
    /// So many of them are in `soon`.
    taken: usize,
    /// What is free with those.
    soon: Option<Soon>,
}

impl Ahead {
    /// Looks ahead of a cycle that goes on whatever happens in its sleeps. False if more may happen than that running jobs
    /// end and pending ones start. O(events until its end).
    pub(super) fn look(&mut self, controller: &Controller<'_>, cycle: &Cycle) -> bool {
        self.forget();
        let may_open = |qos: &crate::association::Qos| qos.enforce_usage_threshold;
        if controller.limits.active || controller.scenario.qos.iter().any(may_open) || controller.any_limited_array() {
            // An end, or a priority step, may open a limit; tasks may leave the queue and come back.
            // Limits of minutes also give a run a second, earlier end: below, each run is taken to have one.
            return false;
        }
        let ends = &mut self.ends;
        // A submission that names a reservation which lacks nodes may give it some.
        let mut foreseeable = !controller.any_reservation_lacks();
        controller.events.visit_until(latest_end(controller, cycle), |time, event| match event {
            Event::RunEnds { job, starts, .. } if controller.is_running(job, starts) => ends.push((time, job)),
            Event::Calendar { .. } => foreseeable = false,
            Event::ReservationOver { job, starts } if controller.is_running(job, starts) => foreseeable = false,
            _ => {}
        });
        ends.sort_unstable();
        foreseeable
    }

    /// Nothing will become free.
    pub(super) fn forget(&mut self) {
        self.ends.clear();
        self.taken = 0;
        if let Some(soon) = &mut self.soon {
            soon.nodes.clear();
        }
    }

    /// Gives back what jobs hold that end by `until` [ms]; says whether there were more of them than before.
    /// O(nodes of those jobs).
    pub(super) fn give_back(&mut self, controller: &Controller<'_>, until: i64) -> bool {
        let before = self.taken;
        let (free, geometry) = (&controller.free, &controller.selector.geometry);
        while let Some(&(_, job)) = self.ends.get(self.taken).filter(|end| end.0 <= until) {
            self.taken += 1;
            let Some(live) = controller.live.get(job) else { continue };
            let nothing = || Soon { nodes: NodeSet::empty(geometry.cpus.len()), free: free.clone() };
            let soon = self.soon.get_or_insert_with(nothing);
            let mut socket = 0;
            for (position, node) in live.allocation.shares.iter().map(|share| share.node).enumerate() {
                if !soon.nodes.contains(node) {
                    soon.nodes.insert(node);
                    free.restore_node(geometry, &mut soon.free, node);
                }
                soon.free.give_back_share(geometry, &live.allocation, position, socket);
                socket += geometry.sockets(node).len();
            }
        }
        self.taken > before
    }

    /// What is free with the ends given back; `None` if there were none.
    pub(super) fn soon(&self) -> Option<&Soon> {
        self.soon.as_ref().filter(|_| self.taken > 0)
    }
}

/// Whether the machine may change by its calendar before the cycle has ended. O(events until its end).
pub(super) fn machine_may_change(controller: &Controller<'_>, cycle: &Cycle) -> bool {
    let mut may_change = false;
    controller.events.visit_until(latest_end(controller, cycle), |_, event| {
        may_change |= matches!(event, Event::Calendar { .. });
    });
    may_change
}

/// Up to when events have been handled when a cycle comes to a record with no more than so many before it [ms]; `i64::MIN` if
/// it does not sleep before. O(1).
pub(super) fn seen_by(cycle: &Cycle, records: usize) -> i64 {
    let clock = cycle.cost.clock(records.min(cycle.length as usize) as u64);
    clock.slept_ms.map_or(i64::MIN, |slept| cycle.begin_ms.saturating_add(slept))
}

/// No later than this [ms] the cycle ends.
pub(super) fn latest_end(controller: &Controller<'_>, cycle: &Cycle) -> i64 {
    let policy = &controller.scenario.policy.backfill;
    let whole_ms = cycle.cost.clock(u64::from(cycle.length)).now_ms;
    // It looks at the clock before each record, and after each sleep.
    let step_ms = (cycle.cost.record_us.saturating_add(policy.yield_sleep_us) / 1000 + 1) as i64;
    cycle.begin_ms + whole_ms.min(i64::MAX / 4).min(cycle.cost.max_time_ms + step_ms)
}
