//! Nodes of reservations that become unusable are replaced by others.
//! Source: reservation.c of 22.05.8, `_validate_node_choice`, `_select_nodes`, `_pick_node_cnt`; rec av-dep, ay-dep, ba-core, ba-share.

use std::ops::Range;

use super::reservation_changes::Change;
use super::{Controller, seconds};
use crate::ids::JobId;
use crate::node_set::NodeSet;

impl Controller<'_> {
    /// A node has failed or is drained: the background loop looks at the reservations in its next pass (`validate_all_reservations`), and
    /// misses what is back by then (rec ba-core, ba-share). O(reservations).
    pub(super) fn reservations_look_soon(&mut self) {
        if !self.reservations.looks && self.scenario.calendar.reservations.iter().any(|it| it.flags.replaces_nodes) {
            self.reservations.looks = true;
            let pass = self.timers.next_pass(self.now);
            self.plan_change(pass, Change::Replaced);
        }
    }

    /// Gives reservations that were asked for by a number of nodes others for those that are out of service, as many as there are: first of
    /// those that no reservation has then, in the order of slurm.conf (a tree of switches is not looked at), and that no job uses that may
    /// still run when it begins. What jobs alone keep from it is looked for again with each scan of limits. O(reservations × (running × nodes of a job + words)).
    pub(super) fn replace_reserved(&mut self) {
        let all = 0..self.reservations.len();
        self.replace_of(all);
    }

    /// The same for the reservation that a job names which is submitted now (`validate_job_resv`); tasks that come together ask once.
    /// O(running × nodes of a job + reservations × words).
    pub(super) fn replace_for(&mut self, id: JobId) {
        let jobs = &self.scenario.workload.jobs;
        let before = id.index().checked_sub(1).map(|before| &jobs[before]);
        if before.is_some_and(|before| jobs[id.index()].comes_with(before)) {
            return;
        }
        let Some(named) = self.reservation_of(id).filter(|_| self.reservation_admits(id)) else { return };
        if let Some(at) = self.reservations.existing().iter().position(|it| it.reservation == named) {
            self.replace_of(at..at + 1);
        }
    }

    fn replace_of(&mut self, positions: Range<usize>) {
        let mut moved = false;
        let mut lacks = false;
        for position in positions {
            let index = self.reservations.existing()[position].reservation;
            if !self.reservation(index).flags.replaces_nodes {
                continue;
            }
            let mut nodes = self.reserved_nodes(index).clone();
            nodes.intersect(&self.up);
            let wanted = self.reservation(index).nodes.len();
            if nodes.len() >= wanted {
                continue;
            }
            let (picked, may_come) = self.pick_for_reservation(position, wanted - nodes.len());
            if !picked.is_empty() {
                nodes.union(&picked);
                lacks |= nodes.len() < wanted && may_come;
                self.reservations.moved.insert(index, nodes);
                moved = true;
            } else {
                lacks |= may_come;
            }
        }
        if moved {
            self.touch();
            self.reserve_anew();
        }
        if lacks {
            self.replace_at_next_scan();
        }
    }

    /// Nodes have come that reservations may lack: the next scan of limits looks. O(reservations × words).
    pub(super) fn replace_later(&mut self) {
        if self.any_reservation_lacks() {
            self.replace_at_next_scan();
        }
    }

    /// Whether a reservation by a number of nodes lacks some. O(reservations × words).
    pub(crate) fn any_reservation_lacks(&self) -> bool {
        self.reservations.existing().iter().any(|it| {
            let reservation = self.reservation(it.reservation);
            let up = self.reserved_nodes(it.reservation).intersection_len(&self.up);
            reservation.flags.replaces_nodes && up < reservation.nodes.len()
        })
    }

    /// slurmctld looks with each scan (`job_resv_check`; rec bc-mix).
    fn replace_at_next_scan(&mut self) {
        if !self.reservations.scans {
            self.reservations.scans = true;
            let scan = self.timers.scan_after(seconds(self.now) + 1);
            self.plan_change(scan, Change::ReplacedByScan);
        }
    }

    /// Up to so many nodes for a reservation beside its own, and whether more may come with the ends of jobs.
    /// O(running × nodes of a job + reservations × words).
    fn pick_for_reservation(&self, position: usize, wanted: usize) -> (NodeSet, bool) {
        let existing = self.reservations.existing();
        let of = existing[position];
        let reservation = self.reservation(of.reservation);
        let n_nodes = self.scenario.cluster.nodes.len();
        let mut picked = NodeSet::empty(n_nodes);
        let mut may_come = false;
        let mut all = self.up.clone();
        if let Some(partition) = reservation.partition {
            all.intersect(&self.scenario.cluster.partitions[partition.index()].nodes);
        }
        all.subtract(self.reserved_nodes(of.reservation));
        let mut unreserved = all.clone();
        for other in existing.iter().filter(|other| other.start < of.end && other.end > of.start) {
            unreserved.subtract(self.reserved_nodes(other.reservation));
        }
        let flags = reservation.flags;
        let pools = [Some(unreserved), (flags.overlap || flags.maint).then_some(all)];
        for mut pool in pools.into_iter().flatten() {
            pool.subtract(&picked);
            may_come |= !pool.is_empty();
            let wanted = (wanted - picked.len()).min(pool.len());
            for running in self.running.iter().filter_map(|running| self.live.get(running.job)) {
                if running.expected_end >= of.start {
                    running.allocation.shares.iter().for_each(|share| pool.remove(share.node));
                }
            }
            if pool.len() >= wanted {
                pool.iter().take(wanted).for_each(|node| picked.insert(node));
            }
        }
        (picked, may_come)
    }
}
