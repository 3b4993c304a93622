//! The plain algorithms as one would write them down first: no structure, everything recomputed.

use foresite_engine::outcome::StartedBy;
use foresite_engine::plain::{
    Batching, Compression, ExtraProcessors, Overrun, PlainAlgorithm, PlainOptions, ShadowBound, ShadowRefresh,
};

use crate::build::Row;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Future,
    Waiting,
    Running,
    Gone,
}

#[derive(Clone, Debug)]
struct Job {
    row: usize,
    release: i64,
    run_time: i64,
    estimate: i64,
    procs: u32,
    cancelled_at: i64,
    stage: Stage,
    start: i64,
    planned: i64,
    first_planned: i64,
    started_by: StartedBy,
}

/// A start, who made it, and (conservative) the first planned start; `None` for jobs that never start.
pub(crate) type Start = Option<(i64, StartedBy, i64)>;

struct Simulation<'a> {
    jobs: Vec<Job>,
    now: i64,
    capacity: u32,
    algorithm: PlainAlgorithm,
    options: &'a PlainOptions,
    /// EASY's blocked head with its shadow time and extra processors.
    kept: Option<(usize, i64, u32)>,
}

/// The starts of all rows.
pub(crate) fn starts(rows: &[Row], capacity: u32, algorithm: PlainAlgorithm, options: &PlainOptions) -> Vec<Start> {
    let mut jobs: Vec<Job> = rows.iter().enumerate().map(|(row, job)| lower(row, job, options.overrun)).collect();
    jobs.retain(|job| job.procs <= capacity && job.cancelled_at > job.release);
    jobs.sort_by_key(|job| job.release);
    let mut simulation = Simulation { jobs, now: 0, capacity, algorithm, options, kept: None };
    simulation.run();
    let mut starts = vec![None; rows.len()];
    for job in simulation.jobs.iter().filter(|job| job.start < i64::MAX) {
        starts[job.row] = Some((job.start, job.started_by, job.first_planned));
    }
    starts
}

fn lower(row: usize, job: &Row, overrun: Overrun) -> Job {
    let requested = if job.estimate == 0 { job.run_time.max(1) } else { job.estimate };
    let run_time = if overrun == Overrun::Kill { job.run_time.min(requested) } else { job.run_time };
    Job {
        row,
        release: job.release.max(job.submit),
        run_time: i64::from(run_time),
        estimate: i64::from(requested.max(run_time)),
        procs: job.procs.max(1),
        cancelled_at: job.cancelled_at,
        stage: Stage::Future,
        start: i64::MAX,
        planned: i64::MAX,
        first_planned: i64::MAX,
        started_by: StartedBy::Submit,
    }
}

