//! Nodes leaf switch by leaf switch (topology/tree).
//! Source: slurm-semantics 6.8; behaviour of 22.05.8 (docs/FACTS.md, facts 31).

use std::cmp::Ordering;

use crate::select::pick::{Offer, PickScratch, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;
use crate::select::tree::Tree;

/// What is on offer below each switch.
struct Below {
    /// Nodes of the weight classes that are used; none on a leaf that has been.
    nodes: Vec<i64>,
    /// CPUs, whatever the weight and whether still there.
    cpus: Vec<i64>,
}

/// Takes nodes leaf switch by leaf switch. Lighter weight classes are all used before a heavier one is needed; then what the
/// leaves in use still have; then leaf by leaf, the nearest first. O(offers × height + leaves² × height) a job.
pub(super) fn by_leaves(
    tree: &Tree,
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let mut below = below(tree, offers);
    let Some(top) = top_switch(tree, shape, offers, &below, rest, chosen) else { return false };
    let reachable = |offer: &Offer| above(tree, offer).contains(&top);
    let heaviest = heaviest_needed(shape, offers, (&scratch.taken, rest), reachable);
    for (position, offer) in offers.iter().enumerate() {
        if rest.max_nodes > 0 && offer.weight < heaviest && reachable(offer) {
            take(shape, offers, position, rest, scratch, chosen);
        }
    }
    if rest.satisfied() || rest.max_nodes <= 0 {
        return rest.satisfied();
    }
    let usable = |offer: &Offer| offer.weight <= heaviest && reachable(offer);
    below.nodes.fill(0);
    for (offer, _) in offers.iter().zip(&scratch.taken).filter(|&(offer, &taken)| taken || usable(offer)) {
        above(tree, offer).iter().for_each(|&switch| below.nodes[switch] += 1);
    }
    let mut in_use = vec![false; tree.len()];
    chosen.iter().flat_map(|offer| above(tree, offer)).for_each(|&switch| in_use[switch] = true);
    let on = |leaf: usize, offer: &Offer| tree.leaf(offer.node) == Some(leaf) && usable(offer);
    // Of leaves in use nodes are taken beyond the most the job asked for (rec i-topo); slurmctld counts down without a sign, so that once past
    // the most there is none any more (rec k-topo).
    for leaf in tree.leaves().filter(|&leaf| in_use[leaf]) {
        for position in (0..offers.len()).filter(|&position| on(leaf, &offers[position])) {
            if !rest.satisfied() {
                take(shape, offers, position, rest, scratch, chosen);
            }
        }
    }
    let mut distance: Vec<Option<usize>> = vec![Some(0); tree.len()];
    for switch in (0..tree.len()).filter(|&switch| in_use[switch]) {
        tree.add_distances(&mut distance, switch);
    }
    while rest.max_nodes != 0 && !rest.satisfied() {
        let mut best: Option<usize> = None;
        for leaf in tree.leaves().filter(|&leaf| !in_use[leaf] && below.nodes[leaf] > 0) {
            let Some(far) = distance[leaf] else { continue };
            let nearer = |best: usize| distance[best].map_or(Ordering::Less, |other| far.cmp(&other));
            let is_better = best.is_none_or(|best| {
                let fit = fit(tree, shape, &below, rest, (leaf, best));
                match nearer(best) {
                    Ordering::Less => fit != Ordering::Less,
                    Ordering::Equal => fit == Ordering::Greater,
                    Ordering::Greater => false,
                }
            });
            best = if is_better { Some(leaf) } else { best };
        }
        let Some(leaf) = best else { break };
        tree.add_distances(&mut distance, leaf);
        for position in (0..offers.len()).filter(|&position| on(leaf, &offers[position])) {
            if rest.max_nodes != 0 && !rest.satisfied() {
                take(shape, offers, position, rest, scratch, chosen);
            }
        }
        below.nodes[leaf] = 0;
    }
    rest.satisfied()
}

/// The switches above a node.
pub(super) fn above<'t>(tree: &'t Tree, offer: &Offer) -> &'t [usize] {
    tree.leaf(offer.node).map_or(&[], |leaf| tree.lineage(leaf))
}

fn below(tree: &Tree, offers: &[Offer]) -> Below {
    let mut below = Below { nodes: vec![0; tree.len()], cpus: vec![0; tree.len()] };
    for offer in offers {
        for &switch in above(tree, offer) {
            below.nodes[switch] += 1;
            below.cpus[switch] += i64::from(offer.cpus);
        }
    }
    below
}

