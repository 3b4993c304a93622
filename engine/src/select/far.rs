//! The second pass over nodes for a job that asks for GRES: where cores near them do not suffice, each node offers the cores that the
//! job needs there, near or far, and no more. Source: behaviour of select/cons_tres of 22.05.8; docs/FACTS.md, facts 59.

use std::collections::BTreeMap;

use crate::ids::NodeId;
use crate::select::near::Cut;
use crate::select::one_by_one::Smallest;
use crate::select::pick::{Offer, PickScratch, choose_at_once};
use crate::select::shape::Shape;

/// Chooses nodes out of `offers` (node order), of which each is cut to so many CPUs, into `chosen`; units that the first pass had no CPUs
/// for near them stay out. Where that fails, nodes are dropped by what they offer uncut, the smallest first; but what an attempt left of a node is
/// all that it offers from then on (cons_tres/job_test.c of 22.05.8, `_cpus_to_use`; rec az-gpu3). O(different sizes × one attempt).
pub(super) fn choose_cut(
    shape: &Shape,
    offers: &[Offer],
    (near, far): (&[Cut], &[Cut]),
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let of_node = |node: NodeId| offers.binary_search_by_key(&node, |offer| offer.node);
    let mut left_over = left_by_attempt(scratch, chosen, |node| of_node(node).map_or(0, |position| near[position].0));
    let cut_to = |(offer, (&near, &(cpus, units))): (&Offer, (&Cut, &Cut))| {
        let units = if near.0 > 0 { near.1.min(units) } else { units };
        (*offer, offer.cut_to((cpus, units)))
    };
    let mut left: Vec<(Offer, Offer)> = offers.iter().zip(near.iter().zip(far)).map(cut_to).collect();
    let least = shape.min_nodes as usize;
    if left.len() <= least {
        return fits_cut(shape, &left, &mut left_over, scratch, chosen);
    }
    if scratch.drops_in_order {
        let mut smallest = Smallest::of(shape, offers, scratch);
        while !fits_cut(shape, &left, &mut left_over, scratch, chosen) {
            let Some(node) = smallest.next(shape, left.len(), chosen) else { return false };
            left.retain(|(offer, _)| offer.node != node);
        }
        return true;
    }
    let size_of = |offer: &Offer, left_over: &BTreeMap<NodeId, u32>, scratch: &PickScratch| {
        let cpus = left_over.get(&offer.node).map_or(offer.cpus, |&cpus| offer.cpus.min(cpus));
        scratch.size(&Offer { cpus, ..*offer })
    };
    let most = left.iter().map(|(offer, _)| size_of(offer, &left_over, scratch)).max().unwrap_or(0);
    for count in 1..most {
        let before = left.len();
        let mut more = before.saturating_sub(least);
        left.retain(|(offer, _)| {
            let small = size_of(offer, &left_over, scratch) <= count;
            let drops = small && more > 0 && !shape.required.contains(&offer.node);
            more -= usize::from(drops);
            !drops
        });
        if left.len() == before && count > 1 {
            continue;
        }
        if fits_cut(shape, &left, &mut left_over, scratch, chosen) {
            return true;
        }
        if left.len() <= least {
            return false;
        }
    }
    false
}

/// One attempt; what it leaves of nodes is noted where it fails.
fn fits_cut(
    shape: &Shape,
    left: &[(Offer, Offer)],
    left_over: &mut BTreeMap<NodeId, u32>,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let of = |&(_, offer): &(Offer, Offer)| {
        let cpus = match left_over.get(&offer.node) {
            // Too few for the tasks that a node must have room for.
            Some(&cpus) if cpus < shape.room_left && !shape.whole_nodes => 0,
            Some(&cpus) => offer.cpus.min(cpus),
            None => offer.cpus,
        };
        Offer { cpus, ..offer }
    };
    let offered: Vec<Offer> = left.iter().map(of).filter(|offer| offer.cpus > 0).collect();
    let fits = choose_at_once(shape, &offered, scratch, chosen);
    if !fits {
        let of_node = |node: NodeId| offered.binary_search_by_key(&node, |offer| offer.node);
        left_over.extend(left_by_attempt(scratch, chosen, |node| {
            of_node(node).map_or(0, |position| offered[position].cpus)
        }));
    }
    fits
}

/// CPUs that a failed attempt left of nodes that it cut, given what each had offered. O(offers log offers).
fn left_by_attempt(scratch: &PickScratch, chosen: &[Offer], offered: impl Fn(NodeId) -> u32) -> BTreeMap<NodeId, u32> {
    let taken = chosen.iter().filter(|offer| offer.cpus < offered(offer.node));
    scratch.cut.iter().chain(taken).map(|offer| (offer.node, offer.cpus)).collect()
}
