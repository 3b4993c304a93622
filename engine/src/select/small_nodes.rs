//! select/cons_res: another choice without the smallest nodes.

use super::pick::{Offer, PickScratch, attempt, cut_to_taken, is_uncut};
use super::shape::Shape;
use crate::ids::NodeId;

/// Tries again without the smallest nodes, by the rules of select/cons_res: a node is only dropped while what is left has all the CPUs that
/// the job needs, and the last node that may be dropped ends the search (`choose_nodes` of 22.05.8). O(different sizes × one attempt).
pub(super) fn without_small_nodes(
    shape: &Shape,
    offers: &[Offer],
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let mut kept = std::mem::take(&mut scratch.kept);
    kept.clear();
    kept.extend_from_slice(offers);
    cut_to_taken(&mut kept, chosen, &scratch.left);
    let most = kept.iter().map(|offer| offer.cpus).max().unwrap_or(0);
    let mut cpus: i64 = kept.iter().map(|offer| i64::from(offer.cpus)).sum();
    let needed = i64::from(shape.min_cpus);
    let least = shape.min_nodes.max(shape.spread) as usize;
    let mut done = false;
    for count in 1..most {
        let before = kept.len();
        let (mut left, mut last) = (before, false);
        kept.retain(|offer| {
            if last || offer.cpus == 0 || offer.cpus > count || shape.required.contains(&offer.node) {
                return true;
            }
            cpus -= i64::from(offer.cpus);
            if cpus < needed {
                last = true;
                return true;
            }
            left -= 1;
            last = left <= least || cpus == needed;
            false
        });
        if kept.len() == before {
            continue;
        }
        // The other ways look at all nodes between the first and the last, dropped or not (rec au-cpu, au-core).
        let ends = kept.first().zip(kept.last()).map(|(first, last)| (first.node, last.node));
        done = match ends {
            Some((first, last)) if is_uncut(shape, scratch) => {
                let within = |node: NodeId| first <= node && node <= last;
                let begin = offers.partition_point(|offer| offer.node < first);
                let all: Vec<Offer> = offers[begin..].iter().take_while(|offer| within(offer.node)).copied().collect();
                kept.len() >= least && attempt(shape, &all, false, scratch, chosen)
            }
            _ => attempt(shape, &kept, false, scratch, chosen),
        };
        if done || last {
            break;
        }
        cut_to_taken(&mut kept, chosen, &scratch.left);
    }
    scratch.kept = kept;
    done
}
