//! `sacct --parsable2`: rows to jobs.

use std::collections::BTreeMap;
use std::io::BufRead;

use foresite_engine::job::{JobName, JobPart};
use jiff::tz::TimeZone;

use super::caveat::CaveatKind;
use super::column::Column;
use super::incarnations::{RowJob, is_same_record, merge, take_later};
use super::job_id::{JobId, number, whole};
use super::layout::{Delimited, Layout, is_header_of_jobs};
use super::lines::Lines;
use super::log::Log;
use super::maps::Map;
use super::model::{Trace, TraceFormat, TraceJob, TraceRequest};
use super::never_eligible::end_waits;
use super::plain_components::PlainComponents;
use super::request::shown;
use super::row::{Cut, Row, RowCutter};
use super::sacct_job::{Present, RowReader, TakenRow};
use super::states::TraceState;
use super::strings::{Strings, Symbol};
use super::swf_header::SwfHeader;
use super::times::Clock;
use crate::compression;
use crate::diagnostic::Diagnostic;

mod arrays;

use arrays::Array;

/// The most lines that one row may be spread over by newlines in its fields.
const MOST_JOINED: usize = 1000;
/// The longest such row [bytes].
const LONGEST_JOINED: usize = 1 << 20;

/// Jobs gathered so far.
struct Jobs {
    jobs: Vec<TraceJob>,
    /// When each of them ended, if that is known.
    ends: Vec<Option<i64>>,
    /// Rows of an id that came before and tell of another submission, with the place of the job that the first one made.
    further: Vec<(u32, RowJob)>,
    by_name: Map<JobName, u32>,
    requests: Vec<TraceRequest>,
    by_request: Map<TraceRequest, u32>,
    /// Tasks that have no row of their own.
    pending_tasks: u64,
    /// Rows that are of steps.
    steps: u64,
    arrays: BTreeMap<u64, Array>,
    components: PlainComponents,
    cluster: Option<Symbol>,
}

/// Reads rows; `first` is the first line, a header if `header`.
pub(crate) fn read<R: BufRead>(
    first: Vec<u8>,
    header: bool,
    layout: Layout,
    lines: &mut Lines<R>,
    (zone, opens): (TimeZone, Option<i64>),
    log: &mut Log,
) -> Option<Trace> {
    if !check_columns(&layout, lines.number(), log) {
        return None;
    }
    let present = Present {
        elapsed: layout.has(Column::Elapsed) || layout.has(Column::ElapsedRaw),
        limit: layout.has(Column::TimelimitRaw) || layout.has(Column::Timelimit),
        alloc_tres: layout.has(Column::AllocTres),
        opens,
    };
    let untold = untold(&layout);
    let time_zone = zone.iana_name().unwrap_or("fixed offset").to_owned();
    let mut clock = Clock::new(zone);
    let mut strings = Strings::default();
    let mut cutter = RowCutter::default();
    let mut jobs = Jobs {
        jobs: Vec::new(),
        ends: Vec::new(),
        further: Vec::new(),
        by_name: Map::default(),
        requests: Vec::new(),
        by_request: Map::default(),
        pending_tasks: 0,
        steps: 0,
        arrays: BTreeMap::new(),
        components: PlainComponents::default(),
        cluster: None,
    };
    let mut latest = i64::MIN;
    let mut rows = Rows::new(lines, first, header);
    let mut text = Vec::new();
    loop {
        let (line, cut) = match rows.next(&layout, &mut cutter, &mut text, log) {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) => {
                log.push(compression::fault(log.file(), &error).at(rows.lines.number() + 1));
                break;
            }
        };
        if let Cut::Broken(found) = cut {
            report_broken(&layout, found, line, log);
            continue;
        }
        let row = cutter.row(&text);
        let ambiguous = clock.ambiguous;
        let mut reader =
            RowReader { clock: &mut clock, strings: &mut strings, log, line, present, latest: &mut latest };
        jobs.take(&row, &mut reader);
        log.caveats_of(CaveatKind::AmbiguousTime, clock.ambiguous - ambiguous, line);
    }
    jobs.merge(log);
    jobs.name_lone_components();
    jobs.end_arrays((opens, latest), &strings, log);
    // Tasks without a row may have a name that another job had.
    jobs.merge(log);
    end_waits(&mut jobs.jobs, latest, log);
    let lines = jobs.jobs.iter().map(|job| job.line);
    if let Some(first) = lines.clone().min() {
        untold.iter().for_each(|&kind| log.caveats_of(kind, lines.len() as u64, first));
    }
    for job in &jobs.jobs {
        match job.state {
            TraceState::NodeFail if job.extra.as_ref().is_none_or(|extra| extra.requeue != Some(false)) => {
                log.caveat(CaveatKind::NodeFailLast, job.line);
            }
            TraceState::Requeued => log.caveat(CaveatKind::RequeuedLast, job.line),
            TraceState::Preempted => log.caveat(CaveatKind::Preempted, job.line),
            TraceState::Pending => log.caveat(CaveatKind::StillPending, job.line),
            TraceState::Running | TraceState::Resizing => log.caveat(CaveatKind::StillRunning, job.line),
            _ => {}
        }
    }
    if jobs.jobs.is_empty() && !log.has_errors() {
        let (message, cure) = match jobs.steps {
            0 => ("the trace holds no job".to_owned(), "export with sacct --allusers and a period that has jobs"),
            steps => (
                format!("the trace holds no job: of its {steps} rows all are of job steps"),
                "export with sacct --allocations, and leave no job's own row out; or, where a table made JobID 1 the decimal number 1.0, \
                 export without converting it",
            ),
        };
        log.push(Diagnostic::error(log.file(), message).cure(cure));
    }
    Some(Trace {
        file: log.file().to_owned(),
        format: TraceFormat::Sacct,
        cluster: jobs.cluster.map(|name| strings.text(name).to_owned()).unwrap_or_default(),
        jobs: jobs.jobs,
        requests: jobs.requests,
        strings,
        time_zone,
        opens,
        unix_start: 0,
        header: SwfHeader::default(),
        caveats: Vec::new(),
    })
}

