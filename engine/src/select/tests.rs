#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
//! Promises of node selection, as observed on real Slurm 22.05.8 (slurm-semantics 3.4, 6.7, conformance tests 3, 5).

use super::Selector;
use super::allocation::Allocation;
use super::free::Free;
use super::pick::{Offer, PickScratch, choose};
use super::shape::Shape;
use super::will_run::{WillRunPolicy, earliest_start};
use crate::cluster::{Cluster, Node, Partition};
use crate::ids::{JobId, NodeId, PartitionId};
use crate::job::{Request, Sharing};
use crate::node_set::NodeSet;
use crate::policy::{ConsumableUnit, SelectPolicy, SlurmVersion};
use crate::simulation::running::RunningJobs;

pub(super) fn cluster(cores: &[u32]) -> Cluster {
    let mut cluster = Cluster::default();
    for (index, &cores) in cores.iter().enumerate() {
        cluster.nodes.push(Node {
            name: format!("n{}", index + 1),
            sockets: 1,
            cores_per_socket: cores.max(1),
            threads_per_core: 1,
            cpus: cores.max(1),
            spec_cores: Vec::new(),
            kept_memory_mb: 0,
            tmp_disk_mb: None,
            memory_mb: 1000,
            weight: 1,
            features: Vec::new(),
            gres: Vec::new(),
            gres_near: Vec::new(),
            config_record: 0,
            schedulable: true,
        });
    }
    let mut partition = Partition::new("p", cores.len());
    partition.nodes = NodeSet::full(cores.len());
    cluster.partitions.push(partition);
    cluster
}

fn shape(cores: &[u32], tasks: u32, nodes: Option<(u32, u32)>) -> Shape {
    let select = SelectPolicy { linear: false, unit: ConsumableUnit::Core, ..SelectPolicy::default() };
    let mut request = Request::serial(PartitionId(0));
    request.tasks = tasks;
    request.min_cpus = tasks;
    if let Some((min, max)) = nodes {
        request.min_nodes = min;
        request.max_nodes = Some(max);
    }
    Shape::of(&cluster(cores), &select, PartitionId(0), &request, true)
}

fn offers(free: &[u32]) -> Vec<Offer> {
    free.iter()
        .enumerate()
        .filter(|&(_, &cpus)| cpus > 0)
        .map(|(index, &cpus)| Offer { node: NodeId::new(index), cpus, weight: 1, idle: (0, 1), kept: 1, gres: 0 })
        .collect()
}

/// Free CPUs a node, and what is asked for; the nodes chosen with their CPUs.
fn picked(free: &[u32], tasks: u32, nodes: Option<(u32, u32)>) -> String {
    let offers = offers(free);
    picked_with(&mut PickScratch::default(), free, &offers, tasks, nodes)
}

fn picked_with(
    scratch: &mut PickScratch,
    free: &[u32],
    offers: &[Offer],
    tasks: u32,
    nodes: Option<(u32, u32)>,
) -> String {
    let mut chosen = Vec::new();
    let found = choose(&shape(free, tasks, nodes), offers, false, scratch, &mut chosen);
    if !found {
        return "none".to_owned();
    }
    let text: Vec<String> = chosen.iter().map(|offer| format!("n{}:{}", offer.node.0 + 1, offer.cpus)).collect();
    text.join(" ")
}

/// `bf_busy_nodes`; y-sock/a1, 300 and 360 s.
#[test]
fn nodes_in_use_come_first_and_an_idle_one_more_than_is_needed() {
    let picked = |free: &[u32], idle: &[bool], tasks, nodes| {
        let offers = offers(free);
        let mut scratch = PickScratch { idle_last: idle.to_vec(), ..PickScratch::default() };
        picked_with(&mut scratch, free, &offers, tasks, nodes)
    };
    assert_eq!(picked(&[4, 4, 4], &[true, false, false], 6, Some((2, 2))), "n1:1 n2:4 n3:2");
    assert_eq!(picked(&[4, 4, 4], &[true, false, true], 6, Some((2, 2))), "n1:2 n2:4");
    // The last node may be too small: the smallest are left out then.
    assert_eq!(picked(&[4, 8, 8, 16], &[false; 4], 24, Some((3, 3))), "n2:8 n3:8 n4:8");
}

