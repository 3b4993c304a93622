//! Heterogeneous jobs: components are planned one by one; when all of a job's can start now, they start together.
//! Source: slurm-semantics 3.8, 3.6 steps 2 and 9, and Slurm's backfill.c. The main scheduler never starts them (1.5 step 4).
//! A scenario without components has none of this.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{JobId, NodeId};
use crate::job::{JobPart, Workload};
use crate::node_set::NodeSet;
use crate::outcome::{JobState, StartedBy};
use crate::policy::SlurmVersion;
use crate::sched::queue::Record;
use crate::select::allocation::Allocation;
use crate::simulation::ends::RunEnded;
use crate::simulation::reservations::{Candidate, Opening};
use crate::simulation::{Controller, seconds};

use super::deadlocks::Deadlocks;
use super::hetjob_order::OwnStanding;
use super::{Backfill, Cycle};

/// Where and when a component may start.
#[derive(Debug)]
struct Component {
    record: Record,
    /// The earliest that this cycle found; a year ahead until there is one [s].
    start: i64,
    /// On how many nodes.
    nodes: u64,
    /// How long those had been without plans of others then [s].
    room: i64,
}

/// A job's components, in the order in which cycles came to them.
#[derive(Debug, Default)]
struct Map {
    components: Vec<Component>,
    /// No component is planned before [s].
    not_before: i64,
    /// The shortest of the components' own time limits [s], in their partitions and before their deadlines.
    limit: Option<i64>,
}

/// The heterogeneous jobs of a workload and their plans.
#[derive(Debug, Default)]
pub(crate) struct HetJobs {
    /// Components by base id.
    components: BTreeMap<u64, Vec<JobId>>,
    /// Components in the queue.
    waiting: BTreeSet<JobId>,
    /// Jobs by base id, as this cycle found them.
    maps: BTreeMap<u64, Map>,
    /// Their base ids, in the order in which cycles came to them.
    order: Vec<u64>,
    deadlocks: Deadlocks,
    /// What they have of their own where `bf_hetjob_prio` gives them the whole job's standing.
    pub(super) own: OwnStanding,
    /// How often a job's components could not start together, after one of them had, although nothing else ran.
    in_vain: BTreeMap<u64, u32>,
    /// Components that were tested with their preferred features last: with these they start.
    preferring: BTreeSet<JobId>,
}

/// After so many starts in vain beside nothing that runs, a job is given up: slurmctld would go on for ever.
const STARTS_IN_VAIN: u32 = 10;

/// As long as there is no plan, a component is as good as planned for then.
const YEAR: i64 = 365 * 24 * 3600;

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
    }

    /// A component is tested, with its preferred features or without: so it would start (`features_use`; rec c1070).
    pub(super) fn tested(&mut self, id: JobId, prefers: bool) {
        if prefers {
            self.preferring.insert(id);
        } else {
            self.preferring.remove(&id);
        }
    }

    /// Nodes or reservations change: what could not start together may now.
    pub(crate) fn machine_changes(&mut self) {
        self.in_vain.clear();
    }

    /// Whether the job is a component in the queue.
    pub(super) fn waits(&self, id: JobId) -> bool {
        self.waiting.contains(&id)
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

    /// The priority that a record has of its own, though it stands with its whole job's. O(log components).
    pub(crate) fn own_priority(&self, record: &Record) -> u32 {
        let hetjobs = self.hetjobs.as_ref().filter(|hetjobs| hetjobs.waits(record.job));
        hetjobs.and_then(|hetjobs| hetjobs.own.priority(record)).unwrap_or_else(|| record.priority())
    }
}

/// A cycle begins: plans of the one before are forgotten (observed on 22.05.8: docs/FACTS.md, facts 64).
pub(super) fn begin(controller: &mut Controller<'_>) {
    if let Some(hetjobs) = controller.hetjobs.as_mut() {
        hetjobs.maps.clear();
        hetjobs.order.clear();
        hetjobs.deadlocks.clear();
    }
}

