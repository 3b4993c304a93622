//! Jobs that a MAGNETIC reservation draws though they do not name it. Source: slurm-semantics 7.2, 2.1, 2.2; behaviour of
//! 22.05.8: such records come first, may start now and are never planned.

use crate::ids::JobId;
use crate::sched::main_cycle::is_component;
use crate::simulation::Controller;

impl Controller<'_> {
    /// The reservations that draw a job now, those that began first first. O(reservations) where there are some.
    pub(crate) fn drawn_by(&self, id: JobId) -> Vec<usize> {
        if !self.reservations.draw || self.reservation_of(id).is_some() || is_component(self, id) {
            return Vec::new();
        }
        let mut found: Vec<(i64, usize)> = self.magnets_now().filter(|&(_, index)| self.lets_in(id, index)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, index)| index).collect()
    }

    /// The job is tried, and if it starts runs, as if it had named the reservation.
    pub(crate) fn draw(&mut self, id: JobId, reservation: usize) {
        self.reservations.drawn.insert(id, reservation);
    }

    /// It was not started there, or has ended.
    pub(crate) fn let_go(&mut self, id: JobId) {
        if self.reservations.draw {
            self.reservations.drawn.remove(&id);
        }
    }
}
