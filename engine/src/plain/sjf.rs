//! Shortest job first: the shortest requested time is next, ties in order of arrival; nothing is backfilled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::outcome::StartedBy;

use super::event_loop::Discipline;
use super::jobs::Rank;
use super::machine::Machine;

/// SJF without backfilling. A pass costs O(1 + started × log queue).
#[derive(Debug, Default)]
pub(super) struct Sjf {
    /// Requested time and rank, shortest on top; withdrawn jobs stay until they come up.
    queue: BinaryHeap<Reverse<(u32, Rank)>>,
}

impl Discipline for Sjf {
    fn arrived(&mut self, rank: Rank, machine: &Machine) {
        self.queue.push(Reverse((machine.job(rank).estimate, rank)));
    }

    fn withdrawn(&mut self, _rank: Rank, _machine: &Machine) {}

    fn completed(&mut self, _rank: Rank, _machine: &Machine) {}

    fn pass(&mut self, machine: &mut Machine) {
        while let Some(&Reverse((_, rank))) = self.queue.peek() {
            if machine.is_waiting(rank) {
                if machine.job(rank).procs > machine.free() {
                    break;
                }
                machine.start(rank, StartedBy::Main);
            }
            self.queue.pop();
        }
    }
}
