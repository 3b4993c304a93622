//! Advance reservations as the schedulers meet them: who may use which nodes when, and what begins and ends.
//! Source: slurm-semantics 7.2; observed: oracle case features (sweep, end + 1 s, kill at the limit scan).

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::timers::SCAN_SECONDS;
use super::{Controller, seconds};
use crate::ablation::{Rule, is_off};
use crate::association::AssociationTree;
use crate::calendar::Reservation;
use crate::ids::{JobId, LicenseId, NodeId, PartitionId};
use crate::node_set::NodeSet;
use crate::scenario::Scenario;
use crate::select::shape::Shape;

/// A record of a job that named a reservation stands before all others: a bit above every PriorityTier (16 bits).
pub(crate) const RESERVED_TIER: u32 = 1 << 31;

/// An occurrence of a reservation that exists now and has not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    /// Index of the reservation in the scenario.
    pub(super) reservation: usize,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// Reservations in the course of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Reservations {
    /// In the order of the scenario, one a reservation at most.
    pub(super) existing: Vec<Occurrence>,
    /// By request: the reservation it names. Empty in a scenario without reservations.
    named: Vec<Option<usize>>,
    /// Jobs that may run anywhere because theirs has ended.
    pub(super) freed: BTreeSet<JobId>,
    /// How many nodes the last test at submission or of the main scheduler has given jobs of reservations, by their ids.
    counted: BTreeMap<(u64, Option<u32>), u32>,
    /// Whether there are MAGNETIC ones.
    pub(super) draw: bool,
    /// Jobs that run, or are being tried, in a MAGNETIC one.
    pub(super) drawn: BTreeMap<JobId, usize>,
    /// The nodes of those of which some were replaced.
    pub(super) moved: BTreeMap<usize, NodeSet>,
    /// The background loop's next pass looks whether all have their nodes.
    pub(super) looks: bool,
    /// The next scan of limits looks for nodes that are lacking.
    pub(super) scans: bool,
    /// When a job was last tested [s]: what recurs and was over has had its next time since.
    pub(super) tested: Cell<i64>,
}

/// What reservations leave to a job at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It may run on the nodes that were left.
    Open {
        /// A reservation has taken some nodes.
        overlaps: bool,
    },
    /// All it could use is reserved until then [s].
    Closed(i64),
    /// A node that it names, and takes whole, is reserved until then [s].
    RequiredReserved(i64),
    /// Its own reservation has not begun, or has ended.
    NotUsable,
}

/// A job as reservations see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) own: Option<usize>,
    pub(crate) partition: PartitionId,
    pub(crate) required: &'a [NodeId],
    /// It takes whole nodes.
    pub(crate) whole: bool,
    /// Licences that it wants.
    pub(crate) licenses: &'a [(LicenseId, u32)],
    /// First second of its run.
    pub(crate) begin: i64,
    /// First second after it, by its limit.
    pub(crate) end: i64,
}

impl Reservations {
    /// Finds the reservations that requests name. O(requests × reservations).
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let reservations = &scenario.calendar.reservations;
        if reservations.is_empty() {
            return Self::default();
        }
        let index = |name: &String| reservations.iter().position(|reservation| reservation.name == *name);
        let named = scenario.workload.requests.iter().map(|request| request.reservation.as_ref().and_then(index));
        let draw = reservations.iter().any(|reservation| reservation.flags.magnetic);
        Self { named: named.collect(), draw, ..Self::default() }
    }

    /// Whether any reservation exists now: without one no job's nodes are narrowed.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.existing.is_empty() && !is_off(Rule::Reservations)
    }

    /// Whether one that exists now reserves licences: then what is free depends on the time.
    pub(crate) fn any_licenses(&self, scenario: &Scenario) -> bool {
        let reserves = |it: &Occurrence| !scenario.calendar.reservations[it.reservation].licenses.is_empty();
        self.any() && self.existing.iter().any(reserves)
    }

    /// Whether a request may name one.
    pub(crate) fn any_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// Whether a MAGNETIC one may exist now.
    pub(crate) fn draws(&self) -> bool {
        self.draw && self.any()
    }

    /// How many exist now.
    pub(crate) fn len(&self) -> usize {
        self.existing.len()
    }

    pub(super) fn existing(&self) -> &[Occurrence] {
        &self.existing
    }

    fn occurrence(&self, reservation: usize) -> Option<&Occurrence> {
        self.existing.iter().find(|it| it.reservation == reservation)
    }

    /// The earliest end of an existing reservation after `time` [s].
    pub(crate) fn next_end(&self, time: i64) -> Option<i64> {
        self.existing.iter().map(|it| it.end).filter(|&end| end > time).min()
    }
}

