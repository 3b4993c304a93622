//! The neutral model of a trace: what was asked for and how long it ran, not where and when.

use std::num::NonZeroU32;

use foresite_engine::job::{Dependencies, GresScope, JobName, Memory, Sharing, TimeLimit};

use serde::{Deserialize, Serialize};

use super::caveat::Caveat;
use super::compact::engine_types;
use super::states::TraceState;
use super::strings::{Strings, Symbol};
use super::swf_header::SwfHeader;

/// Where a trace comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceFormat {
    /// `sacct --parsable2`.
    Sacct,
    /// Standard Workload Format.
    Swf,
}

/// Recorded history of a cluster.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The file's name, for diagnostics.
    pub file: String,
    /// Where it comes from.
    pub format: TraceFormat,
    /// The cluster that the column Cluster names; empty where nothing does.
    pub cluster: String,
    /// One entry per job, array task and component, in the order of their first rows; then other jobs to which ids were given again.
    pub jobs: Vec<TraceJob>,
    /// Interned requests; [`TraceJob::request`] points here.
    pub requests: Vec<TraceRequest>,
    /// Every name; a [`Symbol`] points here.
    pub strings: Strings,
    /// The zone in which local times were read (IANA name); `UTC` for SWF.
    pub time_zone: String,
    /// When the simulated part begins, if the reader was told [Unix s].
    pub opens: Option<i64>,
    /// The time that SWF's submit times count from [Unix s]; 0 for sacct.
    pub unix_start: i64,
    /// What an SWF header says; empty for sacct.
    pub header: SwfHeader,
    /// What was assumed or left out, with counts.
    pub caveats: Vec<Caveat>,
}

/// A job of a trace. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceJob {
    /// Its identity.
    #[serde(with = "engine_types::JobNameForm")]
    pub name: JobName,
    /// Line of its first row, 1-based.
    pub line: u64,
    /// Submit time.
    pub submit: i64,
    /// Recorded Eligible, not before submit.
    pub eligible: i64,
    /// The earliest time it may be considered: [`Self::eligible`], or the submit time where begin time, dependencies or
    /// `%N` are known and simulated.
    pub release: i64,
    /// When it left the queue without having run.
    pub cancelled_at: Option<i64>,
    /// How long it ran [s], the last time if it was requeued.
    pub run_time: u32,
    /// Requested time as the trace gives it [s]; 0 if unknown.
    pub estimate: u32,
    /// The run time is a lower bound: it was ended by its limit, or had not ended.
    pub run_time_is_bound: bool,
    /// How it stood at the end of the trace.
    pub state: TraceState,
    /// When it started; `None` where it did not, or where nothing tells. To hold a schedule against, never to make one.
    pub started: Option<TraceStart>,
    /// Requested time limit; `None` not given.
    #[serde(with = "engine_types::time_limit")]
    pub time_limit: Option<TimeLimit>,
    /// User.
    pub user: Symbol,
    /// Account.
    pub account: Symbol,
    /// QOS.
    pub qos: Symbol,
    /// Index into [`Trace::requests`].
    pub request: u32,
    /// `--nice`.
    pub nice: i32,
    /// The rest, for the few.
    pub extra: Option<Box<TraceExtra>>,
}

/// When a job started, the last time if it was requeued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TraceStart {
    /// Start [Unix s].
    pub at: i64,
    /// How long it had been eligible [s].
    pub wait: u32,
    /// CPUs that it got.
    pub cpus: NonZeroU32,
}

impl TraceStart {
    /// A start of a job that was eligible before; who got nobody knows how many CPUs had one.
    pub(super) fn new(at: i64, eligible: i64, cpus: u32) -> Self {
        let wait = u32::try_from(at.saturating_sub(eligible).max(0)).unwrap_or(u32::MAX);
        Self { at, wait, cpus: NonZeroU32::new(cpus).unwrap_or(NonZeroU32::MIN) }
    }
}

/// What few jobs have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceExtra {
    /// `--begin` [Unix s].
    pub begin: Option<i64>,
    /// `--deadline` [Unix s].
    pub deadline: Option<i64>,
    /// `--time-min` [min].
    pub time_min: Option<u32>,
    /// `--dependency`.
    #[serde(with = "engine_types::dependencies")]
    pub dependencies: Option<Dependencies>,
    /// `%N` of the array.
    pub array_task_limit: Option<u32>,
    /// The job's name, where it has a singleton dependency.
    pub job_name: Symbol,
    /// `--requeue`, `--no-requeue`; `Some(false)` for salloc and srun.
    pub requeue: Option<bool>,
    /// `--kill-on-invalid-dep`.
    pub kill_on_invalid_dep: Option<bool>,
    /// `--prefer`.
    pub prefer: Symbol,
    /// Incarnations that were queued again, by submit time; the job's own run time, state and cancellation are the last one's.
    pub earlier_runs: Vec<TraceRun>,
    /// Submit time of the last incarnation, if there are several [Unix s].
    pub last_submit: i64,
    /// How the (last) incarnation stood when the simulated part begins, if it was submitted before; `None` if it was over.
    pub before: Option<TraceBefore>,
}

/// How a job, submitted before the simulated part of the trace, stood when that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TraceBefore {
    /// It ran.
    Running {
        /// Its start [Unix s].
        since: i64,
        /// Its NodeList.
        nodes: Symbol,
    },
    /// It waited.
    Waiting,
}

