//! When a job could start whose nodes must all have the same one of several features (`[a|b]`). Source: backfill.c of 22.05.8, `_try_sched`.

use super::Backfill;
use super::foresee::{Foreseen, by_all};
use crate::sched::queue::Record;
use crate::select::shape::Shape;
use crate::simulation::Controller;

/// The earliest of the starts that the features' nodes have by themselves, each with its own groups of ends, and of equal ones the first
/// (rec ay-tier); the job's size is left as the last test that found one had it (rec s-arr). O(features × will-run test).
pub(super) fn one_by_one(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    (bound, useless_after): (i64, Option<i64>),
    tried: (i64, Option<i64>),
    test_only: bool,
) -> Option<Foreseen> {
    let usable = backfill.usable.clone();
    let mut one = shape.clone();
    one.alternatives.clear();
    if let Some(by_default) = &mut one.by_default {
        by_default.alternatives.clear();
    }
    let keep = |backfill: &mut Backfill, place: usize| {
        backfill.usable.copy_from(&usable);
        backfill.usable.intersect(&shape.alternatives[place]);
        backfill.usable.has(shape.min_nodes as usize)
    };
    let test = |controller: &mut Controller<'_>, backfill: &mut Backfill| {
        by_all(controller, backfill, record, &one, (bound, useless_after), tried, test_only)
    };
    let (mut earliest, mut of_last_test, mut last) = (None, None, 0);
    for place in 0..shape.alternatives.len() {
        if !keep(backfill, place) {
            continue;
        }
        last = place;
        let Some(found) = test(controller, backfill) else { continue };
        if shape.size_varies {
            let state = controller.state_of_plan(found.is_future);
            of_last_test = Some(controller.selector.charged_cpus(state, &one));
        }
        if earliest.is_none_or(|(_, before): (usize, Foreseen)| found.start < before.start) {
            earliest = Some((place, found));
        }
    }
    // Its nodes, and who holds which then, are as its own test leaves them.
    let found = earliest.and_then(|(place, found)| {
        if place == last {
            return Some(found);
        }
        keep(backfill, place);
        test(controller, backfill)
    });
    backfill.usable.copy_from(&usable);
    found.map(|found| Foreseen { of_last_test, ..found })
}
