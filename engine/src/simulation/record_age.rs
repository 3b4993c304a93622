//! The order in which slurmctld made its job records: of running jobs that end at the same time, and of equal victims, the older record
//! comes first. A task of an array that starts keeps the array's record, and the rest of the array gets a new one
//! (observed on 22.05.8; docs/FACTS.md, facts 55 and 57).

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::Controller;
use super::jobs::LiveJob;
use crate::ids::JobId;
use crate::job::{JobName, JobPart};

/// The position of a job record among all that were made; smaller is older.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Age(NonZeroU32);

impl Age {
    /// The oldest there can be.
    pub(crate) const OLDEST: Self = Self(NonZeroU32::MIN);
    /// The youngest there can be.
    pub(crate) const YOUNGEST: Self = Self(NonZeroU32::MAX);

    /// After so many others.
    pub(crate) const fn nth(others: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(others))
    }
}

/// Hands out ages. One entry an array.
#[derive(Debug, Default)]
pub(crate) struct RecordAges {
    /// How many were made.
    made: u32,
    /// The records of arrays, by their id.
    arrays: BTreeMap<u64, Age>,
}

impl RecordAges {
    /// The record of a job that is submitted; `None` for a task of an array, which has none of its own yet. O(log arrays).
    pub(super) fn submitted(&mut self, name: JobName) -> Option<Age> {
        if !matches!(name.part, JobPart::Task(_)) {
            return Some(self.made());
        }
        if !self.arrays.contains_key(&name.id) {
            let age = self.made();
            self.arrays.insert(name.id, age);
        }
        None
    }

    /// A task starts: it has its array's record from now on. O(log arrays).
    fn split(&mut self, array: u64) -> Age {
        let rest = self.made();
        self.arrays.insert(array, rest).unwrap_or(rest)
    }

    fn made(&mut self) -> Age {
        let age = Age::nth(self.made);
        self.made = self.made.saturating_add(1);
        age
    }
}

impl Controller<'_> {
    /// The age of the record that a job has, or has with the rest of its array. O(log arrays).
    pub(crate) fn age_of(&self, live: &LiveJob) -> Age {
        let of_array = || self.record_ages.arrays.get(&self.job(live.job).name.id).copied();
        live.age.or_else(of_array).unwrap_or(Age::YOUNGEST)
    }

    /// Whether the job is no part of an array's common record. O(1).
    pub(crate) fn has_own_record(&self, id: JobId) -> bool {
        self.live.get(id).is_none_or(|live| live.age.is_some())
    }

    /// The first task of a task's array. O(log jobs): jobs stand in order of submission and name.
    pub(super) fn first_task(&self, id: JobId) -> JobId {
        let (jobs, task) = (&self.scenario.workload.jobs, self.job(id));
        let first = jobs[..id.index()].partition_point(|job| (job.submit, job.name.id) < (task.submit, task.name.id));
        JobId::new(first)
    }

    /// The age of the record of a job that starts, or of a task that gets one of its own before. O(log arrays).
    pub(crate) fn age_at_start(&mut self, id: JobId) -> Age {
        let array = self.job(id).name.id;
        match self.live.get_mut(id) {
            Some(live) => *live.age.get_or_insert_with(|| {
                live.charged_cpus = self.array_sizes.get(&array).copied().or(live.charged_cpus);
                // The new record knows of no preemption.
                if let Some(room) = self.preempt.as_mut().and_then(|preemption| preemption.arrays.get_mut(&array)) {
                    room.since = None;
                }
                self.record_ages.split(array)
            }),
            None => Age::YOUNGEST,
        }
    }
}
