#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
//! Promises of node selection, as observed on real Slurm 22.05.8 (slurm-semantics 6.7 and conformance test 5).

use super::pick::{Offer, PickScratch, choose};
use super::shape::Shape;
use crate::cluster::{Cluster, Node, Partition};
use crate::ids::{NodeId, PartitionId};
use crate::job::Request;
use crate::node_set::NodeSet;
use crate::policy::{ConsumableUnit, SelectPolicy};

fn cluster(cores: &[u32]) -> Cluster {
    let mut cluster = Cluster::default();
    for (index, &cores) in cores.iter().enumerate() {
        cluster.nodes.push(Node {
            name: format!("n{}", index + 1),
            sockets: 1,
            cores_per_socket: cores.max(1),
            threads_per_core: 1,
            cpus: cores.max(1),
            memory_mb: 1000,
            weight: 1,
            features: Vec::new(),
            gres: Vec::new(),
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
    Shape::new(&cluster(cores), &select, PartitionId(0), &request)
}

/// Free CPUs a node, and what is asked for; the nodes chosen with their CPUs.
fn picked(free: &[u32], tasks: u32, nodes: Option<(u32, u32)>) -> String {
    let offers: Vec<Offer> = free
        .iter()
        .enumerate()
        .filter(|&(_, &cpus)| cpus > 0)
        .map(|(index, &cpus)| Offer { node: NodeId::new(index), cpus, weight: 1, total_cpus: cpus })
        .collect();
    let mut chosen = Vec::new();
    let found = choose(&shape(free, tasks, nodes), &offers, false, &mut PickScratch::default(), &mut chosen);
    if !found {
        return "none".to_owned();
    }
    let text: Vec<String> = chosen.iter().map(|offer| format!("n{}:{}", offer.node.0 + 1, offer.cpus)).collect();
    text.join(" ")
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
