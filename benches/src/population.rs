//! What users of a machine are like, and the stream of jobs they submit.
//!
//! Users submit batches of like jobs. A batch is opened when the work submitted so far falls below what the machine was asked to
//! produce by then (`pressure`, with days, nights and busy weeks) and the backlog it began with (`fill`): the mechanism of ScSF
//! (Rodrigo et al. 2017, "job pressure" and "fill"), which keeps a queue of the same size at every scale. Work is what jobs really
//! run: those that fail early and those that run into their limits count with that. Run times are stretched by one factor so that
//! the wanted number of jobs carries the wanted work. Jobs come out in submit order; memory follows the batches that are open.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::draw::{Draw, Quantiles};

/// A group of users who compete for the same nodes.
#[derive(Clone, Debug)]
pub(crate) struct Population {
    /// Kinds of jobs, drawn by weight.
    pub(crate) kinds: Vec<Kind>,
    /// Jobs of a batch.
    pub(crate) batch: Quantiles,
    /// Users; a few submit most.
    pub(crate) users: u64,
    /// Jobs wanted.
    pub(crate) jobs: u64,
    /// The time they are meant to be submitted in [s].
    pub(crate) span: u64,
    /// What the machine can do [work units a second].
    pub(crate) capacity: u64,
    /// Work submitted over work possible [1/1000].
    pub(crate) pressure: u64,
    /// The backlog at the beginning, beyond what fills the machine [s of the whole machine].
    pub(crate) fill: u64,
    /// How much busier a busy day is than a calm one [1/1000 of the mean].
    pub(crate) swing: u64,
    /// Jobs that leave the queue before they start [1/1000].
    pub(crate) cancelled: u64,
}

/// Jobs of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// How often it is drawn.
    pub(crate) weight: u64,
    /// The partition, or several.
    pub(crate) partition: &'static str,
    /// How many tasks (one CPU each), or nodes.
    pub(crate) size: Quantiles,
    /// CPUs of each node where whole nodes are asked for; `None` for tasks anywhere.
    pub(crate) node_cpus: Option<u64>,
    /// Work of one unit of size [work units]; 0: the whole job's is one unit.
    pub(crate) unit_work: u64,
    /// Run time before it is stretched [s].
    pub(crate) run: Quantiles,
    /// Greatest time limit [min].
    pub(crate) max_minutes: u64,
    /// `--mem-per-cpu` [MB]; 0 is not given.
    pub(crate) memory: Quantiles,
    /// `--constraint`, by weight; empty is none.
    pub(crate) constraints: &'static [(u64, &'static str)],
    /// `--gres`.
    pub(crate) gres: Option<&'static str>,
    /// What else stands on its submit line; `@` is the job submitted before, `--array=1-n` makes it an array of so many tasks.
    pub(crate) options: &'static str,
}

impl Kind {
    /// Tasks of its array; 1 for a job by itself.
    pub(crate) fn tasks(&self) -> u64 {
        let range = self.options.split_once("--array=1-").map_or("", |(_, behind)| behind);
        let digits = range.bytes().take_while(u8::is_ascii_digit).count();
        range[..digits].parse().unwrap_or(1)
    }

    /// Work units that a job of this size keeps busy.
    fn work(&self, size: u32) -> u128 {
        if self.unit_work == 0 { 1 } else { u128::from(size) * u128::from(self.unit_work) }
    }
}

impl Population {
    /// Shares of the mean rate of every day of the span [1/1000]: weekends are calm, and some weeks busier than others. Together
    /// they ask for what the mean would.
    fn days(&self, mut draw: Draw) -> Vec<u64> {
        let swing = self.swing.min(1000);
        let n_days = self.span.div_ceil(DAY);
        let drawn =
            (0..n_days).map(|day| draw.between(1000 - swing, 1000 + swing) * if day % 7 >= 5 { 65 } else { 114 } / 100);
        let drawn: Vec<u64> = drawn.collect();
        // The last day counts as far as the span reaches into it.
        let seconds = |day: u64| (self.span - day * DAY).min(DAY);
        let asked: u64 = (0..).zip(&drawn).map(|(day, rate)| rate * seconds(day)).sum();
        drawn
            .iter()
            .map(|rate| (u128::from(*rate * 1000) * u128::from(self.span) / u128::from(asked.max(1))) as u64)
            .collect()
    }

