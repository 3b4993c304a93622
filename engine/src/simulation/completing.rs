//! What completing jobs hold back. Source: slurm-semantics 1.3; slurm.conf(5) `CompleteWait`, `reduce_completing_frag`.

use crate::ids::PartitionId;
use crate::node_set::NodeSet;
use crate::select::shape::Shape;
use crate::simulation::jobs::{LiveJob, Phase};
use crate::simulation::{Controller, seconds};

impl Controller<'_> {
    /// Whether `CompleteWait` holds back scheduling: a job that ended less long ago completes. O(1) without it.
    pub(crate) fn someone_completes(&self) -> bool {
        self.scenario.policy.complete_wait > 0 && self.partitions_completing().next().is_some()
    }

    /// The partitions of jobs that complete and ended at most `CompleteWait` ago. O(live jobs).
    pub(crate) fn partitions_completing(&self) -> impl Iterator<Item = PartitionId> {
        let since = seconds(self.now) - i64::from(self.scenario.policy.complete_wait);
        let any = !self.completing.is_empty();
        let completing = self.live.all().filter(move |live| any && live.phase == Phase::Completing);
        completing
            .filter(move |live| self.records[live.job.index()].end.is_some_and(|end| end >= since))
            .map(|live| live.partition)
    }

    /// Takes out the nodes of other users' jobs that complete, and says whether there were any: to a job that wants nodes for its user alone
    /// they are in use until then, unless the other is to be queued again (node_scheduler.c of 22.05.8, `filter_by_node_owner`; rec c1155).
    /// O(live jobs) while nodes complete.
    pub(crate) fn leave_completing_of_others(&self, nodes: &mut NodeSet, user: u32) -> bool {
        let mut any = false;
        if self.completing.is_empty() {
            return any;
        }
        for live in self.live.all().filter(|live| live.phase == Phase::Completing && !live.returns) {
            if self.scenario.workload.jobs[live.job.index()].user.0 != user {
                any = true;
                live.allocation.shares.iter().for_each(|share| nodes.remove(share.node));
            }
        }
        any
    }

    /// With select/linear: adds those of the nodes `possible` for a start that it names and that complete, which are not taken out for that
    /// (node_scheduler.c of 22.05.8, `_pick_best_nodes`: `avail_bitmap`; rec w2237), but where they are still another user's alone, or are asked for
    /// alone (`filter_by_node_owner`). The others' own test refuses nodes that complete (cons_tres/job_test.c, `can_job_run_on_node`; rec v-pre, c1301).
    /// O(live jobs and named nodes) while such a node completes.
    pub(crate) fn add_named(&self, shape: &Shape, user: u32, possible: &NodeSet, candidates: &mut NodeSet) {
        if !self.scenario.policy.select.linear {
            return;
        }
        let named =
            || shape.required.iter().copied().filter(|&node| possible.contains(node) && self.completing.contains(node));
        if named().next().is_none() {
            return;
        }
        named().for_each(|node| candidates.insert(node));
        let keeps_off = |live: &&LiveJob| {
            live.phase == Phase::Completing
                && self.scenario.workload.jobs[live.job.index()].user.0 != user
                && (live.allocation.exclusive_user || (shape.exclusive_user && !live.returns))
        };
        for live in self.live.all().filter(keeps_off) {
            for share in live.allocation.shares.iter().filter(|share| self.completing.contains(share.node)) {
                candidates.remove(share.node);
            }
        }
    }
}
