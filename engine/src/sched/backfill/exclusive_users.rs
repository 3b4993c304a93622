//! Nodes that users hold for themselves (`ExclusiveUser`, `--exclusive=user`), from 24.11 on: out of a try that begins before the last job
//! there is expected to have ended. Before, they are out of every plan. Source: backfill.c of 24.11.5, `_filter_exclusive_user_mcs_nodes`;
//! rec c108-24-11, c110-24-11 (docs/FACTS.md, facts 87).

use crate::ids::NodeId;
use crate::policy::SlurmVersion;
use crate::sched::queue::Record;
use crate::select::free::ANY_USER;
use crate::select::shape::Shape;
use crate::simulation::Controller;

use super::Backfill;

/// Nodes in use by when the last job there is expected to end [s], the latest first; none where they are not known.
#[derive(Debug, Default)]
pub(super) struct LastEnds(Option<Vec<(i64, NodeId)>>);

impl LastEnds {
    /// A cycle begins, or a job has started in it.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}

/// What is left of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Nodes enough; where some are out, it may be asked again at this time [s].
    Enough(Option<i64>),
    /// Too few before this time [s].
    TooFew(i64),
}

/// Takes nodes out of `backfill.usable` that others hold for themselves, or that are in others' use where the job wants them for its user, if
/// their last job ends after `start` [s]. O(nodes in use), and once a cycle and start O(running jobs × their nodes).
pub(super) fn filter(
    controller: &Controller<'_>,
    backfill: &mut Backfill,
    shape: &Shape,
    user: u32,
    start: i64,
) -> Left {
    let nodes = backfill.last_ends.0.get_or_insert_with(|| last_ends(controller));
    let mut left = backfill.usable.len();
    let mut later = None;
    for &(end, node) in nodes.iter().take_while(|(end, _)| *end > start) {
        if !backfill.usable.contains(node) || controller.free.admits(node, user, shape.exclusive_user) {
            continue;
        }
        later = Some(end);
        if left <= shape.min_nodes as usize || shape.required.contains(&node) {
            return Left::TooFew(end);
        }
        backfill.usable.remove(node);
        left -= 1;
    }
    Left::Enough(later)
}

fn last_ends(controller: &Controller<'_>) -> Vec<(i64, NodeId)> {
    let mut ends = vec![i64::MIN; controller.scenario.cluster.nodes.len()];
    // In the order of their ends.
    for running in controller.running.iter() {
        if let Some(live) = controller.live.get(running.job) {
            live.allocation.shares.iter().for_each(|share| ends[share.node.index()] = running.end);
        }
    }
    let mut nodes: Vec<(i64, NodeId)> = ends
        .into_iter()
        .enumerate()
        .filter(|(_, end)| *end > i64::MIN)
        .map(|(node, end)| (end, NodeId::new(node)))
        .collect();
    nodes.sort_by_key(|&(end, node)| (std::cmp::Reverse(end), node));
    nodes
}

/// For whom tests are made: from 24.11 on for anybody, since nodes that others hold for themselves have been taken out before by when they come
/// free ([`filter`]).
pub(super) fn tested_for(controller: &Controller<'_>, record: Record) -> u32 {
    match controller.scenario.policy.version >= SlurmVersion::V24_11 {
        true => ANY_USER,
        false => controller.scenario.workload.jobs[record.job.index()].user.0,
    }
}
