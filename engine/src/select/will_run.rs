//! When could this job run, if running jobs end as expected: the will-run test of select/cons_tres and select/linear.
//! Source: slurm-semantics 3.4 (observed on 22.05.8).

use crate::ids::{JobId, NodeId};
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::Selector;
use crate::select::allocation::Allocation;
use crate::select::free::Free;
use crate::select::shape::Shape;
use crate::simulation::running::Running;

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
pub(super) const GROUP_MAX: usize = 201;

/// Where the windows of a test begin whose first released job ends at a time [s]: always strictly later.
pub(super) fn first_anchor(end: i64) -> i64 {
    (end.div_euclid(30) + 1) * 30
}

/// The test's way through the running jobs: groups of those on the usable nodes, after each of which it looks.
#[derive(Debug)]
pub(crate) struct Groups<'r> {
    jobs: &'r [Running],
    policy: WillRunPolicy,
    window: i64,
    anchor: Option<i64>,
    until: Option<i64>,
}

impl<'r> Groups<'r> {
    /// Before the first group of these jobs, which come in order of expected end.
    pub(crate) fn new(jobs: &'r [Running], policy: WillRunPolicy) -> Self {
        Self { jobs, policy, window: 30, anchor: None, until: None }
    }

    /// The same, but whose jobs end after a time [s] stay: with 24.11 and later nobody is released who ends after the next try.
    fn until(self, until: Option<i64>) -> Self {
        Self { until, ..self }
    }

    /// Goes through the next group and says whether it is tested; `None` if there is none. `take` is told every running
    /// job and says whether it holds usable nodes, and so belongs to the group. O(jobs looked at).
    pub(crate) fn next(&mut self, mut take: impl FnMut(Running) -> bool) -> Option<bool> {
        let mut released = 0;
        while let Some((job, rest)) = self.jobs.split_first() {
            if self.until.is_some_and(|until| job.end > until) {
                self.jobs = &[];
                break;
            }
            self.jobs = rest;
            if !take(*job) {
                continue;
            }
            let anchor_end = *self.anchor.get_or_insert(first_anchor(job.end));
            released += 1;
            if self.policy.linear || released > GROUP_MAX {
                break;
            }
            if self.jobs.first().is_none_or(|next| next.end > anchor_end + self.window) {
                break;
            }
        }
        if released == 0 {
            return None;
        }
        if released > GROUP_MAX {
            return Some(false);
        }
        if self.policy.linear {
            // One job is a group, whatever the window: it must not be doubled job after job.
            return Some(true);
        }
        if let (Some(next), Some(anchor_end)) = (self.jobs.first(), self.anchor) {
            let linear = self.policy.window_linear;
            loop {
                self.window = if linear > 0 { self.window + linear } else { self.window * 2 };
                if next.end <= anchor_end + self.window {
                    break;
                }
            }
        }
        Some(true)
    }
}

/// The end of the last limit [s] that a request waits for on `usable` nodes; nodes are left in `selector.chosen`.
/// To be called after [`Selector::fits`] has said no to the same request on `future`, which is equal to what is free or has lost who ended,
/// and differs on its `changed` nodes afterwards. `running` is in order of expected end.
/// Nobody is released who ends after `until` [s]. This is the definition; [`crate::select::predict`] answers alike without releasing what cannot matter.
/// O(nodes of the jobs released + groups that might suffice × candidates): a group is tested only if enough nodes and
/// CPUs have come together, which is counted node by node as jobs are released.
pub(crate) fn earliest_start<'a>(
    selector: &mut Selector,
    policy: WillRunPolicy,
    future: &mut Free,
    (shape, user): (&Shape, u32),
    usable: &NodeSet,
    (running, until): (&[Running], Option<i64>),
    allocation: impl Fn(JobId) -> Option<&'a Allocation> + Copy,
) -> Option<i64> {
    let mut gathered = selector.gather(future, shape, user, usable);
    let mut groups = Groups::new(running, policy).until(until);
    let mut last_end = i64::MIN;
    loop {
        let tested = groups.next(|job| {
            let held = allocation(job.job).filter(|held| held.shares.iter().any(|share| usable.contains(share.node)));
            let Some(held) = held else { return false };
            future.give_back(&selector.geometry, held);
            for share in held.shares.iter().filter(|share| usable.contains(share.node)) {
                selector.regather(&mut gathered, future, shape, user, share.node);
            }
            last_end = job.end;
            true
        })?;
        let leaves_weights = selector.gpus_stay && selector.favours(shape);
        // Who shares counts cores that are in use.
        let counts_more = future.shared.any() && (shape.shared_by > 1 || policy.linear);
        let may_suffice = counts_more || leaves_weights || gathered.may_suffice(shape);
        if tested && may_suffice && selector.fits_in_plan(future, shape, user, usable) {
            return Some(start_of(selector, policy, running.iter().copied(), allocation, last_end));
        }
    }
}

/// Takes away the jobs on usable nodes that have ended when a try begins, as 24.11 and later do before they look at anything else
/// (cons_tres/job_test.c of 24.11.5 and 25.05.3, `_build_cr_job_list`); gives those that have not. O(nodes of the jobs released).
pub(crate) fn release_ended<'a, 'r>(
    selector: &Selector,
    policy: WillRunPolicy,
    future: &mut Free,
    usable: &NodeSet,
    running: &'r [Running],
    allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    start: i64,
) -> &'r [Running] {
    let (ended, others) = running.split_at(n_ended(policy, running, start));
    for held in ended.iter().filter_map(|job| allocation(job.job)) {
        if held.shares.iter().any(|share| usable.contains(share.node)) {
            future.give_back(&selector.geometry, held);
        }
    }
    others
}

/// How many of the jobs, in order of expected end, have ended when a try begins [s]. O(log jobs).
pub(crate) fn n_ended(policy: WillRunPolicy, running: &[Running], start: i64) -> usize {
    running.partition_point(|job| job.end < start || (job.end == start && policy.version >= SlurmVersion::V25_05))
}

/// The start that the test reports, when jobs up to `last_end` were released.
pub(crate) fn start_of<'a>(
    selector: &Selector,
    policy: WillRunPolicy,
    running: impl Iterator<Item = Running>,
    allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    last_end: i64,
) -> i64 {
    match policy.version >= SlurmVersion::V25_05 {
        true => end_on_chosen(selector, running, allocation, last_end),
        false => last_end,
    }
}

/// 25.05.1 and later: the latest end among the released jobs that hold one of the chosen nodes.
fn end_on_chosen<'a>(
    selector: &Selector,
    running: impl Iterator<Item = Running>,
    allocation: impl Fn(JobId) -> Option<&'a Allocation>,
    last_end: i64,
) -> i64 {
    let on_chosen = |held: &Allocation| selector.chosen.iter().any(|offer| touches(held, offer.node));
    running
        .take_while(|job| job.end <= last_end)
        .filter(|job| allocation(job.job).is_some_and(on_chosen))
        .map(|job| job.end)
        .last()
        .unwrap_or(last_end)
}

/// Whether an allocation has the node.
fn touches(allocation: &Allocation, node: NodeId) -> bool {
    allocation.shares.binary_search_by_key(&node, |share| share.node).is_ok()
}
