//! Nodes in use before idle ones (`bf_busy_nodes`).
//! Source: slurm.conf(5) `bf_busy_nodes`; behaviour of 22.05.8 (docs/FACTS.md, facts 36).

use crate::select::pick::{Offer, PickScratch, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;

/// `bf_busy_nodes`: weight by weight nodes in use, then idle ones. As observed, what ends the search among the nodes in use does
/// not keep it from the idle ones of that weight: one of them is taken more than is needed, or more than are allowed.
pub(super) fn busy_first(
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
    idle: &[bool],
) -> bool {
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_key(|&position| (offers[position].weight, idle[offers[position].node.index()]));
    let mut satisfied = false;
    for of_weight in order.chunk_by(|&one, &other| offers[one].weight == offers[other].weight) {
        let mut ends = false;
        for alike in
            of_weight.chunk_by(|&one, &other| idle[offers[one].node.index()] == idle[offers[other].node.index()])
        {
            for &position in alike {
                if shape.cons_res && rest.max_nodes <= 0 {
                    ends = true;
                    break;
                }
                take(shape, offers, position, rest, scratch, chosen);
                satisfied |= rest.satisfied();
                if rest.satisfied() || rest.max_nodes == 0 {
                    ends = true;
                    break;
                }
            }
        }
        if ends {
            break;
        }
    }
    satisfied || (rest.cpus <= 0 && rest.gres <= 0 && rest.least_nodes <= 0)
}
