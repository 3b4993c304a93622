//! The groups of [`crate::select::will_run::Groups`], found by their ends instead of job by job.

use crate::select::overlap::Overlap;
use crate::select::ready::Moment;
use crate::select::will_run::{GROUP_MAX, WillRunPolicy, first_anchor};
use crate::simulation::running::Running;

/// What passing over groups has come upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// Nothing.
    All,
    /// The last job of a group that is tested.
    Upon(Moment),
    /// Groups end after the time asked about; not before this one [s].
    Late(i64),
}

/// The window of a test's first group [s].
const FIRST_WINDOW: i64 = 30;

/// The last window [s] for which something holds that holds up to some window; `None` if not even for the first. O(windows).
pub(super) fn last_window(policy: WillRunPolicy, holds: impl Fn(i64) -> bool) -> Option<i64> {
    let mut found = None;
    let mut window = FIRST_WINDOW;
    while holds(window) {
        found = Some(window);
        window = wider(policy, window);
    }
    found
}

/// The window after a window [s].
pub(super) fn wider(policy: WillRunPolicy, window: i64) -> i64 {
    let linear = policy.window_linear;
    if linear > 0 { window + linear } else { window * 2 }
}

/// The same way through the running jobs. A group reaches from the job after the one before to the last job on usable nodes
/// whose end lies in the window; if the window's very last job is none of those, to the next one after the window, since the
/// test looks at the window's edge only when it has released a job. In one window at most every 202nd job ends a group
/// without a test, and the window stays; only how many there are is counted, not where.
#[derive(Debug)]
pub(crate) struct GroupEnds<'r> {
    jobs: &'r [Running],
    /// Their expected ends: what is searched.
    ends: &'r [i64],
    policy: WillRunPolicy,
    /// The first job that belongs to no group yet.
    next: usize,
    window: i64,
    anchor: Option<i64>,
}

impl<'r> GroupEnds<'r> {
    /// Before the first group of these jobs, which come in order of expected end.
    pub(crate) fn new((jobs, ends): (&'r [Running], &'r [i64]), policy: WillRunPolicy) -> Self {
        Self { jobs, ends, policy, next: 0, window: FIRST_WINDOW, anchor: None }
    }

    /// The same, but the first `gone` jobs are released already.
    pub(super) fn without(self, gone: usize) -> Self {
        Self { next: gone, ..self }
    }

    /// Passes over the groups that end before `bound` [s], or says that the others end after `later` [s].
    ///
    /// Where a window ends before it, only one thing matters of the groups up to there: whether the last of them ends with the
    /// window's last job or reaches beyond, to the next one on usable nodes. That could be otherwise only after a group that is
    /// not tested. O(log jobs), and a look at each job of a window where there are more than 200.
    pub(super) fn skip_to(&mut self, bound: i64, later: Option<i64>, holding: &mut Overlap<'_>) -> Passed {
        let first = if self.policy.linear { None } else { holding.first(self.next) };
        let Some(first) = first else { return Passed::All };
        let anchor = first_anchor(self.ends[first]);
        self.anchor = Some(anchor);
        let window = last_window(self.policy, |window| anchor + window < bound);
        let Some(window) = window else { return Passed::All };
        let up_to = |window: i64| self.ends.partition_point(|&end| end <= anchor + window);
        let next = up_to(window);
        // Whatever came before, at most the next two jobs are groups by themselves.
        let two = holding.first(next).and_then(|one| holding.first(one + 1)).filter(|&two| self.ends[two] < bound);
        if let Some(two) = two {
            let wider = wider(self.policy, window);
            let least =
                later.and_then(|later| self.end_of(two + 1, anchor + wider, holding).filter(|&end| end > later));
            if let Some(least) = least {
                return Passed::Late(least);
            }
            if self.is_one_group((next, two), anchor + wider, holding) {
                (self.next, self.window) = (two + 1, wider);
                return Passed::All;
            }
        }
        let Some(last) = holding.last(first, next) else { return Passed::All };
        // The window in which that job is released.
        let release = self.ends[last];
        let (begin, end) = match last_window(self.policy, |window| anchor + window < release) {
            Some(before) => (up_to(before), up_to(wider(self.policy, before))),
            None => (first, up_to(FIRST_WINDOW)),
        };
        if end - begin >= GROUP_MAX {
            // Up to two of them may belong to groups before.
            let left = holding.count(begin, end) % (GROUP_MAX + 1);
            if !(3..GROUP_MAX).contains(&left) {
                return Passed::All;
            }
        }
        let reached = if last + 1 == next { Some(last) } else { holding.first(next) };
        self.next = reached.unwrap_or(self.jobs.len() - 1) + 1;
        self.window = window;
        self.widen(anchor);
        reached.filter(|&end| end >= next).map_or(Passed::All, |end| Passed::Upon(self.jobs[end].moment()))
    }

