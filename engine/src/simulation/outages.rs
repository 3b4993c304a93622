//! The machine's calendar: nodes that go out of service and return, reservations that come and go.
//! Source: slurm-semantics 1.1, 7.2, 7.6.

use std::collections::BTreeMap;

use super::ends::RunEnded;
use super::events::Event;
use super::reservation_changes::Change;
use super::{Controller, SECOND, seconds};
use crate::ablation::{Rule, is_off};
use crate::calendar::{Outage, OutageKind};
use crate::ids::{JobId, NodeId};
use crate::outcome::JobState;

/// What is set to happen to the machine. Empty without reservations and outages.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// In order; an event points here.
    changes: Vec<Change>,
    /// By node: how many outages it is in.
    outages: Vec<u32>,
    /// Whether nodes go down here, so that recorded failures are not repeated.
    pub(super) strikes: bool,
    /// Jobs that were requeued as all of their nodes went down.
    lost: BTreeMap<JobId, Lost>,
}

/// What a job had when all of its nodes went down, and after which of its starts. slurmctld forgets what is allocated when a job has completed, if it
/// waits by then; with no node left to answer it has completed before (job_scheduler.c of 22.05.8, `cleanup_completing`; rec c166).
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    starts: u16,
    pub(super) cpus: u32,
    pub(super) nodes: u32,
    /// Memory [MB], 0 where nobody counts it.
    pub(super) memory_mb: u64,
}

