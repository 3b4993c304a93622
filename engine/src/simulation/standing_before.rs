//! Who stands before a job that comes, and what asking for that begins.

use std::collections::BTreeSet;

use super::jobs::{LiveJob, Phase};
use super::{Controller, seconds};
use crate::ids::{JobId, PartitionId};
use crate::job::JobPart;
use crate::limits::accrue::NO_AGE;

impl Controller<'_> {
    /// A job comes that could be tested at once: slurmctld looks whether another stands before it, and whoever it asks until it finds one
    /// has a begin time from then on, so that the next queue build, not the one after, begins the age of tasks of arrays
    /// (job_mgr.c of 22.05.8, `_top_priority`, which calls `job_independent`; rec at-share). O(live jobs) where tasks have no
    /// begin time yet.
    pub(super) fn ask_who_stands_before(&mut self, id: JobId) {
        let policy = &self.scenario.policy;
        let is_unknown = |since: &i64| *since == NO_AGE;
        if matches!(self.job(id).name.part, JobPart::Task(_))
            || policy.main.defer
            || policy.backfill.min_age_reserve > 0
            || !self.waiting.unaged.values().any(is_unknown)
            || self.someone_completes()
            || !self.licenses_free(id)
        {
            return;
        }
        // Nor are those asked whom a partition keeps out (`part_policy_job_runnable_state`; rec c1123).
        let is_out =
            |id: JobId| self.partitions(id).iter().all(|&partition| !self.partition_limits_allow(id, partition));
        let is_asked = |live: &&LiveJob| {
            live.job != id && live.phase == Phase::Pending && !self.noted_limit(live.job) && !is_out(live.job)
        };
        let standing = |id: JobId| {
            let partition = self.partitions(id).first().copied().unwrap_or(PartitionId(0));
            let (tier, priority) = self.tier_and_priority(id, partition);
            (partition, tier, priority.max(self.risen_to(id, 0)))
        };
        let nodes = |partition: PartitionId| &self.scenario.cluster.partitions[partition.index()].nodes;
        let (partition, tier, priority) = standing(id);
        let own = self.reservation_of(id);
        let is_before = |live: &&LiveJob| {
            let (of_other, tier_of_other, priority_of_other) = standing(live.job);
            let reservation = self.reservation_of(live.job);
            match (own == reservation, own.is_some() && reservation.is_some()) {
                // Their partitions are not looked at.
                (true, _) => priority_of_other > priority,
                (false, false) => false,
                (false, true) if of_other == partition => priority_of_other > priority,
                (false, true) => {
                    nodes(of_other).intersects(nodes(partition))
                        && (tier_of_other, priority_of_other) > (tier, priority)
                }
            }
        };
        let first = self.live.all().filter(is_asked).filter(is_before).map(|live| self.age_of(live)).min();
        let is_reached = |live: &&LiveJob| first.is_none_or(|first| self.age_of(live) <= first);
        let unaged = self.waiting.unaged.iter().filter(|(_, since)| is_unknown(since));
        let asked = unaged.filter_map(|(&task, _)| self.live.get(task)).filter(is_asked).filter(is_reached);
        let begun: BTreeSet<u64> = asked.map(|live| self.job(live.job).name.id).collect();
        let (now, jobs) = (seconds(self.now), &self.scenario.workload.jobs);
        for (unaged, since) in &mut self.waiting.unaged {
            if *since == NO_AGE && begun.contains(&jobs[unaged.index()].name.id) {
                *since = now;
            }
        }
    }
}
