//! What becomes of a record whose job does not fit: whom it waits for, and what it blocks.
//! Source: slurm-semantics 1.5; node_scheduler.c of 22.05.8, `_pick_best_nodes`.

use crate::ids::{JobId, NodeId};
use crate::policy::SlurmVersion;
use crate::sched::queue::Record;
use crate::select::shape::{Alone, Shape};
use crate::simulation::Controller;

use super::{MainScratch, Tried, stamp};

/// What becomes of a record whose job does not fit; `prefers` as in [`super::consider::consider`].
pub(super) fn busy(
    controller: &mut Controller<'_>,
    scratch: &mut MainScratch,
    record: Record,
    reservation: Option<usize>,
    (shape, prefers): (&Shape, bool),
) -> Tried {
    let id = record.job;
    let alone = alone(controller, scratch, record, shape);
    if controller.limits.active
        && !controller.limits_allow_counts(
            id,
            record.partition,
            &controller.busy_counts(id, record.partition, shape, alone),
        )
    {
        // A limit that would hold it back anyway wins over busy nodes, and over nodes that are not to be had (node_scheduler.c of 22.05.8,
        // `select_nodes`; rec av-pre).
        return limited(controller, scratch, record, reservation, (&shape.required, shape.min_nodes));
    }
    if controller.lacks_named(id, (record.partition, reservation), shape, &scratch.available) {
        controller.note_lack(id, true);
        stamp(controller, scratch);
        keep_named(scratch, (&shape.required, shape.min_nodes));
        return Tried::Passes;
    }
    let names_all = shape.required.len() >= shape.min_nodes as usize;
    let waits = || shape.first_part_fails || waits_for_jobs(controller, scratch, id, shape);
    if !names_all && alone.is_none() && !waits() {
        // ReqNodeNotAvail: it waits for nodes, not for jobs, and the partition goes on.
        stamp(controller, scratch);
        return Tried::Passes;
    }
    wait_for_nodes(controller, scratch, record, reservation, (shape, prefers))
}

/// What a record blocks that waits for nodes in use: from 25.11 on nothing, where it asks for what its job only prefers, since the record
/// without that comes next (job_scheduler.c of 25.11.7, `_schedule`, `use_prefer`).
pub(super) fn wait_for_nodes(
    controller: &Controller<'_>,
    scratch: &mut MainScratch,
    record: Record,
    reservation: Option<usize>,
    (shape, prefers): (&Shape, bool),
) -> Tried {
    let needs = (&shape.required[..], shape.min_nodes);
    if prefers && controller.scenario.policy.version >= SlurmVersion::V25_11 {
        keep_named(scratch, needs);
        return Tried::Passes;
    }
    fail(controller, scratch, record, reservation, needs)
}

/// A limit holds a record back: with `assoc_limit_stop` it blocks what others do that do not fit, else only the nodes that it names.
pub(super) fn limited(
    controller: &Controller<'_>,
    scratch: &mut MainScratch,
    record: Record,
    reservation: Option<usize>,
    (named, needed): (&[NodeId], u32),
) -> Tried {
    if controller.scenario.policy.main.assoc_limit_stop {
        return fail(controller, scratch, record, reservation, (named, needed));
    }
    keep_named(scratch, (named, needed));
    Tried::Passes
}

/// Who names all the nodes that it needs keeps them from all behind it, whatever it did not start for, and the partition goes on; says
/// whether it does (job_scheduler.c of 22.05.8, `_schedule`; rec ax-core).
pub(super) fn keep_named(scratch: &mut MainScratch, (named, needed): (&[NodeId], u32)) -> bool {
    let keeps = named.len() >= needed as usize && !named.is_empty();
    if keeps {
        named.iter().for_each(|&node| scratch.available.remove(node));
    }
    keeps
}

/// What a record blocks that cannot start, with the nodes it names and how many it needs: those, its reservation, or its partition.
pub(super) fn fail(
    controller: &Controller<'_>,
    scratch: &mut MainScratch,
    record: Record,
    reservation: Option<usize>,
    (named, needed): (&[NodeId], u32),
) -> Tried {
    if keep_named(scratch, (named, needed)) {
        return Tried::Passes;
    }
    if let Some(reservation) = reservation {
        scratch.failed_reservations.push(reservation);
        let own = controller.reservation(reservation);
        // One without nodes, of licences, has the flag ANY_NODES.
        let reaches_out =
            (own.flags.flex || own.nodes.is_empty()) && controller.scenario.policy.version >= SlurmVersion::V24_11;
        return match reaches_out && !below_reserve_thresholds(controller, record) {
            true => Tried::BlocksUnreserved,
            false => Tried::Passes,
        };
    }
    if below_reserve_thresholds(controller, record) { Tried::Passes } else { Tried::Blocks }
}