#[test]
fn the_tightest_run_wins_not_the_tightest_node() {
    assert_eq!(picked(&[3, 0, 2, 4, 0, 0], 2, Some((1, 1))), "n1:2");
}

#[test]
fn within_one_run_the_tightest_node_wins() {
    assert_eq!(picked(&[3, 4, 2, 4, 0, 0], 2, Some((1, 1))), "n3:2");
}

#[test]
fn a_job_that_needs_two_nodes_takes_them_in_order() {
    assert_eq!(picked(&[3, 4, 2, 4, 0, 0], 7, None), "n1:3 n2:4");
}

#[test]
fn every_node_still_needed_keeps_a_cpu() {
    assert_eq!(picked(&[3, 4, 2, 4, 0, 0], 8, Some((3, 3))), "n1:3 n2:4 n3:1");
}

#[test]
fn small_nodes_are_dropped_when_they_spoil_the_fit() {
    assert_eq!(picked(&[1, 1, 4, 4], 8, Some((2, 2))), "n3:4 n4:4");
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(picked(&[1, 1], 3, Some((1, 2))), "none");
}

/// As [`picked`], from (CPUs, weight) a node and a change to the shape.
fn picked_by_weight(free: &[(u32, u64)], tasks: u32, change: impl FnOnce(&mut Shape)) -> String {
    let cores: Vec<u32> = free.iter().map(|&(cpus, _)| cpus).collect();
    let offers: Vec<Offer> = free
        .iter()
        .enumerate()
        .filter(|(_, (cpus, _))| *cpus > 0)
        .map(|(index, &(cpus, weight))| Offer {
            node: NodeId::new(index),
            cpus,
            weight,
            idle: (0, 1),
            kept: 1,
            gres: 0,
        })
        .collect();
    let mut shape = shape(&cores, tasks, None);
    change(&mut shape);
    let mut chosen = Vec::new();
    if !choose(&shape, &offers, false, &mut PickScratch::default(), &mut chosen) {
        return "none".to_owned();
    }
    let text: Vec<String> = chosen.iter().map(|offer| format!("n{}:{}", offer.node.0 + 1, offer.cpus)).collect();
    text.join(" ")
}

#[test]
fn the_lowest_weight_dominates_tightness() {
    assert_eq!(picked_by_weight(&[(2, 5), (4, 1), (2, 5)], 2, |_| {}), "n2:2");
}

#[test]
fn heavier_nodes_only_make_up_what_lighter_ones_lack() {
    assert_eq!(picked_by_weight(&[(4, 5), (4, 1), (4, 5)], 6, |_| {}), "n1:2 n2:4");
}

#[test]
fn required_nodes_come_first_then_their_neighbours_above() {
    let requires_third = |shape: &mut Shape| shape.required = vec![NodeId(2)];
    assert_eq!(picked_by_weight(&[(4, 1), (4, 1), (4, 1), (4, 1)], 3, requires_third), "n3:3");
    let requires_third = |shape: &mut Shape| shape.required = vec![NodeId(2)];
    assert_eq!(picked_by_weight(&[(4, 1), (4, 1), (4, 1), (4, 1)], 6, requires_third), "n3:4 n4:2");
}

#[test]
fn contiguous_nodes_stand_side_by_side() {
    let free = [(4, 1), (0, 1), (4, 1), (4, 1)];
    assert_eq!(picked_by_weight(&free, 8, |shape| shape.contiguous = true), "n3:4 n4:4");
    assert_eq!(picked_by_weight(&free, 12, |shape| shape.contiguous = true), "none");
    assert_eq!(picked_by_weight(&free, 12, |_| {}), "n1:4 n3:4 n4:4");
}

