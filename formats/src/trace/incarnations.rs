//! Rows with the same job id: earlier states of one record, runs of a job that was queued again, parts of a job that changed its size,
//! or other jobs. Whichever comes first in the file, the outcome is the same.

use super::caveat::CaveatKind;
use super::log::Log;
use super::model::{TraceBefore, TraceJob, TraceRequest, TraceRun};
use super::never_eligible::AFTER_THE_TRACE;
use super::states::TraceState;

/// A job queued again is submitted when its run ends [s]; what comes so soon is no other job.
const SOON: i64 = 600;
/// After so long a job is another one, unless its run says that it was queued again [s]: who requeues a job that is over lengthens its run
/// until then (docs/FACTS.md, facts 80).
const LONG: i64 = 86_400;
/// The parts of a job that changes its size follow one another in the second; clocks may be read apart [s].
const RESIZED_WITHIN: i64 = 60;

/// A job as rows tell it, and when its last run ended, if that is known.
#[derive(Clone, Debug)]
pub(super) struct RowJob {
    pub(super) job: TraceJob,
    pub(super) end: Option<i64>,
}

/// Makes jobs of the rows of one id. O(rows log rows).
pub(super) fn merge(mut rows: Vec<RowJob>, requests: &[TraceRequest], log: &mut Log) -> Vec<RowJob> {
    rows.sort_by_key(|row| (row.job.user, row.job.submit, row.job.line));
    let mut jobs: Vec<RowJob> = Vec::new();
    for row in latest_states(rows, log) {
        let line = row.job.line;
        let kind = match jobs.last_mut() {
            None => {
                jobs.push(row);
                continue;
            }
            Some(known) if known.job.user == row.job.user && known.was_resized_to(&row) => {
                known.lengthen(&row);
                CaveatKind::Resized
            }
            Some(known) if known.job.user == row.job.user && known.was_requeued_as(&row, requests) => {
                known.requeue(row);
                CaveatKind::Requeued
            }
            Some(_) => {
                jobs.push(row);
                CaveatKind::IdReused
            }
        };
        log.caveat(kind, line);
    }
    jobs
}

/// Of rows in order, one for each record: the latest state.
fn latest_states(rows: Vec<RowJob>, log: &mut Log) -> Vec<RowJob> {
    let mut kept: Vec<RowJob> = Vec::with_capacity(rows.len());
    for row in rows {
        match kept.last_mut() {
            Some(known) if is_same_record(&known.job, &row.job) => {
                log.caveat(CaveatKind::DuplicateRow, row.job.line);
                take_later((&mut known.job, &mut known.end), row);
            }
            _ => kept.push(row),
        }
    }
    kept
}

/// Whether rows of one id tell of one record.
pub(super) fn is_same_record(one: &TraceJob, other: &TraceJob) -> bool {
    one.user == other.user && one.submit == other.submit
}

/// Takes a row of the same record where it tells a later state: exports of overlapping periods have both.
pub(super) fn take_later((job, end): (&mut TraceJob, &mut Option<i64>), row: RowJob) {
    let lateness = |job: &TraceJob, end: Option<i64>| {
        let stage = match job.state {
            TraceState::Pending => 0,
            TraceState::Running => 1,
            _ => 2,
        };
        // Who was held in one export can be eligible in another. The run time of who waits is a guess.
        let is_eligible = stage > 0 || job.release != AFTER_THE_TRACE;
        (stage, is_eligible, end, if stage == 0 { 0 } else { job.run_time })
    };
    if lateness(&row.job, row.end) > lateness(job, *end) {
        let line = job.line.min(row.job.line);
        *job = row.job;
        (job.line, *end) = (line, row.end);
    }
}

impl RowJob {
    /// Submit time of the last run.
    fn last_submit(&self) -> i64 {
        self.job.extra.as_ref().map(|extra| extra.last_submit).filter(|&submit| submit > 0).unwrap_or(self.job.submit)
    }

