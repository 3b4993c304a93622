//! Partitions that the main scheduler finds blocked whenever it runs while a cycle sleeps: what waits in them behind the job that
//! blocks is still in the queue when the cycle comes to it.
//!
//! The rules are those of [`crate::sched::main_cycle`]: a job that does not fit blocks its partition, unless something else than
//! busy nodes holds it back. Where that cannot be excluded by a glance, nothing is claimed.

use crate::ablation::{Rule, is_off};
use crate::ids::{PartitionId, RequestId};
use crate::sched::queue::Record;
use crate::select::shape::Shape;
use crate::simulation::Controller;

/// What blocks partitions, as far as the search for candidates has come.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    /// A job that does not fit blocks its partition as long as the cycle lasts.
    holds: bool,
    /// Then a priority step may put others before it [ms].
    step_at: i64,
    /// By partition: what its first such job asks for.
    by: Vec<Option<RequestId>>,
    /// Some job asks for nodes by name, which are then kept for it; `None` before the first look.
    any_names_nodes: Option<bool>,
}

impl Blocked {
    /// Before the first record. O(partitions), and once O(requests).
    pub(super) fn begin(&mut self, controller: &Controller<'_>) {
        let scenario = controller.scenario;
        let policy = &scenario.policy;
        let requests = &scenario.workload.requests;
        let names_nodes = || requests.iter().any(|request| !request.required_nodes.is_empty());
        self.by.clear();
        self.by.resize(scenario.cluster.partitions.len(), None);
        self.step_at = controller.timers.priority_at;
        self.holds = !*self.any_names_nodes.get_or_insert_with(names_nodes)
            && !controller.limits.active
            && !controller.reservations.any()
            && !policy.main.reduce_completing_frag
            && policy.backfill.min_age_reserve == 0
            && policy.backfill.min_prio_reserve == 0
            && !is_off(Rule::Blocking);
    }

    /// A record that does not fit, of a job that waits until the cycle ends and has no other one.
    /// O(1); O(partitions × words) for the first of its partition.
    pub(super) fn note(&mut self, controller: &Controller<'_>, record: Record, shape: &Shape) {
        let by = &mut self.by[record.partition.index()];
        if by.is_some() || !self.holds {
            return;
        }
        let scenario = controller.scenario;
        let partitions = &scenario.cluster.partitions;
        let nodes = &partitions[record.partition.index()].nodes;
        let others = (0..).zip(partitions).filter(|(index, _)| *index != record.partition.0);
        // It waits for jobs to end, not for nodes, and no other partition's jobs take its nodes away.
        let blocks = shape.feasible
            && !shape.unlayable
            && shape.eligible.is_subset(&controller.up)
            && scenario.workload.requests[record.request.index()].licenses.is_empty()
            && controller.record_is_allowed(record)
            && others.map(|(_, other)| &other.nodes).all(|other| !other.intersects(nodes));
        *by = blocks.then_some(record.request);
    }

    /// The request that blocks a partition until a time [ms] as long as it does not fit. O(1).
    pub(super) fn by(&self, partition: PartitionId, until: i64) -> Option<RequestId> {
        self.by.get(partition.index()).copied().flatten().filter(|_| until < self.step_at)
    }
}
