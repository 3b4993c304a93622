//! How a job's run ends: by itself, by its limit or by somebody; and how its nodes become free.
//! Source: slurm-semantics 4.4, 7.1, 7.4, 7.6.

use super::events::Event;
use super::jobs::Phase;
use super::{Controller, SECOND, seconds};
use crate::ids::{JobId, NodeId};
use crate::job::JobPart;
use crate::node_set::NodeSet;
use crate::outcome::JobState;

/// From a job's end to its nodes' answer, without an Epilog [ms] (recordings need 20 to 50 ms: docs/FIDELITY.md, facts 52).
const COMPLETING_MS: i64 = 35;
/// The same where a step is signalled (observed 100–150 ms after a kill): the answer also asks for the main scheduler at once.
const KILLED_COMPLETING_MS: i64 = 130;

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnded {
    /// The job itself.
    Itself,
    /// The time-limit scan.
    TimeLimit,
    /// Somebody else: this is its state, unless it is queued again.
    Others {
        /// The state word.
        state: JobState,
        /// It goes back to the queue.
        requeue: bool,
    },
}

impl Controller<'_> {
    /// Whether this start's run is still going on.
    pub(crate) fn is_running(&self, id: JobId, starts: u16) -> bool {
        self.live.get(id).is_some_and(|live| live.phase == Phase::Running && live.starts == starts)
    }

    /// The event of a run's end; void if that run has ended before.
    pub(super) fn run_ends(&mut self, id: JobId, killed: bool, starts: u16) {
        if self.is_running(id, starts) {
            // The scan looks at preempted jobs first (job_mgr.c of 22.05.8, `job_time_limit`), who have until their grace is over.
            if let Some(live) = self.live.get(id).filter(|live| killed && live.warned) {
                if live.expected_end <= seconds(self.now) {
                    self.grace_over(id, starts);
                }
                return;
            }
            self.end_run(id, if killed { RunEnded::TimeLimit } else { RunEnded::Itself });
        }
    }

    /// A running job ends now: its resources are free at once, its nodes when they have answered.
    pub(crate) fn end_run(&mut self, id: JobId, how: RunEnded) {
        let now = seconds(self.now);
        let job = &self.scenario.workload.jobs[id.index()];
        let succeeded = job.succeeded;
        let association = job.association;
        self.live.set_phase(id, Phase::Completing);
        let Some(live) = self.live.get_mut(id) else { return };
        match how {
            // The recorded requeue has happened; the next run is the next recorded one.
            RunEnded::Itself => live.run += u16::from(live.returns),
            // Whoever is queued again when it is done is so after this end, too.
            RunEnded::TimeLimit => {
                live.returns = live.requeued_at.is_some();
                live.run += u16::from(live.returns);
            }
            RunEnded::Others { requeue, .. } => (live.returns, live.requeued_at) = (requeue, None),
        }
        let (returns, is_done) = (live.returns, live.requeued_at.is_some());
        let (start, billing, moment) = (live.start, live.billing, live.moment());
        let limit_end = start + live.limit_seconds;
        let allocation = std::mem::take(&mut live.allocation);
        self.running.remove(moment);
        self.node_jobs.remove(id, &allocation);
        self.free.give_back(&self.selector.geometry, &allocation);
        for share in &allocation.shares {
            self.completing_jobs[share.node.index()] += 1;
            self.completing.insert(share.node);
        }
        let n_nodes = allocation.shares.len() as i64;
        let first_node = allocation.shares.first().map(|share| share.node);
        if let Some(live) = self.live.get_mut(id) {
            live.allocation = allocation;
        }
        self.array_task_ended(id);
        let slice = (now - start.max(self.timers.last_priority_step)).max(0);
        // The slice since the last step is charged only where limits are enforced.
        if self.scenario.policy.enforce.limits && self.scenario.policy.priority.multifactor {
            let charge = self.usage.charge_of(slice, billing * self.usage_factor(id));
            self.usage.add(&self.scenario.associations, association, charge);
        }
        let charged_seconds = self.usage.charge_of(slice, self.usage_factor(id));
        self.limits_end(id, slice, charged_seconds, limit_end - (now - slice));
        self.records[id.index()].end = Some(now);
        if !returns || is_done {
            let state = match (how, now > limit_end, succeeded) {
                (RunEnded::Others { state, .. }, ..) => state,
                (RunEnded::TimeLimit, ..) | (_, true, _) => JobState::Timeout,
                (_, false, true) => JobState::Completed,
                (_, false, false) => JobState::Failed,
            };
            if is_done {
                self.records[id.index()].state = state;
                self.limits_left(id);
            } else {
                self.close(id, state);
            }
        }
        let epilog = i64::from(self.scenario.policy.epilog_seconds) * SECOND;
        let spread = if n_nodes > 64 { 2 * n_nodes } else { 0 };
        // Whose step still runs when it is signalled answers later, and asks for the main scheduler at once (slurmd's req.c and
        // proc_req.c of 22.05.8), unless `defer`.
        // Of a heterogeneous job only the first component runs a script (rec aq-mix).
        let has_script = !matches!(job.name.part, JobPart::Component(component) if component > 0);
        let is_signalled = how != RunEnded::Itself && has_script;
        let alone = self.timers.recorded_answer().unwrap_or(COMPLETING_MS);
        let min_interval = (self.scenario.policy.main.sched_min_interval_us / 1000) as i64;
        let mut recorded_struck = || self.timers.recorded_answer_to_signal(self.now, min_interval);
        let struck = is_signalled.then(|| recorded_struck().unwrap_or(KILLED_COMPLETING_MS));
        let answer = struck.unwrap_or(alone) + epilog + spread;
        // A node's last job is in the queue again before slurmctld says that the node is down (job_mgr.c of 22.05.8,
        // `kill_running_job_by_node_name`; rec ax-pre).
        let is_down = matches!(how, RunEnded::Others { state: JobState::NodeFail, .. });
        let since = if is_down { self.now - SECOND } else { self.now };
        let recorded = self.timers.recorded_return(id.index(), since).filter(|_| returns && !is_done);
        let answer = recorded.map_or(answer, |at| (at - self.now).max(0));
        self.events.push(self.now + answer, Event::NodesFree { job: id });
        // Where no step of it runs a node answers at once (slurmd's req.c, `_rpc_terminate_job`; rec o-pre); the script runs on the first, and
        // is taken to run none elsewhere.
        let others = alone + epilog + spread;
        // If its script dies with its node, the others are not heard of before the last (rec ax-share).
        let is_lost = matches!(how, RunEnded::Others { state: JobState::NodeFail, .. })
            && first_node.is_some_and(|node| self.is_down(node));
        if is_signalled && n_nodes > 1 && others < answer && !is_lost {
            self.events.push(self.now + others, Event::OtherNodesFree { job: id });
        }
        self.let_go(id);
        self.touch();
        if is_signalled && !self.scenario.policy.main.defer {
            self.events.push(self.now + answer, Event::MainRequested);
        }
    }

    /// `UsageFactor` of the job's QOS.
    pub(crate) fn usage_factor(&self, id: JobId) -> f64 {
        self.scenario.qos[self.job(id).qos.index()].usage_factor.unwrap_or(1.0)
    }

    /// The nodes of a job where no step ran have answered; the first has not yet.
    pub(super) fn other_nodes_free(&mut self, id: JobId) {
        let Some(live) = self.live.get_mut(id).filter(|live| live.phase == Phase::Completing) else { return };
        let shares = live.allocation.shares.split_off(live.allocation.shares.len().min(1));
        for share in &shares {
            self.node_answers(share.node);
        }
        self.touch();
    }

    /// Nodes are down: no job that completes waits for their answers (node_scheduler.c and job_mgr.c of 22.05.8, `deallocate_nodes`,
    /// `kill_running_job_by_node_name`; rec ax-share). O(words); where one completes there, O(live jobs + their nodes).
    pub(super) fn waits_no_more_for(&mut self, nodes: &NodeSet) {
        if !self.completing.intersects(nodes) {
            return;
        }
        let completing = self.live.all().filter(|live| live.phase == Phase::Completing);
        let shares = completing.flat_map(|live| live.allocation.shares.iter().map(|share| (live.job, share.node)));
        let answers: Vec<(JobId, NodeId)> = shares.filter(|(_, node)| nodes.contains(*node)).collect();
        for (id, node) in answers {
            if let Some(live) = self.live.get_mut(id) {
                live.allocation.shares.retain(|share| share.node != node);
            }
            self.node_answers(node);
        }
    }

    /// A node has answered that a job has left it.
    fn node_answers(&mut self, node: NodeId) {
        let count = &mut self.completing_jobs[node.index()];
        *count -= 1;
        if *count == 0 {
            self.completing.remove(node);
            self.backfill.note_freed(node);
        }
    }

    /// The last node of a job has answered: it is gone, or back in the queue.
    pub(super) fn nodes_free(&mut self, id: JobId) {
        let Some(live) = self.live.get_mut(id) else { return };
        let (returns, requeued_at) = (live.returns, live.requeued_at);
        let allocation = std::mem::take(&mut live.allocation);
        self.return_licenses(id);
        for share in &allocation.shares {
            self.node_answers(share.node);
        }
        if let Some(at) = requeued_at {
            self.live.set_phase(id, Phase::Done);
            let at = self.timers.recorded_return(id.index(), self.now).unwrap_or(at);
            self.events.push(at.max(self.now), Event::ComesBack { job: id });
        } else if returns {
            self.come_back(id);
        } else {
            self.live.remove(id);
            self.forget_waiting(id);
        }
        self.touch();
        if self.scenario.policy.epilog && !self.scenario.policy.main.defer {
            self.events.push(self.now, Event::MainRequested);
        } else {
            self.timers.request_main(self.now);
        }
    }

    /// The owner took the job back, if it had not started.
    pub(super) fn cancel_pending(&mut self, id: JobId) {
        self.leave_queue(id, JobState::Cancelled);
    }

    /// A job that has not started leaves the queue for good.
    pub(super) fn leave_queue(&mut self, id: JobId, state: JobState) {
        let record = self.records[id.index()];
        if record.start.is_some() || record.end.is_some() {
            return;
        }
        self.leaves_queue(id);
        self.live.remove(id);
        self.forget_waiting(id);
        self.records[id.index()].end = Some(seconds(self.now));
        self.close(id, state);
        self.touch();
    }
}
