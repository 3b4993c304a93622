//! A node of the leaf switch in least use, again and again (`TopologyParam=Dragonfly` with select/linear and select/cons_res).
//! Source: behaviour of 22.05.8 (`_job_test_dfly` of select/linear, `_eval_nodes_dfly` of select/cons_res; docs/FACTS.md, facts 93).

use crate::select::by_leaves::above;
use crate::select::by_switches::best_node;
use crate::select::lowest_switch::lowest_switch;
use crate::select::pick::{Offer, PickScratch, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;
use crate::select::tree::Tree;

/// What a switch has.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    /// Nodes on offer that are not taken.
    nodes: i64,
    /// Their CPUs.
    cpus: i64,
    /// Nodes taken.
    taken: i64,
}

/// Takes nodes below the lowest switch that suffices, each of the leaf of which fewest were taken, of equals the one with the fewest CPUs:
/// with select/linear its first, with select/cons_res the smallest that has all that is missing, or else the largest; there a job that
/// asks for one leaf (`--switches=1`) goes on with it. O(nodes of the job × (offers + leaves) + offers × height).
pub(super) fn least_used_leaf(
    tree: &Tree,
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let mut below = vec![Below::default(); tree.len()];
    for (offer, &taken) in offers.iter().zip(&scratch.taken) {
        for &switch in above(tree, offer) {
            let of = &mut below[switch];
            if taken {
                of.taken += 1;
            } else {
                (of.nodes, of.cpus) = (of.nodes + 1, of.cpus + i64::from(offer.cpus));
            }
        }
    }
    let top = if shape.cons_res {
        best_switch(tree, shape, &below, rest, chosen)
    } else {
        lowest_switch(tree, shape, offers, &scratch.taken).map(|(top, _)| top)
    };
    let Some(top) = top else { return false };
    let leaves: Vec<usize> = tree.leaves().filter(|&leaf| tree.lineage(leaf).contains(&top)).collect();
    let stays = shape.cons_res && shape.leaf_wait.is_some();
    let mut last = None;
    while rest.max_nodes > 0 && !rest.satisfied() {
        let left = leaves.iter().copied().filter(|&leaf| below[leaf].nodes > 0);
        let in_turn = left.min_by_key(|&leaf| (!stays || last != Some(leaf), below[leaf].taken, below[leaf].cpus));
        let Some(leaf) = in_turn else { break };
        last = Some(leaf);
        let mut of_leaf = (0..offers.len())
            .filter(|&position| !scratch.taken[position] && tree.leaf(offers[position].node) == Some(leaf));
        let next = if shape.cons_res { best_node(offers, of_leaf, rest) } else { of_leaf.next() };
        let Some(position) = next else { break };
        let of = &mut below[leaf];
        (of.nodes, of.cpus) = (of.nodes - 1, of.cpus - i64::from(offers[position].cpus));
        of.taken += 1;
        take(shape, offers, position, rest, scratch, chosen);
    }
    rest.satisfied()
}

/// select/cons_res: the leaf of the only required node if it suffices; else the lowest switch that does, of these the one with the fewest nodes.
fn best_switch(tree: &Tree, shape: &Shape, below: &[Below], rest: &Remaining, required: &[Offer]) -> Option<usize> {
    let linked = |switch: usize| required.iter().all(|offer| above(tree, offer).contains(&switch));
    if !required.is_empty() && !(0..tree.len()).any(linked) {
        return None;
    }
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
        if matches!(required, [only] if tree.leaf(only.node) == Some(switch)) {
            return Some(switch);
        }
        let rank = |switch: usize| (tree.level(switch), below[switch].nodes);
        if best.is_none_or(|best| rank(switch) < rank(best)) {
            best = Some(switch);
        }
    }
    best
}
