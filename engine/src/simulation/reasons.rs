//! Why jobs are left PENDING, in the words of squeue(1), as far as the state at the simulation's end tells.

use super::{Controller, seconds};
use crate::ids::{JobId, PartitionId};
use crate::outcome::{JobRecord, JobState, PendingReason};

impl Controller<'_> {
    /// The jobs that still wait, or were refused, with the first reason that applies in all of their partitions.
    /// O(jobs + waiting jobs × partitions × selection), once.
    pub(super) fn pending_reasons(&mut self) -> Vec<(JobId, PendingReason)> {
        self.selector.most_leaves = None;
        let waits = |(index, record): (usize, &JobRecord)| {
            (record.state == JobState::Pending && record.start.is_none()).then(|| JobId::new(index))
        };
        let waiting: Vec<JobId> = self.records.iter().enumerate().filter_map(waits).collect();
        waiting.into_iter().map(|id| (id, self.pending_reason(id))).collect()
    }

    fn pending_reason(&mut self, id: JobId) -> PendingReason {
        if let Some(&reason) = self.refused.get(&id) {
            return reason;
        }
        let user = self.scenario.workload.jobs[id.index()].user.0;
        let shapes = self.take_shapes_of(id);
        let (place, alone) = shapes
            .iter()
            .enumerate()
            .find_map(|(place, shape)| {
                let mut nodes = shape.eligible.clone();
                nodes.intersect(&self.up);
                let fits = shape.feasible && self.selector.fits_alone(&self.empty, shape, user, &nodes);
                fits.then(|| (place, Some(self.selector.alone_on(&self.empty, &shapes[place]))))
            })
            .unwrap_or((0, None));
        let held = self.busy_counts(id, self.partitions(id)[place], &shapes[place], alone);
        self.put_shapes_of(id, shapes);
        if !self.reservation_admits(id) || self.awaits_reservation(id) {
            return PendingReason::Reservation;
        }
        let partitions = self.partitions(id);
        let none = |allows: &dyn Fn(PartitionId) -> bool| !partitions.iter().any(|&partition| allows(partition));
        if none(&|partition| self.partition_limits_allow(id, partition) && !self.partition_denies(id, partition)) {
            return PendingReason::PartitionLimit;
        }
        if self.is_held(id) {
            return self.reason_of_held(id);
        }
        let allows = |partition| {
            let by_counts = !self.limits.active || self.limits_allow_counts(id, partition, &held);
            by_counts
                && self.limits_allow_test(id, partition)
                && self.partition_is_open(id, partition)
                && !self.partition_denies(id, partition)
        };
        if none(&|partition| self.partition_is_up(partition)) {
            PendingReason::PartitionDown
        } else if none(&allows) {
            PendingReason::Limit
        } else if !self.licenses_free(id) {
            PendingReason::Licenses
        } else if alone.is_none() {
            PendingReason::ReqNodeNotAvail
        } else {
            PendingReason::Resources
        }
    }

    fn reason_of_held(&self, id: JobId) -> PendingReason {
        let extra = self.scenario.workload.jobs[id.index()].extra.as_ref();
        if self.never_satisfied(id) {
            PendingReason::DependencyNeverSatisfied
        } else if extra.and_then(|extra| extra.begin).is_some_and(|begin| begin > seconds(self.now)) {
            PendingReason::BeginTime
        } else {
            PendingReason::Dependency
        }
    }
}
