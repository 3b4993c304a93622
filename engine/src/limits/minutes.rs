//! Limits on minutes that were spent (`GrpTRESMins`, `GrpWall`): jobs that run when they run out are ended, and jobs that
//! wait for them go on when the use has decayed.
//! Source: slurm-semantics 5.3, slurm.conf(5) AccountingStorageEnforce.

use crate::association::AssociationTree;
use crate::ids::JobId;
use crate::moments::RecordedRun;
use crate::simulation::events::Event;
use crate::simulation::{Controller, seconds};

use super::resources::Beside;
use super::usage::Used;

impl Controller<'_> {
    /// Without `safe`, the next time-limit scan ends the jobs of groups that have no minutes left, but those whose end is recorded.
    /// O(running jobs × depth of the tree), only where such limits are enforced.
    pub(crate) fn end_where_minutes_ran_out(&mut self) {
        if !self.limits.counts_minutes || self.scenario.policy.enforce.safe {
            return;
        }
        let running = self.running.iter().map(|running| running.job);
        // A run whose end is recorded has that one.
        let has_end = |id: JobId| {
            let starts = self.live.get(id).map_or(0, |live| live.starts);
            self.timers.recorded_run(id.index(), starts).is_some_and(|run| run.length != RecordedRun::OPEN)
        };
        let over: Vec<JobId> = running
            .filter(|&id| !self.limits.to_end.contains(&id) && !has_end(id) && self.has_no_minutes_left(id))
            .collect();
        for id in over {
            self.limits.to_end.insert(id);
            let scan = self.timers.scan_after(seconds(self.now));
            let starts = self.live.get(id).map_or(0, |live| live.starts);
            self.events.push(scan.max(self.now), Event::RunEnds { job: id, killed: true, starts });
        }
    }

    /// Whether a group of a running job, the root excepted, has spent all minutes of what the job uses.
    fn has_no_minutes_left(&self, id: JobId) -> bool {
        let Some(live) = self.live.get(id) else { return false };
        let index = self.limits.index;
        let held = self.allocated_counts(id, &live.allocation, live.billing);
        let (mut wall_decided, mut decided) = (false, vec![false; index.len()]);
        let spent = |limits: &crate::association::Limits, used: &Used, wall_decided: bool, decided: &[bool]| {
            limits.grp_wall.is_some_and(|most| !wall_decided && used.wall / 60.0 >= f64::from(most))
                || limits.grp_tres_mins.iter().any(|&(tres, most)| {
                    let at = index.of(tres);
                    held.counts[at] > 0 && !decided[at] && (used.spent[at] / 60.0) as u64 >= most
                })
        };
        for qos in self.limiting_qos(id, live.partition) {
            let limits = &self.scenario.qos[qos.index()].limits;
            if spent(limits, &self.limits.qos[qos.index()], wall_decided, &decided) {
                return true;
            }
            wall_decided |= limits.grp_wall.is_some();
            for &(tres, _) in &limits.grp_tres_mins {
                decided[index.of(tres)] = true;
            }
        }
        self.lineage(id).filter(|&at| at != AssociationTree::ROOT).any(|at| {
            let limits = &self.scenario.associations.rows[at.index()].limits;
            spent(limits, &self.limits.associations[at.index()], wall_decided, &decided)
        })
    }

    /// Whether a waiting job is kept only by minutes that decay or are forgotten: time alone will let it go on.
    /// O(waiting jobs), only where such limits are enforced.
    pub(crate) fn waits_for_decay(&self) -> bool {
        let policy = &self.scenario.policy.priority;
        let forgets = policy.decay_half_life > 0 || policy.usage_reset != crate::policy::UsageReset::None;
        if !self.limits.counts_minutes || !policy.multifactor || !forgets {
            return false;
        }
        self.queue.records().any(|record| {
            let (id, partition) = (record.job, record.partition);
            let held = self.requested_counts(id);
            let now = self.limits_allow_test(id, partition) && self.limits_allow_counts(id, partition, &held);
            self.live.is_pending(id)
                && !now
                && self.may_be_tested(id, partition, false)
                && self.counts_keep_limits(id, partition, &held, Beside::Undecayed)
        })
    }
}
