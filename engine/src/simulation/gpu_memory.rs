//! Jobs of several partitions of which only some have `DefMemPerGPU`: a test takes it for the job's memory only if the job's last test was
//! made in one of those; else the default memory counts (cons_common/job_test.c of 22.05.8: `_job_test` asks `_verify_node_state` before
//! `_set_gpu_defaults` writes what the partition says into the job; rec at-gpu).

use std::collections::BTreeMap;

use crate::ids::{JobId, PartitionId};
use crate::job::{JobPart, Memory, Request};
use crate::scenario::Scenario;
use crate::select::shape::Shape;
use crate::simulation::Controller;

/// Where such jobs were last tested, by id and component; an array's tasks that wait are one job.
#[derive(Debug, Default)]
pub(crate) struct GpuMemory {
    last: BTreeMap<(u64, Option<u32>), PartitionId>,
}

/// Whether a request's memory depends on the partition of the job's last test. O(partitions of the request).
pub(super) fn lags(scenario: &Scenario, request: &Request) -> bool {
    let select = &scenario.policy.select;
    let by_gpu = |id: &PartitionId| {
        let of_partition = scenario.cluster.partitions[id.index()].default_memory_per_gpu;
        of_partition.or(select.default_memory_per_gpu).is_some_and(|mb| mb > 0)
    };
    request.memory == Memory::Default
        && !request.gres.is_empty()
        && request.partitions.iter().any(by_gpu)
        && !request.partitions.iter().all(by_gpu)
}

impl Controller<'_> {
    /// What the job asks for in a test, given its last one. O(1) for most jobs, else O(log jobs).
    pub(crate) fn asked_in_test<'s>(&self, id: JobId, shape: &'s Shape) -> &'s Shape {
        match &shape.by_default {
            Some(by_default) if !self.counts_by_gpu(id) => by_default,
            _ => shape,
        }
    }

    fn counts_by_gpu(&self, id: JobId) -> bool {
        let (cluster, select) = (&self.scenario.cluster, &self.scenario.policy.select);
        self.gpu_memory.last.get(&self.waits_as(id)).is_some_and(|&last| {
            let partition = &cluster.partitions[last.index()];
            partition.default_memory_per_gpu.or(select.default_memory_per_gpu).is_some_and(|mb| mb > 0)
        })
    }

    /// The job was tested in a partition. O(1) for most jobs, else O(log jobs).
    pub(crate) fn takes_gpu_memory_of(&mut self, id: JobId, partition: PartitionId) {
        let request = &self.scenario.workload.requests[self.job(id).request.index()];
        if request.partitions.len() > 1 && lags(self.scenario, request) {
            let name = self.waits_as(id);
            self.gpu_memory.last.insert(name, partition);
        }
    }

    fn waits_as(&self, id: JobId) -> (u64, Option<u32>) {
        let name = self.job(id).name;
        let component = match name.part {
            JobPart::Component(component) => Some(component),
            _ => None,
        };
        (name.id, component)
    }
}