/// What no column tells of any job.
fn untold(layout: &Layout) -> Vec<CaveatKind> {
    use CaveatKind as Kind;
    let columns: [(Kind, &[Column]); 7] = [
        (Kind::ConstraintsUnknown, &[Column::Constraints, Column::SubmitLine]),
        (Kind::PartitionUnknown, &[Column::Partition]),
        (Kind::UserUnknown, &[Column::User, Column::Uid]),
        (Kind::AccountUnknown, &[Column::Account]),
        (Kind::QosUnknown, &[Column::Qos]),
        (Kind::EligibleUnknown, &[Column::Eligible]),
        (Kind::MemoryUnknown, &[Column::ReqMem, Column::ReqTres, Column::AllocTres]),
    ];
    let missing = |columns: &[Column]| !columns.iter().any(|&column| layout.has(column));
    columns.into_iter().filter(|(_, columns)| missing(columns)).map(|(kind, _)| kind).collect()
}

/// Whether all columns without which no job can be simulated are there; names every missing one.
fn check_columns(layout: &Layout, line: u64, log: &mut Log) -> bool {
    let has = |columns: &[Column]| columns.iter().any(|&column| layout.has(column));
    let missing: Vec<&str> = [
        ("JobID", has(&[Column::JobId, Column::JobIdRaw])),
        ("Submit", has(&[Column::Submit])),
        ("State", has(&[Column::State])),
        ("ElapsedRaw", has(&[Column::ElapsedRaw, Column::Elapsed, Column::End])),
        ("ReqTRES", has(&[Column::ReqTres, Column::ReqCpus, Column::AllocTres, Column::NCpus])),
    ]
    .into_iter()
    .filter_map(|(name, there)| (!there).then_some(name))
    .collect();
    if missing.is_empty() {
        return true;
    }
    let message = match missing.as_slice() {
        [one] => format!("the column {one} is missing"),
        several => format!("the columns {} are missing", several.join(", ")),
    };
    log.push(Diagnostic::error(log.file(), message).at(line).cure(
        "export with sacct --allusers --parsable2 --duplicates --format=JobID,JobIDRaw,JobName,User,Account,Partition,QOS,Submit,\
         Eligible,Start,End,ElapsedRaw,State,TimelimitRaw,NNodes,ReqNodes,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Constraints,Reservation,\
         Suspended,SubmitLine",
    ));
    false
}

fn report_broken(layout: &Layout, found: usize, line: u64, log: &mut Log) {
    let cure = match layout {
        Layout::Delimited(layout) if layout.has_commas_of_its_own() => {
            "sacct quotes no commas: export with --parsable2, whose fields stand between |"
        }
        _ => "export the trace again, or remove the row",
    };
    log.error(line, "", "a row that does not fit the columns", cure, || match layout {
        Layout::KeyValue => "this is no row of name=value fields".to_owned(),
        Layout::Delimited(layout) => {
            format!(
                "the row has {found} fields where {} are expected: it is torn, or a field holds the delimiter",
                layout.contents.len()
            )
        }
    });
}

