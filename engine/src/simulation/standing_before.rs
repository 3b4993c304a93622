//! Who stands before a job that comes, and what asking for that begins.

use std::collections::BTreeSet;

use super::jobs::{LiveJob, Phase};
use super::record_age::Age;
use super::{Controller, seconds};
use crate::ids::{JobId, PartitionId};
use crate::job::JobPart;
use crate::limits::accrue::NO_AGE;

impl Controller<'_> {
    /// A job comes that could be tested at once: slurmctld looks whether another stands before it, and whoever it asks until it finds one
    /// has a begin time from then on, so that the next queue build, not the one after, begins the age of tasks of arrays
    /// (job_mgr.c of 22.05.8, `_top_priority`, which calls `job_independent`; rec at-share). O(live jobs log live jobs) where tasks have
    /// no begin time yet.
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
        let is_asked = |live: &&LiveJob| live.job != id && live.phase == Phase::Pending && !live.is_limited;
        let mut others: Vec<(Age, JobId)> =
            self.live.all().filter(is_asked).map(|live| (self.age_of(live), live.job)).collect();
        others.sort_unstable();
        let standing = |id: JobId| {
            let partition = self.partitions(id).first().copied().unwrap_or(PartitionId(0));
            let (tier, priority) = self.tier_and_priority(id, partition);
            (partition, tier, priority.max(self.risen_to(id, 0)))
        };
        let nodes = |partition: PartitionId| &self.scenario.cluster.partitions[partition.index()].nodes;
        let (partition, tier, priority) = standing(id);
        let mut begun = BTreeSet::new();
        for (_, other) in others {
            begun.insert(self.job(other).name.id);
            if self.reservation_of(other) != self.reservation_of(id) {
                continue;
            }
            let (of_other, tier_of_other, priority_of_other) = standing(other);
            let is_before = match of_other == partition {
                true => priority_of_other > priority,
                false => {
                    nodes(of_other).intersects(nodes(partition))
                        && (tier_of_other, priority_of_other) > (tier, priority)
                }
            };
            if is_before {
                break;
            }
        }
        let (now, jobs) = (seconds(self.now), &self.scenario.workload.jobs);
        for (unaged, since) in &mut self.waiting.unaged {
            if *since == NO_AGE && begun.contains(&jobs[unaged.index()].name.id) {
                *since = now;
            }
        }
    }
}
