//! How long a history may be, and where it begins.

use super::log::Log;
use super::model::{Trace, TraceJob};
use crate::diagnostic::{Diagnostic, Severity};

/// The longest history that is simulated [years]: slurmctld's periodic work is gone through even while nothing runs.
const YEARS_MAX: u64 = 100;
const YEAR: u64 = 31_557_600;

/// No cluster goes so long without a single submission [s], even if it moves house; a slip in the year is longer.
const SILENCE: i64 = 180 * 86_400;

/// So many submissions tell when most jobs came.
const ASKED: usize = 1000;

/// Refuses rows whose times lie [`YEARS_MAX`] or more from when most jobs came: one wrong digit makes a simulation of centuries. O(jobs).
pub(super) fn check_span(trace: &Trace, log: &mut Log) {
    let asked = some_submits(trace);
    let Some(&middle) = asked.get(asked.len().saturating_sub(1) / 2) else { return };
    let years = |time: i64| time.abs_diff(middle) / YEAR;
    for job in &trace.jobs {
        let Some((field, time)) = times(job).into_iter().flatten().find(|&(_, time)| years(time) >= YEARS_MAX) else {
            continue;
        };
        log.error(job.line, field, "times too far from the others", "correct it, or remove the row", || {
            format!(
                "job {} has a time {} years from that of most others, and a history of more than {YEARS_MAX} years is not simulated",
                job.name,
                years(time)
            )
        });
    }
}

/// Some submit times in order.
fn some_submits(trace: &Trace) -> Vec<i64> {
    let mut asked: Vec<i64> = trace.jobs.iter().step_by(trace.jobs.len() / ASKED + 1).map(|job| job.submit).collect();
    asked.sort_unstable();
    asked
}

/// Warns of the few jobs after which nobody came for [`SILENCE`]: the simulation would begin with them. O(jobs).
pub(super) fn check_start(trace: &Trace, log: &mut Log) {
    let asked = some_submits(trace);
    // At most one job in a hundred comes before, but always one may.
    let Some(&rest) = asked.get((asked.len() / 100).max(1)) else { return };
    let mut early: Vec<(i64, u64)> =
        trace.jobs.iter().filter(|job| job.submit < rest).map(|job| (job.submit, job.line)).collect();
    early.push((rest, 0));
    early.sort_unstable();
    let silence = |pair: &[(i64, u64)]| matches!(pair, [(one, _), (next, _)] if next - one >= SILENCE);
    let (Some(last), Some(&(first, line))) = (early.windows(2).rposition(silence), early.first()) else { return };
    let days = early.get(last + 1).map_or(0, |&(next, _)| (next - first) / 86_400);
    let who = if last == 0 { "one job was".to_owned() } else { format!("{} jobs were", last + 1) };
    let message = format!("{who} submitted up to {days} days before all others, and the simulation begins there");
    let warning = Diagnostic::new(Severity::Warning, log.file(), message).at(line).field("Submit");
    log.push(warning.cure("correct the time or remove the row, or simulate a part of the trace: `window` of a study"));
}

/// Times that a simulation comes to: not those of who is cancelled before.
fn times(job: &TraceJob) -> [Option<(&'static str, i64)>; 5] {
    let extra = job.extra.as_ref();
    let runs_for = i64::from(job.run_time);
    let comes = |at: &i64| job.cancelled_at.is_none_or(|cancelled| *at <= cancelled);
    [
        Some(("Submit", job.submit)),
        Some(("Eligible", job.release)).filter(|(_, at)| comes(at)),
        job.cancelled_at.map(|at| ("End", at)),
        extra.and_then(|extra| extra.begin).filter(comes).map(|at| ("SubmitLine", at)),
        Some(("Elapsed", job.submit.saturating_add(runs_for))),
    ]
}