/// Rows of a file, joined where a field holds a newline.
pub(crate) struct Rows<'l, R> {
    lines: &'l mut Lines<R>,
    header: Vec<u8>,
    header_line: u64,
    /// A line read but not yet used.
    ahead: Vec<u8>,
    ahead_line: u64,
}

impl<'l, R: BufRead> Rows<'l, R> {
    /// The rows after `first`, which is the line read last: a header, or a row itself.
    pub(crate) fn new(lines: &'l mut Lines<R>, first: Vec<u8>, is_header: bool) -> Self {
        let ahead_line = lines.number();
        if is_header {
            Self { lines, header: first, header_line: ahead_line, ahead: Vec::new(), ahead_line }
        } else {
            Self { lines, header: Vec::new(), header_line: 0, ahead: first, ahead_line }
        }
    }

    /// Whether a line is a header with other columns than those of the file's own: what follows cannot be read by that one.
    fn is_other_header(&self, line: &[u8]) -> bool {
        !self.header.is_empty() && is_header_of_jobs(line) && *line != *self.header
    }

    /// The next row in `text`, cut; the number of its first line. A header with other columns is an error, and the end.
    pub(crate) fn next(
        &mut self,
        layout: &Layout,
        cutter: &mut RowCutter,
        text: &mut Vec<u8>,
        log: &mut Log,
    ) -> std::io::Result<Option<(u64, Cut)>> {
        loop {
            text.clear();
            if self.ahead.is_empty() {
                if !self.lines.append(text)? {
                    return Ok(None);
                }
                self.ahead_line = self.lines.number();
            } else {
                std::mem::swap(text, &mut self.ahead);
            }
            // Concatenated exports repeat the header.
            if !text.trim_ascii().is_empty() && *text != self.header {
                break;
            }
        }
        let line = self.ahead_line;
        if self.is_other_header(text) {
            let message = format!("line {line} is a header with other columns than line {}", self.header_line);
            let cure = "hand over one export, or join exports made with the same --format";
            log.push(Diagnostic::error(log.file(), message).at(line).cure(cure));
            return Ok(None);
        }
        let mut cut = cutter.cut(layout, text);
        let Layout::Delimited(delimited) = layout else { return Ok(Some((line, cut))) };
        let mut joined = 0;
        while let Cut::Broken(found) = cut {
            let can_go_on = found <= delimited.contents.len() && delimited.has_free_text();
            if !can_go_on
                || joined >= MOST_JOINED
                || text.len() > LONGEST_JOINED
                || !self.lines.append(&mut self.ahead)?
            {
                break;
            }
            self.ahead_line = self.lines.number();
            // A whole row follows: then this one is torn.
            if !matches!(cutter.cut(layout, &self.ahead), Cut::Broken(_))
                || self.ahead == self.header
                || self.is_other_header(&self.ahead)
            {
                cut = Cut::Broken(found);
                break;
            }
            text.push(b'\n');
            text.append(&mut self.ahead);
            joined += 1;
            cut = cutter.cut(layout, text);
        }
        if !matches!(cut, Cut::Broken(_)) {
            if delimited.ends_in_free_text() && self.join_rest(delimited, text)? {
                cutter.lengthen_last(delimited, text);
                joined += 1;
            }
            if joined > 0 {
                log.caveat(CaveatKind::JoinedLines, line);
            }
            if cut == Cut::Repaired {
                log.caveat(CaveatKind::DelimiterInField, line);
            }
        }
        Ok(Some((line, cut)))
    }

    /// Joins lines to a row whose last field holds newlines: a field before it shows by the missing ones, this one does not. Blank
    /// lines are left out. Whether there were any; else the line read stays ahead.
    fn join_rest(&mut self, layout: &Delimited, text: &mut Vec<u8>) -> std::io::Result<bool> {
        let mut joined = 0;
        while joined < MOST_JOINED && text.len() <= LONGEST_JOINED {
            while self.ahead.trim_ascii().is_empty() {
                self.ahead.clear();
                if !self.lines.append(&mut self.ahead)? {
                    return Ok(joined > 0);
                }
                self.ahead_line = self.lines.number();
            }
            if self.is_other_header(&self.ahead) || !layout.begins_no_row(&self.ahead, || self.lines.at_end()) {
                break;
            }
            text.push(b'\n');
            text.append(&mut self.ahead);
            joined += 1;
        }
        Ok(joined > 0)
    }
}

