//! The controller's periodic work: its one-second tick, the main scheduler's delays, backfill's sleep, the priority
//! thread. Nothing ticks: the next time that could act is computed.
//! Source: slurm-semantics 1.1, 3.2, 4.4, 7.4; oracle FACTS.md.

use super::purge::Purge;
use super::scans::Scans;
use super::startup::Startup;
use super::{SECOND, seconds};
use crate::Draws;
use crate::ablation::{Rule, is_off};
use crate::moments::Moments;
use crate::policy::{Policy, Scheduler};
use crate::rng::{Purpose, Stream};

/// From the daemon's start to the first submission, at least [ms]. No trace tells: this is how far apart they are in the
/// recordings, and about as far as it differs among them.
const BOOT_OFFSET_MS: i64 = 300_000;
/// How much longer it may be [ms].
const BOOT_OFFSET_SPREAD_MS: u64 = 45_000;
/// How much later jobs may come by the controller's clock than by the trace's: against its minutes, replications begin anywhere [s].
const CLOCK_SPREAD: u64 = 60;
/// Entities of draws: arrivals are numbered from 0, ends of runs from here.
const END_OF_RUN: u64 = 1 << 40;

/// And answers of nodes from here.
const ANSWERS: u64 = 1 << 41;

/// Between two scans for jobs whose time is over [s].
pub(super) const SCAN_SECONDS: i64 = 30;

/// The reservation sweep's period [s].
const SWEEP_SECONDS: i64 = 5;

/// Timers of one controller, in milliseconds; `i64::MAX` is never.
#[derive(Debug)]
pub(crate) struct Timers {
    /// When the controller started.
    pub(crate) boot: i64,
    /// How far the controller's clock is ahead of the trace's [s]: drawn where its start is.
    pub(crate) clock_ahead: i64,
    tick_zero: i64,
    /// Between two ticks [ms].
    tick: i64,
    sweep_zero: i64,
    scans: Scans,
    batch_delay: i64,
    full_interval: Option<i64>,
    backfill_interval: i64,
    calc_period: i64,
    arrival_seed: u64,
    requests: u64,
    last_tick_run: i64,
    last_full_run: i64,
    main_at: i64,
    /// When the main scheduler ran last, by its timers or at once.
    pub(crate) last_main_run: i64,
    /// It was asked for too soon after that, and whether over the full queue (`sched_min_interval`).
    pub(crate) postponed_main: Option<bool>,
    purge: Purge,
    /// Next priority step.
    pub(crate) priority_at: i64,
    /// Previous priority step [s].
    pub(crate) last_priority_step: i64,
    /// Next backfill cycle, or continuation of one; with `sched/builtin` the next pass of its agent.
    pub(crate) backfill_at: i64,
    backfill_polls_from: Option<i64>,
    backfill_end: i64,
    last_change: i64,
    /// Reservations that are going on: every sweep stamps their nodes (reservation.c of 22.05.8, `set_node_maint_mode`).
    swept: u32,
    /// The first change since the last cycle ended [ms], at recorded moments.
    first_change: i64,
    /// How many changes there were.
    changes: u64,
    /// No backfill scheduler.
    pub(crate) backfill_off: bool,
    /// A full main cycle ran since anything changed.
    pub(crate) full_run_since_change: bool,
    /// A backfill cycle ran since anything changed.
    pub(crate) backfill_since_change: bool,
    /// Recorded moments, and how far they have come.
    pub(super) moments: Moments,
    pub(super) next_main: usize,
    /// The first recorded run that no answer to a signal has been taken to ask for.
    pub(super) next_answer: usize,
    pub(super) next_backfill: usize,
    next_priority: usize,
}

