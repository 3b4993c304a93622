//! From when on the age of a job that waited counts, and which queue build comes to know it.

use super::limited_array;
use crate::ids::JobId;
use crate::job::JobPart;
use crate::limits::accrue::NO_AGE;
use crate::simulation::jobs::Phase;
use crate::simulation::{Controller, seconds};

impl Controller<'_> {
    /// Whether a job's age begins with a queue build: it is a task of an array (rec j-topo), and has no begin time of its own. O(1).
    pub(crate) fn begins_with_queue_build(&self, id: JobId) -> bool {
        let is_task = matches!(self.job(id).name.part, JobPart::Task(_));
        is_task && self.own_begin(id).is_none() && !self.awaits_room_to_accrue(id)
    }

    /// The begin time that a job's age counts from, if it has come [s]: that given when it was queued again, which an array's limit takes
    /// back (rec m-topo), or that asked for. O(1).
    pub(crate) fn own_begin(&self, id: JobId) -> Option<i64> {
        let job = self.job(id);
        let asked = job.extra.as_ref().and_then(|extra| extra.begin).filter(|&begin| begin > job.submit);
        let begin = match self.live.get(id)? {
            live if live.starts > 0 => live.begin,
            // A `--begin` of a whole array is its tasks' (rec as-tier), also where a limit takes it back: that comes after a queue build, with
            // which their age has begun (acct_policy.c of 22.05.8, `_handle_add_accrue`; rec at-gpu).
            _ if matches!(job.name.part, JobPart::Task(_)) => asked?,
            // Where limits are not enforced queue builds note it as soon as it is known, whatever else the job waits for
            // (`acct_policy_handle_accrue_time`; rec bi-c197).
            _ if !self.scenario.policy.enforce.limits => asked?,
            _ => return None,
        };
        (i64::MIN < begin && begin <= seconds(self.now)).then_some(begin)
    }

    /// Whoever is found at its array's limit after its begin time has none any more, and is eligible anew when there is room
    /// (job_mgr.c of 22.05.8, `job_array_start_test`). A queue build lets its age begin with it before (job_scheduler.c,
    /// `build_job_queue`), a look at who is eligible does not (`set_job_elig_time`). O(waiting jobs).
    pub(crate) fn forget_begin_times(&mut self, builds: bool) {
        let at_limit = |id: &&JobId| {
            let array = limited_array(self.job(**id));
            array.is_some_and(|(array, limit)| self.waiting.running_tasks.get(&array).is_some_and(|&n| n >= limit))
        };
        let ages = |id: JobId| self.live.get(id).is_some_and(|live| live.starts == 0 && live.accrues);
        let came = |id: &&JobId| !ages(**id) && self.own_begin(**id).is_some();
        let lost: Vec<JobId> = self.waiting.held.iter().filter(came).filter(at_limit).copied().collect();
        for id in lost {
            let ages = builds && !self.scenario.policy.priority.accrue_always && !self.awaits_room_to_accrue(id);
            let begin = self.own_begin(id).filter(|_| ages);
            if let Some(live) = self.live.get_mut(id) {
                if let Some(begin) = begin.filter(|_| !live.accrues) {
                    (live.accrue, live.accrues) = (begin, true);
                }
                live.begin = i64::MIN;
            }
        }
    }

    /// A job comes into the queue whose age counts from `since` on, [`NO_AGE`] if the next queue build is to begin it. O(log such jobs).
    pub(crate) fn await_age(&mut self, id: JobId, since: i64) {
        self.waiting.unaged.insert(id, since);
    }

    /// A queue build: ages that have begun are known from now on, and steps before know of none. The age of tasks of limited arrays
    /// begins; of those whom backfill takes out of the queue before the next build it begins anew (docs/FACTS.md, facts 62).
    /// O(jobs whose age is not known).
    pub(crate) fn learn_ages(&mut self) {
        if self.waiting.unaged.is_empty() {
            return;
        }
        let (now, live) = (seconds(self.now), &mut self.live);
        self.waiting.unaged.retain(|&id, since| match live.get_mut(id) {
            Some(live) if *since == NO_AGE && live.phase == Phase::Pending => {
                *since = now;
                true
            }
            Some(live) if *since != NO_AGE => {
                (live.accrue, live.accrues) = (*since, true);
                false
            }
            _ => false,
        });
    }
}
