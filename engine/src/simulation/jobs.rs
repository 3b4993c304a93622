//! What is known of a job while it waits or runs. Kept only that long: memory follows the queue, not the trace.

use crate::ids::{JobId, PartitionId};
use crate::select::allocation::Allocation;
use crate::select::ready::Moment;
use crate::simulation::record_age::Age;

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Submitted, not yet eligible.
    Waiting,
    /// In the queue.
    Pending,
    /// Holds nodes.
    Running,
    /// Has ended; its nodes are not all free yet.
    Completing,
    /// Has ended and left its nodes; it will be queued again all the same.
    Done,
}

/// A job between submission and its end. What a priority step reads of it stands first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct LiveJob {
    pub(crate) job: JobId,
    /// Changed by [`LiveJobs::set_phase`] alone.
    pub(crate) phase: Phase,
    /// Whether the time since which age accrues is settled: an array's limit on running tasks takes tasks out of the queue,
    /// but not their age.
    pub(crate) accrues: bool,
    /// A limit held it back when its submission or the main scheduler last looked.
    pub(crate) is_limited: bool,
    /// That has been noted once.
    pub(crate) is_noted: bool,
    /// Some of its partitions allow it, and some do not, as of when it came into the queue.
    pub(crate) is_mixed: bool,
    /// It goes back to the queue when this run has ended.
    pub(crate) returns: bool,
    /// When it is queued again [ms], if that is after its end: somebody requeues a job that is done.
    pub(crate) requeued_at: Option<i64>,
    /// The last node that it was to leave went down: it is queued again as if it had never started.
    pub(crate) keeps_place: bool,
    /// Since that happened the answer of its nodes is still to come.
    pub(crate) owes_answer: bool,
    /// It was preempted and runs out its grace time.
    pub(crate) warned: bool,
    /// When age began to accrue [s].
    pub(crate) accrue: i64,
    /// Limit in force [s]; 365 days where unlimited.
    pub(crate) limit_seconds: i64,
    /// CPUs that the last successful test of when and where would have charged it.
    pub(crate) charged_cpus: Option<u32>,
    /// When it started [s].
    pub(crate) start: i64,
    /// Billing units, while it runs.
    pub(crate) billing: f64,
    /// When its limit ends [s].
    pub(crate) expected_end: i64,
    /// Priority per partition of its request.
    pub(crate) priority: u32,
    /// The partition it runs in.
    pub(crate) partition: PartitionId,
    /// When it was submitted, or queued again [s].
    pub(crate) submit: i64,
    /// Not eligible before [s]: set by a requeue.
    pub(crate) begin: i64,
    /// How often it has started: an event of an earlier start is void.
    pub(crate) starts: u16,
    /// Which of its recorded runs is next or going on.
    pub(crate) run: u16,
    /// The age of its record; a task of an array has none of its own before it starts.
    pub(crate) age: Option<Age>,
    /// When room was last made for it [s].
    pub(crate) preempting_since: Option<i64>,
    /// The scheduling cycle in which that was.
    pub(crate) preempting_in: Option<u64>,
    /// Since when it waits for one leaf switch, once it was tried with that wish [s].
    pub(crate) leaf_since: Option<i64>,
    /// What its tests left of [`crate::select::Selector::best_switch`].
    pub(crate) best_switch: bool,
    /// What it holds.
    pub(crate) allocation: Allocation,
}

impl LiveJob {
    /// When it is released in a will-run test, while it runs.
    pub(crate) fn moment(&self) -> Moment {
        (self.expected_end, self.age.unwrap_or(Age::YOUNGEST))
    }
}

/// No live job.
const NONE: u32 = u32::MAX;

/// Live jobs in a slab, found by job. O(1) each way.
#[derive(Debug)]
pub(crate) struct LiveJobs {
    slot_of: Vec<u32>,
    slots: Vec<Option<LiveJob>>,
    vacant: Vec<u32>,
    /// Jobs in the queue, a bit a job: the one question asked of every record of every cycle.
    pending: Vec<u64>,
}

impl LiveJobs {
    /// Room for the jobs of a workload (4 bytes and a bit each).
    pub(crate) fn new(n_jobs: usize) -> Self {
        let pending = vec![0; n_jobs.div_ceil(64)];
        Self { slot_of: vec![NONE; n_jobs], slots: Vec::new(), vacant: Vec::new(), pending }
    }

    /// Adds a job.
    pub(crate) fn insert(&mut self, live: LiveJob) {
        let (job, phase) = (live.job, live.phase);
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(live);
                slot
            }
            None => {
                self.slots.push(Some(live));
                (self.slots.len() - 1) as u32
            }
        };
        self.slot_of[job.index()] = slot;
        self.note(job, phase);
    }

    /// A job that is alive comes to stand elsewhere.
    pub(crate) fn set_phase(&mut self, job: JobId, phase: Phase) {
        if let Some(live) = self.get_mut(job) {
            live.phase = phase;
            self.note(job, phase);
        }
    }

    fn note(&mut self, job: JobId, phase: Phase) {
        let (word, bit) = (&mut self.pending[job.index() / 64], 1 << (job.index() % 64));
        if phase == Phase::Pending {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }

    /// Forgets a job.
    pub(crate) fn remove(&mut self, job: JobId) -> Option<LiveJob> {
        let slot = std::mem::replace(&mut self.slot_of[job.index()], NONE);
        if slot == NONE {
            return None;
        }
        self.vacant.push(slot);
        self.note(job, Phase::Completing);
        self.slots[slot as usize].take()
    }

    /// A job that is alive.
    pub(crate) fn get(&self, job: JobId) -> Option<&LiveJob> {
        match self.slot_of[job.index()] {
            NONE => None,
            slot => self.slots[slot as usize].as_ref(),
        }
    }

    /// A job that is alive, to be changed.
    pub(crate) fn get_mut(&mut self, job: JobId) -> Option<&mut LiveJob> {
        match self.slot_of[job.index()] {
            NONE => None,
            slot => self.slots[slot as usize].as_mut(),
        }
    }

    /// Whether a job holds nodes.
    pub(crate) fn is_running(&self, job: JobId) -> bool {
        self.get(job).is_some_and(|live| live.phase == Phase::Running)
    }

    /// All jobs that are alive, in no order that means anything. O(live jobs).
    pub(crate) fn all(&self) -> impl Iterator<Item = &LiveJob> {
        self.slots.iter().flatten()
    }

    /// Whether a job waits in the queue.
    #[inline]
    pub(crate) fn is_pending(&self, job: JobId) -> bool {
        self.pending[job.index() / 64] >> (job.index() % 64) & 1 == 1
    }
}
