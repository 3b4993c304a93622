//! First come first served: the head waits until it fits, and everybody waits behind it.

use crate::outcome::StartedBy;

use super::event_loop::Discipline;
use super::jobs::Rank;
use super::machine::Machine;

/// Strict FCFS. The queue is the order of arrival itself, so a pass costs O(1 + started).
#[derive(Debug, Default)]
pub(super) struct Fcfs {
    /// No rank below waits.
    head: Rank,
}

impl Discipline for Fcfs {
    fn arrived(&mut self, _rank: Rank, _machine: &Machine) {}

    fn withdrawn(&mut self, _rank: Rank, _machine: &Machine) {}

    fn completed(&mut self, _rank: Rank, _machine: &Machine) {}

    fn pass(&mut self, machine: &mut Machine) {
        self.head = machine.next_waiting(self.head);
        while self.head < machine.arrived() && machine.job(self.head).procs <= machine.free() {
            machine.start(self.head, StartedBy::Main);
            self.head = machine.next_waiting(self.head + 1);
        }
    }
}
