//! From 26.05 on: a job of one node gets the first of the lightest nodes on which it fits, whatever options say how nodes are chosen. Units that are
//! counted for the whole job are summed over the nodes looked at, so that it may be given one that has too few: then it waits, and blocks.
//! Source: cons_tres/job_test.c of 26.05.3, `_get_one_res`; topology/common/common_topo.c, `common_test_node` (docs/FACTS.md, facts 100).

use super::pick::{Offer, PickScratch, spread_tasks};
use super::remaining::Remaining;
use super::shape::Shape;
use crate::job::{GresScope, Request};
use crate::policy::{Policy, SlurmVersion};

/// Whether a job is chosen one node so. O(1).
pub(super) fn takes_first_that_fits(shape: &Shape, scratch: &PickScratch) -> bool {
    scratch.first_that_fits && shape.max_nodes == 1 && !shape.cons_res
}

/// The request as it is tested there, if that is not as it says: what is counted for the whole job is not asked of each node. O(its GRES).
pub(crate) fn counted_over_nodes(policy: &Policy, request: &Request) -> Option<Request> {
    let counts = request.gres.iter().any(|gres| gres.scope == GresScope::PerJob && gres.count > 1);
    let is_of_one = request.max_nodes.unwrap_or(request.tasks) == 1;
    let is_tested_so = policy.version >= SlurmVersion::V26_05 && !policy.select.linear && counts && is_of_one;
    is_tested_so.then(|| Request { max_nodes: Some(2), use_min_nodes: true, ..request.clone() })
}

/// Chooses it out of `offers` (node order) into `chosen`. O(offers log offers).
pub(super) fn first_that_fits(
    shape: &Shape,
    offers: &[Offer],
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let may_serve = |offer: &&Offer| shape.required.is_empty() || shape.required.contains(&offer.node);
    if let Some(wanted) = shape.gres_of_job.first() {
        let mut order: Vec<&Offer> = offers.iter().filter(may_serve).collect();
        order.sort_by_key(|offer| (offer.weight, offer.node));
        let mut units = 0;
        let is_reached = |offer: &&&Offer| {
            units += u32::from(offer.gres);
            units >= wanted.count && offer.cpus >= shape.min_cpus
        };
        let Some(first) = order.iter().find(is_reached) else { return false };
        scratch.cannot_be_laid_out = u32::from(first.gres) < wanted.count;
        chosen.push(Remaining::of(shape).take(shape, **first));
        return true;
    }
    let fits = |offer: &&Offer| {
        let mut rest = Remaining::of(shape);
        rest.take(shape, **offer);
        rest.satisfied()
    };
    let Some(first) = offers.iter().filter(may_serve).filter(fits).min_by_key(|offer| (offer.weight, offer.node))
    else {
        return false;
    };
    chosen.push(Remaining::of(shape).take(shape, *first));
    spread_tasks(shape, chosen);
    true
}
