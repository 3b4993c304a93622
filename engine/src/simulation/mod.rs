//! The controller as a discrete-event simulation.
//!
//! Lifecycle of a run
//! 1. [`Controller::new`] reads the scenario once: shapes, geometry, norms, phases drawn from the seed.
//! 2. [`Controller::run`] takes the earliest of: a job's own event, an arrival, a priority step, a main scheduling
//!    cycle, a backfill cycle. At equal times they act in that order.
//! 3. It ends when every job has left, or when nothing that could still happen would start a waiting job.
//!
//! Time inside is milliseconds since the Unix epoch, because triggers are; what the schedulers compare and what leaves
//! the engine is whole seconds, as in slurmctld.

mod answers;
mod becomes_sharing;
mod becomes_whole;
mod completing;
mod construct;
pub(crate) mod drawn;
pub(crate) mod ends;
pub(crate) mod events;
mod gpu_memory;
mod holds;
mod job_priority;
pub(crate) mod jobs;
mod leaf_wait;
pub(crate) mod lifecycle;
pub(crate) mod new_reasons;
mod opening;
pub(crate) mod outages;
mod peculiar;
pub(crate) mod preference;
mod priority_step;
mod purge;
mod reasons;
pub(crate) mod record_age;
mod recorded;
mod replaced;
pub(crate) mod requeue;
mod reservation_changes;
pub(crate) mod reservations;
pub(crate) mod running;
mod scans;
mod shapes;
mod spacing;
mod standing_before;
mod start;
mod startup;
mod time_min;
pub(crate) mod timers;
mod unused_rows;
mod vain;
pub(crate) mod waiting;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{JobId, PartitionId, RequestId};
use crate::job::Sharing;
use crate::limits::partition::OverMemory;
use crate::limits::usage::LimitUsage;
use crate::moments::Moments;
use crate::node_set::NodeSet;
use crate::observer::{Interrupted, Observer};
use crate::outcome::{JobRecord, JobState, Outcome, PendingReason, SchedulerCounters};
use crate::policy::Scheduler;
use crate::preempt::Preemption;
use crate::priority::fair_share::FairShare;
use crate::priority::multifactor::Norms;
use crate::priority::usage::Usage;
use crate::scenario::Scenario;
use crate::sched::backfill::Backfill;
use crate::sched::backfill::estimate::Elsewhere;
use crate::sched::backfill::hetjobs::HetJobs;
use crate::sched::main_cycle::MainScratch;
use crate::sched::queue::Queue;
use crate::select::Selector;
use crate::select::free::Free;
use crate::select::ready::{NodeJobs, Ready};
use crate::select::shape::Shape;
use crate::{Draws, plain};
use becomes_sharing::BecomesSharing;
use becomes_whole::BecomesWhole;
use events::{Event, Events};
use gpu_memory::GpuMemory;
use holds::Holds;
use jobs::LiveJobs;
use outages::Agenda;
use peculiar::Peculiar;
use record_age::RecordAges;
use reservations::Reservations;
use running::RunningJobs;
use timers::Timers;
use vain::Vain;
use waiting::Waiting;

/// Milliseconds in a second.
pub(crate) const SECOND: i64 = 1000;

/// Whole seconds of an instant.
pub(crate) fn seconds(ms: i64) -> i64 {
    ms.div_euclid(SECOND)
}