/// Five whole-node jobs that end after 10, 11, 12, 13 and 14 min; the expected start of a job of four whole nodes [min].
fn predicted(linear: bool, version: SlurmVersion) -> (i64, String) {
    let cluster = cluster(&[4; 5]);
    let select = SelectPolicy { linear, unit: ConsumableUnit::Core, ..SelectPolicy::default() };
    let mut selector = Selector::new(&cluster, &select, version);
    let mut free = Free::new(&selector.geometry);
    let mut request = Request::serial(PartitionId(0));
    request.sharing = Sharing::Exclusive;
    let one = Shape::of(&cluster, &select, PartitionId(0), &request, true);
    let allocations: Vec<Allocation> = (0..5)
        .map(|node| {
            assert!(selector.fits(&free, &one, 0, &NodeSet::from_nodes(5, [NodeId(node)])));
            let allocation = selector.allocate(&free, &one);
            free.take(&selector.geometry, &allocation);
            allocation
        })
        .collect();
    (request.min_nodes, request.max_nodes, request.tasks, request.min_cpus) = (4, Some(4), 4, 4);
    let four = Shape::of(&cluster, &select, PartitionId(0), &request, true);
    let mut running = RunningJobs::default();
    for (job, allocation) in allocations.iter().enumerate() {
        running.insert(
            (600 + 60 * job as i64, crate::simulation::record_age::Age::nth(job as u32)),
            JobId::new(job),
            allocation.shares[0].node,
            None,
        );
    }
    let running: Vec<_> = running.iter().copied().collect();
    let held = |job: JobId| allocations.get(job.index());
    let policy = WillRunPolicy { linear, window_linear: 0, version };
    let mut future = free.clone();
    let usable = NodeSet::full(5);
    assert!(!selector.fits(&free, &four, 0, &usable));
    let start =
        earliest_start(&mut selector, policy, &mut future, (&four, 0), &usable, (&running, None), held).unwrap();
    let nodes: Vec<String> = selector.chosen.iter().map(|offer| (offer.node.0 + 1).to_string()).collect();
    (start / 60, nodes.join(" "))
}

/// Conformance test 3: ends are released in groups that double in length, and the last end of the group counts.
#[test]
fn a_start_is_predicted_at_the_last_end_of_a_group_though_the_nodes_are_free_before() {
    assert_eq!(predicted(false, SlurmVersion::V22_05), (14, "1 2 3 4".to_owned()));
    assert_eq!(predicted(false, SlurmVersion::V25_05), (13, "1 2 3 4".to_owned()));
}

#[test]
fn select_linear_releases_jobs_one_at_a_time() {
    assert_eq!(predicted(true, SlurmVersion::V22_05), (13, "1 2 3 4".to_owned()));
}

#[test]
fn memory_per_gpu_is_charged_for_every_gpu_of_the_node() {
    use super::shape::MemoryNeed;
    use crate::cluster::GresType;
    use crate::ids::GresId;
    use crate::job::{GresRequest, GresScope, Memory};

    let mut cluster = cluster(&[8]);
    let kind = |kind: Option<&str>| GresType { name: "gpu".to_owned(), kind: kind.map(str::to_owned), counted: false };
    cluster.gres = vec![kind(None), kind(Some("a100"))];
    let select = SelectPolicy { linear: false, unit: ConsumableUnit::Core, memory: true, ..SelectPolicy::default() };
    let mut request = Request::serial(PartitionId(0));
    request.memory = Memory::PerGpu(100);
    for (id, expected) in [(None, 100), (Some(0), 200), (Some(1), 200)] {
        request.gres =
            id.map(|id| GresRequest { gres: GresId(id), count: 2, scope: GresScope::PerNode }).into_iter().collect();
        let shape = Shape::of(&cluster, &select, PartitionId(0), &request, true);
        assert_eq!(shape.memory, MemoryNeed::PerNode(expected));
    }
}
