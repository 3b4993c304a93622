//! When a job could start whose constraint counts nodes (`[a*2&b*3]`), from 24.11 on. Source: backfill.c of 24.11.5, `_try_sched`.

use super::Backfill;
use super::foresee::{Foreseen, at_try};
use crate::sched::queue::Record;
use crate::select::shape::Shape;
use crate::simulation::Controller;

/// Each part is asked for by itself, on what those before it leave, until one has no start at this try; then the nodes that it wants besides,
/// whatever their features. It starts with the latest of the parts that have a start, if there is one and those besides have one, too:
/// on nodes, then, that may lack a part (rec c1030-24-11). O(parts × will-run test).
pub(super) fn one_after_another(
    controller: &mut Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    bound: i64,
    tried: (i64, Option<i64>),
    test_only: bool,
) -> Option<Foreseen> {
    let usable = backfill.usable.clone();
    let mut left = usable.clone();
    let mut one = shape.clone();
    one.counted.clear();
    one.as_many = false;
    let (mut chosen, mut of_parts, mut of_last_test, mut is_future) = (Vec::new(), None, None, false);
    let mut ask = |controller: &mut Controller<'_>, backfill: &mut Backfill, one: &Shape| {
        let found = at_try(controller, backfill, record, one, bound, tried, test_only)?;
        let state = controller.state_of_plan(found.is_future);
        of_last_test = Some(controller.selector.charged_cpus(state, one));
        is_future |= found.is_future;
        Some(found.start)
    };
    for (nodes, count) in &shape.counted {
        (one.min_nodes, one.wanted_nodes, one.spread) = (*count, *count, *count);
        backfill.usable.copy_from(&left);
        backfill.usable.intersect(nodes);
        let enough = backfill.usable.has(*count as usize);
        let Some(start) = enough.then(|| ask(controller, backfill, &one)).flatten() else { break };
        of_parts = of_parts.max(Some(start));
        controller.selector.chosen.iter().for_each(|offer| left.remove(offer.node));
        chosen.extend_from_slice(&controller.selector.chosen);
    }
    let n_found = chosen.len() as u32;
    let mut fits = true;
    if n_found < shape.wanted_nodes {
        one.min_nodes = shape.min_nodes.saturating_sub(n_found);
        one.wanted_nodes = shape.wanted_nodes - n_found;
        one.max_nodes = shape.max_nodes.saturating_sub(n_found);
        one.spread = one.min_nodes;
        backfill.usable.copy_from(&left);
        fits = ask(controller, backfill, &one).is_some();
        if fits {
            chosen.extend_from_slice(&controller.selector.chosen);
        }
    }
    backfill.usable.copy_from(&usable);
    chosen.sort_unstable_by_key(|offer| offer.node);
    controller.selector.chosen = chosen;
    let Some(start) = of_parts.filter(|_| fits) else {
        if shape.size_varies {
            controller.size_becomes(record.job, of_last_test.flatten());
        }
        return None;
    };
    Some(Foreseen { start, is_future, of_last_test })
}