/// The controller's whole state.
#[derive(Debug)]
pub(crate) struct Controller<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) now: i64,
    pub(crate) events: Events,
    pub(crate) timers: Timers,
    pub(crate) live: LiveJobs,
    record_ages: RecordAges,
    pub(crate) waiting: Waiting,
    holds: Holds,
    pub(crate) queue: Queue,
    pub(crate) selector: Selector,
    pub(crate) free: Free,
    pub(crate) future: Free,
    /// There where jobs have components.
    pub(crate) hetjobs: Option<Box<HetJobs>>,
    /// There where somebody can be preempted.
    pub(crate) preempt: Option<Box<Preemption>>,
    /// The empty machine, for "could it ever run".
    pub(crate) empty: Free,
    /// Running jobs by expected end [s].
    /// Reservations that exist now.
    pub(crate) reservations: Reservations,
    agenda: Agenda,
    pub(crate) running: RunningJobs,
    /// Running jobs by node.
    pub(crate) node_jobs: NodeJobs,
    pub(crate) ready: Ready,
    /// Nodes that are up and schedulable.
    pub(crate) up: NodeSet,
    /// Nodes with a completing job, and how many.
    pub(crate) completing: NodeSet,
    pub(crate) completing_jobs: Vec<u32>,
    /// Shapes by (request, position of the partition in it), made when first needed.
    shapes: Vec<Option<Box<[Shape]>>>,
    /// What the agent of `sched/builtin` asks for.
    pub(crate) elsewhere: Elsewhere,
    /// Shapes of jobs that prefer features.
    pub(crate) preferred: BTreeMap<JobId, (Sharing, Box<[Shape]>)>,
    pub(crate) becomes_whole: BecomesWhole,
    /// Whose limit is lengthened when it starts, and to what [s].
    longest_limit: Option<(JobId, i64)>,
    /// Which jobs of several partitions share since a test in one that forces them to.
    becomes_sharing: BecomesSharing,
    pub(crate) gpu_memory: GpuMemory,
    /// Requests for several partitions, and those of them that could never hold what they ask for.
    pub(crate) too_small: BTreeSet<(RequestId, PartitionId)>,
    /// Requests that ask for more memory than a partition's `MaxMemPerNode`.
    pub(crate) over_memory: BTreeMap<(RequestId, PartitionId), OverMemory>,
    /// Whether a QOS holds jobs below its `UsageThreshold`.
    pub(crate) thresholds_hold: bool,
    /// Free licences, by [`crate::ids::LicenseId`].
    pub(crate) free_licenses: Vec<i64>,
    pub(crate) usage: Usage,
    pub(crate) limits: LimitUsage,
    pub(crate) fair_share: FairShare,
    /// Whether usage decides anything through the fair-share factors.
    pub(crate) shares_are_read: bool,
    norms: Norms,
    pub(crate) backfill: Backfill,
    pub(crate) main_scratch: MainScratch,
    pub(crate) records: Vec<JobRecord>,
    pub(crate) node_ranges: Vec<(u32, u32)>,
    pub(crate) counters: SchedulerCounters,
    next_arrival: usize,
    /// The first job of the submission that the next arrival is part of.
    arriving: usize,
    pub(crate) finished: usize,
    /// Counts changes of anything a scheduler's decision depends on, time apart.
    pub(crate) version: u64,
    /// Jobs that sbatch would refuse, and why.
    refused: BTreeMap<JobId, PendingReason>,
    /// What cycles have done in vain.
    pub(crate) vain: Vain,
    /// Counts changes of the sizes that tests give to waiting jobs.
    pub(crate) sizes_version: u64,
    /// CPUs that the waiting tasks of an array count as, by its id: slurmctld keeps them in one record. Empty where sizes do not vary.
    array_sizes: BTreeMap<u64, u32>,
    /// As how many CPUs requests count that `MaxMemPerCPU` gives others than they ask for.
    counted_cpus: BTreeMap<RequestId, u32>,
    /// What those counted as at the last priority step that have changed since.
    array_sizes_at_step: BTreeMap<u64, Option<u32>>,
    /// Jobs while which wait every cycle is gone through.
    peculiar: Peculiar,
    /// Cores may be used twice.
    shares_cores: bool,
    /// Whether waiting jobs may come to count as more than they ask for.
    pub(crate) sizes_vary: bool,
    /// Pending jobs that no cycle of backfill has come to, and that the first one makes as large as an idle machine would charge.
    pub(crate) untested: BTreeSet<JobId>,
    /// With `INCR_ONLY`, the highest priority that each job has had in each of its partitions since its submission.
    pub(crate) risen: BTreeMap<JobId, Vec<u32>>,
    /// The priorities that jobs of several partitions had there when they started: those that they come back with.
    kept_priorities: BTreeMap<JobId, Box<[u32]>>,
    /// When jobs came back that keep their place, though queued again [s].
    back_in_place: BTreeMap<JobId, i64>,
    /// A job waits for a reason that no queue built since has noted.
    new_reason: bool,
    /// Counts changes of what is known of limits that hold jobs back.
    pub(crate) reasons_version: u64,
    /// Of arrays of which tasks wait: whether a limit held them back when last looked at, and whether that was noted.
    array_reasons: BTreeMap<u64, (bool, bool)>,
    /// Who named nodes, when last tested, that were not to be had, by id and component.
    lacking: BTreeSet<(u64, Option<u32>)>,
    basic_ranks: job_priority::BasicRanks,
    /// Jobs may hold nodes for their user alone.
    pub(crate) any_exclusive_users: bool,
}

/// Simulates Slurm's schedulers on a scenario.
fn run(
    scenario: &Scenario,
    draws: Draws,
    every_cycle: bool,
    observer: &mut impl Observer,
) -> Result<Outcome, Interrupted> {
    debug_assert!(!scenario.policy.scheduler.is_plain());
    let scenario = if every_cycle { Cow::Borrowed(scenario) } else { unused_rows::without_unused_rows(scenario) };
    Controller::new(&scenario, draws, every_cycle).run(observer)
}

/// Simulates Slurm's schedulers at recorded moments.
pub(crate) fn run_at(
    scenario: &Scenario,
    draws: Draws,
    moments: &Moments,
    observer: &mut impl Observer,
) -> Result<Outcome, Interrupted> {
    let mut controller = Controller::new(scenario, draws, false);
    controller.timers.impose(moments.clone());
    controller.plan_holds(&moments.holds);
    controller.run(observer)
}

