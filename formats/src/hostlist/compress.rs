//! `n1`, `n2`, `n3` to `n[1-3]`, as sacct and `scontrol show hostlist` print it: only the last number of a name is folded.

use super::natural_cmp;

/// A name taken apart: everything before its trailing number, and that number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// The name without its trailing number.
    pub(super) prefix: &'a str,
    /// The trailing number and how many digits it is written with; `None` for names that end otherwise.
    pub(super) number: Option<(u64, usize)>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(name: &'a str) -> Self {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, digits) = name.split_at(name.len() - digits);
        match digits.parse() {
            Ok(number) => Self { prefix, number: Some((number, digits.len())) },
            Err(_) => Self { prefix: name, number: None },
        }
    }

    /// The order of a printed hostlist: by prefix, then by number.
    pub(super) fn print_order(&self, other: &Self) -> std::cmp::Ordering {
        natural_cmp(self.prefix, other.prefix).then_with(|| self.number.cmp(&other.number))
    }
}

/// The hostlist of the given names. Names in any order, each once; they are printed by prefix and number.
/// O(names × log names).
pub fn compress<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut parts: Vec<Parts> = names.into_iter().map(Parts::of).collect();
    parts.sort_by(Parts::print_order);
    parts.dedup();
    let mut list = String::new();
    let mut writer = ListWriter::default();
    for part in &parts {
        writer.push(part.prefix, part.number, &mut list);
    }
    writer.finish(&mut list);
    list
}

/// Writes a hostlist name by name, holding back only the range that may still grow.
#[derive(Default)]
pub(super) struct ListWriter<'a> {
    group: Option<Group<'a>>,
    started: bool,
}

/// The bracket being written.
struct Group<'a> {
    prefix: &'a str,
    width: usize,
    low: u64,
    high: u64,
    /// Where in the output the bracket would open.
    open_at: usize,
    bracketed: bool,
}

impl<'a> ListWriter<'a> {
    /// Adds the next name in print order.
    pub(super) fn push(&mut self, prefix: &'a str, number: Option<(u64, usize)>, out: &mut String) {
        let Some((number, width)) = number else {
            self.finish(out);
            self.separate(out);
            out.push_str(prefix);
            return;
        };
        if let Some(group) = &mut self.group
            && group.prefix == prefix
            && same_width(group.width, number, width)
        {
            if number == group.high.saturating_add(1) {
                group.high = number;
                return;
            }
            if !group.bracketed {
                out.insert(group.open_at, '[');
                group.bracketed = true;
            }
            write_range(group, out);
            out.push(',');
            (group.low, group.high) = (number, number);
            return;
        }
        self.finish(out);
        self.separate(out);
        out.push_str(prefix);
        self.group = Some(Group { prefix, width, low: number, high: number, open_at: out.len(), bracketed: false });
    }

    /// Adds the `more` names that follow the last one, each with the next number.
    pub(super) fn extend(&mut self, more: u32) {
        if let Some(group) = &mut self.group {
            group.high += u64::from(more);
        }
    }

    /// Writes what was held back.
    pub(super) fn finish(&mut self, out: &mut String) {
        let Some(mut group) = self.group.take() else { return };
        if !group.bracketed && group.low != group.high {
            out.insert(group.open_at, '[');
            group.bracketed = true;
        }
        write_range(&group, out);
        if group.bracketed {
            out.push(']');
        }
    }

    fn separate(&mut self, out: &mut String) {
        if self.started {
            out.push(',');
        }
        self.started = true;
    }
}

/// Whether a number may stand in a group whose numbers are padded to `group_width` digits.
pub(super) fn same_width(group_width: usize, number: u64, width: usize) -> bool {
    let is_padded = width > 1 && number.checked_ilog10().map_or(1, |log| log as usize + 1) < width;
    if is_padded { width == group_width } else { width >= group_width }
}

fn write_range(group: &Group, out: &mut String) {
    write_number(group.low, group.width, out);
    if group.high != group.low {
        out.push('-');
        write_number(group.high, group.width, out);
    }
}

fn write_number(number: u64, width: usize, out: &mut String) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number);
    (digits.len()..width).for_each(|_| out.push('0'));
    out.push_str(digits);
}
