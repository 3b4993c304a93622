//! When and where a job could run, whatever plans there are: what the agent of `sched/builtin` asks. Source: builtin.c of 22.05.8,
//! `_compute_start_times`.

use crate::select::shape::Shape;
use crate::simulation::{Controller, seconds};

use super::Backfill;
use super::ends::note_overdue;
use super::foresee::{bound, will_run};
use crate::sched::queue::Record;

/// CPUs that the nodes would charge a job on which it could run first, of all that are up: neither its partition's nor its features are
/// asked for. `None` if there are none such. O(as a test of backfill).
pub(crate) fn charged_at_earliest(controller: &mut Controller<'_>, record: Record, shape: &Shape) -> Option<u32> {
    let mut backfill = std::mem::replace(&mut controller.backfill, Backfill::new(0));
    backfill.usable.copy_from(&controller.up);
    note_overdue(controller, &mut backfill);
    let bound = bound(controller, &backfill, record, shape);
    let now = seconds(controller.now);
    let found = will_run(controller, &mut backfill, record, shape, (bound, None), (now, None), false);
    controller.backfill = backfill;
    let found = found?;
    found
        .of_last_test
        .unwrap_or_else(|| controller.selector.charged_cpus(controller.state_of_plan(found.is_future), shape))
}
