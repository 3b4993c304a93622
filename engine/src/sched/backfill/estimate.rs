//! When and where a job could run, whatever plans there are: what the agent of `sched/builtin` asks. Source: builtin.c of 22.05.8,
//! `_compute_start_times`.

use crate::select::shape::Shape;
use crate::simulation::{Controller, seconds};

use super::Backfill;
use super::ends::note_overdue;
use super::foresee::{bound, weigh_for_test, without_try};
use crate::sched::queue::Record;

/// CPUs that the nodes would charge a job on which it could run first, of all that are up: neither its partition's nor its features are
/// asked for, nobody would be preempted, and no version looks at the time of a try. `None` if there are none such. O(as a test of backfill).
pub(crate) fn charged_at_earliest(controller: &mut Controller<'_>, record: Record, shape: &Shape) -> Option<u32> {
    let mut backfill = std::mem::replace(&mut controller.backfill, Backfill::new(0));
    backfill.usable.copy_from(&controller.up);
    note_overdue(controller, &mut backfill);
    let bound = bound(controller, &backfill, record, shape);
    weigh_for_test(controller, &backfill.usable, true);
    let preemption = controller.preempt.take();
    let start = without_try(controller, &mut backfill, record, shape, (bound, None), false);
    controller.preempt = preemption;
    controller.backfill = backfill;
    let is_future = start? > seconds(controller.now);
    controller.selector.charged_cpus(controller.state_of_plan(is_future), shape)
}