impl Controller<'_> {
    pub(crate) fn reservation(&self, index: usize) -> &Reservation {
        &self.scenario.calendar.reservations[index]
    }

    /// The nodes that a reservation has now. O(log reservations).
    pub(crate) fn reserved_nodes(&self, index: usize) -> &NodeSet {
        self.reservations.moved.get(&index).unwrap_or(&self.scenario.calendar.reservations[index].nodes)
    }

    /// The nodes of each reservation that exists now.
    pub(crate) fn reserved_anywhere(&self) -> impl Iterator<Item = &NodeSet> {
        self.reservations.existing.iter().map(|it| self.reserved_nodes(it.reservation))
    }

    /// The reservation a job names and is still bound to, by its index. O(1) where nothing is reserved.
    #[inline]
    pub(crate) fn reservation_of(&self, id: JobId) -> Option<usize> {
        if self.reservations.named.is_empty() || self.reservations.freed.contains(&id) {
            return None;
        }
        if self.reservations.draw
            && let Some(&drawn) = self.reservations.drawn.get(&id)
        {
            return Some(drawn);
        }
        self.reservations.named[self.scenario.workload.jobs[id.index()].request.index()]
    }

    /// Whether the job's reservation lets it in, and will occur again: else sbatch refuses it. O(depth of the tree).
    pub(super) fn reservation_admits(&self, id: JobId) -> bool {
        let Some(index) = self.reservation_of(id) else { return true };
        let reservation = self.reservation(index);
        reservation.windows.last().is_some_and(|&(_, end)| end > seconds(self.now)) && self.lets_in(id, index)
    }

    /// Whether the job runs, or is being tried, in a MAGNETIC reservation that it does not name.
    pub(crate) fn is_drawn(&self, id: JobId) -> bool {
        self.reservations.draw && self.reservations.drawn.contains_key(&id)
    }

    /// Whether the job's user and account may use a reservation. O(depth of the tree).
    pub(super) fn lets_in(&self, id: JobId, index: usize) -> bool {
        let reservation = self.reservation(index);
        let job = &self.scenario.workload.jobs[id.index()];
        let user = &self.scenario.workload.users[job.user.index()];
        let by_user = reservation.users.is_empty() || reservation.users.contains(user) != reservation.users_denied;
        let tree = &self.scenario.associations;
        let account_listed =
            accounts_above(tree, job.association).any(|account| reservation.accounts.contains(account));
        let by_account = reservation.accounts.is_empty() || account_listed != reservation.accounts_denied;
        by_user && by_account
    }

    /// The MAGNETIC reservations that last now, with their starts.
    pub(super) fn magnets_now(&self) -> impl Iterator<Item = (i64, usize)> {
        let now = seconds(self.now);
        let lasting = self.reservations.existing.iter().filter(move |it| (it.start..it.end).contains(&now));
        lasting.filter(|it| self.reservation(it.reservation).flags.magnetic).map(|it| (it.start, it.reservation))
    }

    /// Whether the job waits for its reservation to begin.
    pub(super) fn awaits_reservation(&self, id: JobId) -> bool {
        let Some(index) = self.reservation_of(id) else { return false };
        if self.reservation(index).flags.flex {
            return false;
        }
        self.reservations.occurrence(index).is_none_or(|it| it.start > seconds(self.now))
    }

    /// When the time-limit scan ends a job that starts now because its reservation is over [ms].
    pub(super) fn reservation_kill(&mut self, id: JobId) -> Option<i64> {
        let index = self.reservation_of(id).filter(|&index| !self.reservation(index).flags.flex)?;
        let end = self.reservations.occurrence(index)?.end;
        let over = i64::from(self.scenario.policy.reservation_over_run?) * 60;
        // A scan in the very second of the end lets it go on to the next one.
        Some(self.timers.scan_after(end.saturating_add(over).saturating_add(1)))
    }

    /// Whether a job's reservation comes again. O(reservations).
    pub(super) fn reservation_recurs(&self, id: JobId) -> bool {
        self.reservation_of(id).is_some_and(|index| {
            let last = self.reservation(index).windows.last();
            let now = self.reservations.occurrence(index);
            now.zip(last).is_some_and(|(now, last)| now.end < last.1)
        })
    }

    /// The scan ends a job whose reservation is over; not where the reservation recurs and any job has been tested since its end: it has its next
    /// time then, as it has from one scan to the next (reservation.c of 22.05.8, `job_test_resv`, `job_resv_check`; rec c1292).
    /// O(log windows).
    pub(super) fn reservation_over(&mut self, id: JobId, starts: u16) {
        let now = seconds(self.now);
        let ended = self.reservation_of(id).and_then(|index| self.last_end(index, now));
        if ended.is_some_and(|ended| self.reservations.tested.get() < ended) {
            self.run_ends(id, true, starts);
        }
    }

    /// When the last time of a reservation that ended before a second was over [s]. O(log windows).
    fn last_end(&self, index: usize, before: i64) -> Option<i64> {
        let windows = &self.reservation(index).windows;
        let ended = windows.partition_point(|window| window.1 < before);
        Some(windows.get(ended.checked_sub(1)?)?.1)
    }

    /// Whether a test now would give a recurring reservation its next time, before the scan ends who runs in it. O(reservations × log windows).
    pub(crate) fn awaits_next_time(&self) -> bool {
        let now = seconds(self.now);
        let tested = self.reservations.tested.get();
        self.scenario.policy.reservation_over_run == Some(0)
            && self.reservations.any()
            && self.reservations.existing.iter().any(|it| {
                let ended = self.last_end(it.reservation, now + 1);
                ended.is_some_and(|ended| tested < ended && now - ended <= SCAN_SECONDS + 2)
            })
    }

    /// The time to which a test at `when` moves it that the job's own reservation refuses: its begin, or its end (reservation.c of 22.05.8,
    /// `job_test_resv`) [s]. O(reservations).
    pub(crate) fn moved_by_reservation(&self, id: JobId, when: i64) -> i64 {
        let own = self.reservation_of(id).and_then(|index| self.reservations.occurrence(index));
        own.map_or(when, |own| if when < own.start { own.start } else { own.end.min(when) })
    }

    /// Narrows `nodes` to what reservations leave to a job. `turns_at` becomes the first second at which the answer for
    /// a run that began at that second instead would be another, if that is earlier. O(reservations × words).
    pub(crate) fn narrow_to_reservations(
        &self,
        candidate: Candidate<'_>,
        nodes: &mut NodeSet,
        turns_at: &mut i64,
    ) -> Opening {
        let Candidate { own, partition, required, whole, licenses, begin, end } = candidate;
        self.reservations.tested.set(seconds(self.now));
        let own = own.map(|index| (index, self.reservation(index)));
        if let Some((index, reservation)) = own {
            let Some(mine) = self.reservations.occurrence(index) else { return Opening::NotUsable };
            if !reservation.flags.flex {
                // Plans may begin in the second of its end (reservation.c of 22.05.8, `job_test_resv`; rec c1456).
                let over = begin > mine.end || seconds(self.now) >= mine.end;
                if begin < mine.start || over {
                    return Opening::NotUsable;
                }
                if !self.reserved_nodes(index).is_empty() {
                    nodes.intersect(self.reserved_nodes(index));
                }
            }
        }
        let mut overlaps = false;
        let mut licenses_return = i64::MAX;
        let partition_nodes = &self.scenario.cluster.partitions[partition.index()].nodes;
        for other in &self.reservations.existing {
            if other.end <= begin || own.is_some_and(|(index, _)| index == other.reservation) {
                continue;
            }
            if other.start >= end {
                *turns_at = (*turns_at).min(begin + (other.start - end) + 1);
                continue;
            }
            let reservation = self.reservation(other.reservation);
            let taken = self.reserved_nodes(other.reservation);
            if reservation.licenses.iter().any(|(license, _)| licenses.iter().any(|(wanted, _)| wanted == license)) {
                licenses_return = licenses_return.min(other.end);
            }
            let flags = reservation.flags;
            match own {
                Some((_, mine)) => {
                    if mine.flags.maint || (mine.flags.overlap && !flags.maint) {
                        continue;
                    }
                }
                None => {
                    if flags.all_nodes
                        || (flags.part_nodes && reservation.partition == Some(partition))
                        || (flags.maint && partition_nodes.is_subset(taken))
                    {
                        return Opening::Closed(other.end);
                    }
                    // Who takes parts of nodes finds the named one missing until the first reservation is over (`job_test_resv`: `tres_str`,
                    // which all reservations of nodes have; rec bc-mix).
                    if whole && required.iter().any(|&node| taken.contains(node)) {
                        return Opening::RequiredReserved(other.end);
                    }
                }
            }
            // Of a job without a reservation all nodes of its partition are asked, also those that are down or other users hold
            // (`job_test_resv` of 22.05.8; rec av-dep).
            overlaps |= match own {
                None => partition_nodes.intersects(taken),
                Some(_) => nodes.intersects(taken),
            };
            nodes.subtract(taken);
        }
        if licenses_return < i64::MAX && !self.licenses_left(licenses, own.map(|(index, _)| index), (begin, end)) {
            // slurmctld tries again when the first of them ends, whatever that gives back.
            return Opening::Closed(licenses_return);
        }
        Opening::Open { overlaps }
    }

    /// Whether a job that started now would find nodes of its partition (of its own reservation, if it names one) taken by another
    /// (reservation.c of 22.05.8, `job_test_resv`: `resv_overlap`). O(reservations × words).
    pub(crate) fn any_reservation_takes(&self, id: JobId, partition: PartitionId, own: Option<usize>) -> bool {
        if !self.reservations.any() {
            return false;
        }
        let begin = seconds(self.now);
        let end = begin + self.live.get(id).map_or(0, |live| live.limit_seconds);
        let licenses = &self.scenario.workload.requests[self.job(id).request.index()].licenses;
        let candidate = Candidate { own, partition, required: &[], whole: false, licenses, begin, end };
        let mut nodes = match own {
            Some(_) => self.up.clone(),
            None => self.scenario.cluster.partitions[partition.index()].nodes.clone(),
        };
        matches!(
            self.narrow_to_reservations(candidate, &mut nodes, &mut { i64::MAX }),
            Opening::Open { overlaps: true }
        )
    }

    /// Whether a node that a job names is not `available`, or reserved for others: it waits for that node, and whether it could ever run is
    /// not asked (node_scheduler.c of 22.05.8, `_get_req_features`, `_pick_best_nodes`; rec ay-qos). O(named nodes + reservations × words).
    pub(crate) fn lacks_named(
        &self,
        id: JobId,
        (partition, own): (PartitionId, Option<usize>),
        shape: &Shape,
        available: &NodeSet,
    ) -> bool {
        let required = &shape.required;
        if required.is_empty() || !required.iter().all(|&node| shape.tested.contains(node)) {
            return false;
        }
        if required.iter().any(|&node| !available.contains(node)) {
            return true;
        }
        if own.is_some() || !self.reservations.any() {
            return false;
        }
        let begin = seconds(self.now);
        let end = begin + self.live.get(id).map_or(0, |live| live.limit_seconds);
        let candidate = Candidate { own, partition, required, whole: shape.whole_nodes, licenses: &[], begin, end };
        let mut left = available.clone();
        let opening = self.narrow_to_reservations(candidate, &mut left, &mut { i64::MAX });
        !matches!(opening, Opening::Open { .. }) || required.iter().any(|&node| !left.contains(node))
    }

    /// Whether others take all nodes of its own reservation from a job that would start now. O(reservations × words).
    pub(crate) fn own_reservation_is_taken(&self, id: JobId, own: Option<usize>) -> bool {
        let Some(index) = own else { return false };
        let Some(mut left) = self.bound_nodes(own).cloned() else { return false };
        let mine = self.reservation(index).flags;
        let begin = seconds(self.now);
        let end = begin + self.live.get(id).map_or(0, |live| live.limit_seconds);
        for other in &self.reservations.existing {
            let reservation = self.reservation(other.reservation);
            let bows = mine.maint || (mine.overlap && !reservation.flags.maint);
            if other.reservation != index && !bows && other.start < end && other.end > begin {
                left.subtract(self.reserved_nodes(other.reservation));
            }
        }
        left.is_empty()
    }

    /// How many of a licence reservations other than its own keep from a job during a time [s, half open]. O(reservations).
    pub(crate) fn reserved_licenses(&self, license: LicenseId, own: Option<usize>, (begin, end): (i64, i64)) -> u32 {
        if !self.reservations.any() {
            return 0;
        }
        let others = self.reservations.existing.iter().filter(|it| own != Some(it.reservation));
        let others = others.filter(|it| it.start < end && it.end > begin);
        let counts = others.flat_map(|it| &self.reservation(it.reservation).licenses);
        counts.filter(|(reserved, _)| *reserved == license).fold(0, |sum: u32, (_, count)| sum.saturating_add(*count))
    }

    /// The nodes that a job of a reservation is bound to; none for a FLEX one, and one of licences alone.
    pub(crate) fn bound_nodes(&self, own: Option<usize>) -> Option<&NodeSet> {
        let own = own.filter(|&index| !self.reservation(index).flags.flex);
        own.map(|index| self.reserved_nodes(index)).filter(|nodes| !nodes.is_empty())
    }

    /// Whether nodes are looked at for a job in a partition: those that its reservation has there, once it has begun (node_scheduler.c of
    /// 22.05.8, `select_nodes`, `_build_node_list`; rec be-h4). O(named nodes + words).
    pub(crate) fn looks_at_nodes(&self, id: JobId, own: Option<usize>, shape: &Shape) -> bool {
        let is_there = |nodes: &NodeSet| {
            nodes.intersects(&shape.tested) && shape.required.iter().all(|&node| nodes.contains(node))
        };
        shape.is_looked_at() && !self.awaits_reservation(id) && self.bound_nodes(own).is_none_or(is_there)
    }

    /// A test in a partition has found so many nodes for a job of a reservation, or for its array: no more than it is bound to. O(log jobs),
    /// else O(words).
    pub(crate) fn counted_nodes(&mut self, id: JobId, partition: PartitionId, nodes: u32) {
        if let Some(own) = self.reservation_of(id) {
            let of_partition = &self.scenario.cluster.partitions[partition.index()].nodes;
            let most = self.bound_nodes(Some(own)).map(|bound| bound.intersection_len(of_partition) as u32);
            let name = self.tested_as(id);
            let nodes = nodes.min(most.unwrap_or(u32::MAX));
            // A cycle that changes it is not repeated as it was.
            self.sizes_version += u64::from(self.reservations.counted.insert(name, nodes) != Some(nodes));
        }
    }

    /// How many the last one has; 0 without (`node_cnt_wag`). O(log jobs).
    pub(crate) fn nodes_counted(&self, id: JobId) -> u32 {
        self.reservations.counted.get(&self.tested_as(id)).copied().unwrap_or(0)
    }

    /// The nodes of a FLEX reservation, which its jobs prefer to others; none for one of licences alone.
    pub(crate) fn flex_nodes(&self, own: Option<usize>) -> Option<&NodeSet> {
        let own = own.filter(|&index| self.reservation(index).flags.flex);
        own.map(|index| self.reserved_nodes(index)).filter(|nodes| !nodes.is_empty())
    }
}

/// The accounts of an association, from its own upwards.
fn accounts_above(tree: &AssociationTree, from: crate::ids::AssociationId) -> impl Iterator<Item = &String> {
    let row = |id: crate::ids::AssociationId| tree.rows.get(id.index());
    std::iter::successors(row(from), move |association| association.parent.and_then(row)).map(|row| &row.account)
}
