//! The loop that every plain algorithm shares: from one second with events to the next.

use std::ops::ControlFlow;

use crate::observer::{Interrupted, Observer};

use super::jobs::Rank;
use super::machine::Machine;
use super::options::Batching;

/// The observer is asked once in so many seconds with events.
const STEPS_PER_REPORT: u32 = 4096;

/// What distinguishes one plain algorithm from another: how it keeps its queue, and whom a pass starts.
pub(super) trait Discipline {
    /// A job has entered the queue.
    fn arrived(&mut self, rank: Rank, machine: &Machine);
    /// A waiting job has left the queue unstarted.
    fn withdrawn(&mut self, rank: Rank, machine: &Machine);
    /// A job has ended and its processors are free.
    fn completed(&mut self, rank: Rank, machine: &Machine);
    /// Starts whatever may start now.
    fn pass(&mut self, machine: &mut Machine);
    /// The next second in which a pass is due though nothing else happens.
    fn next_planned_start(&mut self, _machine: &Machine) -> Option<i64> {
        None
    }
}

/// Runs until nothing can happen any more. O(events × (log running + a pass)).
pub(super) fn run(
    machine: &mut Machine,
    cancellations: &[(i64, Rank)],
    never_queued: usize,
    mut discipline: impl Discipline,
    batching: Batching,
    observer: &mut impl Observer,
) -> Result<(), Interrupted> {
    let total = machine.n_jobs() + never_queued;
    let mut steps = 0u32;
    let mut events = Events { cancellations, finished: never_queued };
    while let Some(now) = events.next_time(machine, &mut discipline) {
        machine.advance(now);
        match batching {
            Batching::PerTimestamp => events.step_per_timestamp(machine, &mut discipline),
            Batching::PerEvent => events.step_per_event(machine, &mut discipline),
        }
        steps += 1;
        if steps.is_multiple_of(STEPS_PER_REPORT)
            && let ControlFlow::Break(()) = observer.progress(events.finished, total)
        {
            return Err(Interrupted);
        }
    }
    match observer.progress(events.finished, total) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Interrupted),
    }
}

struct Events<'a> {
    /// Cancellations still to come, ascending.
    cancellations: &'a [(i64, Rank)],
    /// Jobs that have left the system.
    finished: usize,
}

impl Events<'_> {
    fn next_time(&mut self, machine: &Machine, discipline: &mut impl Discipline) -> Option<i64> {
        // Cancelling a job that has started in the meantime is no event.
        while let Some((&(_, rank), rest)) = self.cancellations.split_first()
            && rank < machine.arrived()
            && !machine.is_waiting(rank)
        {
            self.cancellations = rest;
        }
        let cancellation = self.cancellations.first().map(|&(at, _)| at);
        [machine.next_end(), machine.next_arrival(), cancellation, discipline.next_planned_start(machine)]
            .into_iter()
            .flatten()
            .min()
    }

    fn step_per_timestamp(&mut self, machine: &mut Machine, discipline: &mut impl Discipline) {
        while self.complete(machine, discipline) {}
        while self.cancel(machine, discipline).is_some() {}
        while arrive(machine, discipline) {}
        pass(machine, discipline);
    }

    fn step_per_event(&mut self, machine: &mut Machine, discipline: &mut impl Discipline) {
        let mut passed = false;
        while arrive(machine, discipline) {
            pass(machine, discipline);
            passed = true;
        }
        while let Some(withdrawn) = self.cancel(machine, discipline) {
            if withdrawn {
                pass(machine, discipline);
                passed = true;
            }
        }
        while self.complete(machine, discipline) {
            pass(machine, discipline);
            passed = true;
        }
        if !passed {
            pass(machine, discipline);
        }
    }

    fn complete(&mut self, machine: &mut Machine, discipline: &mut impl Discipline) -> bool {
        let completed = machine.complete();
        if let Some(rank) = completed {
            self.finished += 1;
            discipline.completed(rank, machine);
        }
        completed.is_some()
    }

    /// Takes the next cancellation of this second and says whether the job was still waiting.
    fn cancel(&mut self, machine: &mut Machine, discipline: &mut impl Discipline) -> Option<bool> {
        let (&(at, rank), rest) = self.cancellations.split_first()?;
        if at > machine.now() {
            return None;
        }
        self.cancellations = rest;
        let waits = machine.is_waiting(rank);
        if waits {
            machine.withdraw(rank);
            self.finished += 1;
            discipline.withdrawn(rank, machine);
        }
        Some(waits)
    }
}

fn arrive(machine: &mut Machine, discipline: &mut impl Discipline) -> bool {
    let due = machine.next_arrival() == Some(machine.now());
    if due {
        let rank = machine.arrive();
        discipline.arrived(rank, machine);
    }
    due
}

fn pass(machine: &mut Machine, discipline: &mut impl Discipline) {
    let n_waiting = machine.n_waiting();
    let counters = machine.counters();
    counters.main_cycles += 1;
    counters.queue_length_max = counters.queue_length_max.max(n_waiting);
    discipline.pass(machine);
}
