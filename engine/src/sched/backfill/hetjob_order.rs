//! `bf_hetjob_prio`: a heterogeneous job's components stand together in the queue, each as if it had the lowest, mean or highest
//! tier and priority among them; if one asks for a reservation, all stand as if they did. Source: slurm.conf(5); slurm-semantics 2.2.

use std::collections::BTreeMap;

use crate::policy::HetjobPriority;
use crate::sched::queue::Record;
use crate::simulation::Controller;
use crate::simulation::reservations::RESERVED_TIER;

/// What each waiting component's records have of their own, since the last priority step.
#[derive(Debug, Default)]
pub(super) struct OwnStanding {
    of_records: BTreeMap<(u32, u16), (u32, u32)>,
    /// Priority steps before.
    steps: u64,
}

impl HetjobPriority {
    /// The tier and priority of the whole. The mean is rounded down.
    fn of(self, all: &[(u32, u32)]) -> (u32, u32) {
        let reserved = all.iter().any(|(tier, _)| tier & RESERVED_TIER != 0);
        let tier = self.among(all.iter().map(|(tier, _)| tier & !RESERVED_TIER));
        (tier | if reserved { RESERVED_TIER } else { 0 }, self.among(all.iter().map(|&(_, priority)| priority)))
    }

    fn among(self, values: impl ExactSizeIterator<Item = u32>) -> u32 {
        let count = values.len().max(1) as u64;
        match self {
            Self::Min => values.min().unwrap_or(0),
            Self::Max => values.max().unwrap_or(0),
            Self::Average => (values.map(u64::from).sum::<u64>() / count) as u32,
        }
    }
}

/// A cycle begins: components get the standing of their whole job, in which they keep until the next priority step. Among
/// themselves they stand in order of their numbers. O(queue) while components wait.
pub(super) fn order(controller: &mut Controller<'_>) {
    let Some(rule) = controller.scenario.policy.backfill.hetjob_priority() else { return };
    if !controller.components_wait() {
        return;
    }
    let Some(mut hetjobs) = controller.hetjobs.take() else { return };
    let steps = controller.counters.priority_steps;
    let mut own = std::mem::take(&mut hetjobs.own);
    if own.steps != steps {
        own = OwnStanding { steps, ..OwnStanding::default() };
    }
    let jobs = &controller.scenario.workload.jobs;
    let mut queue = std::mem::take(&mut controller.queue);
    let mut all: BTreeMap<u64, Vec<(u32, u32)>> = BTreeMap::new();
    for record in queue.iter().filter(|record| hetjobs.waits(record.job)) {
        let own = *own.of_records.entry((record.job.0, record.place)).or_insert((record.tier(), record.priority()));
        all.entry(jobs[record.job.index()].name.id).or_default().push(own);
    }
    let whole: BTreeMap<u64, (u32, u32)> = all.iter().map(|(&base, all)| (base, rule.of(all))).collect();
    let of = |record: &Record| {
        let of_whole = hetjobs.waits(record.job).then(|| whole.get(&jobs[record.job.index()].name.id).copied());
        of_whole.flatten().unwrap_or((record.tier(), record.priority()))
    };
    if queue.iter().any(|record| of(record) != (record.tier(), record.priority())) {
        let live = &controller.live;
        queue.reprioritise(|record| live.is_pending(record.job), |_| (), |record, ()| of(record));
        controller.version += 1;
    }
    controller.queue = queue;
    hetjobs.own = own;
    controller.hetjobs = Some(hetjobs);
}
