//! More or fewer jobs: copies and omissions.

use foresite_engine::ids::JobId;
use foresite_engine::job::{Job, JobName, Workload};

use super::{CERTAIN, Chance, Which};

/// Each job of the selection is there `copies` times, and once more by chance; the first copy is the job itself.
///
/// A further copy comes at a drawn time before the next job of the selection, so that days, weeks and bursts keep their shape,
/// and has an id of its own: the original's with a number before it. It depends on what the original depends on. A job whose
/// dependency is left out sees it fulfilled, as after Slurm's purge. O(jobs log jobs).
pub(super) fn scaled(workload: Workload, which: &Which, copies: u32, one_more: u64, chance: Chance) -> Workload {
    let last_id = workload.jobs.iter().map(|job| job.name.id).max().unwrap_or(0);
    let stride = 10u64.checked_pow(last_id.checked_ilog10().map_or(1, |digits| digits + 1)).unwrap_or(u64::MAX);
    let until_next = gaps(&workload.jobs, which);
    let mut of_job: Vec<Vec<Job>> = Vec::with_capacity(workload.jobs.len());
    for (job, until_next) in workload.jobs.into_iter().zip(until_next) {
        let Some(until_next) = until_next else {
            of_job.push(vec![job]);
            continue;
        };
        let mut stream = chance.stream(job.name);
        let n_copies = copies + u32::from(stream.below(CERTAIN) < one_more);
        let mut same = Vec::with_capacity(n_copies as usize);
        for number in 1..n_copies {
            let later = i64::try_from(stream.below(until_next)).unwrap_or(0);
            same.push(copy(&job, u64::from(number), stride, later));
        }
        if n_copies > 0 {
            same.insert(0, job);
        }
        of_job.push(same);
    }
    sorted(of_job, workload.trace_order, workload.requests, workload.users)
}

/// By job of the selection, the seconds until the next later one. O(jobs).
fn gaps(jobs: &[Job], which: &Which) -> Vec<Option<u64>> {
    let mut next: Option<i64> = None;
    let mut last: Option<i64> = None;
    let mut gaps = vec![None; jobs.len()];
    for (gap, job) in gaps.iter_mut().zip(jobs).rev() {
        if !which.includes(job) {
            continue;
        }
        if last.is_some_and(|last| last > job.submit) {
            next = last;
        }
        last = Some(job.submit);
        *gap = Some(next.map_or(0, |next| u64::try_from(next - job.submit).unwrap_or(0)));
    }
    gaps
}

fn copy(job: &Job, number: u64, stride: u64, later: i64) -> Job {
    let mut copy = job.clone();
    copy.name = JobName { id: job.name.id.saturating_add(number.saturating_mul(stride)), ..job.name };
    copy.submit += later;
    copy.release += later;
    copy.cancelled_at = job.cancelled_at.saturating_add(later);
    if let Some(extra) = &mut copy.extra {
        extra.deadline = extra.deadline.map(|deadline| deadline + later);
    }
    copy
}

/// Jobs by submit time, ties in job id order; in the trace's order copies follow their originals.
fn sorted(
    of_job: Vec<Vec<Job>>,
    trace_order: Vec<JobId>,
    requests: Vec<foresite_engine::job::Request>,
    users: Vec<String>,
) -> Workload {
    let mut firsts = Vec::with_capacity(of_job.len());
    let mut jobs: Vec<(usize, Job)> = Vec::with_capacity(of_job.len());
    for same in of_job {
        firsts.push(jobs.len()..jobs.len() + same.len());
        let from = jobs.len();
        jobs.extend(same.into_iter().enumerate().map(|(at, job)| (from + at, job)));
    }
    jobs.sort_by_key(|(_, job)| (job.submit, job.name));
    let mut places = vec![JobId(0); jobs.len()];
    for (place, (at, _)) in jobs.iter().enumerate() {
        if let Some(slot) = places.get_mut(*at) {
            *slot = JobId::new(place);
        }
    }
    let copies = trace_order.iter().filter_map(|job| firsts.get(job.index()).cloned()).flatten();
    let trace_order = copies.filter_map(|at| places.get(at).copied()).collect();
    Workload { jobs: jobs.into_iter().map(|(_, job)| job).collect(), requests, users, trace_order }
}
