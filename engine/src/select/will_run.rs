//! When could this job run, if running jobs end as expected: the will-run test of select/cons_tres and select/linear.
//! Source: slurm-semantics 3.4 (observed on 22.05.8).

use crate::ids::NodeId;
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::Selector;
use crate::select::free::{Allocation, Free};
use crate::select::shape::Shape;

/// A running job as the test sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningJob<'a> {
    /// Expected end [s].
    pub(crate) end: i64,
    /// What it holds.
    pub(crate) allocation: &'a Allocation,
}

/// How the test groups ends of running jobs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WillRunPolicy {
    /// select/linear: one job at a time.
    pub(crate) linear: bool,
    /// `bf_window_linear` [s], 0 for doubling windows.
    pub(crate) window_linear: i64,
    /// Release whose prediction is reproduced.
    pub(crate) version: SlurmVersion,
}

/// Jobs released in one group before the next group begins without a test.
const GROUP_MAX: usize = 201;

/// The earliest expected start [s] of a request on `usable` nodes, at least `now`; nodes are left in `selector.chosen`.
/// To be called after [`Selector::fits`] has said no to the same request on what is free; `future` is equal to that,
/// and differs on its `changed` nodes afterwards. `running` is in order of expected end.
/// O(nodes of the jobs released + groups that might suffice × candidates): a group is tested only if enough nodes and
/// CPUs have come together, which is counted node by node as jobs are released.
#[expect(clippy::too_many_arguments, reason = "the test reads the controller's state and owns none of it")]
pub(crate) fn earliest_start<'a>(
    selector: &mut Selector,
    policy: WillRunPolicy,
    future: &mut Free,
    shape: &Shape,
    user: u32,
    usable: &NodeSet,
    running: impl Iterator<Item = RunningJob<'a>> + Clone,
    now: i64,
) -> Option<i64> {
    let mut gathered = selector.gather();
    let mut jobs = running.clone().peekable();
    let mut window = 30;
    let mut anchor: Option<i64> = None;
    loop {
        let mut last_end: Option<i64> = None;
        let mut released = 0;
        while let Some(job) = jobs.next() {
            if !job.allocation.shares.iter().any(|share| usable.contains(share.node)) {
                continue;
            }
            future.give_back(&selector.geometry, job.allocation);
            for share in job.allocation.shares.iter().filter(|share| usable.contains(share.node)) {
                selector.regather(&mut gathered, future, shape, user, share.node);
            }
            last_end = Some(job.end);
            let anchor_end = *anchor.get_or_insert((job.end.div_euclid(30) + 1) * 30);
            released += 1;
            if policy.linear || released > GROUP_MAX {
                break;
            }
            if jobs.peek().is_none_or(|next| next.end > anchor_end + window) {
                break;
            }
        }
        let last_end = last_end?;
        if released > GROUP_MAX {
            continue;
        }
        if let (Some(next), Some(anchor_end)) = (jobs.peek(), anchor) {
            loop {
                window = if policy.window_linear > 0 { window + policy.window_linear } else { window * 2 };
                if next.end <= anchor_end + window {
                    break;
                }
            }
        }
        if gathered.may_suffice(shape) && selector.fits(future, shape, user, usable) {
            let end = if policy.version >= SlurmVersion::V25_05 {
                end_on_chosen(selector, running, last_end)
            } else {
                last_end
            };
            return Some(end.max(now));
        }
    }
}

/// 25.05.1 and later: the latest end among the released jobs that hold one of the chosen nodes.
fn end_on_chosen<'a>(selector: &Selector, running: impl Iterator<Item = RunningJob<'a>>, last_end: i64) -> i64 {
    running
        .take_while(|job| job.end <= last_end)
        .filter(|job| selector.chosen.iter().any(|offer| touches(job.allocation, offer.node)))
        .map(|job| job.end)
        .last()
        .unwrap_or(last_end)
}

/// Whether an allocation has the node.
fn touches(allocation: &Allocation, node: NodeId) -> bool {
    allocation.shares.binary_search_by_key(&node, |share| share.node).is_ok()
}
