//! Heterogeneous jobs: components are planned one by one; when all of a job's can start now, they start together.
//! Source: slurm-semantics 3.8, 3.6 steps 2 and 9. The main scheduler never starts them (1.5 step 4).
//! A scenario without components has none of this.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::JobId;
use crate::job::{JobPart, Workload};
use crate::node_set::NodeSet;
use crate::outcome::{JobState, StartedBy};
use crate::sched::queue::Record;
use crate::simulation::ends::RunEnded;
use crate::simulation::{Controller, seconds};

use super::Cycle;

/// Where and when a component is planned.
#[derive(Debug)]
struct Planned {
    start: i64,
    record: Record,
    nodes: NodeSet,
}

/// The heterogeneous jobs of a workload and their plans.
#[derive(Debug, Default)]
pub(crate) struct HetJobs {
    /// Components by base id.
    components: BTreeMap<u64, Vec<JobId>>,
    /// Components in the queue.
    waiting: BTreeSet<JobId>,
    /// Plans of this cycle and the one before.
    planned: BTreeMap<JobId, Planned>,
}

impl HetJobs {
    /// The components of a workload; `None` if it has none. O(jobs).
    pub(crate) fn of(workload: &Workload) -> Option<Box<Self>> {
        let mut components: BTreeMap<u64, Vec<JobId>> = BTreeMap::new();
        for (index, job) in workload.jobs.iter().enumerate() {
            if let JobPart::Component(_) = job.name.part {
                components.entry(job.name.id).or_default().push(JobId::new(index));
            }
        }
        (!components.is_empty()).then(|| Box::new(Self { components, ..Self::default() }))
    }

    /// A component enters the queue.
    pub(crate) fn enters(&mut self, id: JobId) {
        self.waiting.insert(id);
    }

    /// A component leaves the queue.
    pub(crate) fn leaves(&mut self, id: JobId) {
        self.waiting.remove(&id);
        self.planned.remove(&id);
    }

    /// All components of the job that one belongs to.
    pub(crate) fn siblings(&self, base: u64) -> &[JobId] {
        self.components.get(&base).map_or(&[], Vec::as_slice)
    }
}

impl Controller<'_> {
    /// Whether components wait in the queue: then every cycle is gone through. O(1).
    pub(crate) fn components_wait(&self) -> bool {
        self.hetjobs.as_ref().is_some_and(|hetjobs| !hetjobs.waiting.is_empty())
    }
}

/// A cycle begins: plans are remembered for one more cycle at most.
pub(super) fn begin(controller: &mut Controller<'_>) {
    let forgets = controller.counters.backfill_cycles.is_multiple_of(2);
    if let Some(hetjobs) = controller.hetjobs.as_mut().filter(|_| forgets) {
        hetjobs.planned.clear();
    }
}

/// The earliest start that a component's siblings leave it [s]: the latest of their plans.
pub(super) fn latest_of_others(controller: &Controller<'_>, id: JobId) -> Option<i64> {
    let hetjobs = controller.hetjobs.as_ref()?;
    let siblings = hetjobs.siblings(controller.scenario.workload.jobs[id.index()].name.id);
    let plans = siblings.iter().filter(|&&other| other != id).filter_map(|other| hetjobs.planned.get(other));
    plans.map(|planned| planned.start).max()
}

/// Remembers a component's plan; the earlier one, if it has records in several partitions.
pub(super) fn plan(controller: &mut Controller<'_>, record: Record, start: i64, nodes: &NodeSet, begin: i64) {
    let Some(hetjobs) = &mut controller.hetjobs else { return };
    if !hetjobs.waiting.contains(&record.job) {
        return;
    }
    let known = hetjobs.planned.get(&record.job).is_some_and(|known| known.start >= begin && known.start <= start);
    if !known {
        hetjobs.planned.insert(record.job, Planned { start, record, nodes: nodes.clone() });
    }
}

/// After the queue: jobs whose components can all start now start, all or nothing. O(waiting components).
pub(super) fn start_whole(controller: &mut Controller<'_>, cycle: &mut Cycle) {
    let Some(mut hetjobs) = controller.hetjobs.take() else { return };
    let now = seconds(controller.now);
    let bases: BTreeSet<u64> =
        hetjobs.planned.keys().map(|id| controller.scenario.workload.jobs[id.index()].name.id).collect();
    let mut ready = Vec::new();
    for base in bases {
        let plans: Option<Vec<Planned>> = hetjobs
            .siblings(base)
            .to_vec()
            .iter()
            .map(|id| hetjobs.planned.get(id).is_some_and(|planned| planned.start <= now).then_some(*id))
            .collect::<Option<Vec<JobId>>>()
            .map(|ids| ids.iter().filter_map(|id| hetjobs.planned.remove(id)).collect());
        ready.extend(plans);
    }
    controller.hetjobs = Some(hetjobs);
    for plans in ready {
        cycle.started += start_together(controller, &plans);
    }
}

/// Starts the components on their planned nodes, which no two share. If one cannot start after others have, those are
/// queued again. The number started.
fn start_together(controller: &mut Controller<'_>, plans: &[Planned]) -> u32 {
    let mut started: Vec<JobId> = Vec::new();
    for pass in [false, true] {
        for planned in plans {
            let (id, partition) = (planned.record.job, planned.record.partition);
            let user = controller.scenario.workload.jobs[id.index()].user.0;
            let mut nodes = planned.nodes.clone();
            nodes.subtract(&controller.completing);
            let shapes = controller.take_shapes(planned.record.request);
            let shape = &shapes[planned.record.place as usize];
            let fits = controller.licenses_free(id)
                && controller.limits_allow_test(id, partition)
                && controller.selector.fits(&controller.free, shape, user, &nodes);
            let allocation = fits.then(|| controller.selector.allocate(&controller.free, shape));
            controller.put_shapes(planned.record.request, shapes);
            let allocation = allocation.filter(|allocation| {
                let billing = controller.billing(partition, allocation);
                let counts = controller.allocated_counts(id, allocation, billing);
                controller.limits_allow_counts(id, partition, &counts)
            });
            let Some(allocation) = allocation else {
                for id in started {
                    controller.end_run(id, RunEnded::Others { state: JobState::Failed, requeue: true });
                }
                return 0;
            };
            // The first pass only looks.
            if pass {
                controller.start(planned.record, allocation, StartedBy::Backfill);
                started.push(id);
            }
        }
    }
    started.len() as u32
}