    /// How long after its end another row was submitted [s].
    fn gap(&self, next: &Self) -> Option<i64> {
        let least = self.last_submit().saturating_add(i64::from(self.job.run_time));
        self.end.map(|end| next.job.submit.saturating_sub(end.max(least)))
    }

    /// Whether another row is the part of it that follows a change of its size: slurmctld gives that the moment of the change as Submit.
    fn was_resized_to(&self, next: &Self) -> bool {
        self.job.state == TraceState::Resizing
            && next.job.state != TraceState::Pending
            && self.gap(next).is_none_or(|gap| gap <= RESIZED_WITHIN)
    }

    /// Whether another row is its next run, and no other job that got the same id. A requeue keeps the request, of which `scontrol update`
    /// can change anything; a job of several partitions is recorded in one of them. So only both together tell of another job, where it was
    /// not about to be queued again.
    fn was_requeued_as(&self, next: &Self, requests: &[TraceRequest]) -> bool {
        let request = |job: &TraceJob| requests.get(job.request as usize);
        let asks_alike = match (request(&self.job), request(&next.job)) {
            (Some(one), Some(other)) => {
                one.partitions == other.partitions || (one.min_nodes, one.min_cpus) == (other.min_nodes, other.min_cpus)
            }
            _ => true,
        };
        let state = self.job.state;
        match self.gap(next) {
            Some(gap) if gap > LONG => asks_alike && state == TraceState::Requeued,
            Some(gap) if gap <= SOON => true,
            _ => asks_alike || matches!(state, TraceState::Requeued | TraceState::Preempted | TraceState::NodeFail),
        }
    }

    /// Takes the next run of the same job: the earliest submission counts, and the latest one's ending; the runs before it are kept.
    fn requeue(&mut self, next: Self) {
        let submit = self.last_submit();
        let job = &mut self.job;
        let mut extra = job.extra.take().unwrap_or_default();
        // An incarnation that was cancelled in the queue did not run; nor did a component that gave its nodes back in the second of
        // its start, because another one of its job could not start.
        if job.cancelled_at.is_none() && job.state != TraceState::Pending {
            let run = TraceRun { submit, run_time: job.run_time, state: job.state, before: extra.before };
            extra.earlier_runs.push(run);
        } else if job.state == TraceState::Pending && job.release == AFTER_THE_TRACE {
            // It came to be eligible after all.
            job.release = next.job.release;
        } else if job.state == TraceState::Pending && self.end.is_some_and(|end| job.release > end) {
            // Its Eligible is that of the next run (rec c1380).
            job.release = job.submit;
        }
        (extra.last_submit, extra.before) = (next.job.submit, before_of(&next.job));
        job.extra = Some(extra);
        (job.cancelled_at, job.run_time) = (next.job.cancelled_at, next.job.run_time);
        (job.run_time_is_bound, job.state, job.started) =
            (next.job.run_time_is_bound, next.job.state, next.job.started);
        job.line = job.line.min(next.job.line);
        self.end = next.end;
    }

    /// Takes the next part of the same run, which goes on in another size.
    fn lengthen(&mut self, next: &Self) {
        let job = &mut self.job;
        let earlier = i64::from(job.run_time);
        let before = before_of(job).or_else(|| {
            before_of(&next.job).map(|before| match before {
                TraceBefore::Running { since, nodes } => {
                    TraceBefore::Running { since: since.saturating_sub(earlier), nodes }
                }
                TraceBefore::Waiting => before,
            })
        });
        if before.is_some() {
            job.extra.get_or_insert_default().before = before;
        }
        job.run_time = job.run_time.saturating_add(next.job.run_time);
        (job.run_time_is_bound, job.state) = (next.job.run_time_is_bound, next.job.state);
        job.cancelled_at = None;
        job.line = job.line.min(next.job.line);
        self.end = next.end;
    }
}

fn before_of(job: &TraceJob) -> Option<TraceBefore> {
    job.extra.as_ref().and_then(|extra| extra.before)
}
