#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use foresite_engine::job::{GresScope, JobPart, Memory, Sharing, TimeLimit};

use super::*;

mod compact_form;
mod never_eligible;
mod properties;
mod sacct_forms;
mod sacct_rows;
mod same_id;
mod swf_logs;

/// Every column that a site would export.
const HEADER: &str = "JobID|JobName|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|State|TimelimitRaw|NNodes|ReqNodes|\
                      ReqCPUS|ReqMem|ReqTRES|AllocTRES|NodeList|Constraints|Flags|Priority|Reason|SubmitLine|WorkDir";

/// A job that ran for 17 s.
const ROW: &str = "1|j1|user5|acct2|normal|normal|2024-01-01T00:08:00|2024-01-01T00:08:00|2024-01-01T00:08:05|2024-01-01T00:08:22|17|COMPLETED|11|\
                   4|4|48|96000M|billing=48,cpu=48,mem=96000M,node=4|billing=48,cpu=48,mem=96000M,node=4|m[1-4]||SchedMain|22000|None|\
                   sbatch -J j1 -t 0:11:00 -N 4 -n 48 --mem=24000|/";

/// 2024-01-01T00:08:00 in UTC.
const SUBMIT: i64 = 1_704_067_680;

fn utc() -> TraceOptions {
    TraceOptions { time_zone: Some(TimeZone::UTC), max_bytes: None, opens: None }
}

fn read(text: &str) -> (Option<Trace>, Vec<Diagnostic>) {
    Trace::read("t", text.as_bytes(), &utc())
}

/// The trace of a text that must be good.
fn trace(text: &str) -> Trace {
    let (trace, diagnostics) = read(text);
    trace.unwrap_or_else(|| panic!("{}", said(&diagnostics)))
}

fn said(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

/// The one error in a text.
fn the_error(text: &str) -> String {
    let (trace, diagnostics) = read(text);
    assert!(trace.is_none());
    let errors: Vec<String> = diagnostics.iter().filter(|it| it.is_error()).map(ToString::to_string).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].clone()
}

/// A trace of [`ROW`] with some columns changed.
fn with(changes: &[(&str, &str)]) -> String {
    format!("{HEADER}\n{}\n", row(changes))
}

fn row(changes: &[(&str, &str)]) -> String {
    let names: Vec<&str> = HEADER.split('|').collect();
    let mut fields: Vec<&str> = ROW.split('|').collect();
    for (name, value) in changes {
        let at = names.iter().position(|known| known == name).unwrap();
        fields[at] = value;
    }
    fields.join("|")
}

fn caveats(trace: &Trace) -> Vec<(CaveatKind, u64)> {
    trace.caveats.iter().map(|caveat| (caveat.kind, caveat.count)).collect()
}

fn request(trace: &Trace, job: usize) -> &TraceRequest {
    &trace.requests[trace.jobs[job].request as usize]
}
