//! On which nodes room is made, and what becomes of the victims. Source: slurm-semantics 7.1; slurm.conf(5) `GraceTime`.

use super::RoomOfArray;
use crate::ids::{JobId, NodeId, PartitionId, QosId};
use crate::node_set::NodeSet;
use crate::outcome::JobState;
use crate::policy::PreemptMode;
use crate::policy::SlurmVersion;
use crate::select::counted::holds_tasks;
use crate::select::free::Free;
use crate::select::shape::Shape;
use crate::simulation::ends::RunEnded;
use crate::simulation::events::Event;
use crate::simulation::jobs::{LiveJob, Phase};
use crate::simulation::{Controller, seconds};

/// What came of a try to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// No victims would make enough.
    None,
    /// Limits do not allow the job what it would get, by the group limit of a QOS, if it is one; nobody is struck (rec j-sock).
    Limited(Option<QosId>),
    /// Its victims are ending.
    Made,
    /// It would fit without anybody being struck, but for the memory of all CPUs charged: slurmctld goes on as if it started, finds that it got
    /// nothing, and leaves it with a start at second 0 and, if it is a task, a record of its own (node_scheduler.c of 22.05.8, `select_nodes`:
    /// "Select plugin failed to set job resources"; rec aq-sock).
    Unneeded,
}

