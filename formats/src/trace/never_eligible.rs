//! Jobs that were not eligible before they were cancelled, or before the trace ended. Slurm tells no Eligible of who is held or depends on
//! others, and takes it back from who is held later (job_mgr.c of 22.05.8, `_hold_job_rec`; rec ax-core).

use super::caveat::CaveatKind;
use super::log::Log;
use super::model::TraceJob;
use super::states::TraceState;

/// Stands for the end of the trace, which is known when all of it is read.
pub(super) const AFTER_THE_TRACE: i64 = i64::MAX;

/// Who waits for something later than `latest`, the last moment that the trace tells, waits until then: a begin time years ahead would
/// lengthen the simulated time by them. So does who missed a deadline, if no scheduler comes to it. O(jobs).
pub(super) fn end_waits(jobs: &mut [TraceJob], latest: i64, log: &mut Log) {
    for job in
        jobs.iter_mut().filter(|job| job.cancelled_at == Some(AFTER_THE_TRACE) && job.state == TraceState::Cancelled)
    {
        job.cancelled_at = Some(latest.max(job.submit));
    }
    for job in jobs.iter_mut().filter(|job| job.state == TraceState::Pending) {
        let begin = job.extra.as_ref().and_then(|extra| extra.begin);
        if job.cancelled_at.is_none() && job.release.max(begin.unwrap_or(job.release)) <= latest {
            continue;
        }
        let end = latest.max(job.submit);
        (job.release, job.cancelled_at, job.state) = (job.release.min(end), Some(end), TraceState::Cancelled);
        log.caveat(CaveatKind::NeverEligible, job.line);
    }
}
