//! Job ids as sacct prints them: `12`, `12_3`, `12+1`, `12_[4-9%2]`, with `.batch` and the like for steps.

use foresite_engine::job::{JobName, JobPart};

/// What a JobID field names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobId {
    /// A job, an array task or a component.
    One(JobName),
    /// The tasks of an array that still wait as one record.
    Pending(PendingTasks),
    /// A step of a job.
    Step,
}

/// `12_[1-3,7%2]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingTasks {
    /// The array's id.
    pub(crate) id: u64,
    /// First, last and stride of each range.
    pub(crate) ranges: Vec<(u32, u32, u32)>,
    /// `%N`.
    pub(crate) limit: Option<u32>,
    /// The list was cut short (`...`).
    pub(crate) cut: bool,
}

impl PendingTasks {
    /// How many tasks there are.
    pub(crate) fn count(&self) -> u64 {
        self.ranges.iter().map(|&(first, last, stride)| u64::from((last - first) / stride) + 1).sum()
    }

    /// Those above `last`; `None` if there are none. O(ranges).
    pub(crate) fn after(&self, last: u32) -> Option<Self> {
        let after = |&(first, end, stride): &(u32, u32, u32)| {
            let steps = last.checked_sub(first).map_or(Some(0), |passed| (passed / stride).checked_add(1))?;
            let next = first.checked_add(steps.checked_mul(stride)?)?;
            (next <= end).then_some((next, end, stride))
        };
        let ranges: Vec<_> = self.ranges.iter().filter_map(after).collect();
        (!ranges.is_empty()).then_some(Self { ranges, ..*self })
    }

    /// The task numbers in order.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|&(first, last, stride)| (first..=last).step_by(stride as usize))
    }
}

/// A decimal number without sign; `None` if anything else is there or it does not fit.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0u64, |sum, byte| {
        byte.is_ascii_digit().then(|| sum.checked_mul(10)?.checked_add(u64::from(byte - b'0'))).flatten()
    })
}

/// A whole number without the `.0` that R and pandas write behind numbers of a column that has gaps; any other text as it is.
pub(crate) fn whole(text: &[u8]) -> &[u8] {
    text.strip_suffix(b".0").filter(|digits| number(digits).is_some()).unwrap_or(text)
}

/// [`number`] for 32 bits.
pub(crate) fn number32(text: &[u8]) -> Option<u32> {
    number(text).and_then(|value| u32::try_from(value).ok())
}

impl JobId {
    /// Reads a JobID; `None` if it is none.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (id, rest) = text.split_at_checked(digits)?;
        let id = number(id)?;
        match rest.split_first() {
            None => Some(Self::One(JobName { id, part: JobPart::Whole })),
            Some((b'.', _)) => Some(Self::Step),
            Some((b'_', [b'[', list @ ..])) => match list.strip_suffix(b"]") {
                Some(list) => pending(id, list).map(Self::Pending),
                None => list.contains(&b'.').then_some(Self::Step),
            },
            Some((b'_', part)) => numbered(id, part, JobPart::Task),
            Some((b'+', part)) => numbered(id, part, JobPart::Component),
            Some(_) => None,
        }
    }
}

fn numbered(id: u64, part: &[u8], make: fn(u32) -> JobPart) -> Option<JobId> {
    if part.contains(&b'.') {
        return Some(JobId::Step);
    }
    Some(JobId::One(JobName { id, part: make(number32(part)?) }))
}

/// A list that is too long for its field has dots in place of its last three characters (slurm_protocol_defs.c, `xlate_array_task_str`),
/// wherever these stand: what is left of the item before them may be the beginning of a longer number, and is left out.
fn pending(id: u64, list: &[u8]) -> Option<PendingTasks> {
    let (list, limit) = match list.iter().position(|&byte| byte == b'%') {
        Some(at) => (list.get(..at)?, Some(number32(list.get(at + 1..)?)?)),
        None => (list, None),
    };
    let mut tasks = PendingTasks { id, ranges: Vec::new(), limit, cut: false };
    for item in list.split(|&byte| byte == b',') {
        if item.ends_with(b"...") {
            tasks.cut = true;
            continue;
        }
        tasks.ranges.push(range(item)?);
    }
    (tasks.cut || !tasks.ranges.is_empty()).then_some(tasks)
}

