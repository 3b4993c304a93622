//! What a job asks for ([`Request`], shared by all jobs that ask alike) and when it came ([`Job`]).

use crate::ids::{AssociationId, FeatureId, GresId, JobId, LicenseId, NodeId, PartitionId, QosId, RequestId, UserId};
use crate::outcome::JobState;

/// The identity that a trace gives a job. Ordered as slurmctld breaks ties: by base id, then task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobName {
    /// The job id, or an array's or heterogeneous job's base id.
    pub id: u64,
    /// Which part of it this is.
    pub part: JobPart,
}

/// One job of an id, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobPart {
    /// `12`.
    Whole,
    /// `12_3`: an array task.
    Task(u32),
    /// `12+1`: a component of a heterogeneous job.
    Component(u32),
}

impl std::fmt::Display for JobName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.part {
            JobPart::Whole => write!(f, "{}", self.id),
            JobPart::Task(task) => write!(f, "{}_{task}", self.id),
            JobPart::Component(component) => write!(f, "{}+{component}", self.id),
        }
    }
}

/// Memory asked for [MB].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// No option given: the partition's or cluster's default.
    Default,
    /// `--mem`.
    PerNode(u64),
    /// `--mem-per-cpu`.
    PerCpu(u64),
    /// `--mem-per-gpu`.
    PerGpu(u64),
    /// `--mem=0`: all of each node.
    WholeNode,
}

/// What the job says about sharing its nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// No option given.
    #[default]
    Default,
    /// `--exclusive`.
    Exclusive,
    /// `--exclusive=user`.
    ExclusiveUser,
    /// `--oversubscribe`.
    OverSubscribe,
}

/// A constraint on node features (`--constraint`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FeatureExpr {
    /// No constraint.
    Any,
    /// The node has the feature.
    Has(FeatureId),
    /// A feature that no node has.
    Unknown(String),
    /// `&`.
    And(Vec<FeatureExpr>),
    /// `|`.
    Or(Vec<FeatureExpr>),
    /// `[a|b]`: all nodes the same alternative.
    MatchingOr(Vec<FeatureExpr>),
    /// `a*2&b*3`: so many nodes of each.
    Counted(Vec<(FeatureExpr, u32)>),
}

/// Over what a GRES count is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GresScope {
    /// `--gres`, `--gpus-per-node`.
    PerNode,
    /// `--gpus`.
    PerJob,
    /// `--gpus-per-task`.
    PerTask,
    /// `--gpus-per-socket`.
    PerSocket,
}

/// A count of a generic resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GresRequest {
    /// Which resource.
    pub gres: GresId,
    /// How many.
    pub count: u32,
    /// Per what.
    pub scope: GresScope,
}

impl GresRequest {
    /// How many of the whole job, on so many nodes and with so many tasks. A socket counts as a node.
    pub fn of_job(&self, nodes: u32, tasks: u32) -> u32 {
        match self.scope {
            GresScope::PerNode | GresScope::PerSocket => self.count.saturating_mul(nodes),
            GresScope::PerJob => self.count,
            GresScope::PerTask => self.count.saturating_mul(tasks),
        }
    }
}

