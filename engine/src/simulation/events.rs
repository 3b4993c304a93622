//! Events of single jobs and of the machine, by (time, rank, sequence): equal times have one order on every machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::{JobId, NodeId};

/// What happens at a known time, to a job where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// Its run ends, by itself or by the time-limit scan, unless it has ended already.
    RunEnds {
        /// The job.
        job: JobId,
        /// By the scan.
        killed: bool,
        /// Which of its starts is meant.
        starts: u16,
    },
    /// The scan finds that its reservation is over, unless that recurs and has moved on to its next time.
    ReservationOver {
        /// The job.
        job: JobId,
        /// Which of its starts is meant.
        starts: u16,
    },
    /// The scan finds that its grace time after a preemption is over, unless its run has ended already.
    GraceOver {
        /// The job.
        job: JobId,
        /// Which of its starts is meant.
        starts: u16,
    },
    /// Its nodes where no step of it ran have left COMPLETING: all but the batch script's.
    OtherNodesFree {
        /// The job.
        job: JobId,
    },
    /// One of its nodes has left COMPLETING, others have not yet.
    NodeFree {
        /// The job.
        job: JobId,
        /// The node.
        node: NodeId,
    },
    /// Its nodes have left COMPLETING.
    NodesFree {
        /// The job.
        job: JobId,
    },
    /// It is queued again, though it is done.
    ComesBack {
        /// The job.
        job: JobId,
    },
    /// Its owner cancels it if it still waits.
    Cancelled {
        /// The job.
        job: JobId,
    },
    /// It cannot end by its deadline any more.
    DeadlineMissed {
        /// The job.
        job: JobId,
    },
    /// Records are purged, and it cannot end by its deadline any more.
    PurgedLate {
        /// The job.
        job: JobId,
    },
    /// Somebody holds it.
    Held {
        /// The job.
        job: JobId,
    },
    /// Somebody lets it go.
    LetGo {
        /// The job.
        job: JobId,
    },
    /// It becomes eligible.
    Released {
        /// The job.
        job: JobId,
    },
    /// The main scheduler was asked to run at once.
    MainRequested,
    /// A job has waited long enough for one leaf switch: the next cycle takes others too.
    LeafWaitOver,
    /// The machine changes: a reservation, an outage.
    Calendar {
        /// Which change.
        index: u32,
    },
}

/// The event queue. Push and pop are O(log n).
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(i64, Event, u64)>>,
    sequence: u64,
}

impl Events {
    /// Adds an event at `time` [ms].
    pub(crate) fn push(&mut self, time: i64, event: Event) {
        self.sequence += 1;
        self.heap.push(Reverse((time, event, self.sequence)));
    }

    /// The time of the next event; `i64::MAX` if there is none.
    pub(crate) fn next_time(&self) -> i64 {
        self.heap.peek().map_or(i64::MAX, |Reverse((time, ..))| *time)
    }

    /// Calls `visit` with the time [ms] of every event up to `until` and the event, in no order. O(events visited).
    pub(crate) fn visit_until(&self, until: i64, mut visit: impl FnMut(i64, Event)) {
        let heap = self.heap.as_slice();
        // A parent is never later than its children.
        let mut above = vec![0];
        while let Some(at) = above.pop() {
            if let Some(Reverse((time, event, _))) = heap.get(at)
                && *time <= until
            {
                visit(*time, *event);
                above.extend([2 * at + 1, 2 * at + 2]);
            }
        }
    }

    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.heap.pop().map(|Reverse((_, event, _))| event)
    }
}