    /// How long the jobs of a batch run: shares of them [1/1000] with run times [s].
    fn runs_of(&self, batch: &Batch) -> [(u64, u64); 3] {
        let ended_by_themselves = 1000 - (self.cancelled + FAILED + TIMED_OUT).min(1000);
        [(FAILED, batch.run.min(60)), (TIMED_OUT, batch.minutes * 60), (ended_by_themselves, batch.run)]
    }

    /// Work of a job of the batch, on average [work units × ms].
    fn expected_work(&self, batch: &Batch) -> u128 {
        let Some(kind) = self.kinds.get(usize::from(batch.kind)) else { return 0 };
        let run: u64 = self.runs_of(batch).iter().map(|(share, run)| share * run).sum();
        kind.work(batch.size) * u128::from(run)
    }
}

/// One submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// When [s since the beginning].
    pub(crate) submit: u64,
    /// Which population.
    pub(crate) population: u16,
    /// Which kind.
    pub(crate) kind: u16,
    /// Which user of the population.
    pub(crate) user: u16,
    /// Which constraint of the kind.
    pub(crate) constraint: u16,
    /// Tasks or nodes.
    pub(crate) size: u32,
    /// Memory per CPU [MB]; 0 is not given.
    pub(crate) memory: u32,
    /// Run time [s].
    pub(crate) run: u32,
    /// Time limit [min].
    pub(crate) minutes: u32,
    /// How it ends.
    pub(crate) ending: Ending,
}

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself.
    Completed,
    /// Early, unsuccessfully.
    Failed,
    /// By its limit.
    Timeout,
    /// In the queue, so many seconds after it came.
    Cancelled(u32),
}

/// Jobs of a batch still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Batch {
    kind: u16,
    user: u16,
    constraint: u16,
    size: u32,
    memory: u32,
    /// Run time of its jobs, on average [s]; not yet stretched in [`Submissions::batch`].
    run: u64,
    /// How much of what they need its jobs ask for [1/100]; `None`: all there is.
    factor: Option<u64>,
    minutes: u64,
    /// Mean pause between two submissions [s].
    pause: u64,
    left: u64,
}

impl Batch {
    /// The same with its run time stretched, and the limit that people ask for then.
    fn stretched(mut self, kind: &Kind, stretch: u64) -> Self {
        self.run = (self.run * stretch / STRETCH_ONE).clamp(1, kind.max_minutes * 60);
        self.minutes = kind.max_minutes;
        if let Some(factor) = self.factor {
            let asked = (self.run * factor / 100).div_ceil(60);
            let round = ROUND_MINUTES.iter().copied().find(|&minutes| minutes >= asked);
            self.minutes = round.map_or(kind.max_minutes, |minutes| minutes.min(kind.max_minutes));
        }
        self
    }
}

/// Draws a population's jobs, in submit order.
#[derive(Debug)]
pub(crate) struct Submissions {
    population: Population,
    number: u16,
    /// Draws batches; the same ones whatever time it is.
    draw: Draw,
    /// Draws the jobs of batches.
    draw_jobs: Draw,
    /// Shares of the mean rate of each day [1/1000], calm ones and busy ones; the mean afterwards.
    days: Vec<u64>,
    /// Run times are multiplied by this / 1024.
    stretch: u64,
    open: BinaryHeap<Reverse<(u64, u64, Batch)>>,
    opened: u64,
    /// Work of the jobs submitted, and expected of those still to come of the batches opened [work units × ms].
    work: u128,
    /// Work asked for before [`Self::hour`] began [work units × ms].
    asked: u128,
    hour: u64,
    /// Share of the mean rate in this hour [1/1000].
    rate: u64,
    next_open: u64,
    left: u64,
}

