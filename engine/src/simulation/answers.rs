//! How the nodes of a job whose run has ended answer that it has left them: until then they are COMPLETING.
//! Source: slurm-semantics 7.4; docs/FACTS.md, facts 52, 77, 83.

use super::ends::RunEnded;
use super::events::Event;
use super::jobs::Phase;
use super::{Controller, SECOND};
use crate::ids::{JobId, NodeId};
use crate::job::JobPart;
use crate::node_set::NodeSet;
use crate::outcome::JobState;
use crate::policy::SlurmVersion;

/// From a job's end to its nodes' answer, without an Epilog, where nothing is drawn [ms].
const COMPLETING_MS: i64 = 35;
/// The same where a step is signalled: the answer also asks for the main scheduler at once.
const KILLED_COMPLETING_MS: i64 = 130;
/// The same as drawn for one node: (thousandths, ms), straight lines between (recorded with `TraceJobs`: docs/FACTS.md, facts 83).
const ANSWERS: [(i64, i64); 9] =
    [(0, 14), (50, 21), (250, 24), (500, 29), (750, 37), (900, 47), (950, 54), (990, 92), (1000, 153)];
/// The same where a step is signalled.
const ANSWERS_TO_SIGNALS: [(i64, i64); 7] =
    [(0, 136), (50, 159), (250, 193), (500, 226), (750, 241), (950, 251), (1000, 283)];
/// How much later the nodes of a job answer, all of them, for each node but the first: up to ten of an agent's threads ask at once [ms].
const ANOTHER_NODE_MS: i64 = 6;
/// And for each node beyond these [ms].
const FURTHER_NODE_MS: i64 = 2;
/// So late nodes answer at most, but for their Epilog [ms].
const LATEST_ANSWER_MS: i64 = 60_000;
/// Threads of an agent (agent.c of 22.05.8, `AGENT_THREAD_COUNT`).
const AGENT_THREADS: i64 = 10;

