//! When running jobs are expected to end. Source: slurm-semantics 3.5.

use crate::ids::JobId;
use crate::select::overlap::InOrder;
use crate::simulation::running::{Running, RunningJobs};
use crate::simulation::{Controller, seconds};

use super::Backfill;

/// Expected ends as a cycle sees them: the running jobs by the end of their limits, but for those that are overdue.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Overdue jobs with the ends expected of them, in order.
    overdue: Vec<Running>,
    /// Later ends are those of the limits [s].
    after: i64,
    /// All of them in order, when last asked for.
    in_order: InOrder,
    /// The state of which that is true.
    of: Option<u64>,
}

impl Ends {
    /// When the last of the running jobs past their limits is expected to end [s], if there are any.
    pub(super) fn last_overdue(&self) -> Option<i64> {
        self.overdue.last().map(|running| running.end)
    }

    /// Forgets overdue jobs that do not run any more.
    pub(super) fn retain(&mut self, runs: impl Fn(JobId) -> bool) {
        self.overdue.retain(|running| runs(running.job));
        self.of = None;
    }

    /// Running jobs in order of expected end. O(running jobs), if any started or ended since the last call.
    pub(super) fn in_order(&mut self, running: &RunningJobs) -> &InOrder {
        if self.of != Some(running.version()) {
            self.of = Some(running.version());
            self.collect(running);
            self.in_order.settle();
        }
        &self.in_order
    }

    fn collect(&mut self, running: &RunningJobs) {
        let jobs = &mut self.in_order.jobs;
        jobs.clear();
        if self.overdue.is_empty() {
            running.copy_after(self.after, jobs);
            return;
        }
        let mut overdue = self.overdue.iter().copied().peekable();
        for running in running.after(self.after) {
            while let Some(first) = overdue.next_if(|first| first.end <= running.end) {
                jobs.push(first);
            }
            jobs.push(*running);
        }
        jobs.extend(overdue);
    }
}

/// Notes what is expected of overdue jobs: they will be killed. O(overdue jobs).
pub(super) fn collect_ends(controller: &Controller<'_>, backfill: &mut Backfill) {
    let now = seconds(controller.now);
    let policy = &controller.scenario.policy;
    backfill.ends.after = now;
    backfill.ends.of = None;
    backfill.ends.overdue.clear();
    if let Some(next) = controller.running.after(now).next() {
        backfill.valid_until = backfill.valid_until.min(next.end);
    }
    for running in controller.running.iter().take_while(|running| running.end <= now) {
        let (end, live) = (running.end, controller.live.get(running.job));
        let over = live.and_then(|live| controller.scenario.cluster.partitions[live.partition.index()].over_time_limit);
        // An overdue job's end moves with time.
        backfill.valid_until = now;
        let expected = match over.or(policy.over_time_limit) {
            Some(minutes) => (end + i64::from(policy.kill_wait) + i64::from(minutes) * 60).max(now + 1),
            None => now + live.map_or(60, |live| live.limit_seconds),
        };
        backfill.ends.overdue.push(running.until(expected));
    }
    backfill.ends.overdue.sort_by_key(|running| running.end);
}
