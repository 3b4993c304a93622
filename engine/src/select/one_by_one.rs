//! From 25.11 on: another choice without the smallest nodes, one node fewer at a time.
//! Source: topology/common/common_topo.c of 25.11.7, `common_topo_choose_nodes`; topology/tree/eval_nodes_tree.c, `_eval_nodes_topo`.

use super::first_that_fits::takes_first_that_fits;
use super::pick::{Offer, PickScratch, attempt, cut_to_taken};
use super::shape::{Shape, Strategy};
use crate::ids::NodeId;

/// Nodes that may be dropped, the smallest first; nodes named stay.
pub(super) struct Smallest(Vec<(u64, NodeId)>);

impl Smallest {
    /// Of all nodes on offer, by what they offer before any attempt. O(nodes log nodes).
    pub(super) fn of(shape: &Shape, offers: &[Offer], scratch: &PickScratch) -> Self {
        let may_drop = |offer: &&Offer| !takes_first_that_fits(shape, scratch) && !shape.required.contains(&offer.node);
        let mut order: Vec<(u64, NodeId)> =
            offers.iter().filter(may_drop).map(|offer| (scratch.product(offer), offer.node)).collect();
        order.sort_unstable();
        Self(order)
    }

    /// The node to drop after an attempt on so many nodes that took these: with topology/tree one of those taken. `None` ends the search,
    /// which the last node that may be dropped does, too. O(nodes × taken).
    pub(super) fn next(&mut self, shape: &Shape, n_left: usize, taken: &[Offer]) -> Option<NodeId> {
        if n_left <= shape.min_nodes as usize || self.0.len() <= 1 {
            return None;
        }
        let was_taken = |&(_, node): &(u64, NodeId)| taken.iter().any(|offer| offer.node == node);
        let position = match shape.strategy == Strategy::Tree && !taken.is_empty() {
            true => self.0.iter().position(was_taken)?,
            false => 0,
        };
        Some(self.0.remove(position).1)
    }
}

/// Tries once more, then without the smallest node, the two smallest, …. O(nodes × one attempt).
pub(super) fn without_smallest(
    shape: &Shape,
    offers: &[Offer],
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let mut smallest = Smallest::of(shape, offers, scratch);
    let mut kept = std::mem::take(&mut scratch.kept);
    kept.clear();
    kept.extend_from_slice(offers);
    let done = loop {
        cut_to_taken(&mut kept, chosen, &scratch.left);
        if attempt(shape, &kept, false, scratch, chosen) {
            break true;
        }
        let Some(node) = smallest.next(shape, kept.len(), chosen) else { break false };
        kept.retain(|offer| offer.node != node);
    };
    scratch.kept = kept;
    done
}
