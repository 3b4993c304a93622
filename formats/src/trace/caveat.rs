//! What was assumed about jobs, or left out, counted per kind.

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Severity};

/// A caveat with the number of jobs it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caveat {
    /// Which caveat.
    pub kind: CaveatKind,
    /// How many jobs, or rows.
    pub count: u64,
    /// The first line it was met on.
    pub line: u64,
}

macro_rules! caveats {
    ($($(#[$doc:meta])* $name:ident, $severity:ident, $field:literal, $text:literal, $cure:literal;)+) => {
        /// A kind of caveat.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum CaveatKind {
            $($(#[$doc])* $name,)+
        }

        impl CaveatKind {
            /// All kinds, in the order they are reported.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// What it says, as a clause.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            fn parts(self) -> (Severity, &'static str, &'static str) {
                match self { $(Self::$name => (Severity::$severity, $field, $cure),)+ }
            }
        }
    };
}

caveats! {
    /// No command line was recorded.
    LayoutUnknown, Assumed, "SubmitLine", "the requested layout and sharing are unknown: nodes, CPUs and memory taken from the recorded totals",
        "export the SubmitLine column (Slurm 21.08 or later)";
    /// No column tells which features of nodes were asked for.
    ConstraintsUnknown, Assumed, "Constraints", "constraints on nodes' features are unknown: none taken", "export the Constraints column";
    /// No column tells the partition.
    PartitionUnknown, Assumed, "Partition", "no partition is recorded: who names none on the command line is taken to be of the default one", "export the Partition column";
    /// No column tells the user.
    UserUnknown, Assumed, "User", "no users are recorded: all jobs are taken to be one user's, so that no limit or share is told apart", "export the User column";
    /// No column tells the account.
    AccountUnknown, Assumed, "Account", "no accounts are recorded: all jobs are taken to be of root", "export the Account column";
    /// No column tells the QOS.
    QosUnknown, Assumed, "QOS", "no QOS is recorded: normal taken", "export the QOS column";
    /// No column tells since when jobs could start.
    EligibleUnknown, Assumed, "Eligible", "no times since when jobs were eligible are recorded: what held them, the command line apart, is unknown", "export the Eligible column";
    /// No column tells memory.
    MemoryUnknown, Assumed, "ReqMem", "no memory is recorded: who names none on the command line is taken to have the default", "export the ReqMem column";
    /// The command line does not explain the recorded request.
    ScriptOptions, Assumed, "SubmitLine", "the recorded request differs from the command line (directives in the script?): the recorded counts taken", "";
    /// No request was recorded.
    AllocatedAsRequested, Assumed, "ReqTRES", "the request is not recorded: the allocated CPUs or nodes taken for it", "export ReqTRES, ReqCPUS and ReqNodes";
    /// GRES known from the allocation only.
    GresFromAllocation, Assumed, "ReqTRES", "requested GRES unknown: the allocated ones taken", "";
    /// Memory of which two decimals are left.
    MemoryRounded, Assumed, "ReqMem", "memory rounded to two decimals (sacct --units): the least amount that is printed so taken", "export with --noconvert";
    /// Eligible stands for what held the job.
    EligibleAsRelease, Assumed, "Eligible", "dependencies, begin times or holds unknown: the recorded Eligible taken as release time",
        "export the SubmitLine column (Slurm 21.08 or later)";
    /// Never eligible.
    NeverEligible, Assumed, "Eligible", "not eligible before they were cancelled, or before the trace ended (held, or waiting for what the trace does not tell): they never start", "";
    /// A begin time in words that are not understood.
    BeginUnknown, Assumed, "SubmitLine", "a --begin that is not understood: the recorded Eligible taken as release time", "";
    /// A dependency that is not modelled.
    DependencyUnknown, NotModelled, "SubmitLine", "a --dependency that is not modelled: the recorded Eligible taken as release time", "";
    /// Still in the queue.
    StillPending, Assumed, "State", "still pending when the trace was written: taken to run until the time limit", "export the period again once they have ended";
    /// Still running.
    StillRunning, Assumed, "State", "still running when the trace was written: taken to run until the time limit", "export the period again once they have ended";
    /// Ended by preemption.
    Preempted, Assumed, "State", "ended by preemption, and how long they would have run is unknown: taken to run until the time limit, unless preempted again", "";
    /// No run time.
    RunTimeUnknown, Warning, "Elapsed", "ended, but without a run time: taken as 0 s", "export ElapsedRaw, Start and End";
    /// An end before the start, without an elapsed time.
    EndBeforeStart, Warning, "End", "ended before they started, and no elapsed time is recorded: taken as 0 s", "export ElapsedRaw, or correct End";
    /// No end of a job that was cancelled in the queue.
    CancelTimeUnknown, Warning, "End", "cancelled in the queue at an unknown time: removed as soon as submitted", "export End";
    /// A submission that slurmctld recorded and refused.
    Refused, Assumed, "State", "failed at once without ever holding a node: taken as refused at submission, they never start", "";
    /// A suspended job.
    Suspended, NotModelled, "Suspended", "were suspended for a time: the times are not recorded, the run time is without them", "";
    /// Requeued incarnations.
    Requeued, Assumed, "JobID", "further rows of a job that was requeued: run one after the other, each for its recorded time", "";
    /// Parts of a run whose size changed.
    Resized, NotModelled, "JobID", "further rows of a job that changed its size while it ran (RESIZING): joined to one run of the first size", "";
    /// The run after a requeue is not in the trace.
    RequeuedLast, Assumed, "State", "were requeued, but no later run is in the trace: taken as ended without success",
        "export with --duplicates, and a period that holds the later runs";
    /// The node of the last run failed.
    NodeFailLast, Assumed, "State", "ended with a node (NODE_FAIL), without a later run in the trace (a job that is queued again and cancelled there leaves no row): taken as over, unless the simulation strikes and requeues them", "";
    /// The same row twice.
    DuplicateRow, Warning, "JobID", "rows that repeat a row, or tell an earlier state of its job: the latest state read, once", "export overlapping periods once";
    /// Job ids were used again.
    IdReused, Warning, "JobID", "job ids used again, by another user, or long after the job had ended: taken as separate jobs", "export a shorter period";
    /// A state word unknown to us.
    StateUnknown, Warning, "State", "in a state that is not known: taken as ended without success", "";
    /// A pending array whose task list was cut.
    TaskListCut, Warning, "JobID", "pending arrays whose task list is cut short (...): only the listed tasks are read", "set SLURM_BITSTR_LEN=0 for the export";
    /// Tasks of arrays that ran, and have no row.
    TasksLost, Assumed, "JobID", "array tasks without a row that have started, since later ones of their array have (Slurm marks such of arrays with %N as not eligible, and sacct leaves them out): taken to have run as long as the next task that has one", "";
    /// Tasks of arrays without a row.
    TasksMissing, Warning, "JobID", "array tasks that the command line names and the trace does not hold: left out",
        "export a period that holds the whole arrays, with --duplicates";
    /// The rest of an array that `%N` held back.
    ArrayRest, Assumed, "JobID", "array tasks without a row that waited for others of their array (%N): taken as cancelled when the last that ran ended, or, while one runs, as waiting to the end of the trace", "";
    /// A delimiter in a field.
    DelimiterInField, Warning, "", "rows with the delimiter inside a field: read as the columns' contents tell", "export with --delimiter and a string that no field holds";
    /// A newline in a field.
    JoinedLines, Warning, "", "rows with a newline inside a field: the lines were joined", "";
    /// A local time that the clock shows twice or never.
    AmbiguousTime, Assumed, "", "local times in an hour that the clock shows twice or never: the earlier reading taken", "export with SLURM_TIME_FORMAT=%s";
    /// No time limit in the trace.
    LimitUnknown, Assumed, "TimelimitRaw", "no time limit recorded: the partition's default applies", "export TimelimitRaw";
    /// An option value that is not understood.
    OptionValue, Warning, "SubmitLine", "option values that are not understood: ignored", "";
    /// Node counts between the least and the most that are not meant.
    SomeNodes, NotModelled, "SubmitLine", "--nodes with a list or a step (1-15:4): any number from the least to the most may be given", "";
    /// A GRES count that cannot be expressed.
    GresIgnored, NotModelled, "ReqTRES", "GRES requests that are not understood: ignored", "";
    /// SWF: a number in the header that cannot be read.
    SwfHeaderNumber, Warning, "MaxNodes, MaxProcs, UnixStartTime", "numbers in the header that are not understood: left out", "write for example ; MaxProcs: 2048";
    /// SWF: allocated processors stand for requested ones.
    SwfAllocated, Assumed, "requested processors", "no requested processors: the allocated ones taken", "";
    /// SWF: no processors at all.
    SwfNoProcessors, Assumed, "requested processors", "neither requested nor allocated processors: one taken", "";
    /// SWF: run time stands for the estimate.
    SwfRunTimeAsLimit, Assumed, "requested time", "no requested time: the run time taken as time limit", "";
    /// SWF: run beyond the request.
    SwfOverRun, Assumed, "run time", "ran longer than requested: kept as recorded, the simulated limit ends them", "";
    /// SWF: cancelled in the queue at an unknown time.
    SwfNoWait, Assumed, "wait time", "cancelled in the queue, but without a wait time: removed as soon as submitted", "";
    /// SWF: no run time and no cancellation.
    SwfNoRunTime, Assumed, "run time", "no run time: taken as 0 s", "";
    /// SWF of the Slurm simulators: no run time.
    SwfUntilLimit, Assumed, "run time", "no run time: taken to run until the time limit", "";
    /// SWF: larger than the machine.
    SwfTooLarge, Warning, "requested processors", "larger than the machine (MaxProcs): never start", "give --nodes and --cpus-per-node of the whole machine";
    /// SWF: a preceding job.
    SwfPreceding, NotModelled, "preceding job", "named a preceding job and a think time: the recorded submit time is kept", "";
    /// SWF: fractions of seconds.
    SwfFractions, Assumed, "", "lines with fractions of seconds: submit times cut, run times rounded", "";
    /// Extended SWF: properties of nodes.
    SwfExtended, NotModelled, "", "lines with more than eighteen fields: the rest is ignored", "";
}

impl CaveatKind {
    pub(crate) fn diagnostic(self, file: &str, count: u64, line: u64) -> Diagnostic {
        let (severity, field, cure) = self.parts();
        let diagnostic = Diagnostic::new(severity, file, format!("{}: {count}", self.text())).at(line).cure(cure);
        if field.is_empty() { diagnostic } else { diagnostic.field(field) }
    }
}
