//! How long a history may be.

use super::log::Log;
use super::model::{Trace, TraceJob};

/// The longest history that is simulated [years]: slurmctld's periodic work is gone through even while nothing runs.
const YEARS_MAX: u64 = 100;
const YEAR: u64 = 31_557_600;

/// So many submissions tell when most jobs came.
const ASKED: usize = 1000;

/// Refuses rows whose times lie [`YEARS_MAX`] or more from when most jobs came: one wrong digit makes a simulation of centuries. O(jobs).
pub(super) fn check_span(trace: &Trace, log: &mut Log) {
    let mut asked: Vec<i64> = trace.jobs.iter().step_by(trace.jobs.len() / ASKED + 1).map(|job| job.submit).collect();
    asked.sort_unstable();
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