/// `3`, `3-9`, `3-9:2`.
fn range(item: &[u8]) -> Option<(u32, u32, u32)> {
    let (span, stride) = match item.iter().position(|&byte| byte == b':') {
        Some(at) => (item.get(..at)?, number32(item.get(at + 1..)?)?),
        None => (item, 1),
    };
    let (first, last) = match span.iter().position(|&byte| byte == b'-') {
        Some(at) => (number32(span.get(..at)?)?, number32(span.get(at + 1..)?)?),
        None => (number32(span)?, number32(span)?),
    };
    (stride > 0 && first <= last).then_some((first, last, stride))
}

/// Slurm's largest MaxArraySize.
pub(crate) const MOST_TASKS: u64 = 4_000_001;

/// Ranges in order, in which each task stands once; `None` if ranges with strides overlap others.
fn disjoint(mut ranges: Vec<(u32, u32, u32)>) -> Option<Vec<(u32, u32, u32)>> {
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32, u32)> = Vec::new();
    for (first, last, stride) in ranges {
        match joined.last_mut() {
            Some(before) if first <= before.1 && (before.2, stride) == (1, 1) => before.1 = before.1.max(last),
            Some(before) if first <= before.1 => return None,
            _ => joined.push((first, last, stride)),
        }
    }
    Some(joined)
}

/// The tasks that an `--array` option's value names, in order and each once; `None` if it is not understood, names more than Slurm allows, or
/// has ranges with strides that overlap others. O(ranges log ranges), however many tasks they name.
pub(crate) fn array_tasks(id: u64, value: &[u8]) -> Option<PendingTasks> {
    let mut tasks = pending(id, value).filter(|tasks| !tasks.cut)?;
    tasks.ranges = disjoint(std::mem::take(&mut tasks.ranges))?;
    (tasks.count() <= MOST_TASKS).then_some(tasks)
}

/// The `%N` of an `--array` option's value.
pub(crate) fn array_limit(value: &[u8]) -> Option<u32> {
    let at = value.iter().position(|&byte| byte == b'%')?;
    number32(value.get(at + 1..)?).filter(|&limit| limit > 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn name(text: &str) -> Option<String> {
        match JobId::parse(text.as_bytes())? {
            JobId::One(name) => Some(name.to_string()),
            JobId::Step => Some("step".into()),
            JobId::Pending(tasks) => {
                Some(format!("{}: {:?} {:?}", tasks.id, tasks.tasks().collect::<Vec<_>>(), tasks.limit))
            }
        }
    }

    #[test]
    fn every_form_of_job_id_is_told_apart() {
        for (text, expected) in [
            ("12", "12"),
            ("12_3", "12_3"),
            ("12+1", "12+1"),
            ("12.batch", "step"),
            ("8012944_24093.0", "step"),
            ("1853+0.batch", "step"),
            ("1933171.ext+", "step"),
            ("12_[4-6%2]", "12: [4, 5, 6] Some(2)"),
            ("4103947_[9-11,13]", "4103947: [9, 10, 11, 13] None"),
            ("5_[0-8:4,9,...]", "5: [0, 4, 8, 9] None"),
            ("5_[1,279,294...]", "5: [1, 279] None"),
            ("5_[1,3-5,7-...%4]", "5: [1, 3, 4, 5] Some(4)"),
            ("5_[...]", "5: [] None"),
        ] {
            assert_eq!(name(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn the_tasks_of_an_array_are_counted_once() {
        for (text, expected) in [
            ("0-9", Some(10)),
            ("1-9:4%2", Some(3)),
            ("7", Some(1)),
            ("1-5,3-7,9", Some(8)),
            ("9,1-3,2-4", Some(5)),
            ("8,1-7:2", Some(5)),
            ("0,1-3999999", Some(4_000_000)),
            ("1-9:2,2-8:2", None),
            ("1-", None),
            ("0-9999999", None),
        ] {
            assert_eq!(array_tasks(1, text.as_bytes()).map(|tasks| tasks.count()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_job_id_is_refused() {
        for text in [
            "",
            "x",
            "12x",
            "12_",
            "12_x",
            "12_[]",
            "12_[9-1]",
            "12_[1-9:0]",
            "12_[...7]",
            "12+",
            "99999999999999999999",
        ] {
            assert_eq!(name(text), None, "{text}");
        }
    }
}
