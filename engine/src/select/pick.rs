//! Which nodes, by the shape's strategy: best fit over runs of consecutive nodes ([`super::consecutive`]), and its variants.
//! Source: slurm-semantics 6.7 (observed on 22.05.8).

use crate::ids::NodeId;
use crate::policy::SlurmVersion;
use crate::select::busy::busy_first;
use crate::select::by_leaves::by_leaves;
use crate::select::by_switches::by_switches;
use crate::select::consecutive::{Run, consecutive};
use crate::select::dragonfly::leaf_or_rounds;
use crate::select::first_that_fits::{first_that_fits, takes_first_that_fits};
use crate::select::last_looked_at::least_loaded_counted_by_last;
use crate::select::least_loaded::least_loaded;
use crate::select::least_used_leaf::least_used_leaf;
use crate::select::lowest_switch::below_lowest_switch;
use crate::select::near::Cut;
use crate::select::one_by_one::without_smallest;
use crate::select::remaining::Remaining;
use crate::select::shape::{Shape, Strategy};
use crate::select::small_nodes::without_small_nodes;
use crate::select::tree::Tree;

/// A node that can serve, with the CPUs it offers; once chosen, with the CPUs it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// The node.
    pub(crate) node: NodeId,
    /// CPUs.
    pub(crate) cpus: u32,
    /// Scheduling weight: lighter first.
    pub(crate) weight: u64,
    /// CPUs that nobody uses, whether the job could use them or not, of how many: where least-loaded nodes are chosen.
    pub(crate) idle: (u16, u16),
    /// CPUs kept for it while other nodes are taken: a core's, with CR_Socket a socket's.
    pub(crate) kept: u16,
    /// Free units of the GRES that is counted for the whole job.
    pub(crate) gres: u16,
}

impl Offer {
    /// With so many CPUs at most, and units of the GRES that is counted for the whole job. O(1).
    pub(super) fn cut_to(&self, (cpus, units): Cut) -> Self {
        Self { cpus: self.cpus.min(cpus), gres: u32::from(self.gres).min(units) as u16, ..*self }
    }
}

/// Working memory of [`choose`], kept between calls.
#[derive(Debug, Default)]
pub(crate) struct PickScratch {
    pub(super) runs: Vec<Run>,
    /// Positions of runs, the largest first.
    pub(super) order: Vec<usize>,
    pub(super) taken: Vec<bool>,
    pub(super) kept: Vec<Offer>,
    /// What the last attempt left of the offers; empty where that is what it took.
    pub(super) left: Vec<Offer>,
    /// The switch tree, empty without topology/tree.
    pub(super) tree: Tree,
    /// After a failed attempt one small node is dropped, not all that are as small (from 24.11.4 on; topology/common_topo.c,
    /// `common_topo_choose_nodes`; rec c117-25-05).
    pub(super) drops_singly: bool,
    /// The smallest node is dropped, and then the next (from 25.11 on).
    pub(super) drops_in_order: bool,
    /// Who may have one node only gets the first of the lightest on which the job fits (from 26.05 on).
    pub(super) first_that_fits: bool,
    /// Whether the last attempt found nodes on which its tasks cannot be laid out ([`super::last_looked_at`]).
    pub(super) cannot_be_laid_out: bool,
    /// Whether that is for want of CPUs of one node.
    pub(super) overdrew: bool,
    /// Idle nodes, which come last (`bf_busy_nodes`); empty where they do not.
    pub(super) idle_last: Vec<bool>,
    /// Free GPUs of each node on offer, of the kinds asked for; empty where none are.
    pub(super) gpus: Vec<u32>,
    /// What the last attempt left of nodes that it looked at and cut, where it looks at nodes more than once.
    pub(super) cut: Vec<Offer>,
    /// CPUs that each node on offer has once it is looked at again, where those near its GRES are on offer; else empty.
    pub(super) once_more: Vec<u32>,
}

