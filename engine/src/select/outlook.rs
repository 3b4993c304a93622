//! A bound under all will-run tests of one record at once, from nodes that all of its tries may use.
//!
//! A test looks when a group of running jobs is released, and groups end at edges that lie further and further apart
//! ([`super::will_run`]). Where they lie follows from the first job on usable nodes, and a group ends no sooner than the last
//! job on usable nodes before its edge. The nodes that no plan has touched are usable at every try: their jobs say how late the
//! first job is at most, and where a group ends at least. So a try that cannot be met before a time is passed over until the group's end
//! that comes after it, without a look at its own nodes.

use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::group_ends::{last_window, wider};
use crate::select::overlap::{Blocks, InOrder, Overlap};
use crate::select::will_run::{WillRunPolicy, first_anchor};

/// So many jobs are looked at for the first one that any try could come upon.
const NEAR: usize = 64;

/// What a bound turned out to be.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// For a request that cannot be met before a time after this one [s]
    edge: i64,
    /// and up to this one [s],
    up_to: i64,
    /// if it is after the first of these, no test answers with a time before the second [s].
    least: Option<(i64, i64)>,
}

/// When the groups have ended that reach beyond an edge, and the last job up to the next edge. O(log jobs).
fn least(ends: &[i64], holding: &mut Overlap<'_>, edge: i64, next: i64) -> Option<(i64, i64)> {
    let up_to = |time: i64| ends.partition_point(|&end| end <= time);
    // The last group up to an edge reaches beyond it, or is followed by one that does.
    let one = holding.first(up_to(edge))?;
    let two = holding.first(one + 1)?;
    let last = holding.last(two + 1, up_to(next).max(two + 1))?;
    Some((ends[two], ends[last]))
}

/// The record's tries, as far as they are alike.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    /// Nodes that every try may use.
    pub(crate) sure: NodeSet,
    /// Where windows begin, at least and at most [s]; `None` if that is not known.
    anchors: Option<(i64, i64)>,
    /// Whether it was asked for this record.
    begun: bool,
    known: Option<Known>,
    blocks: Blocks,
    /// How often it was asked in this cycle,
    asked: u32,
    /// and how often a try could be passed over.
    passed: u32,
}

/// It is asked so often before it must have been of use, and so many times for once that it is.
const TRIAL: (u32, u32) = (32, 4);

impl Outlook {
    /// Of another cycle.
    pub(crate) fn begin_cycle(&mut self) {
        (self.asked, self.passed) = (0, 0);
    }

    /// Whether it is worth its time: that depends on how many nodes plans leave untouched.
    pub(crate) fn pays(&self) -> bool {
        self.asked <= TRIAL.0 + TRIAL.1 * self.passed
    }

    /// Of another record, or other jobs run.
    pub(crate) fn forget(&mut self) {
        self.begun = false;
    }

    /// Whether it has to be begun.
    pub(crate) fn is_new(&self) -> bool {
        !self.begun
    }

    /// Of a record whose tries may use nodes out of `any`, and all of those in `sure`. O([`NEAR`] + words).
    pub(crate) fn begin(&mut self, policy: WillRunPolicy, (running, ranges): (&InOrder, &[(u32, u32)]), any: &NodeSet) {
        (self.begun, self.known, self.anchors) = (true, None, None);
        if policy.linear || policy.version >= SlurmVersion::V25_05 {
            return;
        }
        let within = any.extent();
        let near = &running.jobs[..running.jobs.len().min(NEAR)];
        let earliest = near.iter().find(|job| job.is_on(any, &within, ranges)).or(near.last());
        let first = Overlap::new(running, &self.sure, ranges, &mut self.blocks).first(0);
        let (_, ends) = running.with_ends();
        self.anchors = earliest.zip(first).map(|(low, high)| (first_anchor(low.end), first_anchor(ends[high])));
    }

    /// Before which time [s] no try's test answers, where it cannot be met before `bound` [s]. O(log jobs), or O(1) if a bound like it was asked.
    pub(crate) fn not_before(
        &mut self,
        policy: WillRunPolicy,
        (running, ranges): (&InOrder, &[(u32, u32)]),
        (bound, later): (i64, i64),
    ) -> i64 {
        self.asked += 1;
        let Some((low, high)) = self.anchors else { return bound };
        let known = self.known.filter(|known| known.edge < bound && bound <= known.up_to);
        let known = known.or_else(|| {
            // The groups up to there are passed, whatever the first job is.
            let window = last_window(policy, |window| high + window < bound)?;
            let (edge, up_to) = (high + window, high + wider(policy, window));
            let mut holding = Overlap::new(running, &self.sure, ranges, &mut self.blocks);
            let least = least(running.with_ends().1, &mut holding, edge, low + wider(policy, window));
            Some(Known { edge, up_to, least })
        });
        self.known = known.or(self.known);
        let least = known.and_then(|known| known.least).filter(|&(after, _)| after < bound);
        let least = least.map_or(bound, |(_, least)| least.max(bound));
        self.passed += u32::from(least > later);
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{JobId, NodeId};
    use crate::select::will_run::Groups;
    use crate::simulation::record_age::Age;
    use crate::simulation::running::RunningJobs;

    /// Drawn lists of jobs on nodes 0 to 2, of which tries may use 1, and 2 or not.
    #[test]
    fn no_test_answers_before_what_is_said_of_all() {
        let mut random = 11_u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        let mut outlook = Outlook::default();
        let mut in_order = InOrder::default();
        let mut later = 0;
        for round in 0..6000 {
            let (jobs, spread) = ([3, 30, 300, 1500][round % 4], [100, 3000, 200_000][round % 3]);
            let others = [1, 3, 8, 9][(round / 12) % 4];
            let mut running = RunningJobs::default();
            for job in 0..draw(jobs) + 1 {
                let node = if draw(10) < others { 1 } else { 2 * draw(2) as u32 };
                running.insert((draw(spread) as i64, Age::nth(job as u32)), JobId(job as u32), NodeId(node), None);
            }
            in_order.jobs.clear();
            in_order.jobs.extend(running.iter());
            in_order.settle();
            let window_linear = [0, 0, 0, 50][(round / 5) % 4];
            let policy = WillRunPolicy { linear: false, window_linear, version: SlurmVersion::V22_05 };
            let any = NodeSet::from_nodes(3, [NodeId(1), NodeId(2)]);
            outlook.sure = NodeSet::from_nodes(3, [NodeId(1)]);
            outlook.begin(policy, (&in_order, &[]), &any);
            let bounds = [draw(spread) as i64, draw(spread) as i64, draw(spread) as i64];
            let said = bounds.map(|bound| outlook.not_before(policy, (&in_order, &[]), (bound, i64::MAX)));
            for usable in [NodeSet::from_nodes(3, [NodeId(1)]), any] {
                let (mut groups, mut last, mut tested) = (Groups::new(&in_order.jobs, policy), 0, Vec::new());
                while let Some(is_tested) = groups.next(|job| {
                    let holds = usable.contains(job.first_node());
                    last = if holds { job.moment().0 } else { last };
                    holds
                }) {
                    tested.extend(is_tested.then_some(last));
                }
                for (bound, said) in bounds.iter().zip(said) {
                    let first = tested.iter().find(|end| *end >= bound);
                    assert!(
                        said >= *bound && first.is_none_or(|&first| first >= said),
                        "round {round}: {bound}, {said}, {first:?}"
                    );
                    later += u32::from(said > *bound);
                }
            }
        }
        assert!(later > 5000, "it says more than the bound {later} times");
    }
}
