//! What a replication produced: a record per job and the schedulers' counters.

use crate::ids::{JobId, NodeId};

/// How a job ended, in Slurm's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Never started.
    Pending,
    /// Ended by itself.
    Completed,
    /// Ended by itself, unsuccessfully.
    Failed,
    /// Ended by its time limit.
    Timeout,
    /// Left the queue before it started.
    Cancelled,
    /// Still running when the simulation ended.
    Running,
    /// Ended by preemption.
    Preempted,
    /// Ended by a node failure.
    NodeFail,
    /// Its deadline passed.
    Deadline,
}

impl JobState {
    /// Slurm's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
            Self::Running => "RUNNING",
            Self::Preempted => "PREEMPTED",
            Self::NodeFail => "NODE_FAIL",
            Self::Deadline => "DEADLINE",
        }
    }
}

/// Who started a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedBy {
    /// Its own submission (salloc, srun).
    Submit,
    /// The main scheduler, or a plain algorithm's head of the queue.
    Main,
    /// The backfill scheduler.
    Backfill,
}

impl StartedBy {
    /// The word in the schedule file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Main => "main",
            Self::Backfill => "backfill",
        }
    }
}

/// Why a job is left PENDING, in the words of squeue(1) where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PendingReason {
    /// No partition of the job has the nodes it asks for, were they all idle: sbatch refuses it.
    BadConstraints,
    /// slurmctld can give nodes, but no cores on them: it holds the job.
    JobHeldAdmin,
    /// All partitions of the job are down or inactive, or were draining when it came.
    PartitionDown,
    /// A time, a number of nodes, an account or a QOS that no partition of the job allows.
    PartitionLimit,
    /// A limit of its association or of a QOS.
    Limit,
    /// Licences are taken, or there are not as many.
    Licenses,
    /// Its reservation is over, not for it, or yet to come.
    Reservation,
    /// What it depends on has not happened.
    Dependency,
    /// What it depends on can never happen.
    DependencyNeverSatisfied,
    /// Its begin time has not come.
    BeginTime,
    /// Of the nodes that it could run on, too few are up.
    ReqNodeNotAvail,
    /// Resources are taken, or others go first.
    Resources,
}

impl PendingReason {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::BadConstraints,
        Self::JobHeldAdmin,
        Self::PartitionDown,
        Self::PartitionLimit,
        Self::Limit,
        Self::Licenses,
        Self::Reservation,
        Self::Dependency,
        Self::DependencyNeverSatisfied,
        Self::BeginTime,
        Self::ReqNodeNotAvail,
        Self::Resources,
    ];

    /// The word, and what it says.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::BadConstraints => ("BadConstraints", "no partition of theirs has the nodes they ask for"),
            Self::JobHeldAdmin => (
                "JobHeldAdmin",
                "their nodes give more CPUs than --ntasks-per-socket lets tasks have: slurmctld holds them",
            ),
            Self::PartitionDown => ("PartitionDown", "their partitions are down, draining or inactive"),
            Self::PartitionLimit => {
                ("PartitionLimit", "their partitions do not allow the time, number of nodes, account or QOS")
            }
            Self::Limit => ("Limit", "at or above a limit of their association or QOS"),
            Self::Licenses => ("Licenses", "licences are taken, or there are fewer"),
            Self::Reservation => ("Reservation", "their reservation is over, not for them, or yet to come"),
            Self::Dependency => ("Dependency", "what they depend on has not happened"),
            Self::DependencyNeverSatisfied => ("DependencyNeverSatisfied", "what they depend on can never happen"),
            Self::BeginTime => ("BeginTime", "their begin time has not come"),
            Self::ReqNodeNotAvail => ("ReqNodeNotAvail", "too few of the nodes they could run on are up"),
            Self::Resources => ("Resources", "resources are taken, or others go first"),
        }
    }
}

