//! The recorded command line (SubmitLine): what a job asked for in the user's own words.
//!
//! sacct prints the words joined by blanks, without quotes, so reading stops at the script's name, at `--wrap` and at
//! anything else that is no option.

mod options;

use super::begin::is_half_of_day;
use super::submit_options::{Arity, Opt, OptionEntry, long, short};
pub(crate) use options::Options;
use options::leaves_out_some;

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
    let mut options = seen_before(line);
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

/// What the first component of a heterogeneous job begins with: sbatch has gone over the whole line for the script's name, and of what it met resets no more
/// than between two components (opt.c of 22.05.8 to 25.05.3, `process_options_first_pass`; rec c168). Nothing of others.
fn seen_before(line: &[u8]) -> Options<'_> {
    let mut options = Options::default();
    if components(line) == 1 {
        return options;
    }
    let program = walk(line, |item| match item {
        Item::Letters(letters, _) => _ = all_flags(letters, &mut options),
        Item::Option(entry, _, value) => _ = options.set(entry.3, value),
        Item::Unknown(_) | Item::NextComponent => {}
    });
    if program == Some(b"sbatch") { options.of_next_component() } else { Options::default() }
}

/// How many components a command line names: 1 of a job that is not heterogeneous.
pub(super) fn components(line: &[u8]) -> u32 {
    if memchr::memmem::find(line, b" : ").is_none() {
        return 1;
    }
    let mut count = 1;
    walk(line, |item| count += u32::from(matches!(item, Item::NextComponent))).map_or(1, |_| count)
}

/// The nodes that other components of a heterogeneous job name (`--nodelist`), which slurmctld keeps from this one (proc_req.c of 22.05.8,
/// `_exclude_het_job_nodes`; rec w2198).
pub(super) fn named_by_others(line: &[u8], component: u32) -> Vec<&[u8]> {
    let (mut at, mut named) = (0, Vec::<(u32, &[u8])>::new());
    walk(line, |item| match item {
        Item::NextComponent => at += 1,
        Item::Option(entry, _, value) if entry.3 == Opt::NodeList && at != component => {
            // The last one that a component says counts.
            named.retain(|&(of, _)| of != at);
            named.push((at, value));
        }
        _ => {}
    });
    named.into_iter().map(|(_, nodes)| nodes).collect()
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

#[cfg(test)]
mod tests;
