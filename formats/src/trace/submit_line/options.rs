//! What a command line asks for, option by option.

use foresite_engine::job::{Dependencies, GresScope, Memory, Sharing};

use crate::trace::dependency::dependencies;
use crate::trace::job_id::{array_limit, number32};
use crate::trace::submit_options::Opt;
use crate::trace::times::{Limit, limit_option};
use crate::trace::tres::{count, megabytes};

/// What a command line asks for; texts are parts of the line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options<'a> {
    pub(crate) nodes: Option<(u32, u32)>,
    pub(crate) tasks: Option<u32>,
    pub(crate) cpus_per_task: Option<u32>,
    pub(crate) cpus_per_gpu: Option<u32>,
    pub(crate) ntasks_per_node: Option<u32>,
    pub(crate) ntasks_per_socket: Option<u32>,
    pub(crate) ntasks_per_core: Option<u32>,
    pub(crate) threads_per_core: Option<u32>,
    pub(crate) cores_per_socket: Option<u32>,
    pub(crate) sockets_per_node: Option<u32>,
    /// `--hint`: whether one thread a core is used.
    pub(crate) hint: Option<bool>,
    /// `-B`.
    pub(crate) extra_node_info: bool,
    pub(crate) min_cpus_per_node: Option<u32>,
    pub(crate) memory: Option<Memory>,
    pub(crate) constraint: &'a [u8],
    pub(crate) prefer: &'a [u8],
    /// `--gres`.
    pub(crate) gres: &'a [u8],
    /// `--gpus` and its kin.
    pub(crate) gpus: Vec<(GresScope, &'a [u8])>,
    pub(crate) sharing: Option<Sharing>,
    pub(crate) dependencies: Option<Dependencies>,
    pub(crate) dependency_unknown: bool,
    pub(crate) begin: &'a [u8],
    pub(crate) deadline: &'a [u8],
    /// The tasks that `--array` names; empty without it.
    pub(crate) array: &'a [u8],
    pub(crate) array_limit: Option<u32>,
    pub(crate) node_list: &'a [u8],
    pub(crate) exclude: &'a [u8],
    pub(crate) contiguous: bool,
    /// Somebody has to let it go.
    pub(crate) hold: bool,
    pub(crate) overcommit: bool,
    pub(crate) spread: bool,
    /// `--requeue`, `--no-requeue`; `Some(false)` for salloc and srun.
    pub(crate) requeue: Option<bool>,
    pub(crate) kill_on_invalid_dep: Option<bool>,
    pub(crate) ntasks_per_gpu: Option<u32>,
    /// `--gres-flags=enforce-binding`.
    pub(crate) enforces_binding: bool,
    pub(crate) tmp_disk_mb: u64,
    pub(crate) use_min_nodes: bool,
    pub(crate) block_cores: Option<bool>,
    pub(crate) plane: Option<u32>,
    pub(crate) switches: Option<(u32, Option<u32>)>,
    pub(crate) licenses: &'a [u8],
    pub(crate) reservation: &'a [u8],
    pub(crate) nice: i32,
    pub(crate) time: Option<Limit>,
    pub(crate) time_min: Option<u32>,
    pub(crate) partition: &'a [u8],
    pub(crate) job_name: &'a [u8],
}

fn some<T>(place: &mut Option<T>, value: T) -> Option<()> {
    *place = Some(value);
    Some(())
}

fn set<T>(place: &mut T, value: T) -> Option<()> {
    *place = value;
    Some(())
}

impl<'a> Options<'a> {
    /// What the next component of a heterogeneous job has of them. Source: slurm_opt.c of 22.05.8, options without `reset_each_pass`.
    pub(super) fn of_next_component(self) -> Self {
        Self {
            memory: self.memory.filter(|memory| matches!(memory, Memory::PerNode(_) | Memory::WholeNode)),
            prefer: self.prefer,
            dependencies: self.dependencies,
            dependency_unknown: self.dependency_unknown,
            begin: self.begin,
            deadline: self.deadline,
            exclude: self.exclude,
            requeue: self.requeue,
            kill_on_invalid_dep: self.kill_on_invalid_dep,
            reservation: self.reservation,
            nice: self.nice,
            time: self.time,
            time_min: self.time_min,
            job_name: self.job_name,
            ..Self::default()
        }
    }