/// What a job that did not fit would get of the nodes left to it if they were idle, as the test tells whether it could ever
/// run there. O(words), O(candidates) where nodes are taken from it.
fn alone(controller: &mut Controller<'_>, scratch: &MainScratch, record: Record, shape: &Shape) -> Option<Alone> {
    // It may get more nodes than it may have: a node of each weight, of which it runs only where those of others are not left to it (rec
    // w2022-25-05), or as many as its CPUs take (node_scheduler.c of 22.05.8, `_pick_best_nodes`: `runable_avail`; rec c1269).
    let gets_too_many = gets_too_many(controller, shape);
    if !shape.of_each_weight && !asks_anew(controller, scratch, shape) {
        return (shape.feasible && !gets_too_many(shape.alone.nodes)).then_some(shape.alone);
    }
    let user = controller.scenario.workload.jobs[record.job.index()].user.0;
    // On however many leaves.
    let most_leaves = controller.selector.most_leaves.take();
    let leaves_weights = controller.selector.gpus_stay && controller.selector.favours(shape);
    // The nodes left are tested only if enough of them share; unless that finds it could run there, all that it could ever have are, and
    // keep the weights of that.
    let enough = !leaves_weights || {
        let shares =
            |&node: &NodeId| !controller.completing.contains(node) && !is_refused(controller, record.job, shape, node);
        scratch.left.iter().filter(shares).count() >= shape.min_nodes as usize
    };
    controller.selector.gpus_stay &= enough;
    let fits = controller.selector.could_fit(&controller.empty, shape, user, &scratch.possible)
        && !gets_too_many(controller.selector.chosen.len() as u32);
    let alone = fits.then(|| controller.selector.alone_on(&controller.empty, shape));
    if leaves_weights {
        controller.selector.gpus_stay = true;
        if !(fits && enough) {
            controller.selector.could_fit(&controller.empty, shape, user, &shape.eligible);
        }
    }
    controller.selector.most_leaves = most_leaves;
    alone
}

/// Whether so many nodes are more than the job may have: until 25.11 it runs on none of them then. O(1).
fn gets_too_many(controller: &Controller<'_>, shape: &Shape) -> impl Fn(u32) -> bool + use<> {
    let counts = controller.scenario.policy.version < SlurmVersion::V26_05 && !shape.goes_past_tasks();
    let most = if counts { shape.max_nodes } else { u32::MAX };
    move |nodes| nodes > most
}

/// Whether nodes are taken from a job, limits leave it fewer, a group of its limits is preferred to others (facts 14), or its test leaves
/// weights behind: what an idle machine offers it is not known beforehand. O(words).
fn asks_anew(controller: &Controller<'_>, scratch: &MainScratch, shape: &Shape) -> bool {
    let leaves_weights = controller.selector.gpus_stay && controller.selector.favours(shape);
    let limits_nodes = controller.limits.active && controller.selector.weights.stray_among(&scratch.possible);
    leaves_weights || limits_nodes || shape.is_capped() || !shape.eligible.is_subset(&scratch.possible)
}

/// Whether a job that idle nodes would not serve either waits for jobs to end: some of the nodes left to it are held by jobs that
/// share nothing, or complete. O(nodes).
fn waits_for_jobs(controller: &Controller<'_>, scratch: &MainScratch, id: JobId, shape: &Shape) -> bool {
    let gets_too_many = gets_too_many(controller, shape);
    if !shape.of_each_weight && !asks_anew(controller, scratch, shape) && !gets_too_many(shape.alone.nodes) {
        return false;
    }
    scratch.left.iter().any(|node| controller.completing.contains(node) || is_refused(controller, id, shape, node))
}

/// Whether a node is busy for a job whatever is free there: held by a job that shares nothing, or in use where it shares with nobody; held
/// by another user for himself, or for a job that wants nodes for its user with others' jobs (node_scheduler.c `filter_by_node_owner`). Who has
/// whole nodes where sharing is forced shares them (`_resolve_shared_status`; rec w2165). Not where there is preemption. O(1).
fn is_refused(controller: &Controller<'_>, id: JobId, shape: &Shape, node: NodeId) -> bool {
    let user = controller.scenario.workload.jobs[id.index()].user.0;
    controller.preempt.is_none()
        && controller.free.jobs[node.index()] > 0
        && (shape.whole_nodes && shape.shared_by <= 1
            || controller.free.unshared.contains(node)
            || !controller.free.admits(node, user, shape.exclusive_user))
}

/// Jobs too young or too low for a reservation do not block their partition.
fn below_reserve_thresholds(controller: &Controller<'_>, record: Record) -> bool {
    let policy = &controller.scenario.policy.backfill;
    let eligible = controller.records[record.job.index()].eligible.unwrap_or(i64::MAX);
    let age = controller.now / 1000 - eligible;
    (policy.min_age_reserve > 0 && age < i64::from(policy.min_age_reserve))
        || record.priority() < controller.reserve_threshold(record)
}