impl<'a> Controller<'a> {
    /// The event loop.
    fn run(mut self, observer: &mut impl Observer) -> Result<Outcome, Interrupted> {
        self.plan_calendar();
        let boot = self.timers.boot;
        let total = self.scenario.workload.jobs.len();
        let mut steps: u64 = 0;
        let mut last_event = boot;
        self.open();
        while self.finished < total {
            steps += 1;
            if steps.is_multiple_of(4096) && observer.progress(self.finished, total).is_break() {
                return Err(Interrupted);
            }
            let arrival = self.arrival_time();
            let event = self.events.next_time();
            let next = arrival.min(event);
            if next == i64::MAX && self.is_stuck() {
                break;
            }
            if self.is_long_stuck() {
                self.timers.pass_over(next);
            }
            let timer = self.timers.next();
            if next == i64::MAX && timer == i64::MAX {
                break;
            }
            self.now = next.min(timer).max(self.now);
            if event <= self.now {
                if let Some(event) = self.events.pop() {
                    self.handle(event);
                    last_event = self.now;
                }
            } else if arrival <= self.now {
                self.arrive();
            } else if self.timers.priority_at <= self.now {
                self.priority_step();
            } else if self.timers.purge_at() <= self.now {
                self.timers.purge_records(self.now);
            } else if self.timers.main_at() <= self.now {
                self.main_timer();
            } else if self.timers.backfill_at <= self.now {
                match self.scenario.policy.scheduler {
                    Scheduler::SlurmBuiltin => crate::sched::builtin::estimate(&mut self),
                    _ => crate::sched::backfill::cycle(&mut self),
                }
            }
        }
        if observer.progress(self.finished, total).is_break() {
            return Err(Interrupted);
        }
        let simulated_seconds = seconds(last_event - boot);
        let pending = self.pending_reasons();
        let Self { records, node_ranges, counters, .. } = self;
        Ok(Outcome { records, node_ranges, counters, simulated_seconds, pending })
    }

    fn arrival_time(&self) -> i64 {
        match self.scenario.workload.jobs.get(self.next_arrival) {
            Some(job) => self.timers.arrival(job.submit, self.next_arrival, self.arriving),
            None => i64::MAX,
        }
    }

    fn arrive(&mut self) {
        let job = JobId::new(self.next_arrival);
        self.next_arrival += 1;
        let jobs = &self.scenario.workload.jobs;
        if !jobs.get(self.next_arrival).is_some_and(|next| next.comes_with(&jobs[job.index()])) {
            self.arriving = self.next_arrival;
        }
        self.submit(job);
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::RunEnds { job, killed, starts } => self.run_ends(job, killed, starts),
            Event::ReservationOver { job, starts } => self.reservation_over(job, starts),
            Event::GraceOver { job, starts } => self.grace_over(job, starts),
            Event::OtherNodesFree { job } => self.other_nodes_free(job),
            Event::NodeFree { job, node } => self.node_free(job, node),
            Event::NodesFree { job } => self.nodes_free(job),
            Event::ComesBack { job } => self.done_comes_back(job),
            Event::Cancelled { job } => self.cancel_pending(job),
            Event::DeadlineMissed { job } => self.miss_deadline(job),
            Event::PurgedLate { job } => self.purge_late(job),
            Event::Held { job } => self.holds_back(job),
            Event::LetGo { job } => self.lets_go(job),
            Event::Released { job } => self.release(job),
            Event::MainRequested => self.main_immediate(),
            Event::LeafWaitOver => self.look_again(),
            Event::Calendar { index } => self.change_machine(index),
        }
    }

    /// A job or node record has changed: decisions may differ, and backfill has a reason to look.
    pub(crate) fn touch(&mut self) {
        self.vain.since = self.now;
        self.reserve_anew();
    }

    /// Decisions may differ, but no record says so: backfill has no reason to look.
    pub(crate) fn come_unseen(&mut self) {
        self.vain.since = self.now;
        self.version += 1;
        self.look_again();
    }

    /// Reservations have changed, or who may run in them. Those that recur would change for as long as anybody waits.
    pub(crate) fn reserve_anew(&mut self) {
        (self.vain.main, self.vain.backfill) = (0, 0);
        self.reorder();
    }

    /// The queue has another order.
    pub(crate) fn reorder(&mut self) {
        self.version += 1;
        self.timers.changed(self.now);
    }

    /// The job's state word when nothing more will happen to it.
    pub(crate) fn close(&mut self, job: JobId, state: JobState) {
        self.records[job.index()].state = state;
        self.finished += 1;
        if !self.refused.contains_key(&job) {
            self.timers.record_ended(self.now);
        }
        self.limits_left(job);
    }

    pub(crate) fn norms(&self) -> &Norms {
        &self.norms
    }
}

/// Dispatches a scenario to its algorithm.
pub(crate) fn dispatch(
    scenario: &Scenario,
    draws: Draws,
    every_cycle: bool,
    observer: &mut impl Observer,
) -> Result<Outcome, Interrupted> {
    let algorithm = match scenario.policy.scheduler {
        Scheduler::SlurmBackfill | Scheduler::SlurmBuiltin => return run(scenario, draws, every_cycle, observer),
        Scheduler::Fcfs => plain::PlainAlgorithm::Fcfs,
        Scheduler::Sjf => plain::PlainAlgorithm::Sjf,
        Scheduler::Easy => plain::PlainAlgorithm::Easy,
        Scheduler::Conservative => plain::PlainAlgorithm::Conservative,
    };
    plain::simulate(scenario, algorithm, &scenario.policy.plain, observer)
}