impl Timers {
    /// Timers of a controller that starts `boot_offset` seconds before the first submission.
    pub(crate) fn new(policy: &Policy, draws: Draws, first_submit: i64) -> Self {
        let mut offset = Stream::new(draws.seed, Purpose::BootOffset, 0);
        let drawn = offset.below(BOOT_OFFSET_SPREAD_MS) as i64;
        let (since_boot, clock_ahead) = match draws.boot_offset {
            Some(given) => (i64::from(given) * SECOND, 0),
            None => (BOOT_OFFSET_MS + drawn, offset.below(CLOCK_SPREAD) as i64),
        };
        let boot = first_submit * SECOND - since_boot;
        let mut phase = Stream::new(draws.seed, Purpose::Tick, 0);
        let startup = Startup::drawn(policy.version, boot, &mut phase);
        let (tick_zero, tick) = (startup.tick_zero, startup.tick);
        let sweep_zero = seconds(boot) + phase.below(SWEEP_SECONDS as u64) as i64;
        let is_builtin = policy.scheduler == Scheduler::SlurmBuiltin;
        let backfill_off = is_builtin || policy.backfill.interval.is_none();
        let backfill_interval = i64::from(policy.backfill.interval.unwrap_or(30)) * SECOND;
        let calc_period = i64::from(policy.priority.calc_period.max(1)) * SECOND;
        let mut timers = Self {
            boot,
            clock_ahead,
            tick_zero,
            tick,
            sweep_zero,
            scans: Scans::new(tick_zero, tick),
            batch_delay: if is_off(Rule::BatchDelay) { 0 } else { i64::from(policy.main.batch_sched_delay) },
            // Whoever asks for a run at every turn of the loop gets one a second (controller.c of 22.05.8, `_slurmctld_background`).
            full_interval: policy.main.sched_interval.map(|interval| i64::from(interval).max(1)),
            backfill_interval,
            calc_period,
            arrival_seed: draws.seed,
            requests: 0,
            last_tick_run: seconds(tick_zero),
            last_full_run: seconds(tick_zero),
            main_at: i64::MAX,
            last_main_run: i64::MIN,
            postponed_main: None,
            purge: Purge::new(policy.min_job_age, seconds(tick_zero)),
            priority_at: if policy.priority.multifactor && !policy.priority.no_steps {
                startup.priority + calc_period
            } else {
                i64::MAX
            },
            last_priority_step: seconds(startup.priority),
            backfill_at: if is_builtin || !backfill_off { startup.backfill + backfill_interval } else { i64::MAX },
            backfill_polls_from: None,
            backfill_end: 0,
            last_change: seconds(boot),
            swept: 0,
            first_change: i64::MAX,
            changes: 0,
            backfill_off,
            full_run_since_change: false,
            backfill_since_change: false,
            moments: Moments::default(),
            next_main: 0,
            next_answer: 0,
            next_backfill: 0,
            next_priority: 0,
        };
        timers.plan_main();
        timers
    }

    /// When a job submitted in second `submit` arrives: somewhere in that second.
    pub(crate) fn arrival(&self, submit: i64, job: usize, index: usize) -> i64 {
        if let Some(at) = self.moments.arrivals.get(job).copied().flatten() {
            return at;
        }
        submit * SECOND + self.millisecond(index as u64)
    }

    /// What a job's run time in whole seconds leaves out [ms]: the difference of two draws in 0..1000, as two times are cut off.
    pub(crate) fn cut_off(&self, job: usize) -> i64 {
        let entity = END_OF_RUN + 2 * job as u64;
        self.millisecond(entity) - self.millisecond(entity + 1)
    }

    /// A draw in 0..1000 for how long the nodes of a job take to answer after its so manieth start.
    pub(crate) fn answer_drawn(&self, job: usize, starts: u16) -> i64 {
        self.millisecond(ANSWERS + ((job as u64) << 16) + u64::from(starts))
    }