    /// Whether the group that ends with a window up to `edge` [s] is tested, and where, is the same whichever of the jobs from `next` to `two`, all
    /// of which end before it, belong to groups before. O(log jobs), and a look at each job of a window where there are more than 200.
    fn is_one_group(&self, (next, two): (usize, usize), edge: i64, holding: &mut Overlap<'_>) -> bool {
        let third = two + 1;
        let beyond = third + self.ends[third..].partition_point(|&end| end <= edge);
        // The window is as wide as that for the job after `two` already.
        if beyond == third || holding.last(third, beyond).is_none() {
            return false;
        }
        // Up to two of them more.
        beyond - next < GROUP_MAX || (1..GROUP_MAX - 2).contains(&(holding.count(third, beyond) % (GROUP_MAX + 1)))
    }

    /// If all groups to come that are tested end after a time [s]: a time after it, before which none of them does. O(log jobs).
    pub(super) fn all_after(&self, time: i64, holding: &mut Overlap<'_>) -> Option<i64> {
        let edge = self.anchor.filter(|_| !self.policy.linear)? + self.window;
        self.end_of(self.next, edge, holding).filter(|&end| end > time)
    }

    /// Before which time [s] no group is tested out of those that begin at `next` or later with a window up to `edge` [s] or later: the window's
    /// last job if it is on usable nodes, else the next one after the window, else the last one in it. O(log jobs).
    fn end_of(&self, next: usize, edge: i64, holding: &mut Overlap<'_>) -> Option<i64> {
        let beyond = next + self.ends[next..].partition_point(|&end| end <= edge);
        let last = holding.last(beyond.saturating_sub(1).max(next), beyond);
        let end = last.or_else(|| holding.first(beyond)).or_else(|| holding.last(next, beyond))?;
        Some(self.ends[end])
    }

    /// The last job of the next group that is tested; `None` if there is none. O(log jobs), and a look at each job of a window
    /// where there are more than 200.
    pub(super) fn next(&mut self, holding: &mut Overlap<'_>) -> Option<Moment> {
        loop {
            let first = holding.first(self.next)?;
            let edge = self.edge(self.ends[first]);
            let beyond = first + self.ends[first..].partition_point(|&end| end <= edge);
            let last = holding.last(first, beyond);
            let many = if beyond - first < GROUP_MAX { 0 } else { holding.count(first, beyond) };
            if let Some((end, is_tested)) = self.group(first, last, beyond, many, || holding.first(beyond))
                && self.ends_at(end, is_tested)
            {
                return Some(self.jobs[end].moment());
            }
        }
    }

    /// The same, given the jobs on usable nodes in order. O(log jobs).
    pub(crate) fn next_of(&mut self, held: &[Moment]) -> Option<Moment> {
        loop {
            let from = self.jobs.get(self.next)?.moment();
            let held = &held[held.partition_point(|&moment| moment < from)..];
            let edge = self.edge(held.first()?.0);
            let place = |moment: Moment| self.jobs.partition_point(|job| job.moment() < moment);
            let n_held = held.partition_point(|moment| moment.0 <= edge);
            let first = place(held[0]);
            let beyond = first + self.ends[first..].partition_point(|&end| end <= edge);
            let last = n_held.checked_sub(1).map(|at| place(held[at]));
            let after = || held.get(n_held).map(|&moment| place(moment));
            if let Some((end, is_tested)) = self.group(first, last, beyond, n_held, after)
                && self.ends_at(end, is_tested)
            {
                return Some(self.jobs[end].moment());
            }
        }
    }

    /// Where the window ends that the next group's first job, which ends at `first`, finds [s].
    fn edge(&mut self, first: i64) -> i64 {
        *self.anchor.get_or_insert(first_anchor(first)) + self.window
    }

    /// Where a group ends whose jobs stand in `first..beyond`, `last` being the last of them and `many` how many they are (0 if not
    /// more than [`GROUP_MAX`] with certainty); and whether it is tested. `after` is the first job on usable nodes after them.
    fn group(
        &self,
        first: usize,
        last: Option<usize>,
        beyond: usize,
        many: usize,
        after: impl FnOnce() -> Option<usize>,
    ) -> Option<(usize, bool)> {
        if self.policy.linear {
            return Some((first, true));
        }
        // Jobs of the last group of the window; as many as there are where they are few.
        let left = many % (GROUP_MAX + 1);
        match last {
            Some(last) if last + 1 == beyond || (many > 0 && left == 0) => Some((last, many == 0 || left > 0)),
            // The list may end before the group does.
            _ => after().map(|end| (end, left < GROUP_MAX)).or(last.map(|last| (last, true))),
        }
    }

