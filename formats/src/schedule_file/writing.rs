//! A schedule as CSV, without an allocation per row.

use std::io;

use foresite_engine::job::JobPart;

use super::{COLUMNS, Schedule, ScheduleRow};

/// Written out at once [bytes].
const CHUNK: usize = 64 << 10;

/// The schedule as CSV with a header and `\n` line ends. O(rows).
pub fn write(schedule: &Schedule) -> Vec<u8> {
    let mut line = Line::new(schedule, Vec::with_capacity(128 + schedule.rows.len() * 96));
    for row in &schedule.rows {
        line.row(schedule, row);
    }
    line.out
}

/// As [`write`], to a stream and piece by piece.
///
/// # Errors
/// Those of the stream.
pub fn write_to(schedule: &Schedule, stream: &mut impl io::Write) -> io::Result<()> {
    let mut line = Line::new(schedule, Vec::with_capacity(2 * CHUNK));
    for row in &schedule.rows {
        line.row(schedule, row);
        if line.out.len() >= CHUNK {
            stream.write_all(&line.out)?;
            line.out.clear();
        }
    }
    stream.write_all(&line.out)
}

struct Line {
    out: Vec<u8>,
    number: itoa::Buffer,
    /// The fields that labels are written as.
    labels: Vec<Vec<u8>>,
}

impl Line {
    /// Begins with the header.
    fn new(schedule: &Schedule, mut out: Vec<u8>) -> Self {
        out.extend_from_slice(COLUMNS.join(",").as_bytes());
        out.push(b'\n');
        let labels = schedule.labels.names().map(|name| {
            let mut field = Vec::new();
            text(name, &mut field);
            field
        });
        Self { out, number: itoa::Buffer::new(), labels: labels.collect() }
    }

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
            self.out.extend_from_slice(self.labels.get(label.0 as usize).map_or(&[], Vec::as_slice));
        }
        for time in [Some(row.submit), row.eligible, row.start, row.end] {
            self.out.push(b',');
            if let Some(time) = time {
                self.number(time);
            }
        }
        self.out.push(b',');
        self.out.extend_from_slice(row.state.as_str().as_bytes());
        for count in [row.nodes, row.cpus] {
            self.out.push(b',');
            self.number(count);
        }
        self.out.push(b',');
        text(schedule.node_list(row), &mut self.out);
        self.out.push(b',');
        self.out.extend_from_slice(row.started_by.map_or("", |by| by.as_str()).as_bytes());
        self.out.push(b'\n');
    }

    fn number(&mut self, number: impl itoa::Integer) {
        self.out.extend_from_slice(self.number.format(number).as_bytes());
    }
}

/// Appends a field, quoted where RFC 4180 needs it.
fn text(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if memchr::memchr3(b',', b'"', b'\n', bytes).or_else(|| memchr::memchr(b'\r', bytes)).is_none() {
        out.extend_from_slice(bytes);
        return;
    }
    out.push(b'"');
    for &byte in bytes {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
