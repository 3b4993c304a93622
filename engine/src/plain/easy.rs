//! EASY backfilling: jobs start in order of arrival while they fit; the first that does not, the head, gets a planned
//! start (the shadow time), and a later job may start if it does not delay that.
//!
//! A pass, with the default options:
//! 1. Start heads while they fit.
//! 2. Shadow time: the first expected end by which the blocked head fits; extra processors: those then left over.
//! 3. In queue order, start each job that fits the free processors and either ends by the shadow time, or takes only
//!    extra processors, which it uses up.
//!
//! Source: Lifka, "The ANL/IBM SP scheduling system" (1995); Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
//! What makes it fast is not doing work, exactly:
//! - Between two completions of running jobs nobody who was refused can be admitted: free and extra processors only
//!   shrink, the shadow time stays and comes nearer (see [`Easy::pass`]). So only new arrivals are tested.
//! - The rest of the queue is searched by [`FirstFit`], not walked, and the shadow time is looked up in [`Releases`]
//!   only when somebody is narrow enough to care.

use crate::outcome::StartedBy;

use super::event_loop::Discipline;
use super::first_fit::{FirstFit, Hole};
use super::jobs::Rank;
use super::machine::Machine;
use super::options::{ExtraProcessors, PlainOptions, ShadowBound, ShadowRefresh};
use super::releases::Releases;

/// EASY backfilling.
#[derive(Debug)]
pub(super) struct Easy {
    options: PlainOptions,
    /// No rank below waits.
    head: Rank,
    /// Ranks below have been through a pass; those that still wait are in `queue`.
    seen: Rank,
    queue: FirstFit,
    /// Expected ends of the running jobs.
    releases: Releases,
    /// The head's planned start, while it is known and holds.
    planned: Option<Planned>,
    /// Processors were released, or the head changed, since the queue was last searched.
    search_due: bool,
    /// A job that ends exactly at the shadow time was charged to the extra processors ([`ShadowBound::Before`]), which
    /// a plan made afresh would not do.
    plan_is_stale: bool,
}

/// The blocked head's planned start.
#[derive(Clone, Copy, Debug)]
struct Planned {
    shadow: i64,
    /// Processors free beside the head from then on.
    extra: u32,
}

impl Easy {
    /// An empty queue for up to `n_jobs` jobs. O(n_jobs).
    pub(super) fn new(n_jobs: usize, options: PlainOptions) -> Self {
        Self {
            options,
            head: 0,
            seen: 0,
            queue: FirstFit::new(n_jobs),
            releases: Releases::default(),
            planned: None,
            search_due: false,
            plan_is_stale: false,
        }
    }

    fn start(&mut self, rank: Rank, started_by: StartedBy, machine: &mut Machine) {
        machine.start(rank, started_by);
        let job = machine.job(rank);
        self.releases.add(machine.now() + i64::from(job.estimate), job.procs);
        if rank < self.seen {
            self.queue.remove(rank);
        }
    }

    /// Starts heads in order until one does not fit.
    fn start_heads(&mut self, machine: &mut Machine) {
        if std::mem::take(&mut self.plan_is_stale) {
            self.forget_plan();
        }
        let old_head = self.head;
        self.head = machine.next_waiting(self.head);
        while self.head < machine.arrived() && machine.job(self.head).procs <= machine.free() {
            self.start(self.head, StartedBy::Main, machine);
            self.head = machine.next_waiting(self.head + 1);
        }
        if self.head != old_head {
            self.planned = None;
            self.search_due = true;
        }
    }

    /// The next search plans afresh, unless a plan is kept for as long as its head.
    fn forget_plan(&mut self) {
        if self.options.shadow_refresh == ShadowRefresh::EveryPass {
            self.planned = None;
        }
        self.search_due = true;
    }

    /// The blocked head's planned start: kept, or computed now.
    fn planned(&mut self, machine: &Machine) -> Planned {
        if let Some(planned) = self.planned {
            return planned;
        }
        let head = machine.job(self.head).procs;
        let missing = head - machine.free();
        // The head is no larger than the machine, so enough is released one day.
        let (shadow, released) = self.releases.released_by(missing).unwrap_or((i64::MAX, missing));
        let extra = match self.options.extra_processors {
            ExtraProcessors::Consumed => released - missing,
            ExtraProcessors::Unused => 0,
        };
        *self.planned.insert(Planned { shadow, extra })
    }

