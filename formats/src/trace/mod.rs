//! Traces: recorded history, read from `sacct --parsable2` or SWF into one neutral, compact model.
//!
//! [`Trace::read`] reads, [`lower::lower`] turns the model into the engine's workload for a given site. The bytes pass
//! through once: lines are cut on byte slices, names are interned, equal requests share one entry.
//!
//! What a schedule decides (Start, NodeList, Flags, Priority, Reason) is never simulated from; Start is where a row has neither
//! Elapsed nor ElapsedRaw, to work out the run time. It is kept beside ([`TraceJob::started`]), so that the baseline can be held against it.

mod begin;
mod caveat;
mod column;
pub mod compact;
mod dependency;
mod incarnations;
mod job_id;
mod layout;
mod lines;
mod log;
pub mod lower;
mod maps;
mod model;
mod named_nodes;
mod never_eligible;
mod plain_components;
mod refusal;
mod request;
mod row;
mod sacct;
mod sacct_job;
mod span;
mod states;
mod strings;
mod submit_line;
mod submit_options;
mod swf;
mod swf_header;
mod swf_row;
mod times;
mod tres;

use std::io::Read;

use jiff::tz::TimeZone;

pub use lower::{lower, swf_site};

pub use caveat::{Caveat, CaveatKind};
pub use model::{Trace, TraceBefore, TraceExtra, TraceFormat, TraceGres, TraceJob, TraceRequest, TraceRun, TraceStart};
pub use states::TraceState;
pub use strings::{Strings, Symbol};
pub use swf_header::SwfHeader;

pub(crate) use column::Column;
pub(crate) use layout::Layout;
pub(crate) use lines::Lines;
pub(crate) use log::Log;
pub(crate) use row::{Cut, RowCutter};
pub(crate) use sacct::Rows;
pub(crate) use submit_line::rewrite as rewrite_submit_line;
pub(crate) use submit_options::options_by_standing;
pub(crate) use swf::is_swf;
pub(crate) use times::{Clock, too_large};

use crate::compression;
use crate::diagnostic::{Diagnostic, Severity, any_error};
use crate::utf16;

/// How to read a trace.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// The zone of sacct's local times; UTC, named as an assumption, if `None`. SWF needs none.
    pub time_zone: Option<TimeZone>,
    /// The most bytes read after unpacking; no cap if `None`.
    pub max_bytes: Option<u64>,
    /// When the simulated part begins [Unix s]: of jobs submitted before it is kept whether they ran or waited then. Only
    /// for that are Start and NodeList looked at.
    pub opens: Option<i64>,
}

impl Trace {
    /// Reads a trace; sacct and SWF are told apart by content, gzip and zstd are unpacked on the way.
    /// `name` is what diagnostics call the file. There is no trace if any diagnostic is an error.
    pub fn read(name: &str, bytes: impl Read, options: &TraceOptions) -> (Option<Self>, Vec<Diagnostic>) {
        let mut log = Log::new(name);
        let trace = match compression::open(bytes, options.max_bytes) {
            Ok(unpacked) => read_lines(&mut Lines::new(unpacked), options, &mut log),
            Err(error) => {
                log.push(compression::fault(name, &error));
                None
            }
        };
        if let Some(trace) = &trace {
            span::check_span(trace, &mut log);
            // A window begins where it is told to.
            if options.opens.is_none() && !log.has_errors() {
                span::check_start(trace, &mut log);
            }
        }
        let (caveats, diagnostics) = log.finish();
        let trace = trace.filter(|_| !any_error(&diagnostics)).map(|trace| Self { caveats, ..trace });
        (trace, diagnostics)
    }
}

/// Whether a file's first line that says something is that of a trace: SWF, or sacct's output with the columns that only jobs have.
pub fn is_trace(line: &[u8]) -> bool {
    let jobs = [Column::JobId, Column::JobIdRaw];
    swf::is_swf(line)
        || match Layout::detect(line) {
            Ok((layout, _)) => jobs.iter().any(|column| layout.has(*column)),
            // Told apart all the same, so that the reader says what is wrong with it.
            Err(layout::LayoutError::FixedWidth) => {
                line.split(u8::is_ascii_whitespace).any(|name| Column::named(name).is_some_and(|it| jobs.contains(&it)))
            }
            Err(layout::LayoutError::NoHeader | layout::LayoutError::Unknown) => false,
        }
}

/// Looks at the first line that says something and hands on to the reader of its format.
fn read_lines<R: std::io::BufRead>(lines: &mut Lines<R>, options: &TraceOptions, log: &mut Log) -> Option<Trace> {
    let mut first = Vec::new();
    loop {
        first.clear();
        match lines.append(&mut first) {
            Ok(true) if first.trim_ascii().is_empty() => {}
            Ok(true) => break,
            Ok(false) => {
                log.push(Diagnostic::error(log.file(), "the file is empty").cure("export the trace again"));
                return None;
            }
            Err(error) => {
                log.push(compression::fault(log.file(), &error));
                return None;
            }
        }
    }
    if utf16::is_utf16(&first) {
        log.push(utf16::fault(log.file()));
        return None;
    }
    if swf::is_swf(&first) {
        return swf::read(first, lines, log);
    }
    let zone = options.time_zone.clone();
    match layout::Layout::detect(&first) {
        Ok((layout, header)) => {
            // Without a header it is the form of Open XDMoD's tools, which set TZ=UTC (its docs/resource-manager-slurm.md).
            let is_of_xdmod = !header && matches!(layout, layout::Layout::Delimited(_));
            let is_utc = |zone: &TimeZone| {
                let names = ["UTC", "UCT", "GMT", "Zulu", "Universal", "Greenwich"];
                let name = zone.iana_name().unwrap_or_default();
                *zone == TimeZone::UTC || names.contains(&name.trim_start_matches("Etc/"))
            };
            let in_another = || zone.as_ref().is_some_and(|zone| !is_utc(zone));
            let (message, cure) = match (is_of_xdmod, &zone) {
                (true, None) => ("rows of Open XDMoD's form, which its tools export in UTC: read so", ""),
                (true, Some(_)) if in_another() => (
                    "rows of Open XDMoD's form, which its tools export in UTC, read in another zone, as told",
                    "leave the zone out, unless the export set another one",
                ),
                (false, None) => (
                    "sacct writes local times without a zone: read as UTC",
                    "name the cluster's zone, such as --timezone Europe/Berlin",
                ),
                _ => ("", ""),
            };
            if !message.is_empty() {
                log.push(Diagnostic::new(Severity::Assumed, log.file(), message).cure(cure));
            }
            sacct::read(first, header, layout, lines, (zone.unwrap_or(TimeZone::UTC), options.opens), log)
        }
        Err(reason) => {
            refusal::refuse(reason, lines, log);
            None
        }
    }
}

#[cfg(test)]
mod tests;
