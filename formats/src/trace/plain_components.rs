//! Components that sacct names as jobs of their own: from 24.11 on a heterogeneous job that never started has rows `53` and `54` where
//! those of one that ran are `53+0` and `53+1` (docs/FACTS.md, facts 89). That they belong together shows in their command line alone.

use std::collections::BTreeSet;

use foresite_engine::job::{JobName, JobPart};

use super::column::Column;
use super::row::Row;
use super::submit_line::components;

/// The component that came last.
struct Last {
    base: u64,
    component: u32,
    submit: Vec<u8>,
    line: Vec<u8>,
}

/// Finds components by rows that follow one another: one more in their ids, the same command line and moment.
#[derive(Default)]
pub(super) struct PlainComponents {
    last: Option<Last>,
    /// Ids of jobs of which the first component alone has come.
    pub(super) alone: BTreeSet<u64>,
}

impl PlainComponents {
    /// The name of a row's job. O(length of its command line), which is walked only where it holds a colon between blanks.
    pub(super) fn name(&mut self, row: &Row<'_>, name: JobName) -> JobName {
        let (line, submit) = (row.get(Column::SubmitLine), row.get(Column::Submit));
        let count = if name.part == JobPart::Whole && never_ran(row) { components(line) } else { 1 };
        if count < 2 {
            return name;
        }
        if let Some(last) = self.last.as_mut().filter(|last| last.line == line && last.submit == submit) {
            let next = last.component + 1;
            if next < count && last.base + u64::from(next) == name.id {
                last.component = next;
                self.alone.remove(&last.base);
                return JobName { id: last.base, part: JobPart::Component(next) };
            }
        }
        self.last = Some(Last { base: name.id, component: 0, submit: submit.to_vec(), line: line.to_vec() });
        self.alone.insert(name.id);
        JobName { id: name.id, part: JobPart::Component(0) }
    }
}

/// Whether a row is of a job that waits, or left the queue as it came, cancelled or too late for its deadline (rec w2075-25-05): one that ran
/// has its component in its id.
fn never_ran(row: &Row<'_>) -> bool {
    let state = row.get(Column::State);
    [&b"CANCELLED"[..], b"PENDING", b"DEADLINE"].iter().any(|waited| state.starts_with(waited))
        && matches!(row.get(Column::ElapsedRaw), b"" | b"0")
}
