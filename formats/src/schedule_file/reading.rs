//! CSV back to a schedule, every faulty field named.

use std::str::FromStr;

use csv::StringRecord;
use foresite_engine::job::{JobName, JobPart};
use foresite_engine::outcome::{JobState, StartedBy};

use super::{COLUMNS, Schedule, ScheduleRow};
use crate::diagnostic::Diagnostic;

/// At most so many faults are listed.
const FAULTS_MAX: usize = 100;

/// Reads a schedule file. The schedule is `Some` only if no fault was found. O(bytes).
pub fn read(name: &str, bytes: &[u8]) -> (Option<Schedule>, Vec<Diagnostic>) {
    let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
    let mut faults = Vec::new();
    if !reader.headers().is_ok_and(|headers| headers.iter().eq(COLUMNS)) {
        let cure = format!("the first line must be {}", COLUMNS.join(","));
        return (None, vec![Diagnostic::error(name, "this is not a schedule file").at(1).cure(cure)]);
    }
    let mut schedule = Schedule::default();
    let mut record = StringRecord::new();
    while faults.len() < FAULTS_MAX {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {
                let line = record.position().map_or(0, csv::Position::line);
                let mut fields = Fields { file: name, line, record: &record, faults: &mut faults };
                let row = fields.row(&mut schedule);
                schedule.rows.push(row);
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                faults.push(Diagnostic::error(name, error.to_string()).at(line));
                if matches!(error.kind(), csv::ErrorKind::Io(_)) {
                    break;
                }
            }
        }
    }
    (faults.is_empty().then_some(schedule), faults)
}

struct Fields<'a> {
    file: &'a str,
    line: u64,
    record: &'a StringRecord,
    faults: &'a mut Vec<Diagnostic>,
}

impl Fields<'_> {
    fn row(&mut self, schedule: &mut Schedule) -> ScheduleRow {
        let node_list = self.text(12);
        let node_list_begin = schedule.node_lists.len();
        schedule.node_lists.push_str(node_list);
        let node_list_len = node_list.len();
        let mut label = |column| schedule.labels.intern(self.record.get(column).unwrap_or_default());
        let (user, account, partition, qos) = (label(1), label(2), label(3), label(4));
        ScheduleRow {
            job: self.word(0, job_name).unwrap_or(JobName { id: 0, part: JobPart::Whole }),
            user,
            account,
            partition,
            qos,
            submit: self.word(5, moment).unwrap_or_default(),
            eligible: self.time(6),
            start: self.time(7),
            end: self.time(8),
            state: self.word(9, state).unwrap_or(JobState::Pending),
            nodes: self.number(10).unwrap_or_default(),
            cpus: self.number(11).unwrap_or_default(),
            node_list_begin,
            node_list_len,
            started_by: if self.text(13).is_empty() { None } else { self.word(13, started_by) },
        }
    }

    fn text(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default()
    }

    fn word<T>(&mut self, column: usize, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = parse(self.record.get(column).unwrap_or_default());
        if value.is_none() {
            let message = format!("`{}` cannot be read", self.text(column));
            let field = COLUMNS.get(column).copied().unwrap_or_default();
            self.faults.push(Diagnostic::error(self.file, message).at(self.line).field(field));
        }
        value
    }

    fn number<T: FromStr>(&mut self, column: usize) -> Option<T> {
        self.word(column, |text| text.parse().ok())
    }

    fn time(&mut self, column: usize) -> Option<i64> {
        if self.text(column).is_empty() { None } else { self.word(column, moment) }
    }
}

fn job_name(text: &str) -> Option<JobName> {
    let end = text.find(['_', '+']).unwrap_or(text.len());
    let (id, part) = text.split_at(end);
    let part = match part.split_at_checked(1) {
        None => JobPart::Whole,
        Some(("_", task)) => JobPart::Task(task.parse().ok()?),
        Some((_, component)) => JobPart::Component(component.parse().ok()?),
    };
    Some(JobName { id: id.parse().ok()?, part })
}

/// Unix seconds within a hundred thousand years, so that differences cannot overflow.
fn moment(text: &str) -> Option<i64> {
    text.parse().ok().filter(|seconds: &i64| seconds.abs() < 1 << 42)
}

fn state(text: &str) -> Option<JobState> {
    use JobState::{Cancelled, Completed, Deadline, Failed, NodeFail, Pending, Preempted, Running, Timeout};
    [Pending, Completed, Failed, Timeout, Cancelled, Running, Preempted, NodeFail, Deadline]
        .into_iter()
        .find(|state| state.as_str() == text)
}

fn started_by(text: &str) -> Option<StartedBy> {
    [StartedBy::Submit, StartedBy::Main, StartedBy::Backfill].into_iter().find(|by| by.as_str() == text)
}
