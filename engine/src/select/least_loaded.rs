//! The least loaded nodes first (`LLN`, `CR_LLN`).

use crate::select::pick::{Offer, PickScratch, ordered, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;

/// `LLN`: weight by weight the node with the largest part of its CPUs free, the first of equals, again and again. The search for
/// the next one ends at the first that beats those before it and has as many CPUs free as the last one taken, though one after it
/// may have a larger part of its own free (`_eval_nodes_lln` of 22.05.8; rec p-arr); which plays no part where all have as many CPUs.
/// O(nodes log nodes) there, else O(nodes of a weight × those taken).
pub(super) fn least_loaded(
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let all = offers.first().map_or(0, |offer| offer.idle.1);
    if offers.iter().all(|offer| offer.idle.1 == all) {
        return ordered(shape, offers, rest, scratch, chosen, |offer| -i64::from(offer.idle.0), false);
    }
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_key(|&position| (offers[position].weight, position));
    for alike in order.chunk_by(|&one, &other| offers[one].weight == offers[other].weight) {
        let mut last = None;
        while rest.max_nodes > 0 && !rest.satisfied() {
            let mut best: Option<usize> = None;
            for &position in alike.iter().filter(|&&position| !scratch.taken[position]) {
                let (offer, part) =
                    (&offers[position], |one: &Offer, of: &Offer| u32::from(one.idle.0) * u32::from(of.idle.1));
                if best.is_none_or(|best| part(&offers[best], offer) < part(offer, &offers[best])) {
                    best = Some(position);
                    if last == Some(offer.idle.0) {
                        break;
                    }
                }
            }
            let Some(position) = best else { break };
            last = Some(offers[position].idle.0);
            take(shape, offers, position, rest, scratch, chosen);
        }
    }
    rest.satisfied()
}
