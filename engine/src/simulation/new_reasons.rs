//! What slurmctld notes of why jobs wait, as far as it decides anything: a new reason other than priority or resources stamps the job when
//! the next queue is built, once, which brings backfill's next cycle; and with `assoc_limit_stop` a job blocks its partition only when a
//! limit comes to be its reason. Source: job_scheduler.c (`build_job_queue`, `_schedule`) of 22.05.8; docs/FIDELITY.md, facts 47.

use super::Controller;
use crate::ids::JobId;

impl Controller<'_> {
    /// Whether a limit holds the job back, as its submission or the main scheduler finds; says whether it did when they last looked.
    /// (That backfill finds it, too, is not noted.) O(1).
    pub(crate) fn note_limit(&mut self, id: JobId, limited: bool) -> bool {
        let Some(live) = self.live.get_mut(id) else { return false };
        if limited && !live.is_noted {
            (live.is_noted, self.new_reason) = (true, true);
        }
        std::mem::replace(&mut live.is_limited, limited)
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
