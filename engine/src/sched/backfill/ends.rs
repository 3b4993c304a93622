//! When running jobs are expected to end. Source: slurm-semantics 3.5.

use crate::simulation::{Controller, seconds};

use super::Backfill;

/// Expected ends of running jobs; overdue jobs are expected to be killed. O(running).
/// Source: slurm-semantics 3.5.
pub(super) fn collect_ends(controller: &Controller<'_>, backfill: &mut Backfill) {
    let now = seconds(controller.now);
    let policy = &controller.scenario.policy;
    backfill.ends.clear();
    for &(end, job) in &controller.running {
        let live = controller.live.get(crate::ids::JobId(job));
        let over = live.and_then(|live| controller.scenario.cluster.partitions[live.partition.index()].over_time_limit);
        let expected = if end > now {
            backfill.valid_until = backfill.valid_until.min(end);
            end
        } else {
            // An overdue job's end moves with time.
            backfill.valid_until = now;
            match over.or(policy.over_time_limit) {
                Some(minutes) => (end + i64::from(policy.kill_wait) + i64::from(minutes) * 60).max(now + 1),
                None => now + live.map_or(60, |live| live.limit_seconds),
            }
        };
        backfill.ends.push((expected, job));
    }
    // Only overdue jobs are out of order.
    backfill.ends.sort_by_key(|&(end, _)| end);
}