/// Everything that decides where a job fits, its time limit apart. Interned: equal requests share one id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Partitions, in the order asked for; at least one.
    pub partitions: Vec<PartitionId>,
    /// `-N min`.
    pub min_nodes: u32,
    /// `-N min-max`; `None` where only tasks were asked for.
    pub max_nodes: Option<u32>,
    /// `-n`: tasks; 0 where GRES were asked for, but no tasks: that is one task, but a node is asked for as many as it has room for, and
    /// GPUs counted for the job (`--gpus`) may be on several nodes.
    pub tasks: u32,
    /// `-c`, at least 1.
    pub cpus_per_task: u32,
    /// Least CPUs of the whole job.
    pub min_cpus: u32,
    /// `--cpus-per-gpu`; 0 where `-c` was given, so that no default applies.
    pub cpus_per_gpu: Option<u32>,
    /// `--ntasks-per-node`.
    pub ntasks_per_node: Option<u32>,
    /// `--ntasks-per-socket`.
    pub ntasks_per_socket: Option<u32>,
    /// `--ntasks-per-core`.
    pub ntasks_per_core: Option<u32>,
    /// `--ntasks-per-gpu`; the tasks and GPUs that follow from it are counted already.
    pub ntasks_per_gpu: Option<u32>,
    /// `--threads-per-core`, `--hint=nomultithread` (1).
    pub threads_per_core: Option<u32>,
    /// `--cores-per-socket`.
    pub cores_per_socket: Option<u32>,
    /// `--sockets-per-node`.
    pub sockets_per_node: Option<u32>,
    /// `--mincpus`.
    pub min_cpus_per_node: Option<u32>,
    /// Memory.
    pub memory: Memory,
    /// `--constraint`.
    pub features: FeatureExpr,
    /// GRES.
    pub gres: Vec<GresRequest>,
    /// `--gres-flags=enforce-binding`: GRES only where cores near them are free.
    pub enforces_binding: bool,
    /// `--tmp` [MB]: local disk of each node.
    pub tmp_disk_mb: u64,
    /// `--exclusive`, `--oversubscribe`.
    pub sharing: Sharing,
    /// `--nodelist`.
    pub required_nodes: Vec<NodeId>,
    /// `--exclude`.
    pub excluded_nodes: Vec<NodeId>,
    /// `--contiguous`.
    pub contiguous: bool,
    /// `--spread-job`.
    pub spread: bool,
    /// `--use-min-nodes`.
    pub use_min_nodes: bool,
    /// `--overcommit`: so many tasks, of which `tasks` and `min_cpus` count one a node; they take CPUs with select/cons_res alone.
    pub overcommitted: Option<u32>,
    /// `--overcommit` with `--ntasks-per-node`: so many tasks find CPUs on each node, though they take none.
    pub overcommitted_per_node: Option<u32>,
    /// `--overcommit` beside `--cpus-per-task`: from 24.11 on each of its tasks gets its CPUs all the same.
    pub overcommit_gives_cpus: bool,
    /// Its QOS has `PartitionMinNodes`: it gets no more nodes because the partition has a `MinNodes`.
    pub past_min_nodes: bool,
    /// Its QOS has `PartitionMaxNodes`: it gets the nodes it asks for, whatever the partition's `MaxNodes`.
    pub past_max_nodes: bool,
    /// Its QOS has `EnforceUsageThreshold`: `MaxMemPerCPU` and `MaxMemPerNode` neither hold it nor change its CPUs (job_mgr.c of 22.05.8,
    /// `job_limits_check`).
    pub past_memory_limits: bool,
    /// `-m block:block`: fill sockets one after the other.
    pub block_cores: Option<bool>,
    /// `-m plane=n`: so many tasks on a node before the next, filling sockets one after the other.
    pub plane: Option<u32>,
    /// `--switches=n[@wait]` (count, wait in seconds).
    pub switches: Option<(u32, Option<u32>)>,
    /// `--licenses`.
    pub licenses: Vec<(LicenseId, u32)>,
    /// `--reservation`.
    pub reservation: Option<String>,
}

impl Request {
    /// One task on one CPU in `partition`, nothing else said.
    pub fn serial(partition: PartitionId) -> Self {
        Self {
            partitions: vec![partition],
            min_nodes: 1,
            max_nodes: None,
            tasks: 1,
            cpus_per_task: 1,
            min_cpus: 1,
            cpus_per_gpu: None,
            ntasks_per_node: None,
            ntasks_per_socket: None,
            ntasks_per_core: None,
            ntasks_per_gpu: None,
            threads_per_core: None,
            cores_per_socket: None,
            sockets_per_node: None,
            min_cpus_per_node: None,
            memory: Memory::Default,
            features: FeatureExpr::Any,
            gres: Vec::new(),
            enforces_binding: false,
            tmp_disk_mb: 0,
            sharing: Sharing::Default,
            required_nodes: Vec::new(),
            excluded_nodes: Vec::new(),
            contiguous: false,
            spread: false,
            use_min_nodes: false,
            overcommitted: None,
            overcommitted_per_node: None,
            overcommit_gives_cpus: false,
            past_min_nodes: false,
            past_max_nodes: false,
            past_memory_limits: false,
            block_cores: None,
            plane: None,
            switches: None,
            licenses: Vec::new(),
            reservation: None,
        }
    }
}

/// The kind of a dependency (`--dependency`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DependencyKind {
    /// `after:J[+min]`: started (minutes ago).
    After(u32),
    /// `afterany`.
    AfterAny,
    /// `afterok`.
    AfterOk,
    /// `afternotok`.
    AfterNotOk,
    /// `aftercorr`.
    AfterCorr,
    /// `singleton`.
    Singleton,
}

/// One condition of `--dependency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dependency {
    /// What must have happened.
    pub kind: DependencyKind,
    /// The trace's base id of the job it must have happened to (0 for singleton).
    pub id: u64,
    /// The one task of that array, `afterok:12_3`; without, all of the job.
    pub task: Option<u32>,
}