    /// Takes an option; `None` if its value is not understood.
    pub(super) fn set(&mut self, opt: Opt, value: &'a [u8]) -> Option<()> {
        match opt {
            Opt::Irrelevant | Opt::NotModelled | Opt::Wrap => Some(()),
            Opt::Nodes => some(&mut self.nodes, node_range(value)?),
            Opt::Ntasks => some(&mut self.tasks, positive(value)?),
            Opt::CpusPerGpu => some(&mut self.cpus_per_gpu, positive(value)?),
            Opt::CpusPerTask => some(&mut self.cpus_per_task, positive(value)?),
            Opt::NtasksPerNode => set(&mut self.ntasks_per_node, zero_is_none(value)?),
            Opt::NtasksPerSocket => set(&mut self.ntasks_per_socket, zero_is_none(value)?),
            Opt::NtasksPerCore => set(&mut self.ntasks_per_core, zero_is_none(value)?),
            Opt::ThreadsPerCore => some(&mut self.threads_per_core, positive(value)?),
            Opt::CoresPerSocket => some(&mut self.cores_per_socket, positive(value)?),
            Opt::SocketsPerNode => some(&mut self.sockets_per_node, positive(value)?),
            Opt::MinCpus => some(&mut self.min_cpus_per_node, positive(value)?),
            Opt::Mem => some(
                &mut self.memory,
                match megabytes(value)? {
                    0 => Memory::WholeNode,
                    amount => Memory::PerNode(amount),
                },
            ),
            Opt::MemPerCpu => some(&mut self.memory, Memory::PerCpu(megabytes(value)?)),
            Opt::MemPerGpu => some(&mut self.memory, Memory::PerGpu(megabytes(value)?)),
            Opt::Constraint => set(&mut self.constraint, value),
            Opt::Prefer => set(&mut self.prefer, value),
            Opt::Gres => set(&mut self.gres, value),
            Opt::Gpus => self.gpus(GresScope::PerJob, value),
            Opt::GpusPerNode => self.gpus(GresScope::PerNode, value),
            Opt::GpusPerSocket => self.gpus(GresScope::PerSocket, value),
            Opt::GpusPerTask => self.gpus(GresScope::PerTask, value),
            Opt::Exclusive => some(
                &mut self.sharing,
                match value {
                    b"" => Sharing::Exclusive,
                    b"user" => Sharing::ExclusiveUser,
                    _ => return None,
                },
            ),
            Opt::OverSubscribe => some(&mut self.sharing, Sharing::OverSubscribe),
            Opt::Dependency => {
                self.dependencies = dependencies(value);
                self.dependency_unknown = self.dependencies.is_none();
                Some(())
            }
            Opt::Begin => set(&mut self.begin, value),
            Opt::Deadline => set(&mut self.deadline, value),
            Opt::Array => {
                self.array = value;
                set(&mut self.array_limit, array_limit(value))
            }
            Opt::NodeList => set(&mut self.node_list, value),
            Opt::Exclude => set(&mut self.exclude, value),
            Opt::Contiguous => set(&mut self.contiguous, true),
            Opt::Hold => set(&mut self.hold, true),
            Opt::Overcommit => set(&mut self.overcommit, true),
            Opt::SpreadJob => set(&mut self.spread, true),
            Opt::Requeue => set(&mut self.requeue, Some(true)),
            Opt::NoRequeue => set(&mut self.requeue, Some(false)),
            Opt::KillOnInvalidDep => match value.to_ascii_lowercase().as_slice() {
                b"yes" => some(&mut self.kill_on_invalid_dep, true),
                b"no" => some(&mut self.kill_on_invalid_dep, false),
                _ => None,
            },
            Opt::NtasksPerGpu => some(&mut self.ntasks_per_gpu, positive(value)?),
            // With select/cons_tres disable-binding says what holds without it.
            Opt::GresFlags => {
                self.enforces_binding = false;
                value.split(|&byte| byte == b',').try_for_each(|flag| match flag.to_ascii_lowercase().as_slice() {
                    b"enforce-binding" => set(&mut self.enforces_binding, true),
                    // The others are about tasks of a step, and about GRES that are shared (mps, shard).
                    b"disable-binding"
                    | b"allow-task-sharing"
                    | b"multiple-tasks-per-sharing"
                    | b"one-task-per-sharing" => Some(()),
                    _ => None,
                })
            }
            Opt::Tmp => set(&mut self.tmp_disk_mb, megabytes(value)?),
            Opt::TresPerTask => self.tres_per_task(value),
            Opt::UseMinNodes => set(&mut self.use_min_nodes, true),
            Opt::Distribution => {
                self.plane = match value.strip_prefix(b"plane=") {
                    Some(tasks) => Some(positive(tasks)?),
                    None => None,
                };
                set(
                    &mut self.block_cores,
                    match value.split(|&byte| byte == b':').nth(1) {
                        Some(b"block") => Some(true),
                        Some(b"cyclic" | b"fcyclic") => Some(false),
                        _ => None,
                    },
                )
            }
            Opt::Switches => {
                let (count, wait) = match memchr::memchr(b'@', value) {
                    Some(at) => (value.get(..at)?, Some(limit_option(value.get(at + 1..)?)?)),
                    None => (value, None),
                };
                let wait = match wait {
                    Some(Limit::Seconds(seconds)) => Some(u32::try_from(seconds).ok()?),
                    _ => None,
                };
                some(&mut self.switches, (number32(count)?, wait))
            }
            Opt::Licenses => set(&mut self.licenses, value),
            Opt::Reservation => set(&mut self.reservation, value),
            Opt::Nice => set(&mut self.nice, nice(value)?),
            Opt::Time => some(&mut self.time, limit_option(value)?),
            Opt::TimeMin => match limit_option(value)?.minutes()? {
                foresite_engine::job::TimeLimit::Minutes(minutes) => some(&mut self.time_min, minutes),
                foresite_engine::job::TimeLimit::Unlimited => Some(()),
            },
            Opt::Partition => set(&mut self.partition, value),
            Opt::JobName => set(&mut self.job_name, value),
            Opt::Hint => match value {
                b"nomultithread" => some(&mut self.hint, true),
                b"multithread" => some(&mut self.hint, false),
                _ => None,
            },
            Opt::ExtraNodeInfo => {
                self.extra_node_info = true;
                let mut parts = value.split(|&byte| byte == b':');
                let mut next = || match parts.next() {
                    None | Some(b"*" | b"") => Some(None),
                    Some(part) => positive(part).map(Some),
                };
                self.sockets_per_node = next()?;
                self.cores_per_socket = next()?;
                set(&mut self.threads_per_core, next()?)
            }
        }
    }

