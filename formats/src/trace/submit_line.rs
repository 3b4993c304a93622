//! The recorded command line (SubmitLine): what a job asked for in the user's own words.
//!
//! sacct prints the words joined by blanks, without quotes, so reading stops at the script's name, at `--wrap` and at
//! anything else that is no option.

use foresite_engine::job::{Dependencies, GresScope, Memory, Sharing};

use super::begin::is_half_of_day;
use super::dependency::dependencies;
use super::job_id::{array_limit, number32};
use super::submit_options::{Arity, Opt, OptionEntry, long, short};
use super::times::{Limit, limit_option};
use super::tres::megabytes;

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

/// What there is to say about an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionRemark {
    /// It does not exist, or has no effect here.
    NoEffect,
    /// Its value is not understood.
    BadValue,
    /// Only some of the node counts between its least and most are meant.
    SomeNodes,
}

/// Reads what a command line says about a job, or about the `component` of a heterogeneous one (0 of others); `None` if it is none of
/// sbatch, salloc, srun. `remark` is called with what has no effect or is not understood.
pub(crate) fn parse<'a>(
    line: &'a [u8],
    component: u32,
    mut remark: impl FnMut(&'a [u8], OptionRemark),
) -> Option<Options<'a>> {
    let mut options = Options::default();
    let mut at = 0;
    walk(line, |item| match item {
        Item::NextComponent => {
            if at < component {
                options = std::mem::take(&mut options).of_next_component();
            }
            at += 1;
        }
        _ if at > component => {}
        Item::Letters(letters, word) => {
            if !all_flags(letters, &mut options) {
                remark(word, OptionRemark::NoEffect);
            }
        }
        Item::Unknown(word) => remark(split_at_equals(word).0, OptionRemark::NoEffect),
        Item::Option(entry, word, value) => match entry.3 {
            Opt::Irrelevant | Opt::Wrap => {}
            Opt::NotModelled => remark(split_at_equals(word).0, OptionRemark::NoEffect),
            opt => {
                if options.set(opt, value).is_none() {
                    remark(word, OptionRemark::BadValue);
                } else if opt == Opt::Nodes && leaves_out_some(value) {
                    remark(word, OptionRemark::SomeNodes);
                }
            }
        },
    })?;
    // What is said of it comes behind a program's name, where nothing is read.
    let mut options = if at < component { options.of_next_component() } else { options };
    options.take_hint();
    Some(options)
}

/// What a command line is made of.
enum Item<'a> {
    /// An option, the word it begins with, and its value without quotes.
    Option(&'static OptionEntry, &'a [u8], &'a [u8]),
    /// Short flags in one word, and that word.
    Letters(&'a [u8], &'a [u8]),
    /// A word that looks like an option and is none.
    Unknown(&'a [u8]),
    /// The colon between two components of a heterogeneous job.
    NextComponent,
}

/// Visits the options of a command line in order; gives the program, `None` if it is none of sbatch, salloc, srun.
fn walk<'a>(line: &'a [u8], mut visit: impl FnMut(Item<'a>)) -> Option<&'a [u8]> {
    let mut rest = line;
    let program = next_word(&mut rest)?;
    let program = program.rsplit(|&byte| byte == b'/').next().unwrap_or(program);
    if !matches!(program, b"sbatch" | b"salloc" | b"srun") {
        return None;
    }
    while let Some(word) = next_word(&mut rest) {
        let parts = match word {
            b"--" | b"-" => break,
            b":" => {
                visit(Item::NextComponent);
                continue;
            }
            [b'-', b'-', name @ ..] => {
                let (name, value) = split_at_equals(name);
                // srun's takes a value where sbatch's does not.
                let is_sruns = name == b"wait" && program != b"sbatch";
                long(if is_sruns { b"wait-all-nodes" } else { name }).map(|entry| (entry, value))
            }
            [b'-', letters @ ..] => {
                // Flags may stand before an option with a value: `-Hn7`.
                let (flags, rest) = letters.split_at(letters.iter().take_while(|&&it| is_flag(program, it)).count());
                match short_cluster(rest, srun_wait(program, rest)) {
                    Some(parts) => {
                        if !flags.is_empty() {
                            visit(Item::Letters(flags, word));
                        }
                        Some(parts)
                    }
                    None => {
                        visit(Item::Letters(letters, word));
                        continue;
                    }
                }
            }
            _ => break,
        };
        let Some((entry, attached)) = parts else {
            visit(Item::Unknown(word));
            continue;
        };
        let value = match (entry.2, attached) {
            (Arity::Value, None) => next_word(&mut rest).unwrap_or_default(),
            (_, attached) => attached.unwrap_or_default(),
        };
        let value = match entry.3 {
            Opt::Begin | Opt::Deadline => with_half_of_day(line, value, &mut rest),
            _ => value,
        };
        visit(Item::Option(entry, word, unquoted(value)));
        if entry.3 == Opt::Wrap {
            break;
        }
    }
    Some(program)
}

/// The next word of a line, which `rest` is behind then.
fn next_word<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let text = rest.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let (word, behind) = text.split_at_checked(end)?;
    *rest = behind;
    (!word.is_empty()).then_some(word)
}

/// The value that ends where `rest` begins, with the AM or PM of `--begin="4:30 PM"` behind it: the quotes are not recorded.
fn with_half_of_day<'a>(line: &'a [u8], value: &'a [u8], rest: &mut &'a [u8]) -> &'a [u8] {
    let start = line.len().saturating_sub(rest.len() + value.len());
    let mut behind = *rest;
    if value.is_empty() || !next_word(&mut behind).is_some_and(is_half_of_day) {
        return value;
    }
    *rest = behind;
    line.get(start..line.len().saturating_sub(behind.len())).unwrap_or(value)
}