    /// A draw in 0..1000 for an entity: one mixing step instead of a stream a job (splitmix64's finaliser).
    fn millisecond(&self, entity: u64) -> i64 {
        let mut x = self.arrival_seed.wrapping_add((entity + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % 1000) as i64
    }

    /// From now on the schedulers act at these moments.
    pub(crate) fn impose(&mut self, moments: Moments) {
        self.moments = moments;
        // The log's clock is the one whose seconds the grid of `bf_resolution` counts.
        self.clock_ahead = 0;
        self.plan_main();
        if let Some(cycle) = self.moments.backfill.first() {
            self.backfill_at = cycle.begin;
        }
        if let Some(begun) = self.moments.builtin {
            // In its beat, but not before this controller.
            let passed = (self.boot - begun).max(0) / self.backfill_interval.max(1);
            self.backfill_at = begun + (passed + 1) * self.backfill_interval;
        }
        if let Some(&at) = self.moments.priority.first() {
            self.priority_at = at;
        }
    }

    /// The next timer.
    pub(crate) fn next(&self) -> i64 {
        self.main_at.min(self.priority_at).min(self.backfill_at).min(self.purge.at)
    }

    /// Nothing comes of what would be done before an instant: timers go on in their beat after it. O(1).
    pub(crate) fn pass_over(&mut self, until: i64) {
        let beat = |at: i64, period: i64| at + ((until - at + period - 1).div_euclid(period) * period).max(0);
        if let Some(interval) = self.full_interval {
            self.main_at = self.tick_at(beat(self.main_at, interval.max(1) * SECOND));
        }
        if self.backfill_at < until {
            self.backfill_at = beat(self.backfill_at, self.backfill_interval);
        }
        // The last step before it, so that usage has decayed by then.
        if self.priority_at < until {
            self.priority_at += (until - 1 - self.priority_at).div_euclid(self.calc_period) * self.calc_period;
        }
    }

    /// Whether the main scheduler's timers will not run it again: `sched_interval=-1`, or no recorded run is left.
    pub(crate) fn main_is_over(&self) -> bool {
        self.full_interval.is_none() || self.main_at == i64::MAX
    }

    /// Whether backfill will not run again unless something changes: there is none, no recorded cycle is left, or it polls and neither
    /// a priority step nor a purge is to come.
    pub(crate) fn backfill_is_over(&self) -> bool {
        let nothing_comes = self.priority_at == i64::MAX && self.purge.at == i64::MAX;
        let waits_for_change = nothing_comes || !self.moments.backfill.is_empty();
        self.backfill_off || (self.backfill_at == i64::MAX && waits_for_change)
    }

    /// Whether anything acts at recorded moments only.
    pub(crate) fn is_imposed(&self) -> bool {
        let Moments { main, backfill, priority, .. } = &self.moments;
        !(main.is_empty() && backfill.is_empty() && priority.is_empty())
    }

    /// When records are purged next.
    pub(crate) fn purge_at(&self) -> i64 {
        self.purge.at
    }

    /// Whether records of jobs that have ended are not purged yet.
    pub(crate) fn keeps_records(&self) -> bool {
        self.purge.holds_any
    }

    /// A job's record will not change any more: it is there to be purged.
    pub(crate) fn record_ended(&mut self, now: i64) {
        let Self { purge, moments, tick_zero, tick, full_interval, .. } = self;
        let of_minute = full_interval.filter(|_| purge.is_by_the_minute());
        purge.ended(seconds(now), |at| purge_tick(moments, of_minute, (*tick_zero, *tick), at));
    }

    /// Whether the record of a job that ended in second `end` is gone. O(1).
    pub(crate) fn has_purged(&self, end: i64) -> bool {
        self.purge.has_purged(end)
    }

    /// The first purge after now, be there anything to purge or not [ms]. O(1).
    pub(crate) fn purge_after(&self, now: i64) -> i64 {
        let of_minute = self.full_interval.filter(|_| self.purge.is_by_the_minute());
        self.purge.first_from(now, |at| purge_tick(&self.moments, of_minute, (self.tick_zero, self.tick), at))
    }

    /// Purges records: a change.
    pub(crate) fn purge_records(&mut self, now: i64) {
        let Self { purge, moments, tick_zero, tick, full_interval, .. } = self;
        let of_minute = full_interval.filter(|_| purge.is_by_the_minute());
        purge.purge(seconds(now), |at| purge_tick(moments, of_minute, (*tick_zero, *tick), at));
        self.changed(now);
    }

    /// When the main scheduler runs next by its timers.
    pub(crate) fn main_at(&self) -> i64 {
        self.main_at
    }

    /// The first tick at or after an instant.
    fn tick_at(&self, ms: i64) -> i64 {
        tick_at((self.tick_zero, self.tick), ms)
    }

    /// Computes the next tick that runs the main scheduler.
    fn plan_main(&mut self) {
        if self.main_is_imposed() {
            self.main_at = self.moments.main.get(self.next_main).map_or(i64::MAX, |run| run.0);
            return;
        }
        let Some(full_interval) = self.full_interval else {
            self.main_at = i64::MAX;
            return;
        };
        let full = self.tick_at((self.last_full_run + full_interval) * SECOND);
        self.main_at = full;
        if self.requests > 0 {
            let request = self.tick_at((self.last_tick_run + self.batch_delay) * SECOND);
            self.main_at = self.main_at.min(request);
        }
    }

    /// A queued request: the next tick runs the main scheduler if the batch delay has passed.
    pub(crate) fn request_main(&mut self, now: i64) {
        self.requests += 1;
        if self.full_interval.is_none() || self.main_is_imposed() {
            return;
        }
        let earliest = ((self.last_tick_run + self.batch_delay) * SECOND).max(now);
        self.main_at = self.main_at.min(self.tick_at(earliest));
    }

    /// A tick ran the main scheduler; says whether over the full queue.
    pub(crate) fn main_ran(&mut self, now: i64) -> bool {
        let full = self.full_interval.is_some_and(|interval| seconds(now) - self.last_full_run >= interval);
        let full = self.moments.main.get(self.next_main).map_or(full, |run| run.1);
        self.next_main += 1;
        if full {
            self.last_full_run = seconds(now);
            self.full_run_since_change = true;
        }
        self.last_tick_run = seconds(now);
        self.requests = 0;
        self.plan_main();
        full
    }

    /// The time-limit scan that ends a job whose limit ends in second `end`.
    pub(crate) fn scan_after(&mut self, end: i64) -> i64 {
        let scans = &self.moments.scans;
        let next = scans.partition_point(|&scan| scan < end * SECOND);
        if let Some(&scan) = scans.get(next).filter(|&&scan| scan < (end + SCAN_SECONDS + 2) * SECOND) {
            return scan;
        }
        let (before, behind) = scans.split_at(next);
        let neighbours = before.last().into_iter().chain(behind.first());
        if let Some(known) = neighbours.copied().min_by_key(|scan| (scan - end * SECOND).abs()) {
            let period = SCAN_SECONDS * SECOND;
            return known + (end * SECOND - known + period - 1).div_euclid(period) * period;
        }
        let scan = self.scans.after(end);
        self.tick_at(scan * SECOND)
    }

    /// When nodes register that a resume made known in second `end`, in its middle as far as is known: the next tick asks them, before its run of
    /// the main scheduler, which does not know of their answer yet (node_mgr.c `_require_node_reg`, controller.c `_slurmctld_background` of 22.05.8).
    pub(crate) fn registration_after(&self, end: i64) -> i64 {
        let runs = &self.moments.main;
        let next = runs.partition_point(|run| run.0 < end * SECOND);
        let run = runs.get(next).map(|run| run.0).filter(|&at| at + REGISTERS_MS < (end + 1) * SECOND);
        let middle = end * SECOND + SECOND / 2;
        // From 23.11 on a pass comes as a second begins, and a recorded run in that second is its own.
        let pass = || if self.tick == SECOND { self.next_pass(middle - 1) } else { self.tick_at(middle) };
        run.unwrap_or_else(pass) + REGISTERS_MS
    }

    /// The background loop's next pass after `now` [ms]: before a recorded run of the main scheduler, which is the pass's, if one comes
    /// within a second. O(log runs).
    pub(crate) fn next_pass(&self, now: i64) -> i64 {
        let runs = &self.moments.main;
        let next = runs.get(runs.partition_point(|run| run.0 <= now)).map(|run| run.0);
        next.filter(|&run| run <= now + self.tick).unwrap_or_else(|| self.tick_at(now + 1))
    }

    /// The reservation sweep that sees what begins or ends in second `time`.
    pub(crate) fn sweep_after(&self, time: i64) -> i64 {
        let periods = (time - self.sweep_zero + SWEEP_SECONDS - 1).div_euclid(SWEEP_SECONDS);
        self.tick_at((self.sweep_zero + periods * SWEEP_SECONDS) * SECOND)
    }

    /// A reservation has begun, or has ended, as the sweep sees it.
    pub(crate) fn sweeps(&mut self, begun: bool) {
        self.swept = if begun { self.swept + 1 } else { self.swept.saturating_sub(1) };
    }

    /// Something that backfill looks at has changed.
    pub(crate) fn changed(&mut self, now: i64) {
        self.last_change = seconds(now);
        self.first_change = self.first_change.min(now);
        self.changes += 1;
        self.full_run_since_change = false;
        self.backfill_since_change = false;
        if !self.moments.backfill.is_empty() {
            return;
        }
        if let Some(from) = self.backfill_polls_from.take() {
            let polls = (now - from).max(0).div_euclid(SECOND) + 1;
            self.backfill_at = from + polls * SECOND;
        }
    }

    /// Whether a cycle is due now; if nothing changed since the last one ended, backfill looks once a second.
    pub(crate) fn backfill_due(&mut self, now: i64) -> bool {
        let has_changed = self.last_change >= seconds(self.backfill_end) || self.swept > 0;
        if has_changed || !self.moments.backfill.is_empty() {
            return true;
        }
        self.backfill_polls_from = Some(now);
        self.backfill_at = i64::MAX;
        false
    }

    /// A recorded cycle begins: whether it came in time, and whether it should have by the changes known. `None` where cycles are not
    /// recorded, for the first, and for changes too near to the time it was due at.
    pub(crate) fn cause(&self, now: i64) -> Option<(bool, bool)> {
        let due = self.backfill_end + self.backfill_interval;
        let is_near = (self.first_change - due).abs() <= 2 * SECOND;
        let is_known = !self.moments.backfill.is_empty() && self.backfill_end > 0 && !is_near;
        is_known.then_some((now < due + 3 * SECOND / 2, self.first_change < due || self.swept > 0))
    }

    /// Both schedulers will decide otherwise from now on, though nothing has changed.
    pub(crate) fn look_again(&mut self) {
        self.full_run_since_change = false;
        self.backfill_since_change = false;
    }

    /// A job completes (`CompleteWait`): backfill looks again in a second.
    pub(crate) fn backfill_waits(&mut self, now: i64) {
        self.backfill_at = now + SECOND;
    }

    /// The agent of `sched/builtin` goes through the queue; it sleeps for an interval afterwards.
    pub(crate) fn estimated(&mut self) {
        self.backfill_at += self.backfill_interval;
    }

    /// A backfill cycle ended.
    pub(crate) fn backfill_ended(&mut self, now: i64) {
        let now = self.moments.backfill.get(self.next_backfill).map_or(now, |cycle| cycle.end.max(now));
        self.backfill_end = now;
        self.first_change = if self.last_change >= seconds(now) { now } else { i64::MAX };
        self.backfill_at = now + if is_off(Rule::BackfillInterval) { SECOND } else { self.backfill_interval };
        self.backfill_since_change = true;
        if !self.moments.backfill.is_empty() {
            self.next_backfill += 1;
            self.backfill_at = self.moments.backfill.get(self.next_backfill).map_or(i64::MAX, |cycle| cycle.begin);
        }
    }

    /// How many changes there were; only differences mean anything.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// The factor's draw of the backfill cycle of that number: in 0..bound.
    pub(crate) fn cycle_draw(&self, number: u64, bound: u64) -> u64 {
        Stream::new(self.arrival_seed, Purpose::CycleLength, number).below(bound)
    }

    /// A priority step ran.
    pub(crate) fn priority_ran(&mut self, now: i64) {
        self.last_priority_step = seconds(now);
        self.priority_at = now + self.calc_period;
        if !self.moments.priority.is_empty() {
            self.next_priority += 1;
            self.priority_at = self.moments.priority.get(self.next_priority).copied().unwrap_or(i64::MAX);
        }
    }
}

/// From the question that a tick puts to a resumed node to its registration [ms] (recordings: 16 to 20).
const REGISTERS_MS: i64 = 18;

/// The first tick at or after an instant, of those since `zero`, one every `tick` [ms].
fn tick_at((zero, tick): (i64, i64), ms: i64) -> i64 {
    let since = (ms - zero).max(0);
    zero + (since + tick - 1) / tick * tick
}

/// The first tick at or after an instant that may purge: purges and full-queue runs have the same beat, if both come once a minute.
fn purge_tick(moments: &Moments, full_interval: Option<i64>, beat: (i64, i64), ms: i64) -> i64 {
    let runs = &moments.main;
    let next = runs.partition_point(|run| run.0 < ms);
    match runs[next..].iter().find(|run| run.1) {
        Some(&(at, _)) if full_interval == Some(60) => at,
        _ => tick_at(beat, ms),
    }
}
