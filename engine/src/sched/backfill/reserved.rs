//! Advance reservations in a backfill cycle: they are not in the table, but tested anew for every try.
//! Source: slurm-semantics 3.6 steps 9a, 9d and 7.2; observed: oracle case features.

use crate::select::shape::Shape;
use crate::simulation::Controller;
use crate::simulation::reservations::{Candidate, Opening};

use super::grid::Grid;
use super::{Backfill, window_seconds};
use crate::sched::queue::Record;

/// A try moves at most so often to the end of a reservation that closes it.
const HOPS_MAX: u32 = 10;

/// The times of a try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The cycle's present [s].
    pub(super) now: i64,
    /// The job's limit [s].
    pub(super) limit: i64,
    /// Where the table ends: the last line of the grid within `bf_window` of the cycle's begin [s] (backfill.c of 22.05.8; rec w2150).
    pub(super) end: i64,
    /// `bf_resolution`.
    pub(super) grid: Grid,
}

/// Narrows `backfill.usable`, which holds the base, to what reservations leave to a job that starts at `try_from`; moves
/// `try_from` past those that close everything. Says when the first reservation that took nodes away is over, or that
/// the job cannot run at all. O(reservations × words), ten times at most.
pub(super) fn keep_reservations(
    controller: &Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    try_from: &mut i64,
    window: Window,
) -> Result<Option<i64>, ()> {
    let own = controller.reservation_of(record.job);
    for _ in 0..=HOPS_MAX {
        let begin = (*try_from).max(window.now);
        let end = begin + window.limit;
        let licenses = &controller.scenario.workload.requests[record.request.index()].licenses;
        let (partition, whole) = (record.partition, shape.whole_nodes);
        let candidate = Candidate { own, partition, required: &shape.required, whole, licenses, begin, end };
        // Only a try from now becomes another when time goes by.
        let mut turns_at = i64::MAX;
        let opening = controller.narrow_to_reservations(candidate, &mut backfill.usable, &mut turns_at);
        if begin == window.now {
            backfill.valid_until = backfill.valid_until.min(turns_at);
        }
        match opening {
            // While any reservation exists licences must be free now, whenever the job would start, though `bf_licenses` plans them
            // (reservation.c of 22.05.8 to 25.05, `job_test_resv`; rec c1058).
            Opening::Open { .. } if own.is_none() && !controller.licenses_left(licenses, own, (begin, end)) => {
                return Err(());
            }
            Opening::Open { overlaps: false } => return Ok(None),
            Opening::Open { overlaps: true } => {
                // Rounded up, and a second more.
                let ends = controller.reservations.next_end(begin).map(|end| window.grid.ceil(end) + 1);
                if let Some(ends) = ends.filter(|&ends| ends >= window.end) {
                    // Comes into the window, which moves with the time, line by line.
                    let turns_at = window.grid.ceil(ends + 1) - window_seconds(&controller.scenario.policy.backfill);
                    backfill.valid_until = backfill.valid_until.min(turns_at);
                }
                return Ok(ends.filter(|&ends| ends < window.end));
            }
            Opening::Closed(until) | Opening::RequiredReserved(until) => {
                *try_from = until;
                backfill.usable.copy_from(&backfill.base);
            }
            Opening::NotUsable => return Err(()),
        }
    }
    Err(())
}