/// Hours of a day, in parts of a thousand of the mean rate; they sum up to 24,000.
const HOURS: [u64; 24] = [
    500, 400, 400, 400, 400, 500, 600, 800, 1200, 1600, 1800, 1800, 1500, 1600, 1800, 1800, 1600, 1300, 1000, 800, 600,
    600, 500, 500,
];
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;
/// Jobs that fail within two minutes [1/1000].
const FAILED: u64 = 60;
/// Jobs that run into their limit [1/1000].
const TIMED_OUT: u64 = 30;
/// Batches looked at to fit run times, at most.
const PILOT: usize = 100_000;
const STRETCH_ONE: u64 = 1024;
/// Limits that people write [min].
const ROUND_MINUTES: [u64; 15] = [5, 10, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440, 2160, 2880, 4320];

impl Submissions {
    /// The jobs of a population; `number` tells several apart.
    pub(crate) fn new(population: Population, number: u16, seed: u64) -> Self {
        let stream = |which: u64| Draw::new(seed, (u64::from(number) << 8) + which);
        let mut submissions = Self {
            draw: stream(0),
            draw_jobs: stream(1),
            days: population.days(stream(2)),
            number,
            stretch: STRETCH_ONE,
            open: BinaryHeap::new(),
            opened: 0,
            work: 0,
            asked: 0,
            hour: 0,
            rate: 0,
            next_open: 0,
            left: population.jobs,
            population,
        };
        submissions.fit();
        submissions.begin_hour();
        submissions
    }

    /// Sets the factor on run times at which the wanted jobs carry the wanted work, from the batches that will come; and what
    /// is asked for at the beginning: the backlog, and what a full machine has still to run.
    fn fit(&mut self) {
        let before = self.draw.clone();
        let (mut batches, mut jobs) = (Vec::new(), 0);
        while jobs < self.population.jobs && batches.len() < PILOT {
            let batch = self.batch();
            jobs += batch.left;
            batches.push(batch);
        }
        self.draw = before;
        let population = &self.population;
        // Mean work of a job [work units × ms], and half the run time of a unit at work [s].
        let means = |stretch: u64| {
            let (mut work, mut squared) = (0u128, 0u128);
            for batch in &batches {
                let Some(kind) = population.kinds.get(usize::from(batch.kind)) else { continue };
                let batch = batch.stretched(kind, stretch);
                let units = kind.work(batch.size) * u128::from(batch.left);
                for (share, run) in population.runs_of(&batch) {
                    work += units * u128::from(share * run);
                    squared += units * u128::from(share * run) * u128::from(run);
                }
            }
            (work / u128::from(jobs.max(1)), squared / work.max(1) / 2)
        };
        let asked = |residual: u128| (u128::from(population.fill) + residual) * u128::from(population.capacity) * 1000;
        let wanted = |residual: u128| {
            let in_span = u128::from(population.capacity * population.pressure) * u128::from(population.span);
            (in_span + asked(residual)) / u128::from(population.jobs.max(1))
        };
        let (mut low, mut high) = (1, STRETCH_ONE << 8);
        while low < high {
            let middle = low.midpoint(high);
            let (mean, residual) = means(middle);
            if mean < wanted(residual) { low = middle + 1 } else { high = middle }
        }
        self.stretch = low;
        self.asked = asked(means(low).1);
    }

    /// A batch, its run time not yet stretched.
    fn batch(&mut self) -> Batch {
        let draw = &mut self.draw;
        let population = &self.population;
        let kind_index = draw.weighted(population.kinds.iter().map(|kind| kind.weight));
        let kind = &population.kinds[kind_index];
        let size = draw.of(kind.size).max(1) as u32;
        let constraint = draw.weighted([100].into_iter().chain(kind.constraints.iter().map(|(weight, _)| *weight)));
        let run = draw.of(kind.run).max(1);
        // Most people ask for a multiple of what they need; one in five asks for all there is.
        let factor = draw.between(105, 400);
        let factor = if draw.happens(200) { None } else { Some(factor) };
        Batch {
            kind: kind_index as u16,
            user: draw.skewed(population.users) as u16,
            constraint: constraint as u16,
            size,
            memory: (draw.of(kind.memory) / 250 * 250) as u32,
            run,
            factor,
            minutes: 0,
            pause: if draw.happens(800) { draw.below(4) } else { draw.between(10, 120) },
            // Nobody asks for more than a quarter of the machine at once, except in one job.
            left: draw.of(population.batch).min((u128::from(population.capacity) / 4 / kind.work(size)) as u64).max(1),
        }
    }