impl PickScratch {
    /// Working memory for a cluster with this switch tree.
    pub(crate) fn new(tree: Tree, version: SlurmVersion) -> Self {
        Self {
            tree,
            drops_singly: version >= SlurmVersion::V24_11,
            drops_in_order: version >= SlurmVersion::V25_11,
            first_that_fits: version >= SlurmVersion::V26_05,
            ..Self::default()
        }
    }

    /// By how much an offer is taken to offer where smaller ones are dropped: its CPUs, and where GPUs are asked for the node's free ones,
    /// however few the job takes (rec i-mix).
    pub(super) fn size(&self, offer: &Offer) -> u32 {
        offer.cpus.saturating_add(self.gpus.get(offer.node.index()).copied().unwrap_or(0))
    }

    /// The same from 25.11 on: CPUs times the node's free GPUs.
    pub(super) fn product(&self, offer: &Offer) -> u64 {
        u64::from(offer.cpus) * u64::from(self.gpus.get(offer.node.index()).copied().unwrap_or(1))
    }

    /// How many leaf switches the nodes are taken to hang on. O(nodes × log leaves).
    pub(crate) fn leaves_of(&self, shape: &Shape, linear: bool, chosen: &[Offer]) -> usize {
        // Leaves in turn: select/linear counts nodes, and with select/cons_res, too, only those that nobody named.
        let by_turns = self.tree.is_dragonfly && (linear || shape.cons_res);
        let counted = chosen.iter().filter(|offer| !by_turns || !shape.required.contains(&offer.node));
        if by_turns && linear {
            return counted.count();
        }
        let leaves: std::collections::BTreeSet<_> = counted.map(|offer| self.tree.leaf(offer.node)).collect();
        leaves.len()
    }
}

/// Chooses nodes out of `offers` (node order) into `chosen` (node order, CPUs as given). False if it cannot be done.
/// O(offers + runs²) for one attempt; failing attempts are repeated without the smallest nodes (at most as often as
/// there are different CPU counts; from 24.11.4 on as often as there are nodes). `linear` chooses as select/linear does: whatever the weights.
pub(crate) fn choose(
    shape: &Shape,
    offers: &[Offer],
    linear: bool,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    chosen.clear();
    let total: u64 = offers.iter().map(|offer| u64::from(offer.cpus)).sum();
    if offers.len() < shape.min_nodes as usize || total < u64::from(shape.min_cpus) || shape.max_nodes < shape.min_nodes
    {
        return false;
    }
    if attempt(shape, offers, linear, scratch, chosen) {
        return true;
    }
    if linear || takes_first_that_fits(shape, scratch) {
        return false;
    }
    if shape.cons_res {
        return without_small_nodes(shape, offers, scratch, chosen);
    }
    if scratch.drops_in_order {
        return without_smallest(shape, offers, scratch, chosen);
    }
    // A knapsack may fail because of small nodes: drop those with few CPUs and try again. What an attempt left others of a node's CPUs is
    // all that the node offers from then on (docs/FACTS.md, facts 69).
    let mut kept = std::mem::take(&mut scratch.kept);
    kept.clear();
    kept.extend_from_slice(offers);
    cut_to_taken(&mut kept, chosen, &scratch.left);
    let most = kept.iter().map(|offer| scratch.size(offer)).max().unwrap_or(0);
    let mut done = false;
    let mut count = 0;
    while count + 1 < most {
        count += 1;
        let (tried, before) = (count, kept.len());
        let mut left = before;
        kept.retain(|offer| {
            let drop = scratch.size(offer) <= count
                && left > shape.min_nodes as usize
                && !shape.required.contains(&offer.node);
            left -= usize::from(drop);
            // From 24.11.4 on the first that goes lowers the count, for those behind it, too.
            count -= u32::from(drop && scratch.drops_singly && count == tried);
            !drop
        });
        if kept.len() == before && tried > 1 {
            continue;
        }
        if attempt(shape, &kept, linear, scratch, chosen) {
            done = true;
            break;
        }
        if kept.len() <= shape.min_nodes as usize {
            break;
        }
        cut_to_taken(&mut kept, chosen, &scratch.left);
    }
    scratch.kept = kept;
    done
}

