//! Preemption: running jobs make room for a more important one. Reading order: [`victims`] (whom), [`make_room`] (on
//! which nodes, and what happens to them), [`order`] (the queue's order under preempt/qos).
//! Source: slurm-semantics 7.1, 3.4, 2.2; slurm.conf(5). A scenario that does not preempt has none of this.

pub(crate) mod by_feature;
pub(crate) mod make_room;
pub(crate) mod order;
pub(crate) mod victims;

use std::collections::BTreeMap;

use crate::policy::{PreemptKind, PreemptMode};
use crate::scenario::Scenario;
use crate::select::free::Free;
use crate::select::geometry::Geometry;

/// Working memory of preemption; there is none where nobody can be preempted.
#[derive(Debug)]
pub(crate) struct Preemption {
    /// What is free without the victims.
    pub(crate) free: Free,
    /// That is what the last test of when and where has found the job to fit into.
    pub(crate) in_plan: bool,
    /// Room made for tasks of arrays that have not started, by the array's id: they share one record.
    pub(crate) arrays: BTreeMap<u64, RoomOfArray>,
}

/// Room that was made for the tasks in an array's common record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoomOfArray {
    /// When it was last made [s]; `None` if a task has started since.
    pub(crate) since: Option<i64>,
    /// The scheduling cycle in which it was.
    pub(crate) cycle: u64,
    /// How often in that cycle.
    pub(crate) times: u32,
}

impl Preemption {
    /// Working memory, if the scenario can preempt: a type is set, and some jobs may be cancelled or requeued.
    pub(crate) fn of(scenario: &Scenario, geometry: &Geometry) -> Option<Box<Self>> {
        let policy = &scenario.policy.preempt;
        let removes =
            |own: Option<PreemptMode>| matches!(own.unwrap_or(policy.mode), PreemptMode::Cancel | PreemptMode::Requeue);
        let can_preempt = match policy.kind {
            PreemptKind::None => false,
            PreemptKind::PartitionPrio => scenario.cluster.partitions.iter().any(|it| removes(it.preempt_mode)),
            PreemptKind::Qos => scenario.qos.iter().any(|it| removes(it.preempt_mode)),
        };
        can_preempt.then(|| {
            Box::new(Self { free: Free::new(geometry).of_others_gone(), in_plan: false, arrays: BTreeMap::new() })
        })
    }
}
