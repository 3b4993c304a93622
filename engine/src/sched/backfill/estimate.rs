//! When and where a job could run, whatever plans there are: what the agent of `sched/builtin` asks. Source: builtin.c of 22.05.8,
//! `_compute_start_times`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cluster::Cluster;
use crate::ids::{PartitionId, RequestId};
use crate::job::{FeatureExpr, Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::SlurmVersion;
use crate::select::shape::Shape;
use crate::simulation::{Controller, seconds};

use super::Backfill;
use super::ends::note_overdue;
use super::foresee::{bound, weigh_for_test, without_try};
use super::grid::Grid;
use super::reserved::{Window, keep_reservations};
use crate::sched::queue::Record;

/// What requests are where partitions have all nodes, and features are not asked for.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    /// The cluster with such partitions, once it has been asked for.
    cluster: Option<Arc<Cluster>>,
    shapes: BTreeMap<(RequestId, PartitionId, Sharing), Box<[Shape]>>,
}

/// CPUs that the nodes would charge a job on which it could run first, of all that are up: neither its partition's nor its features are
/// asked for, nobody would be preempted, and no version looks at the time of a try. From 26.05 on tasks say how many nodes are wanted. `None` if
/// there are none such. Reservations take their nodes away at `when` [s], which those that close everything move, and the job's own (rec c1457).
/// O(as a test of backfill), where it asks for less than all nodes O(running jobs × their nodes).
pub(crate) fn charged_at_earliest(
    controller: &mut Controller<'_>,
    record: Record,
    shape: &Shape,
    when: &mut i64,
) -> Option<u32> {
    let request = &controller.scenario.workload.requests[record.request.index()];
    let nodes = &controller.scenario.cluster.partitions[record.partition.index()].nodes;
    let asks_for_some = request.features != FeatureExpr::Any
        || !request.excluded_nodes.is_empty()
        || nodes.len() < controller.scenario.cluster.nodes.len();
    if !asks_for_some {
        return charged(controller, record, &wanting(controller, record, shape), false, when);
    }
    let key = (record.request, record.partition, controller.sharing_since_tests(record.job));
    let shapes = match controller.elsewhere.shapes.remove(&key) {
        Some(shapes) => shapes,
        None => shapes_elsewhere(controller, request, key),
    };
    let shape = shapes.first().map(|shape| wanting(controller, record, shape));
    let found = shape.and_then(|shape| charged(controller, record, &shape, true, when));
    controller.elsewhere.shapes.insert(key, shapes);
    found
}

/// The shape, with nodes that tasks have said taken for nodes asked for (builtin.c of 26.05.3; rec c1252-26-05). O(1), O(shape) from 26.05 on.
fn wanting<'s>(controller: &Controller<'_>, record: Record, shape: &'s Shape) -> Cow<'s, Shape> {
    let request = &controller.scenario.workload.requests[record.request.index()];
    match controller.scenario.policy.version >= SlurmVersion::V26_05 && request.max_nodes.is_none() {
        true => Cow::Owned(shape.wanting_all_nodes()),
        false => Cow::Borrowed(shape),
    }
}

fn shapes_elsewhere(
    controller: &mut Controller<'_>,
    request: &Request,
    (_, partition, sharing): (RequestId, PartitionId, Sharing),
) -> Box<[Shape]> {
    let cluster = match &controller.elsewhere.cluster {
        Some(cluster) => Arc::clone(cluster),
        None => {
            let mut cluster = controller.scenario.cluster.clone();
            let all = NodeSet::full(cluster.nodes.len());
            cluster.partitions.iter_mut().for_each(|partition| partition.nodes.clone_from(&all));
            Arc::clone(controller.elsewhere.cluster.insert(Arc::new(cluster)))
        }
    };
    let (features, excluded_nodes) = (FeatureExpr::Any, Vec::new());
    let asked = Request { partitions: [partition].into(), features, excluded_nodes, sharing, ..request.clone() };
    controller.shapes_in(&cluster, &asked, true)
}

/// Leaves in `backfill.usable` the nodes that are up and that reservations leave to the job at `when` [s]; false, and `when` moved, where one
/// refuses it. O(reservations × words).
fn is_let_in(
    controller: &Controller<'_>,
    backfill: &mut Backfill,
    record: Record,
    shape: &Shape,
    when: &mut i64,
) -> bool {
    backfill.usable.copy_from(&controller.up);
    if !controller.reservations.any() {
        return true;
    }
    backfill.base.copy_from(&controller.up);
    let limit = controller.asked_seconds(record.job);
    let window = Window { now: i64::MIN, limit, end: i64::MAX, grid: Grid::of(controller) };
    let is_let_in = keep_reservations(controller, backfill, record, shape, when, window).is_ok();
    if !is_let_in {
        *when = controller.moved_by_reservation(record.job, *when);
    }
    is_let_in
}

/// Moves `when` [s] as reservations do that refuse the job, whose size is known. O(reservations × words).
pub(crate) fn ask_reservations(controller: &mut Controller<'_>, record: Record, shape: &Shape, when: &mut i64) {
    let mut backfill = std::mem::replace(&mut controller.backfill, Backfill::new(0));
    is_let_in(controller, &mut backfill, record, shape, when);
    controller.backfill = backfill;
}

fn charged(
    controller: &mut Controller<'_>,
    record: Record,
    shape: &Shape,
    elsewhere: bool,
    when: &mut i64,
) -> Option<u32> {
    let mut backfill = std::mem::replace(&mut controller.backfill, Backfill::new(0));
    if !is_let_in(controller, &mut backfill, record, shape, when) {
        controller.backfill = backfill;
        return None;
    }
    note_overdue(controller, &mut backfill);
    let bound = if elsewhere { i64::MIN } else { bound(controller, &backfill, record, shape) };
    weigh_for_test(controller, &backfill.usable, true);
    let preemption = controller.preempt.take();
    let start = without_try(controller, &mut backfill, record, shape, (bound, None), (false, elsewhere));
    controller.preempt = preemption;
    controller.backfill = backfill;
    let is_future = start? > seconds(controller.now);
    controller.selector.charged_cpus(controller.state_of_plan(is_future), shape)
}
