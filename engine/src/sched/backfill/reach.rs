//! How far a cycle gets before its time or `bf_max_job_test` ends it: what lies beyond cannot start in it.

use crate::ablation::{Rule, is_off};
use crate::job::JobPart;
use crate::sched::queue::Record;
use crate::select::shape::Shape;
use crate::simulation::Controller;

use super::Cycle;

/// Lower bounds on what the cycle has behind it when it comes to the scout's record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reach {
    /// Records that take time.
    passed: u64,
    /// Records tested, against `bf_max_job_test`.
    tested: u32,
    /// Nodes that their plans may take.
    nodes: u64,
}

impl Reach {
    /// Whether the cycle ends before the next record. O(1).
    pub(super) fn is_exceeded(self, controller: &Controller<'_>, cycle: &Cycle) -> bool {
        let most = controller.scenario.policy.backfill.max_job_test;
        // It does not sleep after the last record that takes time.
        let timed = self.passed.min(u64::from(cycle.length.saturating_sub(1)));
        let taken_ms = cycle.cost.clock(timed).now_ms;
        (self.tested >= most && !is_off(Rule::BackfillDepth)) || taken_ms >= cycle.cost.max_time_ms
    }

    /// The scout goes past a record. `waits` says that it is in the queue until the cycle ends.
    ///
    /// It is sure to be tested if nothing keeps it from its first try and the plans made before leave enough of its
    /// nodes untouched at all times. O(words).
    pub(super) fn pass(&mut self, controller: &Controller<'_>, record: Record, waits: bool) {
        let shape = controller.known_shape_of_record(record);
        let (Some(shape), true) = (shape, waits) else {
            // It may be planned all the same.
            self.nodes = self.nodes.saturating_add(shape.map_or(u64::MAX, |shape| u64::from(shape.max_nodes)));
            return;
        };
        self.passed += 1;
        let wanted = usize::try_from(self.nodes.saturating_add(u64::from(shape.min_nodes))).unwrap_or(usize::MAX);
        let enough = || shape.eligible.intersection_len_up_to(&controller.up, wanted) >= wanted;
        self.tested += u32::from(!shape.unlayable && is_tried(controller, record, shape) && enough());
        self.nodes = self.nodes.saturating_add(u64::from(shape.max_nodes));
    }
}

/// Whether nothing keeps the record from its first try.
fn is_tried(controller: &Controller<'_>, record: Record, shape: &Shape) -> bool {
    let workload = &controller.scenario.workload;
    let policy = &controller.scenario.policy.backfill;
    !controller.limits.active
        && !controller.reservations.any()
        && !policy.running_job_reserve
        && !policy.licenses
        && !policy.caps_records()
        && shape.required.is_empty()
        && !controller.any_exclusive_users
        && workload.requests[record.request.index()].licenses.is_empty()
        && (record.kind.alone || matches!(workload.jobs[record.job.index()].name.part, JobPart::Whole))
        && controller.record_is_allowed(record)
}
