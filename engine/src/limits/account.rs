//! Keeping the groups' use up to date as jobs start, run and end.

use crate::cluster::Tres;
use crate::ids::{AssociationId, JobId, PartitionId};
use crate::select::free::Allocation;
use crate::simulation::Controller;

use super::usage::{Counts, Used};

impl Controller<'_> {
    /// Counts of an allocation.
    pub(crate) fn allocated_counts(&self, id: JobId, allocation: &Allocation, billing: f64) -> Counts {
        let index = self.limits.index;
        let n_gres = self.selector.geometry.n_gres;
        let mut counts = vec![0; index.len()];
        counts[index.of(Tres::Cpu)] = u64::from(allocation.cpus());
        counts[index.of(Tres::Memory)] = allocation.shares.iter().map(|share| share.memory).sum();
        counts[index.of(Tres::Node)] = allocation.shares.len() as u64;
        counts[index.of(Tres::Billing)] = billing as u64;
        for (position, &held) in allocation.gres.iter().enumerate() {
            counts[4 + position % n_gres.max(1)] += u64::from(held);
        }
        let request = self.scenario.workload.jobs[id.index()].request;
        for &(license, count) in &self.scenario.workload.requests[request.index()].licenses {
            counts[index.of(Tres::License(license))] += u64::from(count);
        }
        counts
    }

    /// Applies a change to every group the job belongs to. O(depth of the tree).
    fn for_each_group(&mut self, id: JobId, partition: PartitionId, change: impl Fn(&mut Used)) {
        let job = &self.scenario.workload.jobs[id.index()];
        let (own, user) = (job.association, job.user.0);
        let account = self.account_of(id).0;
        let partition_qos = self.scenario.cluster.partitions[partition.index()].qos;
        let index = self.limits.index;
        let mut at: Option<AssociationId> = Some(own);
        while let Some(row) = at {
            change(&mut self.limits.associations[row.index()]);
            at = self.scenario.associations.rows[row.index()].parent;
        }
        let second = partition_qos.filter(|&qos| qos != job.qos);
        for qos in std::iter::once(job.qos).chain(second) {
            change(&mut self.limits.qos[qos.index()]);
            change(self.limits.qos_users.entry((qos.0, user)).or_insert_with(|| Used::empty(index)));
            change(self.limits.qos_accounts.entry((qos.0, account)).or_insert_with(|| Used::empty(index)));
        }
    }

    /// A job starts.
    pub(crate) fn limits_start(&mut self, id: JobId) {
        if !self.limits.active {
            return;
        }
        let Some(live) = self.live.get(id) else { return };
        let (partition, limit) = (live.partition, live.limit_seconds);
        let counts = self.allocated_counts(id, &live.allocation, live.billing);
        self.for_each_group(id, partition, |used| used.start(&counts, limit));
    }

    /// A job ends; its last slice is charged.
    pub(crate) fn limits_end(&mut self, id: JobId, slice: i64, charged_seconds: f64, left_at_step: i64) {
        if !self.limits.active {
            return;
        }
        let Some(live) = self.live.get(id) else { return };
        let partition = live.partition;
        let counts = self.allocated_counts(id, &live.allocation, live.billing);
        self.for_each_group(id, partition, |used| {
            used.charge(&counts, slice, charged_seconds);
            used.end(&counts, (left_at_step - slice).max(0));
        });
    }

    /// A priority step charges a slice of a running job.
    pub(crate) fn limits_charge(&mut self, id: JobId, slice: i64, charged_seconds: f64) {
        if !self.limits.active {
            return;
        }
        let Some(live) = self.live.get(id) else { return };
        let partition = live.partition;
        let counts = self.allocated_counts(id, &live.allocation, live.billing);
        self.for_each_group(id, partition, |used| used.charge(&counts, slice, charged_seconds));
    }

    /// A priority step decays what was spent; a QOS with NoDecay keeps it.
    pub(crate) fn limits_decay(&mut self, factor: f64) {
        for used in &mut self.limits.associations {
            used.decay(factor);
        }
        for (used, qos) in self.limits.qos.iter_mut().zip(&self.scenario.qos) {
            if !qos.no_decay {
                used.decay(factor);
            }
        }
    }
}
