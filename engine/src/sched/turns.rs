//! Records of jobs that prefer features, in the order in which a cycle comes to them. Source: slurm-semantics 1.5.2; behaviour of 22.05.8 and
//! of 24.11.5 (`docs/FACTS.md`, facts 92 p and 94 a).

use std::collections::VecDeque;

use crate::policy::SlurmVersion;
use crate::simulation::Controller;

use super::queue::Record;
use super::walk::Walk;

/// Records read ahead of their turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// With their jobs' preferred features.
    preferred: VecDeque<Record>,
    /// Without, after these.
    own: VecDeque<Record>,
    /// The next job's.
    beyond: Option<Record>,
}

/// What of a job's wishes a record stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The job as a whole: if it prefers features, with them first and then without.
    Whole,
    /// With its preferred features only.
    Preferred,
    /// Without them.
    Own,
}

impl Turns {
    /// The next record. Of a job that prefers features and is to be taken `apart` the record with them comes just before its own; from 23.11 on
    /// before all of the job's records of the same tier and priority (`sort_job_queue2` of 23.11.11; rec c1040-25). O(1) a record.
    pub(crate) fn next(
        &mut self,
        controller: &Controller<'_>,
        walk: &mut Walk,
        apart: impl Fn(&Record) -> bool,
    ) -> Option<(Record, Turn)> {
        let waits = |record: &Record| controller.live.is_pending(record.job);
        for (ahead, turn) in [(&mut self.preferred, Turn::Preferred), (&mut self.own, Turn::Own)] {
            while let Some(record) = ahead.pop_front() {
                if waits(&record) {
                    return Some((record, turn));
                }
            }
        }
        let record = self.beyond.take().filter(waits).or_else(|| walk.next(controller))?;
        if !record.kind.peculiar || !controller.prefers(record.job) || !apart(&record) {
            return Some((record, Turn::Whole));
        }
        self.own.push_back(record);
        if controller.scenario.policy.version >= SlurmVersion::V23_11 {
            let is_like = |next: &Record| next.job == record.job && next.order == record.order;
            while let Some(next) = walk.next(controller) {
                if !is_like(&next) {
                    self.beyond = Some(next);
                    break;
                }
                self.preferred.push_back(next);
                self.own.push_back(next);
            }
        }
        Some((record, Turn::Preferred))
    }
}
