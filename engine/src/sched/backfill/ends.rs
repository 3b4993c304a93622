//! When running jobs are expected to end. Source: slurm-semantics 3.5.

use std::collections::BTreeSet;

use crate::ids::JobId;
use crate::simulation::{Controller, seconds};

use super::Backfill;

/// Expected ends as a cycle sees them: the running jobs by the end of their limits, but for those that are overdue.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Overdue jobs with the ends expected of them, in order.
    overdue: Vec<(i64, u32)>,
    /// Later ends are those of the limits [s].
    after: i64,
}

impl Ends {
    /// Forgets overdue jobs that do not run any more.
    pub(super) fn retain(&mut self, runs: impl Fn(JobId) -> bool) {
        self.overdue.retain(|&(_, job)| runs(JobId(job)));
    }

    /// Running jobs in order of expected end.
    pub(super) fn in_order<'a>(
        &'a self,
        running: &'a BTreeSet<(i64, u32)>,
    ) -> impl Iterator<Item = (i64, JobId)> + Clone + 'a {
        let mut overdue = self.overdue.iter().copied().peekable();
        let mut others = running.range((self.after + 1, 0)..).copied().peekable();
        std::iter::from_fn(move || {
            let first = match (overdue.peek(), others.peek()) {
                (Some(a), Some(b)) if a.0 <= b.0 => overdue.next(),
                (_, Some(_)) => others.next(),
                (_, None) => overdue.next(),
            };
            first.map(|(end, job)| (end, JobId(job)))
        })
    }
}

/// Notes what is expected of overdue jobs: they will be killed. O(overdue jobs).
pub(super) fn collect_ends(controller: &Controller<'_>, backfill: &mut Backfill) {
    let now = seconds(controller.now);
    let policy = &controller.scenario.policy;
    backfill.ends.after = now;
    backfill.ends.overdue.clear();
    if let Some(&(end, _)) = controller.running.range((now + 1, 0)..).next() {
        backfill.valid_until = backfill.valid_until.min(end);
    }
    for &(end, job) in controller.running.range(..(now + 1, 0)) {
        let live = controller.live.get(JobId(job));
        let over = live.and_then(|live| controller.scenario.cluster.partitions[live.partition.index()].over_time_limit);
        // An overdue job's end moves with time.
        backfill.valid_until = now;
        let expected = match over.or(policy.over_time_limit) {
            Some(minutes) => (end + i64::from(policy.kill_wait) + i64::from(minutes) * 60).max(now + 1),
            None => now + live.map_or(60, |live| live.limit_seconds),
        };
        backfill.ends.overdue.push((expected, job));
    }
    backfill.ends.overdue.sort_by_key(|&(end, _)| end);
}
