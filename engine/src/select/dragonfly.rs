//! Nodes of one leaf switch, or else of all leaves in turn (`TopologyParam=Dragonfly` with select/cons_tres).
//! Source: behaviour of 22.05.8 to 25.05 (`_eval_nodes_dfly` of select/cons_tres, later of topology/tree; docs/FACTS.md, facts 93).

use crate::select::by_leaves::{above, heaviest_needed};
use crate::select::pick::{Offer, PickScratch, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;
use crate::select::tree::Tree;

/// Takes lighter weight classes whole before a heavier one is needed; then what is missing of the one leaf in use, or of the one with most
/// nodes where none is, if that has all; else one node of each leaf, in the order of topology.conf, round by round.
/// O(offers × height + rounds × leaves × offers).
pub(super) fn leaf_or_rounds(
    tree: &Tree,
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let Some(top) = top_switch(tree, offers, chosen) else { return false };
    let reachable = |offer: &Offer| above(tree, offer).contains(&top);
    if !chosen.iter().all(reachable) {
        return false;
    }
    let heaviest = heaviest_needed(shape, offers, (&scratch.taken, rest), reachable);
    for (position, offer) in offers.iter().enumerate() {
        if rest.max_nodes > 0 && offer.weight < heaviest && reachable(offer) {
            take(shape, offers, position, rest, scratch, chosen);
        }
    }
    let usable = |offer: &Offer| offer.weight <= heaviest && reachable(offer);
    let mut in_use: Vec<usize> = chosen.iter().filter_map(|offer| tree.leaf(offer.node)).collect();
    in_use.sort_unstable();
    in_use.dedup();
    let of_leaf = |leaf: usize| {
        let is_of = move |offer: &Offer| tree.leaf(offer.node) == Some(leaf) && usable(offer);
        offers.iter().enumerate().filter(move |(_, offer)| is_of(offer)).map(|(position, _)| position)
    };
    let fullest = tree.leaves().min_by_key(|&leaf| std::cmp::Reverse(of_leaf(leaf).count()));
    let alone = match in_use[..] {
        [] => fullest,
        [leaf] => Some(leaf),
        _ => None,
    };
    let suffices = |leaf: usize, taken: &[bool], rest: &Remaining| {
        let (mut nodes, mut cpus, mut gres) = (0, 0, 0);
        for position in of_leaf(leaf).filter(|&position| !taken[position]) {
            (nodes, cpus) = (nodes + 1, cpus + i64::from(offers[position].cpus));
            gres += i64::from(offers[position].gres);
        }
        rest.suffice(shape, nodes) && cpus >= rest.cpus && gres >= rest.gres
    };
    if let Some(leaf) = alone.filter(|&leaf| suffices(leaf, &scratch.taken, rest)) {
        for position in of_leaf(leaf) {
            if rest.max_nodes > 0 && !rest.satisfied() {
                take(shape, offers, position, rest, scratch, chosen);
            }
        }
    }
    loop {
        let before = chosen.len();
        for leaf in tree.leaves() {
            if rest.max_nodes <= 0 || rest.satisfied() {
                return rest.satisfied();
            }
            if let Some(position) = of_leaf(leaf).find(|&position| !scratch.taken[position]) {
                take(shape, offers, position, rest, scratch, chosen);
            }
        }
        if chosen.len() == before {
            return rest.satisfied();
        }
    }
}

/// The switch that all nodes must hang on: the highest above a required node, without any above a node on offer; of equals the first.
fn top_switch(tree: &Tree, offers: &[Offer], required: &[Offer]) -> Option<usize> {
    let of = if required.is_empty() { offers } else { required };
    let above = of.iter().flat_map(|offer| above(tree, offer)).copied();
    above.max_by_key(|&switch| (tree.level(switch), std::cmp::Reverse(switch)))
}
