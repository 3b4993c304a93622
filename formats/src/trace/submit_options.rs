//! The options of sbatch, salloc and srun: which exist, which take a value, which matter here. Source: their manual pages, 22.05 to 24.05,
//! and slurm_opt.c of 26.11.

use crate::fidelity::ByStanding;

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    /// Never.
    Flag,
    /// Always, in the same or the next word.
    Value,
    /// Only in the same word.
    Optional,
}

/// What an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opt {
    /// Nothing that decides where or when the job runs.
    Irrelevant,
    /// Something that is not modelled.
    NotModelled,
    Array,
    Begin,
    Constraint,
    Contiguous,
    CoresPerSocket,
    CpusPerGpu,
    CpusPerTask,
    Deadline,
    Dependency,
    Distribution,
    Exclude,
    Exclusive,
    ExtraNodeInfo,
    Gpus,
    GpusPerNode,
    GpusPerSocket,
    GpusPerTask,
    Gres,
    GresFlags,
    Hint,
    Hold,
    JobName,
    KillOnInvalidDep,
    Licenses,
    Mem,
    MemPerCpu,
    MemPerGpu,
    MinCpus,
    Nice,
    NodeList,
    Nodes,
    Ntasks,
    NtasksPerCore,
    NtasksPerGpu,
    NtasksPerNode,
    NtasksPerSocket,
    OverSubscribe,
    Overcommit,
    Partition,
    Prefer,
    Reservation,
    SocketsPerNode,
    SpreadJob,
    Requeue,
    NoRequeue,
    Switches,
    ThreadsPerCore,
    Time,
    TimeMin,
    Tmp,
    TresPerTask,
    UseMinNodes,
    /// The command is the value: no option follows.
    Wrap,
}

