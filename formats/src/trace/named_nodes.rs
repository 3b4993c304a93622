//! The nodes that `--nodelist` names, as a job must have them or may have them.

use std::borrow::Cow;

use super::submit_line::Options;
use crate::hostlist::{compress, expand, natural_cmp};

/// A longer list of a command line is taken as it stands: rows are many.
const MOST_NAMED: usize = 512;

/// The names in order; `None` of a file, of a list that is none, and of one too long. O(names × log names).
fn names(list: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(list).ok().filter(|text| !text.is_empty() && !text.contains('/'))?;
    let mut names = expand(text, MOST_NAMED).ok()?;
    names.sort_by(|one, other| natural_cmp(one, other));
    names.dedup();
    Some(names)
}

/// The nodes named, and how many: of more than there are tasks, sbatch drops the last (opt.c of 22.05.8, `_opt_verify`: the list is sorted,
/// then names are popped; rec ax-pre). A file's name stays. O(names × log names).
pub(super) fn required<'o>(options: &Options<'o>) -> (Cow<'o, [u8]>, u32) {
    let text = options.node_list;
    let Some(mut names) = names(text) else { return (Cow::Borrowed(text), 0) };
    // srun drops those above `-N` as well; sbatch refuses them.
    let most = options.tasks.unwrap_or(u32::MAX).min(options.nodes.map_or(u32::MAX, |nodes| nodes.1)).max(1) as usize;
    if names.len() <= most {
        return (Cow::Borrowed(text), u32::try_from(names.len()).unwrap_or(u32::MAX));
    }
    names.truncate(most);
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    (Cow::Owned(compress(names.iter().map(String::as_str)).into_bytes()), count)
}

/// How many of the nodes named the job needs at least, if it needs not all of them, else 0. O(names × log names).
pub(super) fn least_candidates(options: &Options<'_>) -> u32 {
    let named = names(options.node_list).map_or(0, |names| u32::try_from(names.len()).unwrap_or(u32::MAX));
    let least = options.nodes.map_or(named, |nodes| nodes.0).min(options.tasks.unwrap_or(u32::MAX)).max(1);
    if least < named { least } else { 0 }
}