impl Controller<'_> {
    /// Removes everybody that the job may preempt from a copy of what is free; gives them too. `None` if there are none
    /// on `usable`.
    pub(crate) fn without_victims(
        &mut self,
        id: JobId,
        partition: PartitionId,
        usable: &NodeSet,
    ) -> Option<Vec<JobId>> {
        self.preempt.as_ref()?;
        let victims = self.preemptable(id, partition);
        let mut preemption = self.preempt.take()?;
        preemption.free.copy_from(&self.free);
        let mut touched = false;
        for live in victims.iter().filter_map(|&victim| self.live.get(victim)) {
            preemption.free.give_back(&self.selector.geometry, &live.allocation);
            touched |= live.allocation.shares.iter().any(|share| usable.contains(share.node));
        }
        self.preempt = Some(preemption);
        touched.then_some(victims)
    }

    /// Everybody that the job may preempt in a partition, with all components. O(running × nodes of a job).
    pub(crate) fn preemptable(&self, id: JobId, partition: PartitionId) -> Vec<JobId> {
        let victims = self.victims_of(id, partition);
        victims.into_iter().flat_map(|victim| self.components_of(victim)).collect()
    }

    /// A job does not fit on `usable` now: tries to make room for it there. It has not started in any case; if room is
    /// being made its nodes are left in the selector; as how many CPUs it counts is what it would be charged of them. Nobody is struck while earlier victims of the job may still be
    /// ending, which takes `KillWait` and `MessageTimeout`.
    /// O(re-orderings × victims × selection).
    pub(crate) fn make_room(&mut self, id: JobId, partition: PartitionId, shape: &Shape, usable: &NodeSet) -> Room {
        if self.preempt.is_none() {
            return Room::None;
        }
        let mut victims = self.victims_of(id, partition);
        let Some(mut preemption) = self.preempt.take() else { return Room::None };
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let mut admitting = usable.clone();
        if shape.exclusive_user || !self.node_jobs.none_refuses() || self.free.any_keeps_owner() {
            // Nodes that are other users' now are out, though their jobs could be struck (rec v-pre); but for whole nodes, which come
            // back in (node_scheduler.c of 22.05.8, `_bit_or_cond`).
            self.free.keep_admitting(&mut admitting, user, shape.exclusive_user);
            let components = victims.iter().flat_map(|&victim| self.components_of(victim));
            let live = components.filter_map(|component| self.live.get(component));
            let whole = live.map(|live| &live.allocation).filter(|allocation| allocation.whole_nodes);
            let nodes = whole.flat_map(|allocation| &allocation.shares).map(|share| share.node);
            nodes.filter(|&node| usable.contains(node)).for_each(|node| admitting.insert(node));
        }
        let usable = &admitting;
        let chosen = match shape.counted.is_empty() {
            true => self.choose_victims(id, &mut victims, shape, usable, &mut preemption.free),
            false => self.choose_victims_by_part(id, victims, shape, usable, &mut preemption.free),
        };
        // Limits are looked at before anybody is struck.
        let mut held_by = None;
        let allowed = chosen.is_some() && {
            let allocation = self.selector.allocate(&preemption.free, shape);
            let billing = self.billing(partition, &allocation);
            let mut counts = self.allocated_counts(id, &allocation, billing);
            // Victims are chosen by a test of when and where, which leaves the job no allocation: that its groups use some of the nodes
            // already counts for those it names only (acct_policy.c of 22.05.8, `_get_unique_job_node_cnt`; rec as-tier); from 24.11.4 on the
            // test leaves its nodes where it names none (`node_bitmap_preempt`; rec w2078-25-05).
            if self.scenario.policy.version < SlurmVersion::V24_11 || !shape.required.is_empty() {
                counts.nodes.clone_from(&shape.required);
            }
            let allows = self.limits_allow_counts(id, partition, &counts);
            if !allows {
                held_by = self.qos_in_the_way(id, partition, &counts);
            }
            allows
        };
        let charged = chosen.as_ref().filter(|_| shape.size_varies || shape.size_grows);
        let charged = charged.and_then(|_| self.selector.charged_cpus(&preemption.free, shape));
        self.preempt = Some(preemption);
        self.size_becomes(id, charged);
        let Some(victims) = chosen else { return Room::None };
        if !allowed {
            return Room::Limited(held_by);
        }
        if victims.is_empty() {
            // The task's own record is the one that knows of earlier victims.
            let since = self.room_made(id);
            self.age_at_start(id);
            if let Some(live) = self.live.get_mut(id) {
                live.preempting_since = since;
            }
            self.timers.changed(self.now);
            return Room::Unneeded;
        }
        let now = seconds(self.now);
        let policy = &self.scenario.policy;
        let ending = i64::from(policy.kill_wait) + i64::from(policy.message_timeout);
        let cycle = self.cycle_number();
        // Backfill goes on with an array's next task as if no room had been made for it in this cycle (backfill.c of 22.05.8, `next_task`).
        let goes_on = self.has_common_record(id) && self.room_made_in_cycle(self.job(id).name.id) > 0;
        if goes_on || self.room_made(id).is_none_or(|since| now >= since + ending) {
            self.note_room(id, cycle);
            for victim in victims {
                for component in self.components_of(victim) {
                    self.preempt(component);
                }
            }
        }
        Room::Made
    }

    /// Whether the job is a task in its array's common record.
    fn has_common_record(&self, id: JobId) -> bool {
        self.live.get(id).is_some_and(|live| live.age.is_none())
    }

    /// When room was last made for a job, or for its array as long as it has no record of its own [s]. O(log arrays).
    fn room_made(&self, id: JobId) -> Option<i64> {
        let live = self.live.get(id)?;
        match live.age {
            Some(_) => live.preempting_since,
            None => self.preempt.as_ref()?.arrays.get(&self.job(id).name.id)?.since,
        }
    }

    /// How often room was made for the tasks of an array in this cycle. O(log arrays).
    pub(crate) fn room_made_in_cycle(&self, array: u64) -> u32 {
        let room = self.preempt.as_ref().and_then(|preemption| preemption.arrays.get(&array));
        room.filter(|room| room.cycle == self.cycle_number()).map_or(0, |room| room.times)
    }

    /// Notes that room is made for a job now.
    fn note_room(&mut self, id: JobId, cycle: u64) {
        let (now, array) = (seconds(self.now), self.job(id).name.id);
        let times = self.room_made_in_cycle(array) + 1;
        let Some(live) = self.live.get_mut(id) else { return };
        match (live.age, &mut self.preempt) {
            (None, Some(preemption)) => {
                preemption.arrays.insert(array, RoomOfArray { since: Some(now), cycle, times });
            }
            _ => (live.preempting_since, live.preempting_in) = (Some(now), Some(cycle)),
        }
    }

    /// Whether room was made for the job, or for the array in whose record it is, in this cycle, so that its records in other partitions
    /// are passed over.
    pub(crate) fn made_room_in_cycle(&self, id: JobId) -> bool {
        self.preempt.is_some()
            && match self.has_common_record(id) {
                true => self.room_made_in_cycle(self.job(id).name.id) > 0,
                false => self.live.get(id).is_some_and(|live| live.preempting_in == Some(self.cycle_number())),
            }
    }

    /// The number of the scheduling cycle that is running.
    fn cycle_number(&self) -> u64 {
        self.counters.main_cycles + self.counters.backfill_cycles
    }

    /// Who has to go so that the job fits on `usable`; `free` is left without them, and the candidates in the order of the last search.
    fn choose_victims(
        &mut self,
        id: JobId,
        candidates: &mut Vec<JobId>,
        shape: &Shape,
        usable: &NodeSet,
        free: &mut Free,
    ) -> Option<Vec<JobId>> {
        let user = self.scenario.workload.jobs[id.index()].user.0;
        if self.scenario.policy.select.linear {
            return self.choose_victims_linear(candidates, (shape, user), usable, free);
        }
        let policy = &self.scenario.policy.preempt;
        let mut reordered = 0;
        loop {
            let last = self.remove_until_it_fits(candidates, shape, user, usable, free)?;
            if reordered > policy.reorder_count || candidates.len() <= reordered as usize + 1 {
                let needed = candidates[..=last].iter().filter(|&&victim| self.nodes_chosen_of(victim) > 0);
                return Some(needed.copied().collect());
            }
            reordered += 1;
            if policy.strict_order {
                candidates[..=last].rotate_right(1);
            } else {
                // The last one needed first, then those removed before it by how much of them is used.
                let used: Vec<usize> = candidates
                    .iter()
                    .enumerate()
                    .map(|(position, &victim)| match position.cmp(&last) {
                        std::cmp::Ordering::Less => self.nodes_chosen_of(victim),
                        std::cmp::Ordering::Equal => usize::MAX,
                        std::cmp::Ordering::Greater => 0,
                    })
                    .collect();
                let mut order: Vec<usize> = (0..candidates.len()).collect();
                order.sort_by_key(|&position| std::cmp::Reverse(used[position]));
                *candidates = order.into_iter().map(|position| candidates[position]).collect();
            }
        }
    }

    /// The same where a constraint counts nodes: nodes of each part are found first, one part after the other, and then who has to go for all of
    /// them (node_scheduler.c of 22.05.8, `_get_req_features`; rec c1309). O(parts × as `choose_victims`).
    fn choose_victims_by_part(
        &mut self,
        id: JobId,
        mut candidates: Vec<JobId>,
        shape: &Shape,
        usable: &NodeSet,
        free: &mut Free,
    ) -> Option<Vec<JobId>> {
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let mut found: Vec<NodeId> = Vec::new();
        for (nodes, count) in &shape.counted {
            let mut of_part = usable.clone();
            of_part.intersect(nodes);
            found.iter().for_each(|&node| of_part.remove(node));
            let part = shape.part_of_start(*count);
            if !self.selector.fits(&self.free, &part, user, &of_part) {
                self.choose_victims(id, &mut candidates, &part, &of_part, free)?;
            }
            if shape.parts_hold_tasks && !holds_tasks(shape, &self.selector.chosen) {
                return None;
            }
            found.extend(self.selector.chosen.iter().map(|offer| offer.node));
        }
        let whole = shape.with_nodes_of_parts(found.into_iter());
        if whole.wanted_nodes > whole.max_nodes {
            return None;
        }
        self.choose_victims(id, &mut candidates, &whole, usable, free)
    }

    /// As [`Self::choose_victims`] with select/linear: once the job fits the candidates are ordered anew, the last one needed first, then those before it by how
    /// many of their nodes could serve when they were gone; and all are struck, needed or not, that have such nodes and hold chosen ones
    /// (select_linear.c of 22.05.8, `_run_now`). O(victims × selection).
    fn choose_victims_linear(
        &mut self,
        in_order: &mut Vec<JobId>,
        (shape, user): (&Shape, u32),
        usable: &NodeSet,
        free: &mut Free,
    ) -> Option<Vec<JobId>> {
        let mut candidates: Vec<(usize, JobId)> = in_order.iter().map(|&victim| (0, victim)).collect();
        for is_last in [candidates.len() == 1, true] {
            free.copy_from(&self.free);
            let mut last = None;
            for (position, (serving, victim)) in candidates.iter_mut().enumerate() {
                let components = self.components_of(*victim);
                let live: Vec<_> = components.into_iter().filter_map(|component| self.live.get(component)).collect();
                for live in &live {
                    free.give_back(&self.selector.geometry, &live.allocation);
                }
                *serving = 0;
                for live in &live {
                    *serving += self.selector.serving_nodes_of(free, (shape, user), usable, &live.allocation);
                }
                let matters = |live: &&LiveJob| live.allocation.shares.iter().any(|share| usable.contains(share.node));
                if live.iter().any(matters) && self.selector.would_fit(free, shape, user, usable) {
                    last = Some(position);
                    break;
                }
            }
            let last = last?;
            if is_last {
                break;
            }
            candidates[last].0 = usize::MAX;
            candidates[last + 1..].iter_mut().for_each(|behind| behind.0 = 0);
            candidates.sort_by_key(|&(serving, _)| std::cmp::Reverse(serving));
            *in_order = candidates.iter().map(|&(_, victim)| victim).collect();
        }
        let is_struck = |&(serving, victim): &(usize, JobId)| serving > 0 && self.nodes_chosen_of(victim) > 0;
        Some(candidates.into_iter().filter(is_struck).map(|(_, victim)| victim).collect())
    }

    /// Takes candidates away one by one; the position of the one after which the job fits.
    fn remove_until_it_fits(
        &mut self,
        candidates: &[JobId],
        shape: &Shape,
        user: u32,
        usable: &NodeSet,
        free: &mut Free,
    ) -> Option<usize> {
        free.copy_from(&self.free);
        for (position, &victim) in candidates.iter().enumerate() {
            let mut matters = false;
            for live in self.components_of(victim).into_iter().filter_map(|component| self.live.get(component)) {
                free.give_back(&self.selector.geometry, &live.allocation);
                matters |= live.allocation.shares.iter().any(|share| usable.contains(share.node));
            }
            if matters && self.selector.would_fit(free, shape, user, usable) {
                return Some(position);
            }
        }
        None
    }

    /// How many of the nodes last chosen a running job holds, with all of its components.
    fn nodes_chosen_of(&self, victim: JobId) -> usize {
        let of_component = |component: JobId| {
            let shares = self.live.get(component).map_or(&[][..], |live| &live.allocation.shares);
            let holds = |node| shares.binary_search_by_key(&node, |share| share.node).is_ok();
            self.selector.chosen.iter().filter(|offer| holds(offer.node)).count()
        };
        self.components_of(victim).into_iter().map(of_component).sum()
    }

    /// Strikes a victim: at once, or by the time-limit scan after its grace time; if that is over and the scan has not come yet, at once
    /// (rec n-tier).
    fn preempt(&mut self, victim: JobId) {
        let Some(live) = self.live.get(victim).filter(|live| live.phase == Phase::Running) else { return };
        if live.warned {
            if seconds(self.now) >= live.expected_end {
                self.end_preempted(victim);
            }
            return;
        }
        let grace = i64::from(self.grace_time(live));
        if grace == 0 {
            self.end_preempted(victim);
            return;
        }
        let (before, starts) = (live.expected_end, live.starts);
        let end = before.min(seconds(self.now) + grace);
        let moment = live.moment();
        self.running.remove(moment);
        let moment = (end, moment.1);
        let (node, ranges) = self.place_of(victim);
        self.running.insert(moment, victim, node, ranges);
        self.node_jobs.remove(victim, &live.allocation);
        self.node_jobs.insert(&self.selector.geometry, moment, victim, &live.allocation);
        let at = self.timers.scan_after(end).max(self.now);
        self.events.push(at, Event::GraceOver { job: victim, starts });
        if let Some(live) = self.live.get_mut(victim) {
            live.warned = true;
            live.expected_end = end;
        }
        self.touch();
    }

    /// The scan finds that a victim's grace time is over; void if that run has ended before.
    pub(crate) fn grace_over(&mut self, victim: JobId, starts: u16) {
        if self.is_running(victim, starts) {
            self.end_preempted(victim);
        }
    }

    fn end_preempted(&mut self, victim: JobId) {
        let mode = self.live.get(victim).map(|live| self.preempt_mode(live));
        let requeue = mode == Some(PreemptMode::Requeue) && self.can_requeue(victim);
        self.counters.preempted += 1;
        self.end_run(victim, RunEnded::Others { state: JobState::Preempted, requeue });
    }
}
