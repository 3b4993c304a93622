//! The schedule file: one CSV row per job, in the trace's order; what a replication produced.

use foresite_engine::job::JobName;
use foresite_engine::outcome::{JobState, StartedBy};

mod labels;
mod reading;
mod writing;

#[cfg(test)]
mod tests;

pub use labels::{Label, Labels};
pub use reading::read;
pub use writing::{write, write_to};

/// The columns, in order.
pub const COLUMNS: [&str; 14] = [
    "job_id",
    "user",
    "account",
    "partition",
    "qos",
    "submit",
    "eligible",
    "start",
    "end",
    "state",
    "nodes",
    "cpus",
    "node_list",
    "started_by",
];

/// A schedule in memory: rows of fixed size, their names and node lists beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// A row per job, in the trace's order.
    pub rows: Vec<ScheduleRow>,
    /// Users, accounts, partitions and QOS.
    pub labels: Labels,
    /// The text that rows' node lists are cut from.
    pub node_lists: String,
}

/// What happened to one job. Times are Unix seconds, `None` where it did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    /// The trace's own JobID.
    pub job: JobName,
    /// Who submitted it.
    pub user: Label,
    /// The account charged.
    pub account: Label,
    /// The partition it ran in; if it never started, the first that it asked for.
    pub partition: Label,
    /// Its QOS.
    pub qos: Label,
    /// When it was submitted.
    pub submit: i64,
    /// When it could first be considered.
    pub eligible: Option<i64>,
    /// When its allocation began.
    pub start: Option<i64>,
    /// When it ended or left the queue.
    pub end: Option<i64>,
    /// How it ended.
    pub state: JobState,
    /// Allocated nodes.
    pub nodes: u32,
    /// Allocated logical CPUs.
    pub cpus: u32,
    /// Where its hostlist begins in [`Schedule::node_lists`] [bytes].
    pub node_list_begin: usize,
    /// How long its hostlist is [bytes].
    pub node_list_len: usize,
    /// Who started it.
    pub started_by: Option<StartedBy>,
}

impl Schedule {
    /// The hostlist of a row; empty for a job without allocation.
    pub fn node_list(&self, row: &ScheduleRow) -> &str {
        self.node_lists.get(row.node_list_begin..row.node_list_begin + row.node_list_len).unwrap_or_default()
    }
}

impl ScheduleRow {
    /// Wait [s]: start less eligible time.
    pub fn wait(&self) -> Option<i64> {
        Some((self.start? - self.eligible?).max(0))
    }

    /// Response time [s]: end less eligible time, of a job that started.
    pub fn response(&self) -> Option<i64> {
        self.start?;
        Some((self.end? - self.eligible?).max(0))
    }

    /// Bounded slowdown: response time over run time, runs shorter than [`SLOWDOWN_BOUND`] counted as that; at least 1.
    /// Source: Feitelson 2001, "Metrics for parallel job scheduling and their convergence".
    pub fn bounded_slowdown(&self) -> Option<f64> {
        let run = (self.end? - self.start?).max(SLOWDOWN_BOUND);
        Some((self.response()? as f64 / run as f64).max(1.0))
    }

    /// CPU-seconds allocated within [from, to).
    pub fn cpu_seconds(&self, from: i64, to: i64) -> u128 {
        let (Some(start), Some(end)) = (self.start, self.end) else { return 0 };
        let seconds = (end.min(to) - start.max(from)).max(0);
        seconds as u128 * u128::from(self.cpus)
    }
}

/// The run time below which slowdown is not counted [s].
pub const SLOWDOWN_BOUND: i64 = 10;