/// The switch that all nodes must hang on: the highest above a required node; else one with enough on offer, a higher one if it
/// has nodes as light.
fn top_switch(
    tree: &Tree,
    shape: &Shape,
    offers: &[Offer],
    below: &Below,
    rest: &Remaining,
    required: &[Offer],
) -> Option<usize> {
    if !shape.required.is_empty() {
        let above = required.iter().flat_map(|offer| above(tree, offer));
        return above.copied().max_by_key(|&switch| (tree.level(switch), std::cmp::Reverse(switch)));
    }
    let mut lightest = vec![u64::MAX; tree.len()];
    for offer in offers {
        for &switch in above(tree, offer) {
            lightest[switch] = lightest[switch].min(offer.weight);
        }
    }
    let enough = |&switch: &usize| {
        below.nodes[switch] > 0 && rest.suffice(shape, below.nodes[switch]) && has_cpus(tree, below, rest, switch)
    };
    (0..tree.len()).filter(enough).reduce(|top, switch| {
        if tree.level(switch) >= tree.level(top) && lightest[switch] <= lightest[top] { switch } else { top }
    })
}

/// The lightest weight up to which the offers suffice, for the least of a range of nodes.
pub(super) fn heaviest_needed(
    shape: &Shape,
    offers: &[Offer],
    (taken, rest): (&[bool], &Remaining),
    reachable: impl Fn(&Offer) -> bool,
) -> u64 {
    let free = || offers.iter().zip(taken).filter(|&(offer, taken)| !taken && reachable(offer)).map(|(offer, _)| offer);
    let mut weights: Vec<u64> = free().map(|offer| offer.weight).collect();
    weights.sort_unstable();
    weights.dedup();
    let suffices = |heaviest: u64| {
        let usable = free().filter(|offer| offer.weight <= heaviest);
        let (nodes, cpus, gres) = usable.fold((0, 0, 0), |(nodes, cpus, gres), offer| {
            (nodes + 1, cpus + i64::from(offer.cpus), gres + i64::from(offer.gres))
        });
        rest.suffice(shape, nodes) && cpus >= rest.cpus && gres >= rest.gres
    };
    let last = weights.last().copied().unwrap_or(0);
    weights.into_iter().find(|&heaviest| suffices(heaviest)).unwrap_or(last)
}

/// Which of two leaves fits better: `Greater` if it is `one`. Their ways up are gone side by side, up to a common switch, until one has
/// all that is still needed; of two that have, the one with fewer nodes fits better. Where none decides, more nodes do, then
/// the lower level.
fn fit(tree: &Tree, shape: &Shape, below: &Below, rest: &Remaining, (mut one, mut other): (usize, usize)) -> Ordering {
    let nodes = nodes_needed(shape, rest);
    let has_all = |switch: usize| below.nodes[switch] >= nodes && has_cpus(tree, below, rest, switch);
    loop {
        match (has_all(one), has_all(other)) {
            (true, true) => match below.nodes[other].cmp(&below.nodes[one]) {
                Ordering::Equal => break,
                fewer => return fewer,
            },
            (true, false) => return Ordering::Greater,
            (false, true) => return Ordering::Less,
            (false, false) => {}
        }
        let up = (tree.parent(one).unwrap_or(one), tree.parent(other).unwrap_or(other));
        if up.0 == up.1 || up == (one, other) {
            break;
        }
        (one, other) = up;
    }
    below.nodes[one].cmp(&below.nodes[other]).then(tree.level(other).cmp(&tree.level(one)))
}

fn has_cpus(tree: &Tree, below: &Below, rest: &Remaining, switch: usize) -> bool {
    !tree.counts_cpus || below.cpus[switch] >= rest.cpus
}

/// Nodes that are still needed; `--ntasks-per-node` says how many tasks make one.
fn nodes_needed(shape: &Shape, rest: &Remaining) -> i64 {
    let per_node = shape.tasks_per_node.map(|tasks| i64::from(tasks.saturating_mul(shape.cpus_per_task)).max(1));
    per_node.map_or(rest.nodes, |per_node| rest.nodes.max((rest.cpus + per_node - 1).div_euclid(per_node)))
}
