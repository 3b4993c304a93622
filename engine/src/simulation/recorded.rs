//! What the log of a recorded controller tells, for a simulation at its moments ([`crate::moments`]).

use super::seconds;
use super::timers::Timers;
use crate::ids::NodeId;
use crate::moments::RecordedRun;

/// After a signal nodes answer so late [ms] (docs/FACTS.md, facts 52 and 58).
const ANSWERS_TO_SIGNALS: std::ops::RangeInclusive<i64> = 50..=450;
/// Jobs of a node that are struck together answer so long one after the other [ms].
const ANSWERS_APART_MS: i64 = 30;
/// A repeated run ends at most so long after the recorded one, as its start is a little later [ms].
const ENDS_APART_MS: i64 = 50;
/// A run that waited for `sched_min_interval` comes so long after it at most: what the run before it took [ms].
const MERGED_RUN_MS: i64 = 50;

impl Timers {
    /// The recorded run of a job that starts for the so manieth time; if others ended it, it has no end of its own.
    pub(crate) fn recorded_run(&self, job: usize, starts: u16) -> Option<RecordedRun> {
        let runs = self.moments.runs.get(job)?;
        let of_start = runs.get(usize::from(starts.max(1)) - 1).or(runs.last().filter(|run| run.is_some()))?;
        Some(of_start.unwrap_or(RecordedRun { length: RecordedRun::OPEN, is_killed: false }))
    }

    /// How long nodes take to answer when a job has ended, as far as the recording is said to tell [ms].
    pub(crate) fn recorded_answer(&self) -> Option<i64> {
        self.moments.answer
    }

    /// The recorded answers of the nodes of a job that leaves them at `now`, by time: all `n_nodes`, or none [ms]. O(log answers).
    pub(crate) fn recorded_answers(&self, job: usize, now: i64, n_nodes: usize) -> Option<&[(i64, Option<NodeId>)]> {
        let of_job = self.moments.answers.get(job)?;
        let first = of_job.partition_point(|&(at, _)| at < now - ENDS_APART_MS);
        of_job.get(first..first + n_nodes)
    }

    /// How long nodes took to answer to a signal at `now` [ms]: their answer asks for the main scheduler, whose runs are recorded.
    /// It asks for one run (proc_req.c of 22.05.8, `_slurm_rpc_epilog_complete`), so of those struck together each has the next one; where
    /// there is no other, they had answered before it, or, if another came as soon as `min_interval` allows, after it (`_sched_agent`).
    pub(crate) fn recorded_answer_to_signal(&mut self, now: i64, min_interval: i64) -> Option<i64> {
        let runs = &self.moments.main;
        let begin = self.next_main.max(self.next_answer);
        let mut near = (begin..runs.len())
            .map(|run| (run, runs[run].0 - now))
            .take_while(|(_, after)| after <= ANSWERS_TO_SIGNALS.end());
        if let Some((run, after)) = near.find(|(_, after)| ANSWERS_TO_SIGNALS.contains(after)) {
            self.next_answer = run + 1;
            return Some(after);
        }
        let at = runs.get(self.next_answer.checked_sub(1)?)?.0;
        if !ANSWERS_TO_SIGNALS.contains(&(at - now)) {
            return None;
        }
        let merged = at + min_interval..=at + min_interval + MERGED_RUN_MS;
        let others_ask = min_interval > 0 && runs.get(self.next_answer).is_some_and(|run| merged.contains(&run.0));
        Some(at - now + if others_ask { ANSWERS_APART_MS } else { 0 })
    }

    /// When a reservation is recorded to have been created [Unix s].
    pub(crate) fn recorded_creation(&self, reservation: &str) -> Option<i64> {
        self.moments.reservations.get(reservation).map(|&at| seconds(at))
    }

    /// When a node is recorded to have gone down in this second [Unix s], and to have come back [ms].
    pub(crate) fn recorded_outage(&self, node: &str, start: i64) -> Option<(i64, Option<i64>)> {
        self.moments.outages.get(node)?.iter().copied().find(|outage| seconds(outage.0) == start)
    }

    /// When a job was back in the queue that leaves its nodes at `now` [ms].
    pub(crate) fn recorded_return(&self, job: usize, now: i64) -> Option<i64> {
        self.moments.returns.get(job)?.iter().copied().find(|&at| at >= now)
    }

    /// How long the recorded cycle of backfill worked that is due [ms].
    pub(crate) fn recorded_cycle(&self) -> Option<i64> {
        self.moments.backfill.get(self.next_backfill).map(|cycle| cycle.work)
    }

    /// The main scheduler acts at recorded moments only.
    pub(crate) fn main_is_imposed(&self) -> bool {
        !self.moments.main.is_empty()
    }
}
