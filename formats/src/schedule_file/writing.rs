//! A schedule as CSV, without an allocation per row.

use foresite_engine::job::JobPart;

use super::{COLUMNS, Schedule, ScheduleRow};

/// The schedule as CSV with a header and `\n` line ends. O(rows).
pub fn write(schedule: &Schedule) -> Vec<u8> {
    let mut line = Line { out: Vec::with_capacity(128 + schedule.rows.len() * 96), number: itoa::Buffer::new() };
    line.out.extend_from_slice(COLUMNS.join(",").as_bytes());
    line.out.push(b'\n');
    for row in &schedule.rows {
        line.row(schedule, row);
    }
    line.out
}

struct Line {
    out: Vec<u8>,
    number: itoa::Buffer,
}

impl Line {
    fn row(&mut self, schedule: &Schedule, row: &ScheduleRow) {
        self.number(row.job.id);
        match row.job.part {
            JobPart::Whole => {}
            JobPart::Task(task) => {
                self.out.push(b'_');
                self.number(task);
            }
            JobPart::Component(component) => {
                self.out.push(b'+');
                self.number(component);
            }
        }
        for label in [row.user, row.account, row.partition, row.qos] {
            self.out.push(b',');
            self.text(schedule.labels.name(label));
        }
        for time in [Some(row.submit), row.eligible, row.start, row.end] {
            self.out.push(b',');
            if let Some(time) = time {
                self.number(time);
            }
        }
        self.out.push(b',');
        self.text(row.state.as_str());
        for count in [row.nodes, row.cpus] {
            self.out.push(b',');
            self.number(count);
        }
        self.out.push(b',');
        self.text(schedule.node_list(row));
        self.out.push(b',');
        self.text(row.started_by.map_or("", |by| by.as_str()));
        self.out.push(b'\n');
    }

    fn number(&mut self, number: impl itoa::Integer) {
        self.out.extend_from_slice(self.number.format(number).as_bytes());
    }

    /// A field, quoted where RFC 4180 needs it.
    fn text(&mut self, text: &str) {
        if !text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        self.out.push(b'"');
        for byte in text.bytes() {
            if byte == b'"' {
                self.out.push(b'"');
            }
            self.out.push(byte);
        }
        self.out.push(b'"');
    }
}