    /// The group ends with this job; says whether it is tested.
    fn ends_at(&mut self, end: usize, is_tested: bool) -> bool {
        self.next = end + 1;
        if is_tested
            && let Some(anchor) = self.anchor
            && !self.policy.linear
        {
            self.widen(anchor);
        }
        is_tested
    }

    /// The window of the next group: it reaches the next job at least.
    fn widen(&mut self, anchor: i64) {
        let Some(&next) = self.ends.get(self.next) else { return };
        loop {
            self.window = wider(self.policy, self.window);
            if next <= anchor + self.window {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{JobId, NodeId};
    use crate::node_set::NodeSet;
    use crate::policy::SlurmVersion;
    use crate::select::overlap::{Blocks, InOrder};
    use crate::select::will_run::Groups;
    use crate::simulation::record_age::Age;
    use crate::simulation::running::RunningJobs;

    fn upon(passed: Passed) -> Option<Moment> {
        if let Passed::Upon(end) = passed { Some(end) } else { None }
    }

    /// Both ways on drawn lists of jobs, some of which hold usable nodes.
    #[test]
    fn groups_are_those_of_the_definition() {
        let mut random = 7_u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        let mut blocks = Blocks::default();
        let mut in_order = InOrder::default();
        for round in 0..3000 {
            let (jobs, spread) = ([3, 30, 300, 1500][round % 4], [100, 3000, 200_000][round % 3]);
            let usable = [0, 1, 5, 9, 10][(round / 12) % 5];
            let mut running = RunningJobs::default();
            for job in 0..draw(jobs) + 1 {
                let node = NodeId(u32::from(draw(10) < usable));
                // Some hold the usable node beside another one.
                let ranges = (node.0 == 1 && draw(3) == 0).then_some((0, 1));
                let node = if ranges.is_some() { NodeId(0) } else { node };
                running.insert((draw(spread) as i64 - 50, Age::nth(job as u32)), JobId(job as u32), node, ranges);
            }
            in_order.jobs.clear();
            in_order.jobs.extend(running.iter());
            in_order.settle();
            let running = &in_order.jobs;
            let window_linear = [0, 0, 0, 50][round % 4];
            let policy = WillRunPolicy { linear: round % 17 == 0, window_linear, version: SlurmVersion::V22_05 };
            let holds = |job: &Running| job.first_node() == NodeId(1) || job.has_several();
            let usable = NodeSet::from_nodes(2, [NodeId(1)]);
            let mut defined = Vec::new();
            let mut groups = Groups::new(running, policy);
            let mut last = None;
            while let Some(tested) = groups.next(|job| {
                if holds(&job) {
                    last = Some(job.moment());
                }
                holds(&job)
            }) {
                defined.extend(last.filter(|_| tested));
            }
            let mut ends = GroupEnds::new(in_order.with_ends(), policy);
            let mut holding = Overlap::new(&in_order, &usable, &[(0, 1)], &mut blocks);
            let found: Vec<Moment> = std::iter::from_fn(|| ends.next(&mut holding)).collect();
            assert_eq!(found, defined, "round {round}");
            let bound = draw(spread + 100) as i64 - 50;
            let mut ends = GroupEnds::new(in_order.with_ends(), policy);
            let mut passed = upon(ends.skip_to(bound, None, &mut holding));
            let found: Vec<Moment> = std::iter::from_fn(|| passed.take().or_else(|| ends.next(&mut holding)))
                .filter(|end| end.0 >= bound)
                .collect();
            let rest: Vec<Moment> = defined.iter().copied().filter(|end| end.0 >= bound).collect();
            assert_eq!(found, rest, "round {round}, from {bound}");
            let mut ends = GroupEnds::new(in_order.with_ends(), policy);
            let mut passed = upon(ends.skip_to(bound, None, &mut holding));
            for time in [bound, bound + draw(spread) as i64 / 4, bound + draw(spread) as i64] {
                let late = GroupEnds::new(in_order.with_ends(), policy).skip_to(bound, Some(time), &mut holding);
                if let (Passed::Late(least), Some(end)) = (late, rest.first()) {
                    assert!(time < least && least <= end.0, "round {round}: {time}, {least}, {end:?}");
                }
            }
            for end in rest {
                let time = end.0 - draw(2) as i64 * draw(spread) as i64;
                if passed.is_none()
                    && let Some(least) = ends.all_after(time, &mut holding)
                {
                    assert!(time < least && least <= end.0, "round {round}: {time}, {least}, {end:?}");
                }
                while passed.take().or_else(|| ends.next(&mut holding)).is_some_and(|other| other < end) {}
            }
            let held: Vec<Moment> = running.iter().filter(|job| holds(job)).map(|job| job.moment()).collect();
            let mut ends = GroupEnds::new(in_order.with_ends(), policy);
            let found: Vec<Moment> = std::iter::from_fn(|| ends.next_of(&held)).collect();
            assert_eq!(found, defined, "round {round}, given the jobs");
        }
    }
}
