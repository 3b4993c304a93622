//! The least loaded nodes first (`LLN`, `CR_LLN`).

use crate::select::pick::{Offer, PickScratch, ordered, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;

/// `LLN`: weight by weight the node with the largest part of its CPUs free, the first of equals, again and again. The search for
/// the next one ends at the first that beats those before it and has as many CPUs free as the last one taken, though one after it
/// may have a larger part of its own free (`_eval_nodes_lln` of 22.05.8; rec p-arr); which plays no part where all have as many CPUs.
/// Who is looked at is left with no more CPUs than the job could take of it then, and is passed over the next time if these are too
/// few for the tasks that a node must have room for, unless more is owed to others than the job asks for (`_cpus_to_use`, `_select_cores`;
/// rec ar-cpu, ba-sock).
/// O(nodes log nodes) where neither matters, else O(nodes of a weight × those taken).
pub(super) fn least_loaded(
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let all = offers.first().map_or(0, |offer| offer.idle.1);
    let any_room_will_do = shape.whole_nodes || shape.room_left <= 1;
    let once_more = |offer: &Offer, scratch: &PickScratch| {
        scratch.once_more.get(offer.node.index()).map_or(offer.cpus, |&cpus| cpus.max(offer.cpus))
    };
    let alike_again = offers.iter().all(|offer| once_more(offer, scratch) == offer.cpus);
    if any_room_will_do && alike_again && offers.iter().all(|offer| offer.idle.1 == all) {
        let (before, taken, n_before) = (rest.clone(), scratch.taken.clone(), chosen.len());
        let done = ordered(shape, offers, rest, scratch, chosen, |offer| -i64::from(offer.idle.0), false);
        // What may be taken never grows from one node to the next if each gives what was left for it (rec ar-site).
        let as_left = |one: &Offer| one.cpus >= shape.cpus_per_task.max(u32::from(one.kept));
        let single = before.max_nodes <= 1 || offers.len() <= 1;
        let most: u64 = {
            let mut cpus: Vec<u32> = offers.iter().map(|offer| offer.cpus).collect();
            cpus.sort_unstable_by(|a, b| b.cmp(a));
            cpus.iter().take(usize::try_from(before.max_nodes).unwrap_or(0)).map(|&cpus| u64::from(cpus)).sum()
        };
        // Nor does another way help where all that could be taken is too little.
        let too_few = u64::try_from(before.cpus).is_ok_and(|wanted| most < wanted);
        if single || too_few || (done && (before.least_nodes <= 1 || chosen[n_before..].iter().all(as_left))) {
            return done;
        }
        *rest = before;
        scratch.taken = taken;
        chosen.truncate(n_before);
    }
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_key(|&position| (offers[position].weight, position));
    let mut left = offers.to_vec();
    let mut looked_at = vec![false; offers.len()];
    let mut cut = vec![false; offers.len()];
    let part = |one: &Offer, of: &Offer| u32::from(one.idle.0) * u32::from(of.idle.1);
    for alike in order.chunk_by(|&one, &other| offers[one].weight == offers[other].weight) {
        let mut last = None;
        while rest.max_nodes > 0 && !rest.satisfied() {
            let mut best: Option<usize> = None;
            for &position in alike.iter().filter(|&&position| !scratch.taken[position]) {
                let offer = &mut left[position];
                let is_final = cut[position] || scratch.once_more.is_empty();
                if !shape.whole_nodes && is_final && offer.cpus < shape.room_left {
                    if shape.cons_res || !rest.is_overdrawn(offer) {
                        continue;
                    }
                    (cut[position], offer.cpus) = (true, shape.min_cpus_per_node);
                } else if std::mem::replace(&mut looked_at[position], true) && !cut[position] {
                    offer.cpus = once_more(offer, scratch);
                }
                let allowed = rest.allowed(shape, *offer);
                cut[position] |= allowed.cpus < offer.cpus;
                *offer = allowed;
                if offer.cpus == 0 {
                    continue;
                }
                let idle = offer.idle.0;
                if best.is_none_or(|best| part(&left[best], &left[position]) < part(&left[position], &left[best])) {
                    best = Some(position);
                    if last == Some(idle) {
                        break;
                    }
                }
            }
            let Some(position) = best else { break };
            last = Some(offers[position].idle.0);
            take(shape, &left, position, rest, scratch, chosen);
        }
    }
    scratch.cut.extend((0..left.len()).filter(|&position| cut[position]).map(|position| left[position]));
    scratch.left = left;
    rest.satisfied()
}
