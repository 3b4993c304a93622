//! Best fit over runs of consecutive nodes, as long as nodes are needed. Source: slurm-semantics 6.7 (observed on 22.05.8).

use crate::select::pick::{Offer, PickScratch, take};
use crate::select::remaining::Remaining;
use crate::select::shape::Shape;

/// A maximal sequence of consecutive usable nodes of one weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    begin: usize,
    end: usize,
    cpus: u32,
    gres: u32,
    nodes: u32,
    weight: u64,
    first_required: Option<usize>,
    /// A node before it, of another weight, ended the last one.
    breaks_off: bool,
}

impl Run {
    /// Whether its nodes cover what is still needed.
    fn suffices(&self, shape: &Shape, rest: &Remaining) -> bool {
        i64::from(self.cpus) >= rest.cpus
            && i64::from(self.gres) >= rest.gres
            && rest.suffice(shape, i64::from(self.nodes))
    }
}

/// Chooses so. O(offers + runs²).
pub(super) fn consecutive(
    shape: &Shape,
    offers: &[Offer],
    linear: bool,
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    find_runs(shape, offers, linear, scratch);
    if !shape.contiguous && take_largest(shape, offers, linear, rest, scratch, chosen) {
        return true;
    }
    while rest.max_nodes > 0 {
        let Some(best) = best_run(shape, scratch, rest) else { return false };
        let run = scratch.runs[best];
        // A run without nodes is passed over from now on.
        scratch.runs[best].nodes = 0;
        let sufficient = run.suffices(shape, rest);
        if shape.contiguous && !sufficient {
            return false;
        }
        if let Some(required) = run.first_required {
            // Upward from the first required node, then downward.
            for position in (required..run.end).chain((run.begin..required).rev()) {
                if rest.max_nodes <= 0 || rest.satisfied() {
                    break;
                }
                take(shape, offers, position, rest, scratch, chosen);
            }
        } else {
            fill_from_run(shape, offers, run, linear, rest, scratch, chosen);
        }
        // select/linear takes what it may have of contiguous nodes that were enough together, though that is less than was asked for
        // (select_linear.c of 22.05.8, `_job_test`; rec bb-linear).
        if rest.satisfied() || (linear && shape.contiguous) {
            return true;
        }
    }
    false
}

/// As long as no run has the CPUs that are still needed, [`best_run`] is the largest, the first of them: where weights and
/// required nodes play no part, those are taken without a search. Says whether nothing more is needed.
/// O(runs log runs).
fn take_largest(
    shape: &Shape,
    offers: &[Offer],
    linear: bool,
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let plain = |run: &Run| run.first_required.is_none() && run.weight == scratch.runs[0].weight;
    let largest = scratch.runs.iter().map(|run| i64::from(run.cpus)).max().unwrap_or(0);
    if largest >= rest.cpus || rest.gres > 0 || !scratch.runs.iter().all(plain) {
        return false;
    }
    let mut order = std::mem::take(&mut scratch.order);
    order.clear();
    order.extend((0..scratch.runs.len()).filter(|&index| scratch.runs[index].nodes > 0));
    order.sort_by_key(|&index| std::cmp::Reverse(scratch.runs[index].cpus));
    for &index in &order {
        let run = scratch.runs[index];
        if rest.max_nodes <= 0 || rest.satisfied() || i64::from(run.cpus) >= rest.cpus {
            break;
        }
        scratch.runs[index].nodes = 0;
        fill_from_run(shape, offers, run, linear, rest, scratch, chosen);
    }
    scratch.order = order;
    rest.satisfied()
}

/// Splits the offers into runs: an unusable node or, unless they must be contiguous, a change of weight ends one. Those of
/// required nodes alone are left out.
fn find_runs(shape: &Shape, offers: &[Offer], linear: bool, scratch: &mut PickScratch) {
    scratch.runs.clear();
    for (position, offer) in offers.iter().enumerate() {
        if scratch.taken[position] && !shape.required.contains(&offer.node) {
            continue;
        }
        let weight = if linear { 0 } else { offer.weight };
        let last = scratch.runs.last().filter(|run| run.end == position);
        let last = last.filter(|_| offers[position - 1].node.0 + 1 == offer.node.0);
        // Required nodes alone have no weight yet; where they broke a run off, none is alike.
        let is_alike = |run: &Run| if run.nodes == 0 { !run.breaks_off } else { run.weight == weight };
        let continues = last.is_some_and(|run| shape.contiguous || is_alike(run));
        let breaks_off = last.is_some();
        if !continues {
            scratch.runs.push(Run {
                begin: position,
                end: position,
                cpus: 0,
                gres: 0,
                nodes: 0,
                weight,
                first_required: None,
                breaks_off,
            });
        }
        if let Some(run) = scratch.runs.last_mut() {
            run.end = position + 1;
            if scratch.taken[position] {
                run.first_required = run.first_required.or(Some(position));
            } else {
                run.cpus += offer.cpus;
                run.gres += u32::from(offer.gres);
                run.nodes += 1;
                // Of contiguous nodes the last one's counts.
                run.weight = weight;
            }
        }
    }
    scratch.runs.retain(|run| run.nodes > 0);
}

/// The run to use next.
fn best_run(shape: &Shape, scratch: &PickScratch, rest: &Remaining) -> Option<usize> {
    let mut best: Option<(usize, Run, bool)> = None;
    let around_required = shape.contiguous && !shape.required.is_empty();
    if around_required && scratch.runs.iter().filter(|run| run.first_required.is_some()).count() > 1 {
        return None;
    }
    for (index, run) in scratch.runs.iter().enumerate() {
        if run.nodes == 0 || (around_required && run.first_required.is_none()) {
            continue;
        }
        let sufficient = run.suffices(shape, rest);
        let better = match &best {
            None => true,
            Some((_, best, best_sufficient)) => {
                let fits_better = if sufficient {
                    !best_sufficient || run.cpus < best.cpus
                } else {
                    // As observed, a larger insufficient run also replaces a smaller sufficient one seen earlier.
                    run.cpus > best.cpus
                };
                (best.first_required.is_none() && run.first_required.is_some())
                    || run.weight < best.weight
                    || (run.weight == best.weight && fits_better)
                    || (shape.contiguous && sufficient && !best_sufficient)
            }
        };
        if better {
            best = Some((index, *run, sufficient));
        }
    }
    best.map(|(index, ..)| index)
}

/// Takes nodes of a run without required nodes.
fn fill_from_run(
    shape: &Shape,
    offers: &[Offer],
    run: Run,
    linear: bool,
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) {
    if rest.nodes <= 1 && !linear {
        // One node is enough: the one that leaves least over.
        let mut tightest: Option<usize> = None;
        for position in run.begin..run.end {
            let cpus = i64::from(offers[position].cpus);
            if scratch.taken[position] || !rest.is_met_by(&offers[position]) {
                continue;
            }
            if tightest.is_none_or(|best| offers[position].cpus < offers[best].cpus) {
                tightest = Some(position);
                if cpus == rest.cpus {
                    break;
                }
            }
        }
        if let Some(position) = tightest {
            take(shape, offers, position, rest, scratch, chosen);
            return;
        }
    }
    for position in run.begin..run.end {
        if rest.max_nodes <= 0 || rest.satisfied() {
            break;
        }
        let takes_any = linear && shape.contiguous;
        if scratch.taken[position] || (rest.max_nodes == 1 && !takes_any && !rest.is_met_by(&offers[position])) {
            continue;
        }
        take(shape, offers, position, rest, scratch, chosen);
    }
}