/// The cycle comes to a record: whether a component's siblings let it be planned before `latest` [s].
pub(super) fn come_to(controller: &mut Controller<'_>, record: Record, latest: i64) -> bool {
    let Some(hetjobs) = controller.hetjobs.as_mut().filter(|hetjobs| hetjobs.waiting.contains(&record.job)) else {
        return true;
    };
    let base = controller.scenario.workload.jobs[record.job.index()].name.id;
    if hetjobs.in_vain.get(&base).is_some_and(|&starts| starts >= STARTS_IN_VAIN) {
        return false;
    }
    let map = hetjobs.maps.entry(base).or_insert_with(|| {
        hetjobs.order.push(base);
        Map::default()
    });
    if !map.components.iter().any(|component| component.record.job == record.job) {
        map.components.push(Component { record, start: seconds(controller.now) + YEAR, nodes: 1, room: YEAR });
    }
    map.earliest(Some(record.job)) <= latest
}

impl Map {
    /// The latest start of all components, or of all but one [s].
    fn earliest(&self, but: Option<JobId>) -> i64 {
        let others = self.components.iter().filter(|component| Some(component.record.job) != but);
        others.map(|component| component.start).max().unwrap_or(0).max(self.not_before)
    }
}

/// The earliest start that a component's siblings leave it [s].
pub(super) fn earliest(controller: &Controller<'_>, id: JobId) -> Option<i64> {
    let hetjobs = controller.hetjobs.as_ref()?;
    let map = hetjobs.maps.get(&controller.scenario.workload.jobs[id.index()].name.id)?;
    Some(map.earliest(Some(id)))
}

/// Whether a component that could start at `start` [s] would wait for a job that waits for its own.
pub(super) fn would_deadlock(controller: &mut Controller<'_>, record: Record, start: i64) -> bool {
    let base = controller.scenario.workload.jobs[record.job.index()].name.id;
    controller.hetjobs.as_mut().is_some_and(|hetjobs| hetjobs.deadlocks.would_arise(base, record.partition, start))
}

/// Remembers when a component could start [s] on the nodes last chosen, if that is its earliest in this cycle.
pub(super) fn note_start(controller: &mut Controller<'_>, backfill: &Backfill, record: Record, start: i64) {
    let nodes = controller.selector.chosen.len() as u64;
    let base = controller.scenario.workload.jobs[record.job.index()].name.id;
    // Up to 25.05.2 a component's limit is its `--time-min` here, as it is where others start (backfill.c, `comp_time_limit`; rec c1384).
    let is_whole = controller.scenario.policy.version >= SlurmVersion::V25_05;
    let whole_limit = backfill.whole_limit.filter(|_| is_whole);
    let own = whole_limit.unwrap_or_else(|| controller.component_seconds(record.job));
    let own = controller.limit_within(record.partition, own);
    let chosen = controller.selector.chosen.iter().map(|offer| offer.node);
    let room = match controller.has_time_min(record.job) {
        true => room_before_plans(controller, backfill, chosen, own),
        false => own,
    };
    let Some(map) = controller.hetjobs.as_mut().and_then(|hetjobs| hetjobs.maps.get_mut(&base)) else { return };
    map.limit = Some(map.limit.map_or(own, |limit| limit.min(own)));
    for component in map.components.iter_mut().filter(|it| it.record.job == record.job && it.start > start) {
        *component = Component { record, start, nodes, room };
    }
}

/// How much of `limit` [s] there is from now until the first plan on these nodes [s]; those that begin now are none. O(slots × words).
fn room_before_plans(
    controller: &Controller<'_>,
    backfill: &Backfill,
    nodes: impl Iterator<Item = NodeId>,
    limit: i64,
) -> i64 {
    let now = seconds(controller.now);
    let nodes = NodeSet::from_nodes(controller.scenario.cluster.nodes.len(), nodes);
    backfill.timeline.first_planned(&nodes, now, now + limit).map_or(limit, |begin| (begin - now).max(0))
}