/// An incarnation of a job that was queued again after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TraceRun {
    /// Its submit time [Unix s].
    pub submit: i64,
    /// How long it ran [s].
    pub run_time: u32,
    /// How it stood at its end.
    pub state: TraceState,
    /// How it stood when the simulated part begins, if it was submitted before; `None` if it was over.
    pub before: Option<TraceBefore>,
}

/// What jobs ask for, names unresolved. Equal requests are stored once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TraceRequest {
    /// Partitions, comma-separated; empty for the default one.
    pub partitions: Symbol,
    /// Least nodes.
    pub min_nodes: u32,
    /// Most nodes; `None` where only tasks were asked for.
    pub max_nodes: Option<u32>,
    /// Tasks; 0 where only GPUs were counted.
    pub tasks: u32,
    /// CPUs of a task.
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
    /// `--ntasks-per-gpu`.
    pub ntasks_per_gpu: Option<u32>,
    /// `--threads-per-core`, `--hint=nomultithread`.
    pub threads_per_core: Option<u32>,
    /// `--cores-per-socket`.
    pub cores_per_socket: Option<u32>,
    /// `--sockets-per-node`.
    pub sockets_per_node: Option<u32>,
    /// `--mincpus`.
    pub min_cpus_per_node: Option<u32>,
    /// Memory.
    #[serde(with = "engine_types::MemoryForm")]
    pub memory: Memory,
    /// The memory is the recorded amount, which may be a default and no wish.
    pub memory_is_recorded: bool,
    /// All memory that was recorded as asked for [MB] and how many nodes it was allocated on, where that is all that was allocated.
    pub memory_allocated: Option<(u64, u32)>,
    /// CPUs and nodes that were allocated, where those are more CPUs than were asked for and nothing tells that nodes were not shared.
    pub cpus_allocated: Option<(u32, u32)>,
    /// `--constraint`.
    pub constraints: Symbol,
    /// Generic resources.
    pub gres: Vec<TraceGres>,
    /// `--gres-flags=enforce-binding`.
    pub enforces_binding: bool,
    /// `--tmp` [MB].
    pub tmp_disk_mb: u64,
    /// `--exclusive`, `--oversubscribe`.
    #[serde(with = "engine_types::SharingForm")]
    pub sharing: Sharing,
    /// `--nodelist`, as far as sbatch of 22.05 passes it on.
    pub required_nodes: Symbol,
    /// All of `--nodelist`, where it names more nodes than the job needs at least: from 23.02 on any of them will do. Else empty.
    pub candidate_nodes: Symbol,
    /// So many of those it needs at least.
    pub least_candidates: u32,
    /// `--exclude`.
    pub excluded_nodes: Symbol,
    /// `--contiguous`.
    pub contiguous: bool,
    /// `--spread-job`.
    pub spread: bool,
    /// `--use-min-nodes`.
    pub use_min_nodes: bool,
    /// `--overcommit`: how many tasks.
    pub overcommitted: Option<u32>,
    /// `--overcommit`: `--ntasks-per-node`.
    pub overcommitted_per_node: Option<u32>,
    /// `--overcommit` beside `--cpus-per-task`.
    pub overcommit_gives_cpus: bool,
    /// The command line says no nodes; the record, which may have them of the partition's `MinNodes`, does.
    pub nodes_are_recorded: bool,
    /// `-m …:block`.
    pub block_cores: Option<bool>,
    /// `-m plane=n`.
    pub plane: Option<u32>,
    /// `--switches`: count and wait [s].
    pub switches: Option<(u32, Option<u32>)>,
    /// `--licenses`.
    pub licenses: Symbol,
    /// `--reservation`.
    pub reservation: Symbol,
}

/// A count of a generic resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TraceGres {
    /// `gpu` or `gpu:a100`, in small letters.
    pub label: Symbol,
    /// How many; also bytes.
    pub count: u64,
    /// Per what.
    #[serde(with = "engine_types::GresScopeForm")]
    pub scope: GresScope,
}

impl TraceRequest {
    /// `cpus` CPUs on as many nodes as needed, nothing else said.
    pub fn of_cpus(cpus: u32) -> Self {
        Self {
            partitions: Symbol::EMPTY,
            min_nodes: 1,
            max_nodes: None,
            tasks: cpus,
            cpus_per_task: 1,
            cpus_per_gpu: None,
            min_cpus: cpus,
            ntasks_per_node: None,
            ntasks_per_socket: None,
            ntasks_per_core: None,
            ntasks_per_gpu: None,
            threads_per_core: None,
            cores_per_socket: None,
            sockets_per_node: None,
            min_cpus_per_node: None,
            memory: Memory::Default,
            memory_is_recorded: false,
            memory_allocated: None,
            cpus_allocated: None,
            constraints: Symbol::EMPTY,
            gres: Vec::new(),
            enforces_binding: false,
            tmp_disk_mb: 0,
            sharing: Sharing::Default,
            required_nodes: Symbol::EMPTY,
            candidate_nodes: Symbol::EMPTY,
            least_candidates: 0,
            excluded_nodes: Symbol::EMPTY,
            contiguous: false,
            spread: false,
            use_min_nodes: false,
            overcommitted: None,
            overcommitted_per_node: None,
            overcommit_gives_cpus: false,
            nodes_are_recorded: false,
            block_cores: None,
            plane: None,
            switches: None,
            licenses: Symbol::EMPTY,
            reservation: Symbol::EMPTY,
        }
    }
}