/// What happened to one job. Times are Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRecord {
    /// First time it could have been considered.
    pub eligible: Option<i64>,
    /// When its (last) allocation began.
    pub start: Option<i64>,
    /// When it ended or left the queue.
    pub end: Option<i64>,
    /// How it ended.
    pub state: JobState,
    /// Who started it.
    pub started_by: Option<StartedBy>,
    /// Which of the partitions it asks for its (last) allocation is of, by position in the request.
    pub partition: u16,
    /// Allocated logical CPUs.
    pub cpus: u32,
    /// Allocated nodes.
    pub n_nodes: u32,
    /// Where its node ranges begin in [`Outcome::node_ranges`].
    pub ranges_begin: u32,
    /// How many ranges it has.
    pub n_ranges: u32,
}

impl JobRecord {
    /// A job that has not been considered yet.
    pub const PENDING: Self = Self {
        eligible: None,
        start: None,
        end: None,
        state: JobState::Pending,
        started_by: None,
        partition: 0,
        cpus: 0,
        n_nodes: 0,
        ranges_begin: 0,
        n_ranges: 0,
    };
}

/// Counters in the shape of sdiag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulerCounters {
    /// Main scheduling cycles.
    pub main_cycles: u64,
    /// Records tested by the main scheduler.
    pub main_depth: u64,
    /// Jobs started by the main scheduler.
    pub main_started: u64,
    /// Backfill cycles.
    pub backfill_cycles: u64,
    /// Records seen by backfill.
    pub backfill_depth: u64,
    /// Selection tests made by backfill ("try depth").
    pub backfill_tests: u64,
    /// Jobs started by backfill.
    pub backfill_started: u64,
    /// Longest queue a cycle saw.
    pub queue_length_max: u64,
    /// Backfill cycles that ended at the end of the queue.
    pub backfill_exit_end: u64,
    /// Backfill cycles that ended at bf_max_job_test.
    pub backfill_exit_max_test: u64,
    /// Backfill cycles that ended at bf_max_job_start.
    pub backfill_exit_max_start: u64,
    /// Backfill cycles that ended at bf_node_space_size.
    pub backfill_exit_table_size: u64,
    /// Backfill cycles that ended at bf_max_time.
    pub backfill_exit_max_time: u64,
    /// Backfill cycles that ended because something changed during a yield.
    pub backfill_exit_state_changed: u64,
    /// At recorded moments: cycles that came in time though the simulation knows of no change that would have brought them.
    pub backfill_unexplained: u64,
    /// At recorded moments: cycles that did not come in time though a change would have brought them in the simulation.
    pub backfill_foregone: u64,
    /// Priority recalculations.
    pub priority_steps: u64,
    /// Runs after which a job went back to the queue.
    pub requeued: u64,
    /// Runs ended for another job's sake.
    pub preempted: u64,
}

/// The outcome of one replication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// A record per job of the workload, by [`JobId`].
    pub records: Vec<JobRecord>,
    /// Node ranges [first, last] of all records, in start order.
    pub node_ranges: Vec<(u32, u32)>,
    /// The schedulers' counters.
    pub counters: SchedulerCounters,
    /// Simulated seconds, from the controller's start to the last event.
    pub simulated_seconds: i64,
    /// Jobs left PENDING, those that were refused included, by id, and why.
    pub pending: Vec<(JobId, PendingReason)>,
}

impl Outcome {
    /// The record of a job.
    pub fn record(&self, job: JobId) -> &JobRecord {
        &self.records[job.index()]
    }

    /// The nodes a job ran on, in node order.
    pub fn nodes(&self, job: JobId) -> impl Iterator<Item = NodeId> + '_ {
        self.node_ranges_of(job).iter().flat_map(|&(first, last)| (first..=last).map(NodeId))
    }

    /// The nodes a job ran on, as ranges [first, last] in node order.
    pub fn node_ranges_of(&self, job: JobId) -> &[(u32, u32)] {
        let record = self.record(job);
        let begin = record.ranges_begin as usize;
        &self.node_ranges[begin..begin + record.n_ranges as usize]
    }
}