impl Jobs {
    fn take(&mut self, row: &Row<'_>, reader: &mut RowReader<'_>) {
        let id = row.get(Column::JobId);
        let id = if id.is_empty() { row.get(Column::JobIdRaw) } else { id };
        let line = reader.line;
        let parsed = match JobId::parse(id) {
            Some(JobId::Step) => {
                self.steps += 1;
                return;
            }
            Some(JobId::One(name)) => JobId::One(self.components.name(row, name)),
            Some(parsed) => parsed,
            None => {
                let cure = "export the trace again, or remove the row";
                reader.log.error(line, "JobID", "no job id", cure, || format!("'{}' is no job id", shown(id)));
                return;
            }
        };
        self.check_cluster(row, reader);
        let Some(TakenRow { mut job, request, tasks, end }) = reader.job(row, &parsed) else { return };
        if !tasks.is_empty() {
            let raw = number(whole(row.get(Column::JobIdRaw)));
            let new = || Array { named: tasks.to_vec(), come: 0, last: None, has_base: false, line };
            let array = self.arrays.entry(job.name.id).or_insert_with(new);
            array.has_base |= raw.is_none_or(|raw| raw == job.name.id);
        }
        job.request = self.intern(request);
        match parsed {
            JobId::Pending(tasks) => self.take_pending(&tasks, &job, reader.log),
            _ => self.add(RowJob { job, end }, reader.log),
        }
    }

    /// Jobs of which nothing but a first component came keep the names that sacct gave them.
    fn name_lone_components(&mut self) {
        let alone = std::mem::take(&mut self.components.alone);
        if alone.is_empty() {
            return;
        }
        let is_lone = |name: JobName| name.part == JobPart::Component(0) && alone.contains(&name.id);
        for job in self.jobs.iter_mut().filter(|job| is_lone(job.name)) {
            job.name.part = JobPart::Whole;
        }
        let lone = self.by_name.extract_if(|&name, _| is_lone(name)).collect::<Vec<_>>();
        self.by_name
            .extend(lone.into_iter().map(|(name, index)| (JobName { id: name.id, part: JobPart::Whole }, index)));
    }

    fn check_cluster(&mut self, row: &Row<'_>, reader: &mut RowReader<'_>) {
        let cluster = row.get(Column::Cluster);
        if cluster.is_empty() {
            return;
        }
        let symbol = reader.strings.intern(cluster);
        let first = *self.cluster.get_or_insert(symbol);
        if first != symbol {
            let (one, other) = (reader.strings.text(first).to_owned(), shown(cluster));
            let cure = "export one cluster's jobs, with --clusters NAME";
            reader.log.error(reader.line, "Cluster", "jobs of another cluster", cure, || {
                format!("the trace mixes jobs of the clusters {one} and {other}")
            });
        }
    }

    fn intern(&mut self, request: TraceRequest) -> u32 {
        if let Some(&index) = self.by_request.get(&request) {
            return index;
        }
        let index = u32::try_from(self.requests.len()).unwrap_or(u32::MAX);
        self.requests.push(request.clone());
        self.by_request.insert(request, index);
        index
    }

    fn add(&mut self, row: RowJob, log: &mut Log) {
        let name = row.job.name;
        let next = u32::try_from(self.jobs.len()).unwrap_or(u32::MAX);
        let index = *self.by_name.entry(name).or_insert(next);
        let (Some(known), Some(end)) = (self.jobs.get_mut(index as usize), self.ends.get_mut(index as usize)) else {
            if let (JobPart::Task(task), Some(array)) = (name.part, self.arrays.get_mut(&name.id)) {
                array.come += 1;
                array.last = array.last.max(Some((task, index)));
            }
            self.jobs.push(row.job);
            self.ends.push(row.end);
            return;
        };
        if is_same_record(known, &row.job) {
            log.caveat(CaveatKind::DuplicateRow, row.job.line);
            take_later((known, end), row);
        } else {
            self.further.push((index, row));
        }
    }

    /// Makes jobs of the rows that came after the first ones of their ids. Those that turn out to be other jobs come last.
    fn merge(&mut self, log: &mut Log) {
        let mut further = std::mem::take(&mut self.further);
        further.sort_by_key(|&(index, _)| index);
        let mut further = further.into_iter().peekable();
        while let Some((index, row)) = further.next() {
            let place = index as usize;
            let (Some(job), Some(end)) = (self.jobs.get_mut(place), self.ends.get_mut(place)) else { continue };
            let mut rows = vec![RowJob { job: job.clone(), end: *end }, row];
            rows.extend(std::iter::from_fn(|| further.next_if(|&(next, _)| next == index)).map(|(_, row)| row));
            let mut merged = merge(rows, &self.requests, log).into_iter();
            if let Some(first) = merged.next() {
                (*job, *end) = (first.job, first.end);
            }
            for other in merged {
                self.jobs.push(other.job);
                self.ends.push(other.end);
            }
        }
    }
}