/// The same request without what does not decide where or when the job runs: other options, the script, its arguments. `rename`
/// gives the names of jobs (true) and reservations (false). Empty if it is no such command line.
pub(crate) fn rewrite(line: &[u8], mut rename: impl FnMut(bool, &str) -> String) -> String {
    let mut out = String::new();
    let push = |out: &mut String, name: &str, value: Option<&str>| {
        out.push_str(" --");
        out.push_str(name);
        if let Some(value) = value {
            out.push('=');
            out.push_str(value);
        }
    };
    let program = walk(line, |item| match item {
        Item::Letters(letters, _) => {
            for entry in letters.iter().filter_map(|&letter| short(letter)) {
                if !matches!(entry.3, Opt::Irrelevant) {
                    push(&mut out, entry.0, None);
                }
            }
        }
        Item::Unknown(_) => {}
        Item::NextComponent => out.push_str(" :"),
        Item::Option(entry, _, value) => {
            let text = String::from_utf8_lossy(value);
            match (entry.3, entry.2) {
                (Opt::Irrelevant | Opt::Wrap, _) => {}
                (Opt::JobName, _) => push(&mut out, entry.0, Some(&rename(true, &text))),
                (Opt::Reservation, _) => push(&mut out, entry.0, Some(&rename(false, &text))),
                (_, Arity::Flag) => push(&mut out, entry.0, None),
                // Some are paths; that they were there is all that is said of them.
                (Opt::NotModelled, Arity::Optional) => push(&mut out, entry.0, None),
                (Opt::NotModelled, Arity::Value) => push(&mut out, entry.0, Some("0")),
                (_, Arity::Optional) if value.is_empty() => push(&mut out, entry.0, None),
                (_, _) => push(&mut out, entry.0, Some(&text)),
            }
        }
    });
    program.map_or_else(String::new, |program| format!("{}{out}", String::from_utf8_lossy(program)))
}

fn split_at_equals(word: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b'=', word) {
        Some(at) => (word.get(..at).unwrap_or(word), word.get(at + 1..)),
        None => (word, None),
    }
}

fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
        value => value,
    }
}

/// Whether a short option never takes a value.
fn is_flag(program: &[u8], letter: u8) -> bool {
    short(letter).is_some_and(|entry| entry.2 == Arity::Flag) && !srun_wait(program, &[letter])
}

/// srun's `-W` takes a value where sbatch's does not.
fn srun_wait(program: &[u8], letters: &[u8]) -> bool {
    program != b"sbatch" && letters.first() == Some(&b'W')
}

/// `-N4`, `-N=4`, `-N`; `None` if the first letter is a flag or unknown.
fn short_cluster(letters: &[u8], takes_value: bool) -> Option<(&'static OptionEntry, Option<&[u8]>)> {
    let (&letter, rest) = letters.split_first()?;
    let entry = short(letter)?;
    if takes_value {
        return long(b"wait-all-nodes").map(|entry| (entry, (!rest.is_empty()).then_some(rest)));
    }
    if entry.2 == Arity::Flag {
        return None;
    }
    let rest = rest.strip_prefix(b"=").unwrap_or(rest);
    Some((entry, (!rest.is_empty()).then_some(rest)))
}

/// A word of short flags (`-Hs`).
fn all_flags(letters: &[u8], options: &mut Options<'_>) -> bool {
    !letters.is_empty()
        && letters.iter().all(|&letter| match short(letter) {
            Some((_, _, Arity::Flag, Opt::NotModelled)) | None => false,
            Some((_, _, Arity::Flag, opt)) => {
                options.set(*opt, b"");
                true
            }
            Some(_) => false,
        })
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
    fn of_next_component(self) -> Self {
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
    fn set(&mut self, opt: Opt, value: &'a [u8]) -> Option<()> {
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
    fn take_hint(&mut self) {
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
    super::tres::count(value).filter(|&value| value > 0)
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
fn leaves_out_some(value: &[u8]) -> bool {
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

#[cfg(test)]
mod tests;
