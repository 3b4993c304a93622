//! The second pass over nodes for a job that asks for GRES: where cores near them do not suffice, each node offers the cores that the
//! job needs there, near or far, and no more. Source: behaviour of select/cons_tres of 22.05.8; docs/FIDELITY.md, facts 59.

use crate::select::pick::{Offer, PickScratch, choose_at_once};
use crate::select::shape::Shape;

/// Chooses nodes out of `offers` (node order), of which each is cut to so many CPUs, into `chosen`; units that the first pass had no CPUs
/// for near them stay out. Where that fails, nodes are dropped by what they offer uncut, the smallest first.
/// O(different sizes × one attempt).
pub(super) fn choose_cut(
    shape: &Shape,
    offers: &[Offer],
    (near, far): (&[u32], &[u32]),
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let mut left: Vec<(u32, Offer)> = offers
        .iter()
        .zip(near.iter().zip(far))
        .map(|(offer, (&near, &cpus))| {
            let cut = offer.cut_to(shape, cpus);
            let units = if near > 0 { offer.cut_to(shape, near).gres } else { u16::MAX };
            (scratch.size(offer), Offer { gres: cut.gres.min(units), ..cut })
        })
        .collect();
    let least = shape.min_nodes as usize;
    let mut fits = |left: &[(u32, Offer)]| {
        let offered: Vec<Offer> = left.iter().map(|&(_, offer)| offer).filter(|offer| offer.cpus > 0).collect();
        choose_at_once(shape, &offered, scratch, chosen)
    };
    let most = left.iter().map(|&(size, _)| size).max().unwrap_or(0);
    if left.len() <= least {
        return fits(&left);
    }
    for count in 1..most {
        let before = left.len();
        let mut more = before.saturating_sub(least);
        left.retain(|&(size, offer)| {
            let drops = size <= count && more > 0 && !shape.required.contains(&offer.node);
            more -= usize::from(drops);
            !drops
        });
        if left.len() == before && count > 1 {
            continue;
        }
        if fits(&left) {
            return true;
        }
        if left.len() <= least {
            return false;
        }
    }
    false
}