/// After the queue: jobs whose components can all start now start, all or nothing. O(components in the maps).
pub(super) fn start_whole(controller: &mut Controller<'_>, backfill: &Backfill, cycle: &mut Cycle) {
    let order = controller.hetjobs.as_ref().map(|hetjobs| hetjobs.order.clone());
    for base in order.into_iter().flatten() {
        start_if_ready(controller, backfill, cycle, base, None);
    }
}

/// `bf_hetjob_immediate`: the job of a component that the cycle has just looked at starts at once if all its components can.
pub(super) fn start_at_once(controller: &mut Controller<'_>, backfill: &Backfill, cycle: &mut Cycle, id: JobId) {
    let base = controller.scenario.workload.jobs[id.index()].name.id;
    let is_whole = |hetjobs: &HetJobs| hetjobs.waits(id) && hetjobs.is_whole(controller, base);
    if controller.scenario.policy.backfill.hetjob_immediate && controller.hetjobs.as_deref().is_some_and(is_whole) {
        start_if_ready(controller, backfill, cycle, base, Some(id));
    }
}

/// `unplanned` is the component whose turn it is: slurmctld would plan it only now.
fn start_if_ready(
    controller: &mut Controller<'_>,
    backfill: &Backfill,
    cycle: &mut Cycle,
    base: u64,
    unplanned: Option<JobId>,
) {
    let most = controller.scenario.policy.backfill.max_job_start;
    if most > 0 && cycle.started >= most {
        return;
    }
    let Some(mut hetjobs) = controller.hetjobs.take() else { return };
    let ready = hetjobs.take_ready(controller, base);
    controller.hetjobs = Some(hetjobs);
    if let Some((components, limit)) = ready {
        cycle.started += start_together(controller, backfill, base, (&components, limit), unplanned);
    }
}

impl HetJobs {
    /// Whether cycles have come to all of a job's components that do not run.
    fn is_whole(&self, controller: &Controller<'_>, base: u64) -> bool {
        let (Some(map), Some(siblings)) = (self.maps.get(&base), self.components.get(&base)) else { return false };
        let is_known = |id: &JobId| map.components.iter().any(|component| component.record.job == *id);
        siblings.iter().all(|id| controller.live.is_running(*id) || (self.waits(*id) && is_known(id)))
    }

    /// The components of a job that can start now, and the limit that they have in common [s]. A job of which nobody knows when it can, or whose limits are too tight for all
    /// of it, is not planned again in this cycle.
    fn take_ready(&mut self, controller: &mut Controller<'_>, base: u64) -> Option<(Vec<Component>, i64)> {
        let now = seconds(controller.now);
        let is_whole = self.is_whole(controller, base);
        let map = self.maps.get_mut(&base)?;
        map.not_before = if is_whole { map.earliest(None) } else { now + YEAR };
        if map.not_before > now {
            return None;
        }
        let sizes = map.components.iter().map(|it| (it.record.job, it.record.partition, it.nodes));
        if !controller.limits_allow_together(sizes) {
            map.not_before = now + YEAR;
            return None;
        }
        Some((std::mem::take(&mut map.components), map.limit.unwrap_or(YEAR)))
    }
}