/// An option: long name, short name (0 for none), arity, meaning.
pub(crate) type OptionEntry = (&'static str, u8, Arity, Opt);

use Arity::{Flag, Optional, Value};
use Opt::{Irrelevant, Irrelevant as No, NotModelled};

/// The options, by long name.
const OPTIONS: &[OptionEntry] = &[
    ("account", b'A', Value, No),
    ("accel-bind", 0, Value, No),
    ("acctg-freq", 0, Value, No),
    ("array", b'a', Value, Opt::Array),
    ("batch", 0, Value, No),
    ("bb", 0, Value, NotModelled),
    ("bbf", 0, Value, NotModelled),
    ("bcast", 0, Optional, No),
    ("begin", b'b', Value, Opt::Begin),
    ("bell", 0, Flag, No),
    ("chdir", b'D', Value, No),
    ("cluster-constraint", 0, Value, NotModelled),
    ("clusters", b'M', Value, No),
    ("comment", 0, Value, No),
    ("compress", 0, Optional, No),
    ("constraint", b'C', Value, Opt::Constraint),
    ("container", 0, Value, No),
    ("container-id", 0, Value, No),
    ("contiguous", 0, Flag, Opt::Contiguous),
    ("core-spec", b'S', Value, NotModelled),
    ("cores-per-socket", 0, Value, Opt::CoresPerSocket),
    ("cpu-bind", 0, Value, No),
    ("cpu-freq", 0, Value, No),
    ("cpus-per-gpu", 0, Value, Opt::CpusPerGpu),
    ("cpus-per-task", b'c', Value, Opt::CpusPerTask),
    ("deadline", 0, Value, Opt::Deadline),
    ("debugger-test", 0, Flag, No),
    ("delay-boot", 0, Value, NotModelled),
    ("dependency", b'd', Value, Opt::Dependency),
    ("disable-status", b'X', Flag, No),
    ("distribution", b'm', Value, Opt::Distribution),
    ("epilog", 0, Value, No),
    ("error", b'e', Value, No),
    ("exact", 0, Flag, No),
    ("exclude", b'x', Value, Opt::Exclude),
    ("exclusive", 0, Optional, Opt::Exclusive),
    ("export", 0, Value, No),
    ("export-file", 0, Value, No),
    ("extra", 0, Value, No),
    ("extra-node-info", b'B', Value, Opt::ExtraNodeInfo),
    ("get-user-env", 0, Optional, No),
    ("gid", 0, Value, No),
    ("gpu-bind", 0, Value, No),
    ("gpu-freq", 0, Value, No),
    ("gpus", b'G', Value, Opt::Gpus),
    ("gpus-per-node", 0, Value, Opt::GpusPerNode),
    ("gpus-per-socket", 0, Value, Opt::GpusPerSocket),
    ("gpus-per-task", 0, Value, Opt::GpusPerTask),
    ("gres", 0, Value, Opt::Gres),
    ("gres-flags", 0, Value, Opt::GresFlags),
    ("help", b'h', Flag, No),
    ("het-group", 0, Value, No),
    ("hint", 0, Value, Opt::Hint),
    ("hold", b'H', Flag, Opt::Hold),
    ("ignore-pbs", 0, Flag, No),
    ("immediate", b'I', Optional, NotModelled),
    ("input", b'i', Value, No),
    ("interactive", 0, Flag, No),
    ("job-name", b'J', Value, Opt::JobName),
    ("jobid", 0, Value, No),
    ("kill-command", b'K', Optional, No),
    ("kill-on-bad-exit", 0, Optional, No),
    ("kill-on-invalid-dep", 0, Value, Opt::KillOnInvalidDep),
    ("label", b'l', Flag, No),
    ("licenses", b'L', Value, Opt::Licenses),
    ("mail-type", 0, Value, No),
    ("mail-user", 0, Value, No),
    ("mcs-label", 0, Value, NotModelled),
    ("mem", 0, Value, Opt::Mem),
    ("mem-bind", 0, Value, No),
    ("mem-per-cpu", 0, Value, Opt::MemPerCpu),
    ("mem-per-gpu", 0, Value, Opt::MemPerGpu),
    ("mincpus", 0, Value, Opt::MinCpus),
    ("mpi", 0, Value, No),
    ("msg-timeout", 0, Value, No),
    ("multi-prog", 0, Flag, No),
    ("network", 0, Value, No),
    ("nice", 0, Optional, Opt::Nice),
    ("no-allocate", b'Z', Flag, No),
    ("no-bell", 0, Flag, No),
    ("no-kill", b'k', Optional, No),
    ("no-requeue", 0, Flag, Opt::NoRequeue),
    ("no-shell", 0, Flag, No),
    ("nodefile", b'F', Value, NotModelled),
    ("nodelist", b'w', Value, Opt::NodeList),
    ("nodes", b'N', Value, Opt::Nodes),
    ("ntasks", b'n', Value, Opt::Ntasks),
    ("ntasks-per-core", 0, Value, Opt::NtasksPerCore),
    ("ntasks-per-gpu", 0, Value, Opt::NtasksPerGpu),
    ("ntasks-per-node", 0, Value, Opt::NtasksPerNode),
    ("ntasks-per-socket", 0, Value, Opt::NtasksPerSocket),
    ("open-mode", 0, Value, No),
    ("output", b'o', Value, No),
    ("overcommit", b'O', Flag, Opt::Overcommit),
    ("overlap", 0, Flag, No),
    ("oversubscribe", b's', Flag, Opt::OverSubscribe),
    ("parsable", 0, Flag, No),
    ("partition", b'p', Value, Opt::Partition),
    ("power", 0, Value, NotModelled),
    ("prefer", 0, Value, Opt::Prefer),
    ("preserve-env", b'E', Flag, No),
    ("priority", 0, Value, NotModelled),
    ("profile", 0, Value, No),
    ("prolog", 0, Value, No),
    ("propagate", 0, Optional, No),
    ("pty", 0, Optional, No),
    ("qos", b'q', Value, No),
    ("quiet", b'Q', Flag, No),
    ("quit-on-interrupt", 0, Flag, No),
    ("reboot", 0, Flag, NotModelled),
    ("relative", b'r', Value, No),
    ("requeue", 0, Flag, Opt::Requeue),
    ("reservation", 0, Value, Opt::Reservation),
    ("resv-ports", 0, Optional, No),
    ("segment", 0, Value, NotModelled),
    ("send-libs", 0, Optional, No),
    ("share", 0, Flag, Opt::OverSubscribe),
    ("signal", 0, Value, No),
    ("slurmd-debug", 0, Value, No),
    ("sockets-per-node", 0, Value, Opt::SocketsPerNode),
    ("spread-job", 0, Flag, Opt::SpreadJob),
    ("stepmgr", 0, Flag, No),
    ("switches", 0, Value, Opt::Switches),
    ("task-epilog", 0, Value, No),
    ("task-prolog", 0, Value, No),
    ("test-only", 0, Flag, No),
    ("thread-spec", 0, Value, NotModelled),
    ("threads", b'T', Value, No),
    ("threads-per-core", 0, Value, Opt::ThreadsPerCore),
    ("time", b't', Value, Opt::Time),
    ("time-min", 0, Value, Opt::TimeMin),
    ("tmp", 0, Value, Opt::Tmp),
    ("tres-bind", 0, Value, No),
    ("tres-per-task", 0, Value, Opt::TresPerTask),
    ("uid", 0, Value, No),
    ("unbuffered", b'u', Flag, No),
    ("usage", 0, Flag, No),
    ("use-min-nodes", 0, Flag, Opt::UseMinNodes),
    ("verbose", b'v', Flag, No),
    ("version", b'V', Flag, No),
    ("wait", b'W', Flag, No),
    ("wait-all-nodes", 0, Value, No),
    ("wait-for-switch", 0, Value, No),
    ("wckey", 0, Value, No),
    ("whole", 0, Flag, No),
    ("workdir", 0, Value, No),
    ("wrap", 0, Value, Opt::Wrap),
    ("x11", 0, Optional, No),
];

/// Aliases, options for tests, and those of newer releases: by their full names alone, so that the starts of names which older releases
/// took mean what they meant.
const IN_FULL: &[OptionEntry] = &[
    ("argv", 0, Value, No),
    ("async", 0, Flag, No),
    ("autocomplete", 0, Value, No),
    ("bcast-exclude", 0, Value, No),
    ("cluster", 0, Value, No),
    ("consolidate-segments", 0, Flag, NotModelled),
    ("context", 0, Value, No),
    ("cpu_bind", 0, Value, No),
    ("environment", 0, Value, No),
    ("external", 0, Flag, NotModelled),
    ("external-launcher", 0, Optional, No),
    ("ignore-signals", 0, Value, No),
    ("mem-update", 0, Value, NotModelled),
    ("ntasks-per-tres", 0, Value, Opt::NtasksPerGpu),
    ("oom-kill-step", 0, Optional, No),
    ("pack-group", 0, Value, No),
    ("resources", 0, Value, NotModelled),
    ("runtime", 0, Value, No),
    ("spread-segments", 0, Flag, NotModelled),
    ("tasks-per-node", 0, Value, Opt::NtasksPerNode),
    ("treewidth", 0, Value, No),
    ("wait-for-children", 0, Flag, No),
];

/// The options by what becomes of them; those that matter to the trace alone (what was recorded tells the rest) count as modelled.
pub(crate) fn options_by_standing() -> ByStanding {
    let mut by = ByStanding::default();
    for &(name, _, _, option) in OPTIONS.iter().chain(IN_FULL) {
        match option {
            Irrelevant => by.harmless.push(name),
            NotModelled => by.left_out.push((format!("--{name}"), "counted, without effect")),
            _ => by.modelled.push(name),
        }
    }
    by
}

/// The option of a long name, also by an unambiguous start of it.
pub(crate) fn long(name: &[u8]) -> Option<&'static OptionEntry> {
    if let Some(exact) = OPTIONS.iter().chain(IN_FULL).find(|entry| entry.0.as_bytes() == name) {
        return Some(exact);
    }
    let mut starting = OPTIONS.iter().filter(|entry| name.len() > 1 && entry.0.as_bytes().starts_with(name));
    starting.next().filter(|_| starting.next().is_none())
}

/// The option of a short name.
pub(crate) fn short(name: u8) -> Option<&'static OptionEntry> {
    OPTIONS.iter().find(|entry| entry.1 == name)
}
