//! Nodes below the lowest switch that suffices (topology/tree with select/linear).
//! Source: behaviour of 22.05.8 (`_job_test_topo` of select/linear; docs/FACTS.md, facts 86).

use crate::select::by_leaves::above;
use crate::select::pick::{Offer, PickScratch, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;
use crate::select::tree::Tree;

/// What is on offer below a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Below {
    /// Nodes; none on a leaf that has been gone through.
    nodes: i64,
    /// Their CPUs.
    cpus: i64,
    /// Required nodes.
    required: usize,
}

/// Takes nodes below one switch: the lowest with nodes and CPUs enough, required ones included, of these the one with the fewest nodes. Of
/// its leaves those with required nodes come first, then those with the fewest CPUs; weights are not looked at.
/// O(offers × height + leaves²).
pub(super) fn below_lowest_switch(
    tree: &Tree,
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let Some((top, mut below)) = lowest_switch(tree, shape, offers, &scratch.taken) else { return false };
    for offer in chosen.iter() {
        if let Some(leaf) = tree.leaf(offer.node) {
            below[leaf].cpus -= i64::from(offer.cpus);
        }
    }
    let mut left: Vec<usize> = tree
        .leaves()
        .filter(|&leaf| tree.lineage(leaf).contains(&top) && below[leaf].nodes > below[leaf].required as i64)
        .collect();
    while rest.max_nodes > 0 && !rest.satisfied() {
        let best = left.iter().enumerate().min_by_key(|&(_, &leaf)| match below[leaf].required {
            0 => (1, below[leaf].cpus),
            _ => (0, 0),
        });
        let Some((place, &leaf)) = best else { break };
        left.remove(place);
        for position in (0..offers.len()).filter(|&position| tree.leaf(offers[position].node) == Some(leaf)) {
            if rest.max_nodes > 0 && !rest.satisfied() {
                take(shape, offers, position, rest, scratch, chosen);
            }
        }
    }
    rest.satisfied()
}

/// The lowest switch with nodes and CPUs enough and all required nodes, of these the one with the fewest nodes; and what each has.
/// O(offers × height + switches).
pub(super) fn lowest_switch(
    tree: &Tree,
    shape: &Shape,
    offers: &[Offer],
    taken: &[bool],
) -> Option<(usize, Vec<Below>)> {
    let mut below = vec![Below::default(); tree.len()];
    for (offer, &taken) in offers.iter().zip(taken) {
        for &switch in above(tree, offer) {
            below[switch].nodes += 1;
            below[switch].cpus += i64::from(offer.cpus);
            below[switch].required += usize::from(taken);
        }
    }
    let asked = Remaining::of(shape);
    let suffices = |&switch: &usize| {
        let of = &below[switch];
        of.cpus >= asked.cpus && of.nodes >= asked.least_nodes.max(1) && of.required == shape.required.len()
    };
    let best = (0..tree.len()).filter(suffices).min_by_key(|&switch| (tree.level(switch), below[switch].nodes));
    best.map(|top| (top, below))
}
