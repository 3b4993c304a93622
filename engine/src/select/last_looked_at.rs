//! The least loaded nodes first (`LLN`, `CR_LLN`), from 25.11 on: a node is counted with the CPUs of the one that was looked at last in the search for
//! it. Who gets fewer than his tasks take is accepted, waits, and blocks; who would use more of a node than it has is held for good.
//! Source: topology/common/eval_nodes.c of 25.11.7 and 26.05.3, `_eval_nodes_lln` (docs/FACTS.md, facts 100).

use super::Selector;
use super::free::Free;
use super::pick::{Offer, PickScratch};
use super::remaining::Remaining;
use super::shape::Shape;
use crate::cluster::Cluster;
use crate::ids::PartitionId;
use crate::job::{Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::{Policy, SlurmVersion};

/// As [`super::least_loaded::least_loaded`]; what cannot be laid out is noted in the scratch. O(nodes of a weight × those taken).
pub(super) fn least_loaded_counted_by_last(
    shape: &Shape,
    offers: &[Offer],
    rest: &mut Remaining,
    scratch: &mut PickScratch,
    chosen: &mut Vec<Offer>,
) -> bool {
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_key(|&position| (offers[position].weight, position));
    let mut left = offers.to_vec();
    for alike in order.chunk_by(|&one, &other| offers[one].weight == offers[other].weight) {
        let mut last = None;
        while rest.max_nodes > 0 && !rest.satisfied() {
            let is_left = |&&position: &&usize| !scratch.taken[position] && left[position].cpus > 0;
            let Some((best, counted)) = search(&left, alike.iter().filter(is_left).copied(), last) else { break };
            let given = rest.allowed(shape, Offer { cpus: counted, ..left[best] });
            if given.cpus == 0 {
                left[best].cpus = 0;
                continue;
            }
            last = Some(offers[best].idle.0);
            if given.cpus < counted {
                left[best].cpus = given.cpus;
            }
            rest.take(shape, given);
            scratch.taken[best] = true;
            chosen.push(Offer { cpus: left[best].cpus, ..given });
        }
    }
    let of_task = shape.cpus_per_task.max(1);
    let tasks: u32 = chosen.iter().map(|offer| (offer.cpus / of_task).max(1)).sum();
    let has_more = |offer: &Offer| offers.iter().any(|own| own.node == offer.node && own.cpus < offer.cpus);
    let lacks_cpus = shape.tasks_are_said && tasks < shape.tasks;
    let overdraws = !shape.whole_nodes && chosen.iter().any(has_more);
    scratch.cannot_be_laid_out = !shape.whole_nodes && (lacks_cpus || overdraws);
    scratch.overdrew = overdraws && !lacks_cpus && rest.satisfied();
    scratch.left = left;
    rest.satisfied()
}

/// Whether tests of a request may hold it so, and so are all made. O(partitions of it).
pub(crate) fn may_hold(cluster: &Cluster, policy: &Policy, request: &Request) -> bool {
    let select = &policy.select;
    let is_of_one_node = policy.version >= SlurmVersion::V26_05 && request.max_nodes.unwrap_or(request.tasks) == 1;
    let least_loaded =
        |id: &PartitionId| select.least_loaded_nodes || cluster.partitions[id.index()].least_loaded_nodes;
    policy.version >= SlurmVersion::V25_11
        && !(select.linear || is_of_one_node || request.sharing == Sharing::Exclusive)
        && request.partitions.iter().any(least_loaded)
}

impl Selector {
    /// As [`Selector::fits_in_plan`], of what is free now. O(as `fits`).
    pub(crate) fn fits_now_in_plan(&mut self, free: &Free, shape: &Shape, user: u32, candidates: &NodeSet) -> bool {
        let fits = self.fits_in_plan(free, shape, user, candidates);
        self.overdrawn |= self.scratch.overdrew;
        fits
    }

    /// Whether a test of what is free now, since the last call, would have used more of a node than it has; slurmctld then holds the job, whatever
    /// else it finds (dist_tasks.c of 25.11.7: "sync loop not progressing"; rec u4-25-11). O(1).
    pub(crate) fn take_overdrawn(&mut self) -> bool {
        std::mem::take(&mut self.overdrawn)
    }
}

/// The node with the largest part of its CPUs free, the first of equals, or the first such with as many free as the `last` one taken; and the CPUs
/// of the one that was looked at last.
fn search(left: &[Offer], alike: impl Iterator<Item = usize>, last: Option<u16>) -> Option<(usize, u32)> {
    let part = |one: &Offer, of: &Offer| u32::from(one.idle.0) * u32::from(of.idle.1);
    let mut best: Option<usize> = None;
    let mut counted = 0;
    for position in alike {
        counted = left[position].cpus;
        if best.is_none_or(|best| part(&left[best], &left[position]) < part(&left[position], &left[best])) {
            best = Some(position);
            if last == Some(left[position].idle.0) {
                break;
            }
        }
    }
    best.map(|best| (best, counted))
}