impl Controller<'_> {
    /// Plans all changes of the machine. O(changes × log changes).
    pub(super) fn plan_calendar(&mut self) {
        let calendar = &self.scenario.calendar;
        if calendar.is_empty() {
            return;
        }
        let mut changes = self.reservation_changes();
        for (index, outage) in calendar.outages.iter().enumerate() {
            if outage.end != i64::MAX && outage.end * SECOND <= self.now {
                continue;
            }
            let first = outage.nodes.iter().next().map(|node| &self.scenario.cluster.nodes[node.index()].name);
            let is_down = outage.kind == OutageKind::Down;
            let recorded = first.filter(|_| is_down).and_then(|name| self.timers.recorded_outage(name, outage.start));
            let leaves = recorded.map_or(outage.start * SECOND, |outage| outage.0);
            changes.push((leaves.max(self.now), Change::NodesLeave(index)));
            if outage.end != i64::MAX {
                let registers = match outage.kind {
                    OutageKind::Down => {
                        let back = recorded.and_then(|recorded| recorded.1);
                        // What says when it was let serve again may be a second off the answer that makes it serve.
                        let is_its = |back: &i64| (outage.end - 1..=outage.end + 1).contains(&seconds(*back));
                        back.filter(is_its).unwrap_or(outage.end * SECOND).max(leaves)
                    }
                    OutageKind::Drain => {
                        changes.push((outage.end * SECOND, Change::NodesResume));
                        self.timers.registration_after(outage.end)
                    }
                };
                changes.push((registers, Change::NodesReturn(index)));
            }
        }
        changes.sort_unstable();
        for (index, &(time, change)) in changes.iter().enumerate() {
            self.events.push(time, Event::Calendar { index: index as u32 });
            self.agenda.changes.push(change);
        }
        self.agenda.outages = vec![0; self.scenario.cluster.nodes.len()];
        self.agenda.strikes = calendar.outages.iter().any(|outage| outage.kind == OutageKind::Down);
    }

    /// A change of the machine.
    pub(super) fn change_machine(&mut self, index: u32) {
        if let Some(hetjobs) = &mut self.hetjobs {
            hetjobs.machine_changes();
        }
        match self.agenda.changes[index as usize] {
            Change::Created(reservation, window) => self.reservation_created(reservation, window),
            Change::Seen => self.reservation_seen(),
            Change::Ended(reservation, window) => self.reservation_ended(reservation, window),
            Change::Deleted(reservation) => self.reservation_deleted(reservation),
            Change::Swept => self.reservation_swept(),
            Change::Replaced => {
                self.reservations.looks = false;
                self.replace_reserved();
            }
            Change::ReplacedByScan => {
                self.reservations.scans = false;
                self.replace_reserved();
            }
            Change::NodesLeave(_) if is_off(Rule::Outages) => {}
            Change::NodesLeave(outage) => self.nodes_leave(outage),
            Change::NodesResume if is_off(Rule::Outages) => {}
            Change::NodesResume => self.timers.request_main(self.now),
            Change::NodesReturn(outage) => self.nodes_return(outage),
        }
    }

    /// Nodes go out of service: no job starts on them, and if they go down, their jobs end, with all their components. O(nodes + running × nodes
    /// of a job).
    fn nodes_leave(&mut self, index: usize) {
        let outage = &self.scenario.calendar.outages[index];
        for node in outage.nodes.iter() {
            self.agenda.outages[node.index()] += 1;
        }
        self.up.subtract(&outage.nodes);
        if outage.kind == OutageKind::Down {
            let is_struck = |id: &JobId| {
                self.live
                    .get(*id)
                    .is_some_and(|live| live.allocation.shares.iter().any(|share| outage.nodes.contains(share.node)))
            };
            let mut struck: Vec<JobId> = self.running.iter().map(|running| running.job).filter(is_struck).collect();
            // Heterogeneous jobs end whole (job_mgr.c of 22.05.8, `_het_job_on_node`; rec c1425).
            let siblings: Vec<_> = struck.iter().flat_map(|&id| self.running_siblings(id)).collect();
            struck.extend(siblings);
            struck.sort_unstable();
            struck.dedup();
            let mut alone = Vec::new();
            for id in struck {
                if self.live.get(id).is_some_and(|live| live.allocation.shares.len() == 1) {
                    alone.push(id);
                }
                let requeue = self.can_requeue(id);
                // Where another node of the job is still up, the answer of this one may come in time to count.
                let owner = self.live.get(id).filter(|live| requeue && live.allocation.exclusive_user);
                let lost = owner.map_or(&[][..], |live| &live.allocation.shares[..]);
                if lost.iter().all(|share| outage.nodes.contains(share.node)) {
                    for share in lost {
                        self.free.keeps_owner.insert(share.node);
                    }
                }
                if requeue {
                    self.note_lost(id, outage);
                }
                self.end_run(id, RunEnded::Others { state: JobState::NodeFail, requeue });
            }
            self.waits_no_more_for(&outage.nodes, &alone);
        }
        self.touch();
        self.reservations_look_soon();
    }

    /// A job is requeued as nodes of it went down; its GRES count as asked for all the same. O(nodes of the job).
    fn note_lost(&mut self, id: JobId, outage: &Outage) {
        let Some(live) = self.live.get(id).filter(|_| !self.scenario.policy.priority.weight_tres.is_empty()) else {
            return;
        };
        let shares = &live.allocation.shares;
        if shares.iter().all(|share| outage.nodes.contains(share.node)) {
            let memory_mb = shares.iter().map(|share| share.memory).sum();
            let (starts, cpus, nodes) = (live.starts, live.allocation.cpus(), shares.len() as u32);
            self.agenda.lost.insert(id, Lost { starts, cpus, nodes, memory_mb });
        }
    }

    /// What a job counts with in TRES factors that waits since all of its nodes went down. O(log jobs), O(1) where none did.
    pub(super) fn lost_with_its_nodes(&self, id: JobId) -> Option<Lost> {
        let lost = self.agenda.lost.get(&id)?;
        self.live.get(id).filter(|live| live.starts == lost.starts).map(|_| *lost)
    }

    /// Something else is set to happen to the machine.
    pub(super) fn plan_change(&mut self, time: i64, change: Change) {
        let index = self.agenda.changes.len() as u32;
        self.agenda.changes.push(change);
        self.events.push(time, Event::Calendar { index });
    }

    /// Whether an outage that is on ends what runs on the node. O(outages).
    pub(super) fn is_down(&self, node: NodeId) -> bool {
        let now = seconds(self.now);
        let is_on = |outage: &&Outage| outage.kind == OutageKind::Down && outage.start <= now && now <= outage.end;
        self.scenario.calendar.outages.iter().filter(is_on).any(|outage| outage.nodes.contains(node))
    }

    /// Nodes register again, those that no other outage keeps. O(nodes).
    fn nodes_return(&mut self, index: usize) {
        let mut any = false;
        for node in self.scenario.calendar.outages[index].nodes.iter() {
            let outages = &mut self.agenda.outages[node.index()];
            *outages = outages.saturating_sub(1);
            if *outages == 0 && self.scenario.cluster.nodes[node.index()].schedulable {
                self.up.insert(node);
                self.backfill.note_freed(node);
                any = true;
            }
        }
        if any {
            self.touch();
            self.timers.request_main(self.now);
            self.replace_later();
        }
    }
}