/// Whether nodes in use are taken first.
pub(super) fn prefers_busy(shape: &Shape, scratch: &PickScratch) -> bool {
    shape.strategy != Strategy::Spread && !shape.contiguous && !scratch.idle_last.is_empty()
}

/// With select/cons_res only two ways leave CPUs for the nodes to come.
pub(super) fn is_uncut(shape: &Shape, scratch: &PickScratch) -> bool {
    shape.cons_res
        && (prefers_busy(shape, scratch) || !matches!(shape.strategy, Strategy::Consecutive | Strategy::Tree))
}

/// Leaves nodes the CPUs that a failed attempt took or left of them. O(taken × log offers).
pub(super) fn cut_to_taken(offers: &mut [Offer], taken: &[Offer], left: &[Offer]) {
    for offer in taken.iter().chain(left) {
        if let Ok(position) = offers.binary_search_by_key(&offer.node, |kept| kept.node) {
            offers[position].cpus = offers[position].cpus.min(offer.cpus);
        }
    }
}

/// As [`choose`], in one attempt.
pub(crate) fn choose_at_once(
    shape: &Shape,
    offers: &[Offer],
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    offers.len() >= shape.min_nodes as usize
        && shape.max_nodes >= shape.min_nodes
        && attempt(shape, offers, false, scratch, chosen)
}

/// One attempt with the shape's strategy.
pub(super) fn attempt(
    shape: &Shape,
    offers: &[Offer],
    linear: bool,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    chosen.clear();
    scratch.left.clear();
    scratch.cut.clear();
    (scratch.cannot_be_laid_out, scratch.overdrew) = (false, false);
    scratch.taken.clear();
    scratch.taken.resize(offers.len(), false);
    if !linear && takes_first_that_fits(shape, scratch) {
        return first_that_fits(shape, offers, scratch, chosen);
    }
    let mut rest = Remaining::of(shape);
    let prefers_busy = prefers_busy(shape, scratch);
    rest.uncut = is_uncut(shape, scratch);
    let by_tasks = prefers_busy || !matches!(shape.strategy, Strategy::Consecutive | Strategy::Tree);
    if by_tasks && !linear && !shape.cons_res {
        rest.max_nodes = rest.max_nodes.min(i64::from(shape.most_by_tasks));
    }
    // Two ways take more nodes than are needed with it.
    let goes_on = shape.cons_res && (prefers_busy || shape.strategy == Strategy::Spread);
    for required in &shape.required {
        match offers.iter().position(|offer| offer.node == *required) {
            Some(position) if rest.max_nodes > 0 => take(shape, offers, position, &mut rest, scratch, chosen),
            _ => return false,
        }
    }
    let satisfied = (rest.satisfied() && !goes_on)
        || match shape.strategy {
            _ if prefers_busy => {
                let idle = std::mem::take(&mut scratch.idle_last);
                let done = busy_first(shape, offers, &mut rest, scratch, chosen, &idle);
                scratch.idle_last = idle;
                done
            }
            Strategy::Tree => {
                let tree = std::mem::take(&mut scratch.tree);
                let by = match (tree.is_dragonfly, linear, shape.cons_res) {
                    (true, false, false) => leaf_or_rounds,
                    (true, _, _) => least_used_leaf,
                    (false, true, _) => below_lowest_switch,
                    (false, _, true) => by_switches,
                    (false, _, _) => by_leaves,
                };
                let done = by(&tree, shape, offers, &mut rest, scratch, chosen);
                scratch.tree = tree;
                done
            }
            Strategy::Consecutive if linear && needs_large_nodes(offers, &rest) => {
                largest_first(shape, offers, &mut rest, scratch, chosen)
            }
            Strategy::Consecutive => consecutive(shape, offers, linear, &mut rest, scratch, chosen),
            // Over as many nodes as there are tasks; where GPUs are counted for the job, until it has them (rec h-mix).
            Strategy::Spread => {
                let as_many = shape.cons_res || (shape.as_many && shape.gres_of_job.is_empty());
                let done = ordered(shape, offers, &mut rest, scratch, chosen, |_| 0, as_many);
                if done && shape.of_each_weight {
                    one_of_each_weight(shape, offers, &mut rest, scratch, chosen);
                }
                done
            }
            // With select/cons_res by the number of free CPUs.
            Strategy::LeastLoaded if shape.cons_res => {
                ordered(shape, offers, &mut rest, scratch, chosen, |offer| -i64::from(offer.idle.0), false)
            }
            Strategy::LeastLoaded if scratch.drops_in_order => {
                least_loaded_counted_by_last(shape, offers, &mut rest, scratch, chosen)
            }
            Strategy::LeastLoaded => least_loaded(shape, offers, &mut rest, scratch, chosen),
            Strategy::SerialAtEnd => {
                ordered(shape, offers, &mut rest, scratch, chosen, |offer| -i64::from(offer.node.0), false)
            }
        };
    let enough = satisfied || rest.is_enough(shape);
    if enough {
        chosen.sort_unstable_by_key(|offer| offer.node);
        // Where select/cons_res leaves nodes all their CPUs each has those of so many tasks, whatever the job has (rec c1132).
        if !is_uncut(shape, scratch) {
            spread_tasks(shape, chosen);
        }
    }
    enough
}

