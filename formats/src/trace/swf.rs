//! The Standard Workload Format: eighteen numbers a line, also with fractions, with semicolons and names, or extended.
//! Source: Chapin et al. 1999 and the archive's format page.

use std::io::BufRead;

use foresite_engine::job::{JobName, JobPart, Memory, TimeLimit};

use super::caveat::CaveatKind;
use super::dependency::dependencies;
use super::lines::Lines;
use super::log::{Log, ROW_CURE};
use super::maps::{Map, Set};
use super::model::{Trace, TraceExtra, TraceFormat, TraceJob, TraceRequest, TraceStart};
use super::request::shown;
use super::states::TraceState;
use super::strings::{Strings, Symbol};
use super::swf_header::SwfHeader;
use super::swf_row::{FIELDS, Name, Row, job_number, real};
use crate::compression;
use crate::diagnostic::{Diagnostic, Severity};

/// Users and groups with smaller numbers are looked up in a table.
const PEOPLE_BY_NUMBER: usize = 1 << 16;

/// Whether a file's first line is SWF: a comment, or numbers between blanks or semicolons.
pub(crate) fn is_swf(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut fields = [&b""[..]; 5];
    let count = line
        .split(is_separator(line))
        .filter(|field| !field.is_empty())
        .zip(&mut fields)
        .map(|(from, to)| *to = from)
        .count();
    line.first() == Some(&b';') || (count == fields.len() && fields.iter().all(|field| real(field).is_some()))
}

/// Semicolons, where a line has them; else blanks.
fn is_separator(line: &[u8]) -> fn(&u8) -> bool {
    if line.contains(&b';') { |byte| *byte == b';' } else { u8::is_ascii_whitespace }
}

struct Reader<'l> {
    log: &'l mut Log,
    strings: Strings,
    header: SwfHeader,
    jobs: Vec<TraceJob>,
    /// Job numbers met; empty while each was larger than the one before.
    seen: Set<u64>,
    requests: Vec<TraceRequest>,
    /// By processors and memory, which are all that a line asks for.
    by_request: Map<(u32, Memory), u32>,
    /// Users and groups by their number.
    people: Vec<Symbol>,
    line: u64,
}

/// Reads a log; `first` is its first line.
pub(crate) fn read<R: BufRead>(first: Vec<u8>, lines: &mut Lines<R>, log: &mut Log) -> Option<Trace> {
    let mut reader = Reader {
        log,
        strings: Strings::default(),
        header: SwfHeader::default(),
        jobs: Vec::new(),
        seen: Set::default(),
        requests: Vec::new(),
        by_request: Map::default(),
        people: Vec::new(),
        line: lines.number(),
    };
    let mut text = first;
    loop {
        reader.take(&text);
        text.clear();
        match lines.append(&mut text) {
            Ok(true) => reader.line = lines.number(),
            Ok(false) => break,
            Err(error) => {
                reader.log.push(compression::fault(reader.log.file(), &error).at(lines.number() + 1));
                break;
            }
        }
    }
    Some(reader.finish())
}