/// Starts the components one after the other, each on nodes of its own, whoever else these are planned for. If one cannot start,
/// those that have are queued again. With `--time-min` they get the `limit` [s] that they have in common, but not beyond the first plan on
/// their nodes; plans of their siblings and their own are such, too (backfill.c of 22.05.8 to 25.05.3, `_het_job_start_now`,
/// `_reset_job_time_limit`; rec w2075-25-05). The number started.
fn start_together(
    controller: &mut Controller<'_>,
    backfill: &Backfill,
    base: u64,
    (components, limit): (&[Component], i64),
    unplanned: Option<JobId>,
) -> u32 {
    let runs_alone = controller.running.is_empty();
    let mut taken = NodeSet::empty(controller.scenario.cluster.nodes.len());
    for (position, component) in components.iter().enumerate() {
        let Some(allocation) = allocate(controller, component.record, &taken) else {
            for started in &components[..position] {
                controller.end_run(started.record.job, RunEnded::Others { state: JobState::Failed, requeue: true });
                controller.waits_from_now(started.record.job);
            }
            if let Some(hetjobs) = controller.hetjobs.as_mut().filter(|_| runs_alone && position > 0) {
                *hetjobs.in_vain.entry(base).or_default() += 1;
            }
            return 0;
        };
        for share in &allocation.shares {
            taken.insert(share.node);
        }
        let id = component.record.job;
        if controller.has_time_min(id) {
            let nodes = allocation.shares.iter().map(|share| share.node);
            let room = match unplanned == Some(id) {
                true => component.room,
                false => room_before_plans(controller, backfill, nodes, limit),
            };
            controller.lengthen_limit(id, limit.min(room) / 60 * 60);
        }
        controller.start(component.record, allocation, StartedBy::Backfill);
    }
    components.len() as u32
}

/// What a component gets now outside the nodes taken. If it does not fit there, room is made for it (rec p-qpre).
fn allocate(controller: &mut Controller<'_>, record: Record, taken: &NodeSet) -> Option<Allocation> {
    let (id, partition, now) = (record.job, record.partition, seconds(controller.now));
    if !controller.limits_allow_test(id, partition) {
        return None;
    }
    if controller.partition_denies(id, partition) {
        controller.timers.changed(controller.now);
        return None;
    }
    let user = controller.scenario.workload.jobs[id.index()].user.0;
    controller.tested_in(id, partition);
    let prefers = controller.hetjobs.as_ref().is_some_and(|hetjobs| hetjobs.preferring.contains(&id));
    let shapes = if prefers { controller.take_preferred(id) } else { controller.take_shapes_of(id) };
    let shape = &shapes[record.place as usize];
    controller.wait_for_a_leaf(id, shape);
    let mut nodes = shape.eligible.clone();
    nodes.intersect(&controller.up);
    nodes.subtract(&controller.completing);
    controller.keep_listed_idle(shape, &mut nodes);
    nodes.subtract(taken);
    let own = controller.reservation_of(id);
    let end = now + controller.live.get(id).map_or(0, |live| live.limit_seconds);
    let (required, whole) = (&shape.required[..], shape.whole_nodes);
    // A start asks for no licences: who came before the components in this cycle may have taken theirs, and these are then more than there are
    // (backfill.c and node_scheduler.c of 22.05.8 to 25.05, `_het_job_start_now`, `select_nodes`; rec c1097).
    let candidate = Candidate { own, partition, required, whole, licenses: &[], begin: now, end };
    let mut turns_at = i64::MAX;
    let is_open = !controller.reservations.any()
        || matches!(controller.narrow_to_reservations(candidate, &mut nodes, &mut turns_at), Opening::Open { .. });
    controller.weigh_nodes(id, (partition, own), shape, Some(&nodes));
    let fits = is_open && controller.selector.fits(&controller.free, shape, user, &nodes);
    if is_open && !fits {
        controller.make_room(id, partition, shape, &nodes);
    }
    let allocation = fits.then(|| controller.selector.allocate(&controller.free, shape));
    match prefers {
        true => controller.put_preferred(id, shapes),
        false => controller.put_shapes_of(id, shapes),
    }
    allocation.filter(|allocation| {
        let billing = controller.billing(partition, allocation);
        let counts = controller.allocated_counts(id, allocation, billing);
        controller.limits_allow_counts(id, partition, &counts)
    })
}
