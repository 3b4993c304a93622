//! When running jobs are expected to end. Source: slurm-semantics 3.4, 3.5; docs/FACTS.md, facts 32.

use crate::select::overlap::InOrder;
use crate::simulation::running::RunningJobs;
use crate::simulation::{Controller, seconds};

use super::Backfill;

/// The running jobs by the ends of their limits, also of those that are overdue.
#[derive(Debug, Default)]
pub(super) struct Ends {
    in_order: InOrder,
    /// The state of which that is true.
    of: Option<u64>,
}

impl Ends {
    /// Running jobs in order of their limits' ends. O(running jobs), if any started or ended since the last call.
    pub(super) fn in_order(&mut self, running: &RunningJobs) -> &InOrder {
        if self.of != Some(running.version()) {
            self.of = Some(running.version());
            self.in_order.jobs.clear();
            running.copy_after(i64::MIN, &mut self.in_order.jobs);
            self.in_order.settle();
        }
        &self.in_order
    }
}

/// Notes when the next running job is overdue. O(overdue jobs).
pub(super) fn note_overdue(controller: &Controller<'_>, backfill: &mut Backfill) {
    let now = seconds(controller.now);
    // An overdue job's end moves with time.
    let any_overdue = controller.running.iter().next().is_some_and(|first| first.end <= now);
    let turns = if any_overdue { Some(now) } else { controller.running.after(now).next().map(|next| next.end) };
    backfill.valid_until = backfill.valid_until.min(turns.unwrap_or(i64::MAX));
}

/// When the jobs are expected to be gone whose limits end at a time [s]: then, or if that is past, when they will have been
/// killed; select/linear says in the next second (select_linear.c of 22.05.8, `_will_run_test`; rec at-lin). O(log running jobs).
pub(super) fn expected(controller: &Controller<'_>, end: i64) -> i64 {
    let now = seconds(controller.now);
    if end > now {
        return end;
    }
    let policy = &controller.scenario.policy;
    if policy.select.linear {
        return now + 1;
    }
    let job = controller.running.after(end - 1).next().filter(|running| running.end == end);
    let live = job.and_then(|running| controller.live.get(running.job));
    let over = match live {
        Some(live) => controller.over_time_seconds(live.partition),
        None => policy.over_time_limit.map(|minutes| i64::from(minutes) * 60),
    };
    match over {
        Some(over) => (end + i64::from(policy.kill_wait) + over).max(now + 1),
        None => now + live.map_or(60, |live| live.limit_seconds),
    }
}