/// `--ntasks-per-node`: nodes are chosen by all that they offer, and get CPUs for so many tasks.
pub(super) fn spread_tasks(shape: &Shape, chosen: &mut [Offer]) {
    let Some(tasks) = shape.tasks_per_node.filter(|_| !shape.whole_nodes) else { return };
    let mut rest = Remaining::of(shape);
    for offer in chosen {
        let cpus = tasks.saturating_mul(shape.cpus_per_task).max(shape.min_cpus_per_node);
        *offer = rest.take(shape, Offer { cpus, ..*offer });
    }
}

/// Takes one offer, if it was not taken before.
pub(super) fn take(
    shape: &Shape,
    offers: &[Offer],
    position: usize,
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) {
    if scratch.taken[position] {
        return;
    }
    scratch.taken[position] = true;
    chosen.push(rest.take(shape, offers[position]));
}

/// select/linear: whether the nodes are of unlike size, and as many of the smallest as are needed would not do.
pub(super) fn needs_large_nodes(offers: &[Offer], rest: &Remaining) -> bool {
    let least = offers.iter().map(|offer| offer.cpus).min().unwrap_or(0);
    offers.iter().any(|offer| offer.cpus != least) && rest.cpus > i64::from(least) * rest.nodes
}

/// select/linear, where size matters: the node with the most CPUs, the last of equals, again and again.
fn largest_first(
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    while rest.max_nodes > 0 && !rest.satisfied() {
        let left = (0..offers.len()).filter(|&position| !scratch.taken[position]);
        let Some(largest) = left.max_by_key(|&position| offers[position].cpus) else { break };
        take(shape, offers, largest, rest, scratch, chosen);
    }
    rest.satisfied()
}

/// Takes the first node of each weight above those taken.
fn one_of_each_weight(
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) {
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_key(|&position| (offers[position].weight, offers[position].node));
    let mut heaviest = chosen.iter().map(|offer| offer.weight).max();
    for position in order {
        if Some(offers[position].weight) > heaviest {
            heaviest = Some(offers[position].weight);
            take(shape, offers, position, rest, scratch, chosen);
        }
    }
}

/// Takes nodes by weight and then by `rank`; `as_many` goes on until no more nodes are allowed.
pub(super) fn ordered(
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
    rank: impl Fn(&Offer) -> i64,
    as_many: bool,
) -> bool {
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_key(|&position| (offers[position].weight, rank(&offers[position]), offers[position].node));
    for position in order {
        if rest.max_nodes <= 0 || (rest.satisfied() && !as_many) {
            break;
        }
        take(shape, offers, position, rest, scratch, chosen);
    }
    rest.satisfied()
}
