//! Bounds under the will-run tests of a cycle, kept for the records behind.
//!
//! A later record that asks the same of each node, for as many nodes at least and for as long at least, finds no more
//! nodes unplanned for a try at the same time: plans only take nodes away, and a longer stretch has no more of them
//! unplanned throughout. While no job starts or ends, nodes are ready when they were; so it is met no sooner.

use crate::select::ready::{NodeJobs, Ready};
use crate::select::shape::Shape;

use super::Record;

/// What a record asks for, as far as a bound goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// What it asks of each node, as a position.
    need: usize,
    nodes: u32,
    /// For how long [s].
    limit: i64,
}

impl Demand {
    /// Of a record with this limit [s]; `None` if nobody has yet asked for the like. O(1).
    pub(super) fn of(ready: &Ready, record: Record, shape: &Shape, limit: i64) -> Option<Self> {
        let need = ready.need(record.request, record.place as usize)?;
        Some(Self { need, nodes: Ready::needed(shape) as u32, limit })
    }

    fn is_at_least(self, nodes: u32, limit: i64) -> bool {
        self.nodes >= nodes && self.limit >= limit
    }
}

/// Not before `bound` [s] is so much ready of what a try at `at` [s] may use.
#[derive(Clone, Copy, Debug)]
struct Bound {
    at: i64,
    nodes: u32,
    limit: i64,
    bound: i64,
}

/// The bounds found in a cycle.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// By what is asked of a node; in order of tries.
    of_need: Vec<Vec<Bound>>,
    /// Where there are some.
    noted: Vec<usize>,
    /// How often running jobs had changed.
    of: u64,
}

impl Bounds {
    /// A new cycle, whose plan is empty. O(needs noted).
    pub(super) fn begin(&mut self) {
        for need in self.noted.drain(..) {
            self.of_need[need].clear();
        }
    }

    /// Forgets what is not true any more. O(1) if no job has started or ended.
    pub(super) fn refresh(&mut self, jobs: &NodeJobs) {
        if self.of != jobs.position() {
            self.of = jobs.position();
            self.begin();
        }
    }

    /// The best bound known of a try at a time [s]; `i64::MIN` if none is. O(log tries + demands noted at that time).
    pub(super) fn get(&self, demand: Demand, at: i64) -> i64 {
        let bounds = self.of_need.get(demand.need).map_or(&[][..], |bounds| bounds);
        let known = bounds[bounds.partition_point(|other| other.at < at)..].iter().take_while(|other| other.at == at);
        let known = known.filter(|other| demand.is_at_least(other.nodes, other.limit));
        known.map(|other| other.bound).max().unwrap_or(i64::MIN)
    }

    /// Notes a bound of a try at a time [s], unless it says nothing. O(tries noted), a shift of memory.
    pub(super) fn note(&mut self, demand: Demand, at: i64, bound: i64) {
        if bound == i64::MIN {
            return;
        }
        if self.of_need.len() <= demand.need {
            self.of_need.resize_with(demand.need + 1, Vec::new);
        }
        let bounds = &mut self.of_need[demand.need];
        if bounds.is_empty() {
            self.noted.push(demand.need);
        }
        let noted = Bound { at, nodes: demand.nodes, limit: demand.limit, bound };
        let place = bounds.partition_point(|other| other.at < at);
        for other in bounds[place..].iter_mut().take_while(|other| other.at == at) {
            if demand.is_at_least(other.nodes, other.limit) && other.bound >= bound {
                return;
            }
            if (noted.nodes, noted.limit) == (other.nodes, other.limit) {
                *other = noted;
                return;
            }
        }
        bounds.insert(place, noted);
    }
}