    /// `--hint` counts beside none of `--ntasks-per-core`, `--threads-per-core` and `-B`; else it takes back what is said of sockets and
    /// cores by other options (slurm_opt.c of 22.05.8, `validate_hint_option`; rec ax-arr).
    pub(super) fn take_hint(&mut self) {
        let Some(single) = self.hint else { return };
        if self.ntasks_per_core.is_none() && self.threads_per_core.is_none() && !self.extra_node_info {
            (self.sockets_per_node, self.cores_per_socket) = (None, None);
            self.threads_per_core = single.then_some(1);
        }
    }

    /// `--tres-per-task=cpu:4,gres/gpu:a100:2`, with `=` for the last colon since 24.11. Licences are recorded in a column of their own.
    fn tres_per_task(&mut self, value: &'a [u8]) -> Option<()> {
        let mut understood = Some(());
        for item in value.split(|&byte| byte == b',') {
            let known = match item {
                [b'c', b'p', b'u', b':' | b'=', cpus @ ..] => {
                    positive(cpus).and_then(|cpus| some(&mut self.cpus_per_task, cpus))
                }
                b"gres/gpu" => self.gpus(GresScope::PerTask, b"1"),
                [b'g', b'r', b'e', b's', b'/', b'g', b'p', b'u', b':' | b'=', gpus @ ..] => {
                    self.gpus(GresScope::PerTask, gpus)
                }
                _ if item.starts_with(b"license/") => Some(()),
                _ => None,
            };
            understood = understood.and(known);
        }
        understood
    }

    /// `--gpus*=[type:]count[,…]`.
    fn gpus(&mut self, scope: GresScope, value: &'a [u8]) -> Option<()> {
        if value.is_empty() {
            return None;
        }
        self.gpus.push((scope, value));
        Some(())
    }
}

fn positive(value: &[u8]) -> Option<u32> {
    count(value).filter(|&value| value > 0)
}

/// A number; 0 says nothing.
fn zero_is_none(value: &[u8]) -> Option<Option<u32>> {
    Some(Some(number32(value)?).filter(|&value| value > 0))
}

/// `4`, `2-8`, `2k`, `1,4-8`, `1-15:4` (1, 5, 9, 13): least and most. Source: sbatch(1) of 23.11, `--nodes`; before, no lists or steps.
fn node_range(value: &[u8]) -> Option<(u32, u32)> {
    let mut range: Option<(u32, u32)> = None;
    for item in value.split(|&byte| byte == b',') {
        let (counts, step) = match memchr::memchr(b':', item) {
            Some(at) => (item.get(..at)?, positive(item.get(at + 1..)?)?),
            None => (item, 1),
        };
        let (least, most) = match memchr::memchr(b'-', counts) {
            Some(at) => (positive(counts.get(..at)?)?, positive(counts.get(at + 1..)?)?),
            None => (positive(counts)?, positive(counts)?),
        };
        let most = most - most.checked_sub(least)? % step;
        range = Some(range.map_or((least, most), |(low, high)| (low.min(least), high.max(most))));
    }
    range
}

/// Whether a node range is a list or has a step, and so leaves out counts between its least and most.
pub(super) fn leaves_out_some(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, b',' | b':'))
}

/// `--nice` alone is 100.
fn nice(value: &[u8]) -> Option<i32> {
    match value {
        b"" => Some(100),
        [b'-', digits @ ..] => Some(-i32::try_from(number32(digits)?).ok()?),
        digits => i32::try_from(number32(digits)?).ok(),
    }
}