impl Controller<'_> {
    /// The run of this job has ended like this, and it is queued again if it `returns`: its nodes will answer. When that asks for the
    /// main scheduler at once [ms].
    pub(super) fn nodes_will_answer(&mut self, id: JobId, how: RunEnded, returns: bool) -> Option<i64> {
        let live = self.live.get(id)?;
        let shares = &live.allocation.shares;
        let (n_nodes, first_node) = (shares.len() as i64, shares.first().map(|share| share.node));
        let epilog = i64::from(self.scenario.policy.epilog_seconds) * SECOND;
        // Whose step still runs when it is signalled answers later, and asks for the main scheduler at once (slurmd's req.c and
        // proc_req.c of 22.05.8), unless `defer`.
        // Of a heterogeneous job only the first component runs a script (rec aq-mix).
        let part = &self.scenario.workload.jobs[id.index()].name.part;
        let has_script = !matches!(part, JobPart::Component(component) if *component > 0);
        let is_signalled = how != RunEnded::Itself && has_script;
        let is_drawn = !self.scenario.policy.cost.is_ideal() && !self.timers.main_is_imposed();
        let draw = self.timers.answer_drawn(id.index(), live.starts);
        let drawn = |of: &[(i64, i64)], ms: i64| if is_drawn { quantile(of, draw) } else { ms };
        let others = n_nodes - 1;
        let threads = others.min(AGENT_THREADS);
        let spread = match is_drawn {
            true => threads * ANOTHER_NODE_MS + (others - threads) * FURTHER_NODE_MS,
            false if n_nodes > 64 => n_nodes * FURTHER_NODE_MS,
            false => 0,
        };
        let alone = self.timers.recorded_answer().unwrap_or_else(|| drawn(&ANSWERS, COMPLETING_MS));
        let signalled = drawn(&ANSWERS_TO_SIGNALS, KILLED_COMPLETING_MS);
        let min_interval = (self.scenario.policy.main.sched_min_interval_us / 1000) as i64;
        let mut recorded_struck = || self.timers.recorded_answer_to_signal(self.now, min_interval);
        let struck = is_signalled.then(|| recorded_struck().unwrap_or(signalled));
        let answer = struck.unwrap_or(alone) + epilog + spread;
        // A node's last job is in the queue again before slurmctld says that the node is down (job_mgr.c of 22.05.8,
        // `kill_running_job_by_node_name`; rec ax-pre).
        let is_down = matches!(how, RunEnded::Others { state: JobState::NodeFail, .. });
        let since = if is_down { self.now - SECOND } else { self.now };
        let recorded = self.timers.recorded_return(id.index(), since).filter(|_| returns);
        let answer = recorded.map_or(answer, |at| (at - self.now).max(0));
        if !is_down && let Some(last) = self.nodes_answer_as_recorded(id) {
            return is_signalled.then_some(last);
        }
        self.events.push(self.now + answer, Event::NodesFree { job: id });
        // Where no step of it runs a node answers at once (slurmd's req.c, `_rpc_terminate_job`; rec o-pre); the script runs on the first, and
        // is taken to run none elsewhere.
        let others = alone + epilog + spread;
        // If its script dies with its node, the others are not heard of before the last (rec ax-share).
        let is_lost = is_down && first_node.is_some_and(|node| self.is_down(node));
        if is_signalled && n_nodes > 1 && others < answer && !is_lost {
            self.events.push(self.now + others, Event::OtherNodesFree { job: id });
        }
        is_signalled.then_some(self.now + answer)
    }

    /// Where the log told each answer, the nodes answer then; a node that it does not name in its turn. The last answer's time, if all
    /// are told [ms]. O(nodes of the job × its answers).
    fn nodes_answer_as_recorded(&mut self, id: JobId) -> Option<i64> {
        let live = self.live.get(id)?;
        let mut nodes: Vec<NodeId> = live.allocation.shares.iter().map(|share| share.node).collect();
        let latest = self.now + LATEST_ANSWER_MS + i64::from(self.scenario.policy.epilog_seconds) * SECOND;
        // Later ones are of another run, which the log ends elsewhere.
        let told = self.timers.recorded_answers(id.index(), self.now, nodes.len())?;
        if told.last()?.0 > latest {
            return None;
        }
        let mut answers = Vec::new();
        for &(at, node) in told {
            answers.push((at, node));
            nodes.retain(|&other| Some(other) != node);
        }
        let mut unnamed = nodes.into_iter();
        let now = self.now;
        for answer in &mut answers {
            *answer = (answer.0.max(now), answer.1.or_else(|| unnamed.next()));
        }
        let (last, _) = answers.pop()?;
        for (at, node) in answers {
            let node = node?;
            self.events.push(at, Event::NodeFree { job: id, node });
        }
        self.events.push(last, Event::NodesFree { job: id });
        Some(last)
    }

    /// One node of a job that completes has answered, and others have not yet.
    pub(super) fn node_free(&mut self, id: JobId, node: NodeId) {
        let Some(live) = self.live.get_mut(id).filter(|live| live.phase == Phase::Completing) else { return };
        let n_shares = live.allocation.shares.len();
        live.allocation.shares.retain(|share| share.node != node);
        if live.allocation.shares.len() < n_shares {
            self.node_answers(node);
            self.touch();
        }
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
    /// `kill_running_job_by_node_name`; rec ax-share). Up to 23.02 nobody submits a job anew that is queued again after this run and loses
    /// the last node that it was to leave so (rec c1077), but for those who had this one node `alone`: it is eligible at once, and as old as
    /// it was. O(words); where one completes there, O(live jobs + their nodes).
    pub(super) fn waits_no_more_for(&mut self, nodes: &NodeSet, alone: &[JobId]) {
        if !self.completing.intersects(nodes) {
            return;
        }
        let completing = self.live.all().filter(|live| live.phase == Phase::Completing);
        let shares = completing.flat_map(|live| live.allocation.shares.iter().map(|share| (live.job, share.node)));
        let answers: Vec<(JobId, NodeId)> = shares.filter(|(_, node)| nodes.contains(*node)).collect();
        for (id, node) in answers {
            if let Some(live) = self.live.get_mut(id) {
                live.allocation.shares.retain(|share| share.node != node);
                let is_last = live.allocation.shares.is_empty() && live.returns && live.requeued_at.is_none();
                if is_last && self.scenario.policy.version < SlurmVersion::V23_11 && !alone.contains(&id) {
                    live.keeps_place = true;
                    self.events.push(self.now, Event::NodesFree { job: id });
                }
            }
            self.node_answers(node);
        }
    }

    /// A node has answered that a job has left it.
    pub(super) fn node_answers(&mut self, node: NodeId) {
        let count = &mut self.completing_jobs[node.index()];
        *count -= 1;
        if *count == 0 {
            self.completing.remove(node);
            self.backfill.note_freed(node);
        }
    }
}

/// The value at a draw in 0..1000, on straight lines between these points, which ascend. O(points).
fn quantile(points: &[(i64, i64)], draw: i64) -> i64 {
    let after = points.partition_point(|&(at, _)| at <= draw).min(points.len() - 1);
    let ((from, low), (to, high)) = (points[after - 1], points[after]);
    low + (high - low) * (draw - from) / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_lies_on_the_line_between_two_points() {
        let all: Vec<i64> = [0, 25, 50, 500, 999].map(|draw| quantile(&ANSWERS, draw)).to_vec();
        assert_eq!(all, [14, 17, 21, 29, 146]);
        assert_eq!(quantile(&ANSWERS_TO_SIGNALS, 0), 136);
    }
}
