//! The workload as a plain algorithm sees it: one small row per job, in the order of arrival.

use crate::ids::JobId;
use crate::job::{Job, Workload};
use crate::outcome::{JobRecord, JobState};

use super::options::Overrun;

/// Position in the order of arrival (release time, then [`JobId`]): the order of every queue.
pub(super) type Rank = u32;

/// Times are kept this far from the ends of `i64`, so that sums of durations cannot overflow. 2^61 s: 73 billion years.
const TIME_BOUND: i64 = 1 << 61;

/// One job in arrival order. 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainJob {
    /// When it enters the queue [Unix s].
    pub(super) release: i64,
    /// How long it runs [s].
    pub(super) run_time: u32,
    /// How long it is expected to run [s]; at least 1 and never less than `run_time`.
    pub(super) estimate: u32,
    /// Processors it takes, at least 1.
    pub(super) procs: u32,
    /// Which job of the workload it is.
    pub(super) id: JobId,
    /// How it ends once started.
    pub(super) final_state: JobState,
}

/// Arrivals and cancellations, each in time order.
#[derive(Debug)]
pub(super) struct Jobs {
    /// All jobs that enter the queue, by [`Rank`].
    pub(super) by_rank: Vec<PlainJob>,
    /// When waiting jobs leave the queue, ascending.
    pub(super) cancellations: Vec<(i64, Rank)>,
    /// The record of every job of the workload before anything has started.
    pub(super) records: Vec<JobRecord>,
    /// Jobs that never enter the queue: larger than the machine, or cancelled first.
    pub(super) never_queued: usize,
}

impl Jobs {
    /// O(jobs), and O(jobs × log jobs) where release times are not in submit order.
    pub(super) fn new(workload: &Workload, capacity: u32, overrun: Overrun) -> Self {
        let n_jobs = workload.jobs.len();
        let mut by_rank = Vec::with_capacity(n_jobs);
        let mut records = Vec::with_capacity(n_jobs);
        let mut cancelled = false;
        for (index, job) in workload.jobs.iter().enumerate() {
            let procs = workload.requests.get(job.request.index()).map_or(1, |request| request.min_cpus.max(1));
            let release = job.submit.max(job.release);
            records.push(record_before_start(job, release));
            cancelled |= job.cancelled_at != i64::MAX;
            if procs <= capacity && job.cancelled_at > release {
                by_rank.push(plain_job(JobId::new(index), job, release, procs, overrun));
            }
        }
        if !by_rank.is_sorted_by_key(|job| job.release) {
            by_rank.sort_by_key(|job| job.release);
        }
        let cancellations = if cancelled { cancellations(&by_rank, workload) } else { Vec::new() };
        let never_queued = n_jobs - by_rank.len();
        Self { by_rank, cancellations, records, never_queued }
    }
}

fn plain_job(id: JobId, job: &Job, release: i64, procs: u32, overrun: Overrun) -> PlainJob {
    let requested = if job.estimate == 0 { job.run_time.max(1) } else { job.estimate };
    let killed = overrun == Overrun::Kill && job.run_time > requested;
    let run_time = if killed { requested } else { job.run_time };
    let final_state = if killed || job.run_time_is_bound { JobState::Timeout } else { job.ends };
    let release = release.clamp(-TIME_BOUND, TIME_BOUND);
    PlainJob { release, run_time, estimate: requested.max(run_time), procs, id, final_state }
}

/// What stays in the record of a job that never starts; a start overwrites the rest.
fn record_before_start(job: &Job, release: i64) -> JobRecord {
    let eligible = (release <= job.cancelled_at).then_some(release);
    if job.cancelled_at == i64::MAX {
        JobRecord { eligible, ..JobRecord::PENDING }
    } else {
        JobRecord { eligible, end: Some(job.cancelled_at), state: JobState::Cancelled, ..JobRecord::PENDING }
    }
}

fn cancellations(by_rank: &[PlainJob], workload: &Workload) -> Vec<(i64, Rank)> {
    let mut cancellations: Vec<(i64, Rank)> = (0..)
        .zip(by_rank)
        .filter_map(|(rank, plain)| workload.jobs.get(plain.id.index()).map(|job| (job.cancelled_at, rank)))
        .filter(|&(at, _)| at != i64::MAX)
        .map(|(at, rank)| (at.clamp(-TIME_BOUND, TIME_BOUND), rank))
        .collect();
    cancellations.sort_unstable();
    cancellations
}
