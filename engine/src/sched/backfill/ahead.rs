//! What may happen while a cycle sleeps: a bound on what could be free before it ends.

use crate::node_set::NodeSet;
use crate::select::gathered::Soon;
use crate::simulation::Controller;
use crate::simulation::events::Event;

use super::Cycle;

/// Looks ahead of a cycle that sleeps. `None` if more may happen in its sleeps than that running jobs end and pending
/// ones start. O(events until its end + nodes of the jobs that end).
pub(super) fn look(controller: &Controller<'_>, cycle: &Cycle, soon: Option<Soon>) -> Option<Soon> {
    let may_open = |qos: &crate::association::Qos| qos.enforce_usage_threshold;
    if controller.limits.active || controller.scenario.qos.iter().any(may_open) || controller.any_limited_array() {
        // An end, or a priority step, may open a limit; tasks may leave the queue and come back.
        // Limits of minutes also give a run a second, earlier end: below, each run is taken to have one.
        return None;
    }
    let n_nodes = controller.scenario.cluster.nodes.len();
    let mut soon = soon.unwrap_or_else(|| Soon { nodes: NodeSet::empty(n_nodes), free: controller.free.clone() });
    soon.nodes.clear();
    let geometry = &controller.selector.geometry;
    let mut foreseeable = true;
    controller.events.visit_until(latest_end(controller, cycle), |event| match event {
        Event::RunEnds { job, starts, .. } if controller.is_running(job, starts) => {
            let Some(live) = controller.live.get(job) else { return };
            let mut socket = 0;
            for (position, node) in live.allocation.shares.iter().map(|share| share.node).enumerate() {
                if !soon.nodes.contains(node) {
                    soon.nodes.insert(node);
                    controller.free.restore_node(geometry, &mut soon.free, node);
                }
                soon.free.give_back_share(geometry, &live.allocation, position, socket);
                socket += geometry.sockets(node).len();
            }
        }
        Event::Calendar { .. } => foreseeable = false,
        _ => {}
    });
    foreseeable.then_some(soon)
}

/// No later than this [ms] the cycle ends.
pub(super) fn latest_end(controller: &Controller<'_>, cycle: &Cycle) -> i64 {
    let policy = &controller.scenario.policy.backfill;
    let work_us = cycle.cost.of_records(cycle.length);
    let sleeps = work_us / policy.yield_interval_us.max(1) + 1;
    let whole_ms = (work_us / 1000).saturating_add(sleeps.saturating_mul(policy.yield_sleep_us / 1000 + 1));
    // It looks at the clock before each record, and after each sleep.
    let step_ms = (cycle.cost.record_us.saturating_add(policy.yield_sleep_us) / 1000 + 1) as i64;
    cycle.begin_ms + (whole_ms.min(i64::MAX as u64 / 4) as i64).min(cycle.cost.max_time_ms + step_ms)
}