impl Simulation<'_> {
    fn run(&mut self) {
        while let Some(now) = self.next_time() {
            self.now = now;
            let completed = |s: &Self| s.first(|job| job.stage == Stage::Running && job.start + job.run_time == now);
            let cancelled = |s: &Self| s.first(|job| job.stage == Stage::Waiting && job.cancelled_at == now);
            let arrived = |s: &Self| s.first(|job| job.stage == Stage::Future && job.release == now);
            if self.options.batching == Batching::PerTimestamp {
                while completed(self).map(|job| self.leave(job)).is_some() {}
                while cancelled(self).map(|job| self.leave(job)).is_some() {}
                while arrived(self).map(|job| self.arrive(job)).is_some() {}
                self.pass();
            } else {
                let mut passes = 0;
                while arrived(self).map(|job| self.arrive(job)).is_some() {
                    self.pass();
                    passes += 1;
                }
                while cancelled(self).map(|job| self.leave(job)).is_some() {
                    self.pass();
                    passes += 1;
                }
                while completed(self).map(|job| self.leave(job)).is_some() {
                    self.pass();
                    passes += 1;
                }
                if passes == 0 {
                    self.pass();
                }
            }
        }
    }

    fn first(&self, which: impl Fn(&Job) -> bool) -> Option<usize> {
        self.jobs.iter().position(which)
    }

    fn next_time(&self) -> Option<i64> {
        let time = |job: &Job| match job.stage {
            Stage::Future => Some(job.release),
            Stage::Waiting if self.algorithm == PlainAlgorithm::Conservative => Some(job.cancelled_at.min(job.planned)),
            Stage::Waiting if job.cancelled_at < i64::MAX => Some(job.cancelled_at),
            Stage::Running => Some(job.start + job.run_time),
            Stage::Waiting | Stage::Gone => None,
        };
        self.jobs.iter().filter_map(time).min()
    }

    fn free(&self) -> u32 {
        let running = self.jobs.iter().filter(|job| job.stage == Stage::Running);
        self.capacity - running.map(|job| job.procs).sum::<u32>()
    }

    fn arrive(&mut self, job: usize) {
        self.jobs[job].stage = Stage::Waiting;
        if self.algorithm == PlainAlgorithm::Conservative {
            self.jobs[job].planned = self.earliest(job);
            self.jobs[job].first_planned = self.jobs[job].planned;
        }
    }

    fn leave(&mut self, job: usize) {
        self.jobs[job].stage = Stage::Gone;
        let compresses = self.options.compression == Compression::EveryCompletion;
        if self.algorithm == PlainAlgorithm::Conservative && compresses {
            for waiting in 0..self.jobs.len() {
                if self.jobs[waiting].stage == Stage::Waiting && self.jobs[waiting].planned > self.now {
                    let earliest = self.earliest(waiting);
                    assert!(earliest <= self.jobs[waiting].planned, "a planned start became later");
                    self.jobs[waiting].planned = earliest;
                }
            }
        }
    }

    fn start(&mut self, job: usize, started_by: StartedBy) {
        assert!(self.jobs[job].procs <= self.free(), "job {job} does not fit");
        let now = self.now;
        let job = &mut self.jobs[job];
        (job.stage, job.start, job.started_by) = (Stage::Running, now, started_by);
    }

    fn pass(&mut self) {
        match self.algorithm {
            PlainAlgorithm::Fcfs => while self.start_head() {},
            PlainAlgorithm::Sjf => while self.start_shortest() {},
            PlainAlgorithm::Easy => self.pass_easy(),
            PlainAlgorithm::Conservative => self.start_planned(),
        }
    }

    fn head(&self) -> Option<usize> {
        self.first(|job| job.stage == Stage::Waiting)
    }

    fn start_head(&mut self) -> bool {
        let head = self.head().filter(|&head| self.jobs[head].procs <= self.free());
        head.map(|head| self.start(head, StartedBy::Main)).is_some()
    }

    fn start_shortest(&mut self) -> bool {
        let waiting = (0..self.jobs.len()).filter(|&job| self.jobs[job].stage == Stage::Waiting);
        let shortest = waiting.min_by_key(|&job| (self.jobs[job].estimate, job));
        let fits = shortest.filter(|&job| self.jobs[job].procs <= self.free());
        fits.map(|job| self.start(job, StartedBy::Main)).is_some()
    }

    fn pass_easy(&mut self) {
        while self.start_head() {}
        let Some(head) = self.head() else { return };
        let keeps = self.options.shadow_refresh == ShadowRefresh::OncePerHead;
        let (_, shadow, mut extra) =
            self.kept.filter(|kept| keeps && kept.0 == head).unwrap_or_else(|| self.shadow(head));
        for job in head + 1..self.jobs.len() {
            let Job { stage, procs, estimate, .. } = self.jobs[job];
            if stage != Stage::Waiting || procs > self.free() {
                continue;
            }
            let end = self.now + estimate;
            let in_time = match self.options.shadow_bound {
                ShadowBound::AtOrBefore => end <= shadow,
                ShadowBound::Before => end < shadow,
            };
            if in_time {
                self.start(job, StartedBy::Backfill);
            } else if self.options.extra_processors == ExtraProcessors::Consumed && procs <= extra {
                extra -= procs;
                self.start(job, StartedBy::Backfill);
            }
        }
        self.kept = Some((head, shadow, extra));
    }

    fn shadow(&self, head: usize) -> (usize, i64, u32) {
        let running = || self.jobs.iter().filter(|job| job.stage == Stage::Running);
        let mut ends: Vec<i64> = running().map(|job| job.start + job.estimate).collect();
        ends.sort_unstable();
        let free_at = |end: i64| {
            let released = running().filter(|job| job.start + job.estimate <= end);
            self.free() + released.map(|job| job.procs).sum::<u32>()
        };
        let shadow = ends.into_iter().find(|&end| free_at(end) >= self.jobs[head].procs).unwrap();
        (head, shadow, free_at(shadow) - self.jobs[head].procs)
    }

    fn start_planned(&mut self) {
        for job in 0..self.jobs.len() {
            let Job { stage, planned, procs, .. } = self.jobs[job];
            if stage == Stage::Waiting && planned <= self.now {
                if procs > self.free() {
                    assert_eq!(self.options.batching, Batching::PerEvent, "a planned start was missed");
                    return;
                }
                let by = if self.head() == Some(job) { StartedBy::Main } else { StartedBy::Backfill };
                self.start(job, by);
            }
        }
    }

    /// The earliest place of a job in the plan of all others.
    fn earliest(&self, job: usize) -> i64 {
        let taken: Vec<(i64, i64, u32)> = (0..self.jobs.len())
            .filter(|&other| other != job)
            .filter_map(|other| match self.jobs[other] {
                Job { stage: Stage::Running, start, estimate, procs, .. } => Some((start, start + estimate, procs)),
                Job { stage: Stage::Waiting, planned, estimate, procs, .. } if planned < i64::MAX => {
                    Some((planned, planned + estimate, procs))
                }
                _ => None,
            })
            .collect();
        let Job { procs, estimate, .. } = self.jobs[job];
        let used_at = |time: i64| -> u32 {
            taken.iter().filter(|place| place.0 <= time && time < place.1).map(|place| place.2).sum()
        };
        let fits = |start: i64| {
            let steps = taken.iter().map(|place| place.0).filter(|&time| start < time && time < start + estimate);
            std::iter::once(start).chain(steps).all(|time| used_at(time) + procs <= self.capacity)
        };
        let mut candidates: Vec<i64> = taken.iter().map(|place| place.1).filter(|&end| end > self.now).collect();
        candidates.push(self.now);
        candidates.sort_unstable();
        candidates.into_iter().find(|&start| fits(start)).unwrap()
    }
}