impl Reader<'_> {
    fn take(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        if line.first() == Some(&b';') {
            if !self.header.take(line) {
                self.log.caveat(CaveatKind::SwfHeaderNumber, self.line);
            }
            return;
        }
        if let Some(row) = Row::of_numbers(line) {
            self.job(&row);
            return;
        }
        let mut fields = [&b""[..]; FIELDS];
        let semicolons = memchr::memchr(b';', line).is_some();
        let mut count = 0;
        let mut take = |field| {
            if let Some(place) = fields.get_mut(count) {
                *place = field;
            }
            count += 1;
        };
        if semicolons {
            line.split(|byte| *byte == b';').for_each(|field| take(field.trim_ascii()));
        } else {
            line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).for_each(take);
        }
        if count < FIELDS {
            self.log.error(
                self.line,
                "",
                "a line with too few fields",
                "the line is torn: copy the file again, or remove it",
                || format!("the line has {count} fields where {FIELDS} are expected"),
            );
            return;
        }
        if count > FIELDS && !(semicolons && count == FIELDS + 1) {
            self.log.caveat(CaveatKind::SwfExtended, self.line);
        }
        if let Some(row) = self.row(&fields, semicolons) {
            self.job(&row);
        }
    }

    /// The number of a field, -1 where it is empty or says nothing.
    fn real(&mut self, fields: &[&[u8]; FIELDS], index: usize, name: &'static str) -> Option<f64> {
        let text = fields.get(index).copied().unwrap_or_default();
        let value = if text.is_empty() { Some(-1.0) } else { real(text) };
        if value.is_none() {
            self.log.error(self.line, name, "no number", ROW_CURE, || format!("'{}' is no number", shown(text)));
        }
        value
    }

    /// The row of any line; its faults are told.
    fn row<'f>(&mut self, fields: &[&'f [u8]; FIELDS], semicolons: bool) -> Option<Row<'f>> {
        // What no schedule depends on (average CPU time, used memory) need not be a number.
        const USED: [(usize, &str); 8] = [
            (1, "submit time"),
            (2, "wait time"),
            (3, "run time"),
            (4, "allocated processors"),
            (7, "requested processors"),
            (8, "requested time"),
            (9, "requested memory"),
            (10, "status"),
        ];
        let mut values = [-1.0; USED.len()];
        let mut good = true;
        for (value, (index, name)) in values.iter_mut().zip(USED) {
            match self.real(fields, index, name) {
                Some(number) => *value = number,
                None => good = false,
            }
        }
        let field = |index: usize| fields.get(index).copied().unwrap_or_default();
        let Some(id) = job_number(field(0)) else {
            self.log.error(self.line, "job number", "no job number", ROW_CURE, || {
                format!("'{}' is no job number", shown(field(0)))
            });
            return None;
        };
        let (user, group, preceding) = (Name::Text(field(11)), Name::Text(field(12)), Name::Text(field(16)));
        good.then_some(Row { id, values, user, group, preceding, semicolons })
    }

    fn job(&mut self, row: &Row) {
        let &Row { id, values: [submit, wait, run, allocated, requested, time, memory, status], semicolons, .. } = row;
        if submit < 0.0 {
            self.log.error(self.line, "submit time", "no submit time", "remove the line", || {
                format!("job {id} has no submit time")
            });
            return;
        }
        if !self.is_new(id) {
            self.log.caveat(CaveatKind::DuplicateRow, self.line);
            return;
        }
        if submit.fract() != 0.0 || run.fract() != 0.0 {
            self.log.caveat(CaveatKind::SwfFractions, self.line);
        }
        let cpus = self.processors(requested, allocated);
        let memory = if memory > 0.0 { Memory::PerCpu((whole(memory) as u64).div_ceil(1024)) } else { Memory::Default };
        let submit = whole(submit);
        let waiting = run < 0.0 && (status == 5.0 || allocated <= 0.0) || run <= 0.0 && status == 5.0;
        let cancelled_at = waiting.then(|| {
            if wait < 0.0 {
                self.log.caveat(CaveatKind::SwfNoWait, self.line);
            }
            submit + whole(wait).max(0)
        });
        let got = u32::try_from(whole(allocated)).ok().filter(|&got| got > 0).unwrap_or(cpus);
        let started = (!waiting && wait >= 0.0).then(|| TraceStart::new(submit + whole(wait), submit, got));
        // The Slurm simulators' form with semicolons says so of jobs that run until their limit.
        let until_limit = run < 0.0 && !waiting && semicolons && time > 0.0;
        if run < 0.0 && !waiting {
            let kind = if until_limit { CaveatKind::SwfUntilLimit } else { CaveatKind::SwfNoRunTime };
            self.log.caveat(kind, self.line);
        }
        let run_time = if until_limit { time.ceil() } else { run.max(0.0).round() };
        let run_time = u32::try_from(whole(run_time)).unwrap_or(u32::MAX);
        let job = TraceJob {
            name: JobName { id, part: JobPart::Whole },
            line: self.line,
            submit,
            eligible: submit,
            release: submit,
            cancelled_at,
            run_time,
            estimate: u32::try_from(whole(time.max(0.0).ceil())).unwrap_or(u32::MAX),
            run_time_is_bound: until_limit,
            state: state_of(status, waiting),
            started,
            time_limit: Some(self.limit(time, run_time)),
            user: self.person(row.user),
            account: self.person(row.group),
            qos: Symbol::EMPTY,
            request: self.intern(cpus, memory),
            nice: 0,
            extra: self.preceding(row.preceding),
        };
        self.jobs.push(job);
    }

    /// Requested processors, else the allocated ones.
    fn processors(&mut self, requested: f64, allocated: f64) -> u32 {
        let (kind, value) = if requested > 0.0 {
            (None, requested)
        } else if allocated > 0.0 {
            (Some(CaveatKind::SwfAllocated), allocated)
        } else {
            (Some(CaveatKind::SwfNoProcessors), 1.0)
        };
        if let Some(kind) = kind {
            self.log.caveat(kind, self.line);
        }
        u32::try_from(whole(value.ceil())).unwrap_or(u32::MAX)
    }

    fn limit(&mut self, time: f64, run_time: u32) -> TimeLimit {
        let seconds = if time > 0.0 {
            if f64::from(run_time) > time {
                self.log.caveat(CaveatKind::SwfOverRun, self.line);
            }
            whole(time.ceil()) as u64
        } else {
            self.log.caveat(CaveatKind::SwfRunTimeAsLimit, self.line);
            u64::from(run_time)
        };
        TimeLimit::Minutes(u32::try_from(seconds.div_ceil(60).max(1)).unwrap_or(u32::MAX - 2))
    }

    fn person(&mut self, name: Name) -> Symbol {
        let number = match name {
            Name::Number(-1) | Name::Text(b"-1" | b"") => return Symbol::EMPTY,
            Name::Text(text) => return self.strings.intern(text),
            Name::Number(number) => number,
        };
        let known = usize::try_from(number).ok().filter(|&index| index < PEOPLE_BY_NUMBER);
        if let Some(&symbol) = known.and_then(|index| self.people.get(index)).filter(|symbol| !symbol.is_empty()) {
            return symbol;
        }
        let symbol = self.strings.intern(itoa::Buffer::new().format(number).as_bytes());
        if let Some(index) = known {
            self.people.resize(self.people.len().max(index + 1), Symbol::EMPTY);
            if let Some(place) = self.people.get_mut(index) {
                *place = symbol;
            }
        }
        symbol
    }

    /// A preceding job's number has no meaning without the user's think time; `afterok:1`, as some tools write, is simulated.
    fn preceding(&mut self, name: Name) -> Option<Box<TraceExtra>> {
        let text = match name {
            Name::Number(number) => {
                if number > 0 {
                    self.log.caveat(CaveatKind::SwfPreceding, self.line);
                }
                return None;
            }
            Name::Text(text) => text,
        };
        if text.contains(&b':')
            && let Some(dependencies) = dependencies(text)
        {
            return Some(Box::new(TraceExtra { dependencies: Some(dependencies), ..TraceExtra::default() }));
        }
        if real(text).is_none_or(|value| value > 0.0) && !text.is_empty() {
            self.log.caveat(CaveatKind::SwfPreceding, self.line);
        }
        None
    }

    fn intern(&mut self, cpus: u32, memory: Memory) -> u32 {
        let requests = &mut self.requests;
        *self.by_request.entry((cpus, memory)).or_insert_with(|| {
            requests.push(TraceRequest { memory, ..TraceRequest::of_cpus(cpus) });
            u32::try_from(requests.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Whether no line before had this job number. Logs are numbered in order, so few need the set.
    fn is_new(&mut self, id: u64) -> bool {
        let Some(last) = self.jobs.last() else { return true };
        if self.seen.is_empty() {
            if id > last.name.id {
                return true;
            }
            self.seen.extend(self.jobs.iter().map(|job| job.name.id));
        }
        self.seen.insert(id)
    }

    fn finish(mut self) -> Trace {
        let unix_start = self.header.unix_start.unwrap_or(0);
        if self.jobs.is_empty() && !self.log.has_errors() {
            self.log.push(Diagnostic::error(self.log.file(), "the log holds no job").cure("hand over a log with jobs"));
        } else {
            let names = [("queue", &self.header.queues), ("partition", &self.header.partitions)];
            for (what, names) in names.iter().filter(|(_, names)| names.len() > 1) {
                let message =
                    format!("{} {what}s are named, but SWF does not say which nodes they have: ignored", names.len());
                self.log.push(Diagnostic::new(Severity::NotModelled, self.log.file(), message).field(*what));
            }
            if self.header.unix_start.is_none() {
                let message = "the header has no UnixStartTime: submit times are counted from 1970-01-01";
                self.log.push(Diagnostic::new(Severity::Assumed, self.log.file(), message).field("UnixStartTime"));
            }
        }
        for job in &mut self.jobs {
            job.submit += unix_start;
            job.started = job.started.map(|start| TraceStart { at: start.at + unix_start, ..start });
            job.eligible = job.submit;
            job.release = job.submit;
            job.cancelled_at = job.cancelled_at.map(|time| time + unix_start);
            let cpus = self.requests.get(job.request as usize).map_or(0, |request| request.min_cpus);
            if self.header.max_procs.is_some_and(|most| cpus > most) {
                self.log.caveat(CaveatKind::SwfTooLarge, job.line);
            }
        }
        Trace {
            file: self.log.file().to_owned(),
            format: TraceFormat::Swf,
            cluster: String::new(),
            jobs: self.jobs,
            requests: self.requests,
            strings: self.strings,
            time_zone: "UTC".to_owned(),
            opens: None,
            unix_start,
            header: self.header,
            caveats: Vec::new(),
        }
    }
}

/// Status 1 is success; 0 failed, 5 cancelled; other numbers are exit codes. Logs without status (-1) count as success.
fn state_of(status: f64, waiting: bool) -> TraceState {
    if waiting || status == 5.0 {
        TraceState::Cancelled
    } else if status == 1.0 || status < 0.0 {
        TraceState::Completed
    } else {
        TraceState::Failed
    }
}

/// Cuts the fraction; `real` bounds the size.
fn whole(value: f64) -> i64 {
    value as i64
}
