//! Nodes below the lowest switch that suffices (topology/tree with select/cons_res).
//! Source: behaviour of 22.05.8 (`_eval_nodes_topo` of select/cons_res).

use crate::select::by_leaves::above;
use crate::select::pick::{Offer, PickScratch, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;
use crate::select::tree::Tree;

/// What is on offer below a switch.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    /// Nodes that are not taken; none on a leaf that has been gone through.
    nodes: i64,
    /// Their CPUs.
    cpus: i64,
    /// With required nodes below: one, and the CPUs taken of them.
    required: i64,
}

/// Takes nodes below one switch: the lowest that suffices, of these the one with the fewest nodes. Of its leaves the one is taken that
/// suffices with the fewest CPUs, or else the one with the most, and of its nodes likewise. Leaves with required nodes come first.
/// O(offers² + switches²).
pub(super) fn by_switches(
    tree: &Tree,
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let mut below = vec![Below::default(); tree.len()];
    for (offer, _) in offers.iter().zip(&scratch.taken).filter(|(_, taken)| !**taken) {
        for &switch in above(tree, offer) {
            below[switch].nodes += 1;
            below[switch].cpus += i64::from(offer.cpus);
        }
    }
    let n_required = chosen.len();
    for offer in chosen.iter() {
        for &switch in above(tree, offer) {
            below[switch].required = below[switch].required.max(1) + i64::from(offer.cpus);
        }
    }
    let linked =
        |switch: usize| chosen.iter().filter(|offer| above(tree, offer).contains(&switch)).count() == n_required;
    if n_required > 0 && !(0..tree.len()).any(linked) {
        return false;
    }
    let Some(top) = best_switch(tree, shape, &below, rest) else { return false };
    if n_required > 0 && below[top].required == 0 {
        return false;
    }
    // Leaves all of whose nodes hang on it.
    let mut is_left: Vec<bool> =
        (0..tree.len()).map(|switch| tree.level(switch) == 0 && tree.lineage(switch).contains(&top)).collect();
    while rest.max_nodes > 0 && !rest.satisfied() {
        let Some(leaf) = best_leaf(shape, &below, &is_left, rest) else { break };
        let of_leaf: Vec<usize> =
            (0..offers.len()).filter(|&position| tree.leaf(offers[position].node) == Some(leaf)).collect();
        while rest.max_nodes > 0 && !rest.satisfied() {
            let left = of_leaf.iter().copied().filter(|&position| !scratch.taken[position]);
            let Some(position) = best_node(offers, left, rest) else { break };
            take(shape, offers, position, rest, scratch, chosen);
        }
        is_left[leaf] = false;
    }
    rest.satisfied()
}

/// The switch that all nodes must hang on.
fn best_switch(tree: &Tree, shape: &Shape, below: &[Below], rest: &Remaining) -> Option<usize> {
    let is_range = shape.wanted_nodes > shape.spread;
    let wanted = i64::from(shape.wanted_nodes);
    let mut best: Option<usize> = None;
    for (switch, of) in below.iter().enumerate() {
        if of.cpus < rest.cpus || !rest.suffice(shape, of.nodes) {
            continue;
        }
        if is_range && best.is_some_and(|best| below[best].nodes < wanted && below[best].nodes < of.nodes) {
            // Nearer to the most of a range.
            best = None;
        }
        let is_better = best.is_none_or(|best| {
            let (than, level) = (&below[best], tree.level(switch).cmp(&tree.level(best)));
            let better = (than.required == 0 && of.required > 0)
                || level.is_lt()
                || (level.is_eq() && of.nodes < than.nodes)
                || (than.required > 0 && level.is_eq() && of.nodes == than.nodes && than.required < of.required);
            better && (than.required == 0 || of.required > 0)
        });
        if is_better {
            best = Some(switch);
        }
    }
    best
}

/// The smallest node that has all CPUs that are missing, or else the largest; the first of equals.
pub(super) fn best_node(offers: &[Offer], of_leaf: impl Iterator<Item = usize>, rest: &Remaining) -> Option<usize> {
    let mut best: Option<(usize, bool)> = None;
    for position in of_leaf {
        let cpus = offers[position].cpus;
        let suffices = i64::from(cpus) >= rest.cpus;
        let is_better = best.is_none_or(|(best, best_suffices)| match suffices {
            true => !best_suffices || cpus < offers[best].cpus,
            false => cpus > offers[best].cpus,
        });
        if is_better {
            best = Some((position, suffices));
        }
    }
    best.map(|(position, _)| position)
}

/// The leaf to take nodes of next.
fn best_leaf(shape: &Shape, below: &[Below], is_left: &[bool], rest: &Remaining) -> Option<usize> {
    let mut best: Option<(usize, bool)> = None;
    for (leaf, of) in below.iter().enumerate().filter(|&(leaf, of)| is_left[leaf] && of.nodes > 0) {
        let suffices = of.cpus >= rest.cpus && rest.suffice(shape, of.nodes);
        let is_better = best.is_none_or(|(best, best_suffices)| {
            let than = &below[best];
            let better = (than.required == 0 && of.required > 0)
                || (suffices && (!best_suffices || of.cpus < than.cpus))
                || (!suffices && of.cpus > than.cpus)
                || (than.required > 0 && of.required > than.required && of.cpus == than.cpus);
            better && (than.required == 0 || of.required > 0)
        });
        if is_better {
            best = Some((leaf, suffices));
        }
    }
    best.map(|(leaf, _)| leaf)
}