    /// Opens a batch at [`Self::next_open`].
    fn open_batch(&mut self) {
        let batch = self.batch();
        let Some(kind) = self.population.kinds.get(usize::from(batch.kind)) else { return };
        let batch = batch.stretched(kind, self.stretch);
        self.work += self.population.expected_work(&batch) * u128::from(batch.left);
        self.open.push(Reverse((self.next_open, self.opened, batch)));
        self.opened += 1;
        self.next_open = self.time_of(self.work);
    }

    fn begin_hour(&mut self) {
        let of_day = self.days.get((self.hour / 24) as usize).copied().unwrap_or(1000);
        self.rate = HOURS[(self.hour % 24) as usize] * of_day / 1000;
    }

    /// When so much work will have been asked for [s].
    fn time_of(&mut self, work: u128) -> u64 {
        loop {
            // Work units × ms in a second of this hour, times 1000.
            let per_second = u128::from(self.population.capacity * self.population.pressure) * u128::from(self.rate);
            let in_hour = per_second * u128::from(HOUR) / 1000;
            if self.asked + in_hour >= work {
                let within = work.saturating_sub(self.asked) * 1000 / per_second.max(1);
                return (self.hour * HOUR + within as u64).max(self.next_open);
            }
            self.asked += in_hour;
            self.hour += 1;
            self.begin_hour();
        }
    }

    fn submission(&mut self, submit: u64, batch: &Batch) -> Submission {
        let draw = &mut self.draw_jobs;
        let limit = batch.minutes * 60;
        let varied = (batch.run * draw.between(700, 1300) / 1000).clamp(1, limit);
        let (run, ending) = match draw.below(1000) {
            share if share < self.population.cancelled => (0, Ending::Cancelled(draw.between(10, 6 * HOUR) as u32)),
            share if share < self.population.cancelled + FAILED => (draw.between(1, 120).min(varied), Ending::Failed),
            share if share < self.population.cancelled + FAILED + TIMED_OUT => (limit, Ending::Timeout),
            _ => (varied, Ending::Completed),
        };
        // What it was expected to ask for is replaced by what it does.
        if let Some(kind) = self.population.kinds.get(usize::from(batch.kind)) {
            let really = kind.work(batch.size) * u128::from(run * 1000);
            self.work = (self.work + really).saturating_sub(self.population.expected_work(batch));
        }
        Submission {
            submit,
            population: self.number,
            kind: batch.kind,
            user: batch.user,
            constraint: batch.constraint,
            size: batch.size,
            memory: batch.memory,
            run: run as u32,
            minutes: batch.minutes as u32,
            ending,
        }
    }
}

impl Iterator for Submissions {
    type Item = Submission;

    fn next(&mut self) -> Option<Submission> {
        if self.left == 0 {
            return None;
        }
        while self.open.peek().is_none_or(|Reverse((at, _, _))| *at >= self.next_open) {
            self.open_batch();
        }
        let Reverse((at, number, mut batch)) = self.open.pop()?;
        let submission = self.submission(at, &batch);
        batch.left -= 1;
        if batch.left > 0 {
            let pause = self.draw_jobs.below(2 * batch.pause + 1);
            self.open.push(Reverse((at + pause, number, batch)));
        }
        self.left -= 1;
        Some(submission)
    }
}

/// The jobs of several populations, in submit order.
#[derive(Debug)]
pub(crate) struct Merged(Vec<std::iter::Peekable<Submissions>>);

impl Merged {
    /// All populations' jobs from one seed.
    pub(crate) fn new(populations: &[Population], seed: u64) -> Self {
        let streams = populations.iter().enumerate();
        Self(streams.map(|(index, it)| Submissions::new(it.clone(), index as u16, seed).peekable()).collect())
    }
}

impl Iterator for Merged {
    type Item = Submission;

    fn next(&mut self) -> Option<Submission> {
        let next = |stream: &mut std::iter::Peekable<Submissions>| stream.peek().map_or(u64::MAX, |next| next.submit);
        let ahead = self.0.iter_mut().map(|stream| (next(stream), stream)).min_by_key(|(at, _)| *at);
        ahead.and_then(|(_, stream)| stream.next())
    }
}
