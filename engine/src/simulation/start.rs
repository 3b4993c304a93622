//! A job starts: what it holds, what it is billed, and when its run will end. Source: slurm-semantics 4.4, 7.4, 10.3.

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, SECOND, seconds};
use crate::ablation::{Rule, is_off};
use crate::cluster::Tres;
use crate::ids::{JobId, NodeId, PartitionId};
use crate::moments::RecordedRun;
use crate::outcome::{JobState, StartedBy};
use crate::sched::queue::Record;
use crate::select::allocation::Allocation;

impl Controller<'_> {
    /// Commits an allocation: the job runs from this second.
    pub(crate) fn start(&mut self, record: Record, allocation: Allocation, by: StartedBy) {
        let (id, partition) = (record.job, record.partition);
        if let Some(live) = self.live.get_mut(id) {
            live.priority = record.priority();
        }
        if self.common_record(id).is_none() {
            self.note_lack(id, false);
        }
        self.keep_priorities(record);
        if let Some(array) = self.array_of_varying_size(id) {
            // What stays of the record counts as what has left it.
            self.array_counts_as(array, allocation.cpus());
            self.sizes_version += 1;
        }
        // What stays of an array's record is held back by no limit, either.
        self.note_limit(id, false);
        self.settle_limit(id, by);
        self.note_start_in(id, partition);
        self.records[id.index()].started_by = Some(by);
        self.run_since(id, partition, allocation, seconds(self.now));
        match by {
            StartedBy::Backfill => self.counters.backfill_started += 1,
            StartedBy::Main | StartedBy::Submit => self.counters.main_started += 1,
        }
    }

    /// The job holds an allocation and runs since second `start`: now, unless the simulation began with it.
    pub(super) fn run_since(&mut self, id: JobId, partition: PartitionId, mut allocation: Allocation, start: i64) {
        allocation.user = self.job(id).user.0;
        let run = self.current_run(id);
        // It is reckoned once, for the first run (job_mgr.c of 22.05.8, `calc_job_billable_tres`; rec j-topo, h-pre), of components before.
        let before = self.live.get(id).filter(|live| live.starts > 0 || live.billing != 0.0).map(|live| live.billing);
        let billing = before.unwrap_or_else(|| self.billing(partition, &allocation));
        if !self.free.has_had_jobs(partition) {
            self.node_jobs.all_change();
            self.future.note_job_of(partition);
        }
        if let Some(seat) = &mut allocation.seat {
            seat.age = self.age_at_start(id);
        }
        self.free.take(&self.selector.geometry, &allocation);
        let asked = &self.scenario.workload.requests[self.job(id).request.index()].partitions;
        let asked = asked.iter().position(|&asked| asked == partition).unwrap_or(0);
        let record = &mut self.records[id.index()];
        record.start = Some(start);
        record.state = JobState::Running;
        record.partition = asked as u16;
        record.cpus = allocation.cpus();
        record.n_nodes = allocation.shares.len() as u32;
        record.ranges_begin = self.node_ranges.len() as u32;
        for share in &allocation.shares {
            match self.node_ranges[record.ranges_begin as usize..].last_mut() {
                Some(range) if range.1 + 1 == share.node.0 => range.1 = share.node.0,
                _ => self.node_ranges.push((share.node.0, share.node.0)),
            }
        }
        record.n_ranges = self.node_ranges.len() as u32 - record.ranges_begin;
        self.leaves_queue(id);
        self.live.set_phase(id, Phase::Running);
        let Some(live) = self.live.get_mut(id) else { return };
        live.starts = live.starts.wrapping_add(1);
        live.returns = run.returns;
        live.warned = false;
        live.preempting_since = None;
        live.start = start;
        let limit_end = start + live.limit_seconds;
        live.expected_end = if is_off(Rule::LimitsInPlans) { start + i64::from(run.seconds) } else { limit_end };
        live.partition = partition;
        live.billing = billing;
        live.allocation = allocation;
        let (end, (node, ranges)) = (live.expected_end, self.place_of(id));
        let moment = (end, self.age_at_start(id));
        self.running.insert(moment, id, node, ranges);
        let Some(live) = self.live.get(id) else { return };
        self.node_jobs.insert(&self.selector.geometry, moment, id, &live.allocation);
        let (starts, limit_seconds) = (live.starts, live.limit_seconds);
        let behind = (seconds(self.now) - start) * SECOND;
        let over = self.over_time_seconds(partition).map(|over| limit_end + over);
        let kill = over.filter(|_| !is_off(Rule::TimeLimitKills)).map(|over| self.timers.scan_after(over));
        let over_with = self.reservation_kill(id);
        let recurs = over_with.is_some() && self.reservation_recurs(id);
        let kill = kill.into_iter().chain(over_with.filter(|_| !recurs)).min();
        // With a ResvOverRun it has moved on by then.
        let may_move_on = recurs && self.scenario.policy.reservation_over_run == Some(0);
        let is_open = |recorded: &RecordedRun| recorded.length == RecordedRun::OPEN;
        // A requeue that the trace tells of comes when it says; nor does a run go on for ever.
        let recorded = self.timers.recorded_run(id.index(), starts);
        let recorded = recorded.filter(|recorded| !is_open(recorded) || (kill.is_some() && !run.returns));
        let (run, requeued_at) = self.ends_before_requeue(id, run, (start, kill), recorded);
        let natural = match is_off(Rule::EarlyEnds) {
            true => limit_end * SECOND,
            false => {
                let drawn = || self.run_ms(id, run, limit_seconds, behind);
                self.now - behind + recorded.map_or_else(drawn, |recorded| recorded.length)
            }
        };
        if let Some(live) = self.live.get_mut(id) {
            live.requeued_at = requeued_at;
        }
        // Who ends by itself in the second after its limit is TIMEOUT as well (job_mgr.c of 22.05.8, `_job_complete`); who was preempted then would
        // have run on (rec c1387).
        let by_itself = self.job(id).ends == JobState::Completed
            && over.is_some_and(|over| (0..=1).contains(&(start + i64::from(run.seconds) - over)));
        let unbounded = run.is_bound && !by_itself;
        let kill = kill.filter(|_| recorded.as_ref().is_none_or(is_open));
        let (end, killed) = match kill {
            Some(kill) if unbounded || kill < natural => (kill, true),
            // A run that comes back does so, whoever ended it.
            _ => (
                natural,
                recorded.is_some_and(|recorded| recorded.is_killed && (!run.returns || requeued_at.is_some())),
            ),
        };
        self.events.push(end.max(self.now), Event::RunEnds { job: id, killed, starts });
        if let Some(over) = over_with.filter(|_| may_move_on && recorded.as_ref().is_none_or(is_open)) {
            self.events.push(over.max(self.now), Event::ReservationOver { job: id, starts });
        }
        self.touch();
        self.array_task_started(id);
        self.limits_start(id);
        self.take_licenses(id);
    }

    /// The first node of a job that has started and, if it has several, where its node ranges stand.
    pub(crate) fn place_of(&self, id: JobId) -> (NodeId, Option<(u32, u32)>) {
        let record = &self.records[id.index()];
        let first = self.node_ranges.get(record.ranges_begin as usize).map_or(0, |range| range.0);
        (NodeId(first), (record.n_nodes > 1).then_some((record.ranges_begin, record.n_ranges)))
    }

    /// Billing units of an allocation. Source: slurm-semantics 4.4.
    pub(crate) fn billing(&self, partition: PartitionId, allocation: &Allocation) -> f64 {
        let n_gres = self.selector.geometry.n_gres.max(1);
        self.weighted_billing(partition, |tres: Tres| match tres {
            Tres::Cpu => f64::from(allocation.cpus()),
            Tres::Memory => allocation.shares.iter().map(|share| share.memory as f64).sum(),
            Tres::Node => allocation.shares.len() as f64,
            Tres::Gres(gres) => {
                allocation.gres.iter().skip(gres.index()).step_by(n_gres).map(|&count| f64::from(count)).sum()
            }
            Tres::Billing | Tres::License(_) => 0.0,
        })
    }

    /// Billing units of so much of each resource: the CPUs, where the partition has no weights.
    pub(crate) fn weighted_billing(&self, partition: PartitionId, count: impl Fn(Tres) -> f64) -> f64 {
        let weights = &self.scenario.cluster.partitions[partition.index()].billing_weights;
        if weights.is_empty() {
            return count(Tres::Cpu);
        }
        let weighted = |(tres, weight): &(Tres, f64)| weight * count(*tres);
        let is_gres = |(tres, _): &&(Tres, f64)| matches!(tres, Tres::Gres(_));
        let policy = &self.scenario.policy.priority;
        if policy.max_tres_gres {
            let gres: f64 = weights.iter().filter(is_gres).map(weighted).sum();
            return gres + weights.iter().filter(|weight| !is_gres(weight)).map(weighted).fold(0.0, f64::max);
        }
        if policy.max_tres {
            weights.iter().map(weighted).fold(0.0, f64::max)
        } else {
            weights.iter().map(weighted).sum()
        }
    }
}