    /// What may start beside the planned head.
    fn hole(&mut self, machine: &Machine) -> Hole {
        let planned = self.planned(machine);
        let last_end = match self.options.shadow_bound {
            ShadowBound::AtOrBefore => planned.shadow,
            ShadowBound::Before => planned.shadow.saturating_sub(1),
        };
        let window = last_end.saturating_sub(machine.now());
        Hole {
            free: machine.free(),
            extra: planned.extra,
            window: (window >= 0).then(|| u32::try_from(window).unwrap_or(u32::MAX)),
        }
    }

    /// Starts a job in the hole and says what is left of the hole.
    fn backfill(&mut self, rank: Rank, hole: Hole, machine: &mut Machine) -> Hole {
        self.start(rank, StartedBy::Backfill, machine);
        let job = machine.job(rank);
        let ends_in_window = hole.window.is_some_and(|window| job.estimate <= window);
        let extra = if ends_in_window { hole.extra } else { hole.extra - job.procs };
        if let Some(planned) = &mut self.planned {
            planned.extra = extra;
            let ends_by_shadow = machine.now() + i64::from(job.estimate) <= planned.shadow;
            self.plan_is_stale |= ends_by_shadow && !ends_in_window;
        }
        Hole { free: machine.free(), extra, window: hole.window }
    }

    /// Starts whoever fits among the jobs of earlier passes.
    fn search_queue(&mut self, machine: &mut Machine) {
        let mut hole = self.hole(machine);
        let mut from = self.head + 1;
        while hole.free > 0
            && let Some(rank) = self.queue.next(from, hole)
        {
            hole = self.backfill(rank, hole, machine);
            from = rank + 1;
        }
    }

    /// Starts new arrivals that fit, and queues the others.
    fn admit_new(&mut self, machine: &mut Machine) {
        for rank in self.seen.max(self.head)..machine.arrived() {
            if !machine.is_waiting(rank) {
                continue;
            }
            let job = *machine.job(rank);
            if rank != self.head && job.procs <= machine.free() {
                let hole = self.hole(machine);
                if hole.admits(job.procs, job.estimate) {
                    self.backfill(rank, hole, machine);
                    continue;
                }
            }
            self.queue.insert(rank, job.procs, job.estimate);
        }
        self.seen = machine.arrived();
    }
}

impl Discipline for Easy {
    fn arrived(&mut self, _rank: Rank, _machine: &Machine) {}

    fn withdrawn(&mut self, rank: Rank, _machine: &Machine) {
        if rank < self.seen {
            self.queue.remove(rank);
        }
    }

    fn completed(&mut self, rank: Rank, machine: &Machine) {
        let job = machine.job(rank);
        let started = machine.now() - i64::from(job.run_time);
        self.releases.remove(started + i64::from(job.estimate), job.procs);
        self.forget_plan();
    }

    /// One pass. O(log queue + log running) for each start, and as much again if somebody narrow enough waits.
    ///
    /// Why only a completion or a new head makes a search due: without them free processors only shrink. Let the head
    /// be planned at T with `extra` left over. Jobs backfilled since either end by T, so that at T as many processors
    /// are free as before, or were taken off `extra`; before T fewer are free than then. So a plan made afresh would
    /// again say T and the `extra` that remains, and whoever did not fit then does not fit now. (Where a job must end
    /// before T, one that ends at T is charged to `extra` but released by T: then the next pass searches, too.)
    fn pass(&mut self, machine: &mut Machine) {
        self.start_heads(machine);
        if self.head >= machine.arrived() {
            self.seen = machine.arrived();
            return;
        }
        if self.options.shadow_refresh == ShadowRefresh::OncePerHead {
            self.planned(machine);
        }
        if self.search_due && self.queue.narrowest() <= machine.free() {
            self.search_queue(machine);
        }
        self.search_due = false;
        self.admit_new(machine);
    }
}