/// A job's dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// True for `a?b` (any suffices), false for `a,b` (all must hold).
    pub any: bool,
    /// The conditions, as they were given.
    pub on: Vec<Dependency>,
}

/// Why a recorded run gave way to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunEnd {
    /// `REQUEUED`: by `scontrol requeue`, or by the job's own exit.
    Requeued,
    /// `PREEMPTED`. Not repeated where the scenario preempts: then the simulation decides who is.
    Preempted,
    /// `NODE_FAIL`.
    NodeFail,
}

/// A run of a job that was queued again after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EarlierRun {
    /// How long it ran [s].
    pub run_time: u32,
    /// Why it ended.
    pub ended_by: RunEnd,
}

/// A job that the simulation finds there when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// It waits; its age counts from its release time.
    Waiting,
    /// It runs.
    Running {
        /// The recorded start [Unix s].
        since: i64,
        /// The recorded nodes, ascending; empty if they are not known.
        nodes: Vec<NodeId>,
    },
}

/// What few jobs have; boxed so that the others stay small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobExtra {
    /// `--begin` [Unix s].
    pub begin: Option<i64>,
    /// `--deadline` [Unix s].
    pub deadline: Option<i64>,
    /// `--time-min` [min].
    pub time_min: Option<u32>,
    /// `--dependency`.
    pub dependencies: Option<Dependencies>,
    /// `%N` of the array this is a task of.
    pub array_task_limit: Option<u32>,
    /// Name of the job, where a singleton dependency needs it.
    pub job_name: Option<String>,
    /// Runs after which the job went back to the queue, in order; [`Job::run_time`] is that of the last one.
    pub earlier_runs: Vec<EarlierRun>,
    /// `--requeue`, `--no-requeue`; `Some(false)` for salloc and srun, which never come back.
    pub requeue: Option<bool>,
    /// `--kill-on-invalid-dep`; without, [`crate::policy::Policy::kill_invalid_depend`] holds.
    pub kill_on_invalid_dep: Option<bool>,
    /// `--prefer`.
    pub prefer: Option<FeatureExpr>,
    /// How it stood when the simulated part of the trace begins, if it was submitted before.
    pub before: Option<Before>,
}

/// A job of the workload. 64-bit times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its identity in the trace.
    pub name: JobName,
    /// Submit time [Unix s].
    pub submit: i64,
    /// The earliest time it may be considered, where the trace shows only that (recorded Eligible); else the submit time.
    pub release: i64,
    /// When it left the queue without having run [Unix s]; `i64::MAX` if it never did.
    pub cancelled_at: i64,
    /// How long it runs [s], in its last run if it was requeued.
    pub run_time: u32,
    /// Requested time [s] as the trace gave it, used by the plain algorithms; 0 = unknown (then `run_time`).
    pub estimate: u32,
    /// Requested limit [min]: `None` not given.
    pub time_limit: Option<TimeLimit>,
    /// It was ended by its limit, so `run_time` is only a lower bound.
    pub run_time_is_bound: bool,
    /// How its last run ends where nothing else ends it before: COMPLETED (decides afterok), FAILED, or CANCELLED by somebody.
    pub ends: JobState,
    /// Who submitted it.
    pub user: UserId,
    /// The association charged.
    pub association: AssociationId,
    /// Its QOS.
    pub qos: QosId,
    /// What it asks for.
    pub request: RequestId,
    /// `--nice`.
    pub nice: i32,
    /// The rest, for the few.
    pub extra: Option<Box<JobExtra>>,
}

impl Job {
    /// How it stood when the simulated part of the trace begins, if it was submitted before.
    pub fn before(&self) -> Option<&Before> {
        self.extra.as_ref()?.before.as_ref()
    }

    /// Whether one submission brought both: they are parts of one job id.
    pub(crate) fn comes_with(&self, other: &Self) -> bool {
        self.name.id == other.name.id && self.submit == other.submit && self.name.part != JobPart::Whole
    }
}

/// A requested time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeLimit {
    /// Minutes.
    Minutes(u32),
    /// `UNLIMITED`.
    Unlimited,
}

/// The jobs of a trace made into model input: one immutable copy is shared by all replications and scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Jobs by submit time, ties in job id order; those with [`JobExtra::before`] come first. A [`JobId`] points here.
    pub jobs: Vec<Job>,
    /// Interned requests.
    pub requests: Vec<Request>,
    /// User names.
    pub users: Vec<String>,
    /// For each row of the trace the job it became; schedule files are written in this order.
    pub trace_order: Vec<JobId>,
}
