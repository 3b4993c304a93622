//! Jobs that somebody holds, and lets go again (`scontrol hold`, `release`), at recorded moments.
//! Source: job_mgr.c of 22.05.8, `_hold_job_rec`, `_release_job_rec`, `job_independent`.

use std::collections::{BTreeMap, BTreeSet};

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, seconds};
use crate::ids::JobId;
use crate::limits::accrue::NO_AGE;

/// Who is held, and who will be.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    /// Now.
    held: BTreeSet<JobId>,
    /// Some day: what their traces call the time of their release is that of the hold's end.
    ever: BTreeSet<JobId>,
    /// When somebody let them go, the last time [s].
    let_go: BTreeMap<JobId, i64>,
}

impl Controller<'_> {
    /// Plans recorded holds. O(holds × log holds).
    pub(super) fn plan_holds(&mut self, holds: &[(i64, usize, bool)]) {
        for &(at, job, held) in holds {
            let job = JobId::new(job);
            self.events.push(at, if held { Event::Held { job } } else { Event::LetGo { job } });
            if held {
                self.holds.ever.insert(job);
            }
        }
    }

    /// Whether somebody holds the job: it has priority 0, and nothing else that it waits for is asked.
    pub(crate) fn is_held_by_hand(&self, id: JobId) -> bool {
        self.holds.held.contains(&id)
    }

    /// When the job was let go: its priority is that of this moment until the next step (job_mgr.c of 22.05.8, `_release_job_rec`,
    /// `set_job_prio`; rec bb-arr). O(log jobs ever held).
    pub(super) fn let_go_at(&self, id: JobId) -> i64 {
        self.holds.let_go.get(&id).copied().unwrap_or(i64::MIN)
    }

    /// Whether the job is held some day.
    pub(crate) fn is_ever_held(&self, id: JobId) -> bool {
        self.holds.ever.contains(&id)
    }

    /// A job is held. One that waits is out of the queue, and its age is forgotten where limits are enforced; one that runs goes on, and
    /// would be held when it is queued again.
    pub(super) fn holds_back(&mut self, id: JobId) {
        self.holds.held.insert(id);
        let Some(phase) = self.live.get(id).map(|live| live.phase) else { return };
        self.timers.request_main(self.now);
        let policy = &self.scenario.policy;
        let forgets = policy.enforce.limits && !policy.priority.accrue_always;
        if matches!(phase, Phase::Waiting | Phase::Pending) {
            self.note_limit(id, false);
            if phase == Phase::Pending {
                self.leaves_queue(id);
                self.live.set_phase(id, Phase::Waiting);
                self.queue.purge(|record| self.live.is_pending(record.job));
                self.records[id.index()].eligible = None;
            }
            self.hold(id);
            self.waiting.unaged.remove(&id);
            self.stop_accruing(id);
            let now = seconds(self.now);
            if let Some(live) = self.live.get_mut(id) {
                if forgets {
                    (live.accrue, live.accrues) = (NO_AGE, false);
                }
                if live.begin < now {
                    live.begin = i64::MIN;
                }
            }
        }
        self.touch();
    }

    /// A held job is let go: the next queue that is built finds it eligible, or waiting for something else.
    pub(super) fn lets_go(&mut self, id: JobId) {
        if self.holds.held.remove(&id) {
            self.risen.remove(&id);
            let now = seconds(self.now);
            self.holds.let_go.insert(id, now);
            if let Some(live) = self.live.get_mut(id).filter(|live| live.begin < now) {
                live.begin = i64::MIN;
            }
            self.touch();
            self.timers.request_main(self.now);
        }
    }
}
