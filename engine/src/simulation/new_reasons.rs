//! What slurmctld notes of why jobs wait, as far as it decides anything: a new reason other than priority or resources stamps the job when
//! the next queue is built, once, which brings backfill's next cycle; and with `assoc_limit_stop` a job blocks its partition only when a
//! limit comes to be its reason. Source: job_scheduler.c (`build_job_queue`, `_schedule`) of 22.05.8; docs/FACTS.md, facts 47.

use super::Controller;
use crate::ids::{JobId, NodeId};
use crate::job::JobPart;
use crate::node_set::NodeSet;

impl Controller<'_> {
    /// A limit holds the job back, or does not, as its submission, the main scheduler, a start that backfill tries or its start finds; says
    /// whether one did when they last looked. O(log arrays).
    pub(crate) fn note_limit(&mut self, id: JobId, limited: bool) -> bool {
        if !self.limits.active {
            return false;
        }
        let array = self.common_record(id);
        let Some(live) = self.live.get_mut(id) else { return false };
        let (was_limited, is_noted) = match array {
            Some(array) => {
                let reason = self.array_reasons.entry(array).or_default();
                (&mut reason.0, &mut reason.1)
            }
            None => (&mut live.is_limited, &mut live.is_noted),
        };
        if limited && !*is_noted {
            (*is_noted, self.new_reason) = (true, true);
        }
        self.reasons_version += u64::from(*was_limited != limited);
        std::mem::replace(was_limited, limited)
    }

    /// Whether a limit is the job's reason, as far as that is noted. O(log arrays).
    pub(crate) fn noted_limit(&self, id: JobId) -> bool {
        match self.common_record(id) {
            Some(array) => self.array_reasons.get(&array).is_some_and(|reason| reason.0),
            None => self.live.get(id).is_some_and(|live| live.is_limited),
        }
    }

    /// Nodes that the job names were not to be had in its last test by the main scheduler, or were: ReqNodeNotAvail. O(log jobs).
    pub(crate) fn note_lack(&mut self, id: JobId, lacks: bool) {
        if !lacks && self.lacking.is_empty() {
            return;
        }
        let name = self.tested_as(id);
        let changes = if lacks { self.lacking.insert(name) } else { self.lacking.remove(&name) };
        self.reasons_version += u64::from(changes);
    }

    /// Whether the main scheduler passes the job over, limits asked: its reason is ReqNodeNotAvail, and what it names is still not `available`
    /// (job_scheduler.c of 22.05.8 to 26.05.3, `_schedule`; rec w2224). O(log jobs + named nodes).
    pub(crate) fn still_lacks(&self, id: JobId, named: &[NodeId], available: &NodeSet) -> bool {
        !self.lacking.is_empty()
            && named.iter().any(|&node| !available.contains(node))
            && self.lacking.contains(&self.tested_as(id))
    }

    /// The array of whose common record the job is a part: its tasks that wait have one reason (job_mgr.c `job_array_split`). O(1).
    pub(super) fn common_record(&self, id: JobId) -> Option<u64> {
        let name = self.job(id).name;
        (matches!(name.part, JobPart::Task(_)) && !self.has_own_record(id)).then_some(name.id)
    }

    /// Whether a job waits in several partitions of which some, but not all, allow it: each queue built finds a reason, and drops
    /// it again, both of which stamp. O(partitions of the job).
    pub(super) fn is_mixed(&self, id: JobId) -> bool {
        let partitions = self.partitions(id);
        let allows = |partition| self.partition_is_up(partition) && self.partition_limits_allow(id, partition);
        let allowing = partitions.iter().filter(|&&partition| allows(partition)).count();
        0 < allowing && allowing < partitions.len()
    }

    /// A queue is built.
    pub(crate) fn stamp_new_reasons(&mut self) {
        if std::mem::take(&mut self.new_reason) || self.queue.any_mixed() {
            self.timers.changed(self.now);
        }
    }
}
